// SPDX-License-Identifier: Apache-2.0
//
// Drives the env plugin as NCCL does. It reads the machine that the test runs on, whatever that is, so the checks
// compare what it answers with what the same code decides here, and never with values. The library is one in a process
// and keeps its state, as in NCCL's: every test ends what it began.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/environment.h"
#include "envplugin/live.h"
#include "envplugin/nccl_env.h"
#include "tests/envplugin/host.h"

namespace nccl_tune::envplugin_test {
namespace {

constexpr std::chrono::milliseconds kPatient{60000};

// A variable of the process for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

class PluginTest : public testing::Test {
 protected:
  void SetUp() override {
    // Nothing of the one who runs the tests.
    std::vector<std::string> names;
    for (const auto& [name, value] : base::CopyEnvironment(environ))
      if (name.starts_with("NCCL_") || name.ends_with("LOCALID") || name.ends_with("LOCAL_RANK")) names.push_back(name);
    for (const auto& name : names) unsetenv(name.c_str());
    ASSERT_NE(host_.v1, nullptr);
    ASSERT_NE(host_.v2, nullptr);
    TakeLog();
  }

  // What the process's NCCL of this version is to be told.
  static base::Environment Expected(const nccl::NcclVersion& version = {2, 28, 9}) {
    const auto decision = envplugin::DecideHere(base::CopyEnvironment(environ), version, kPatient);
    EXPECT_TRUE(decision.ok()) << decision.error().ToString();
    return decision.ok() ? decision->values : base::Environment();
  }

  void ExpectOurs(const base::Environment& expected) const {
    for (const auto& [name, value] : expected) EXPECT_EQ(host_.Get(name.c_str()), value) << name;
  }

  void ExpectNothing(const base::Environment& expected) const {
    for (const auto& [name, value] : expected) EXPECT_EQ(host_.Get(name.c_str()), "none") << name;
  }

  Host host_;
};

TEST_F(PluginTest, BothTablesAreWhole) {
  EXPECT_STREQ(host_.v1->name, "nccl-tune");
  EXPECT_STREQ(host_.v2->name, "nccl-tune");
  EXPECT_NE(host_.v1->init, nullptr);
  EXPECT_NE(host_.v2->init, nullptr);
  EXPECT_EQ(host_.v1->finalize, host_.v2->finalize);
  EXPECT_EQ(host_.v1->get_env, host_.v2->get_env);
}

TEST_F(PluginTest, AnswersBetweenInitAndFinalize) {
  const auto expected = Expected();
  ExpectNothing(expected);  // before init
  const Stderr output;
  EXPECT_EQ(host_.v1->init(2, 28, 9, ""), envplugin::kNcclSuccess);
  ExpectOurs(expected);
  EXPECT_EQ(host_.v1->finalize(), envplugin::kNcclSuccess);
  ExpectNothing(expected);
  EXPECT_EQ(output.Text(), "") << "quiet unless asked";
}

TEST_F(PluginTest, ForOtherNamesItIsGetenv) {
  const Variable own("NCCL_DEBUG", "WARN");
  const Variable empty("NCCL_ALGO", "");
  const auto check = [&](const char* when) {
    EXPECT_EQ(host_.Get("NCCL_DEBUG"), "WARN") << when;
    EXPECT_EQ(host_.v1->get_env("NCCL_DEBUG"), std::getenv("NCCL_DEBUG")) << when;
    EXPECT_EQ(host_.Get("NCCL_ALGO"), "") << when;
    EXPECT_EQ(host_.Get("NCCL_PROTO"), "none") << when;
    EXPECT_EQ(host_.Get("PATH"), std::getenv("PATH")) << when;
    EXPECT_EQ(host_.Get(""), "none") << when;
    EXPECT_EQ(host_.Get("A=B"), "none") << when;
    EXPECT_EQ(host_.Get(std::string(100000, 'N').c_str()), "none") << when;
    EXPECT_EQ(host_.v1->get_env(nullptr), nullptr) << when;
  };
  check("before init");
  EXPECT_EQ(host_.v1->init(2, 28, 9, nullptr), 0);
  check("after init");
  EXPECT_EQ(host_.v1->finalize(), 0);
  check("after finalize");
}

TEST_F(PluginTest, TheUsersValueWins) {
  const Variable theirs("NCCL_SOCKET_IFNAME", "eth9");
  EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
  EXPECT_EQ(host_.Get("NCCL_SOCKET_IFNAME"), "eth9");
  {
    const Variable later("NCCL_SOCKET_FAMILY", "AF_INET6");
    EXPECT_EQ(host_.Get("NCCL_SOCKET_FAMILY"), "AF_INET6") << "set after init";
  }
  EXPECT_EQ(host_.v1->finalize(), 0);
}

TEST_F(PluginTest, OffAndWordsThatAreNone) {
  const auto expected = Expected();
  for (const char* wish : {"off", "dry-run", "sometimes", "off,auto", "profile="}) {
    const Variable variable("NCCL_TUNE", wish);
    const Stderr output;
    EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
    ExpectNothing(expected);
    EXPECT_EQ(host_.v1->finalize(), 0);
    EXPECT_EQ(output.Text().empty(), std::string(wish) != "dry-run") << wish;
  }
}

TEST_F(PluginTest, ExplainsOnceAndOncePerNode) {
  const Variable explain("NCCL_TUNE", "explain");
  const auto decision = envplugin::DecideHere(base::CopyEnvironment(environ), {2, 28, 9}, kPatient);
  ASSERT_TRUE(decision.ok());
  ASSERT_NE(decision->explanation, "");
  {
    const Stderr output;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(host_.v1->finalize(), 0);
    EXPECT_EQ(output.Text(), decision->explanation);
  }
  const Variable second("SLURM_LOCALID", "1");
  const Stderr output;
  EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
  ExpectOurs(decision->values);
  EXPECT_EQ(host_.v1->finalize(), 0);
  EXPECT_EQ(output.Text(), "");
}

TEST_F(PluginTest, TheSecondTableLogsThroughNccl) {
  const auto expected = Expected({2, 30, 7});
  const Stderr output;
  EXPECT_EQ(host_.v2->init(2, 30, 7, "", Log), 0);
  ExpectOurs(expected);
  EXPECT_EQ(host_.v2->finalize(), 0);
  std::string lines;
  for (const auto& [name, value] : expected) lines += "nccl-tune: " + name + "=" + value + "\n";
  const std::string log = TakeLog();
  EXPECT_TRUE(log.ends_with(lines)) << log;
  EXPECT_EQ(log.find("strange"), std::string::npos) << log;
  const Variable off("NCCL_TUNE", "off");
  EXPECT_EQ(host_.v2->init(2, 30, 7, "", Log), 0);
  EXPECT_EQ(host_.v2->finalize(), 0);
  EXPECT_EQ(TakeLog(), "nccl-tune: nothing is set: NCCL_TUNE=off\n");
  EXPECT_EQ(output.Text(), "");
}

TEST_F(PluginTest, WithoutALogger) {
  EXPECT_EQ(host_.v2->init(2, 30, 7, nullptr, nullptr), 0);
  ExpectOurs(Expected({2, 30, 7}));
  EXPECT_EQ(host_.v2->finalize(), 0);
}

TEST_F(PluginTest, EveryVersionIsTaken) {
  const struct {
    int major, minor, patch;
  } kRows[] = {{0, 0, 0}, {1, 0, 0}, {2, 17, 1}, {2, 28, 6}, {2, 28, 7}, {2, 32, 3}, {3, 0, 0}, {255, 255, 255}};
  for (const auto& row : kRows) {
    const auto expected = Expected({row.major, row.minor, row.patch});
    EXPECT_EQ(host_.v1->init(static_cast<std::uint8_t>(row.major), static_cast<std::uint8_t>(row.minor),
                             static_cast<std::uint8_t>(row.patch), "+cuda13.0"),
              0);
    ExpectOurs(expected);
    if (row.major == 0) {
      EXPECT_EQ(host_.Get("NCCL_SOCKET_IFNAME"), "none") << "before the first version that reads it";
    }
    EXPECT_EQ(host_.v1->finalize(), 0);
  }
}

TEST_F(PluginTest, TwoLibrariesInOneProcess) {
  const auto expected = Expected();
  EXPECT_EQ(host_.v2->init(2, 30, 7, "", Log), 0);
  const Host other;
  ASSERT_EQ(other.v1, host_.v1) << "one library, one state";
  EXPECT_EQ(other.v1->init(2, 28, 9, ""), 0);
  ExpectOurs(expected);
  EXPECT_EQ(host_.v2->finalize(), 0);
  ExpectOurs(expected);  // the other is still there
  EXPECT_EQ(other.v1->finalize(), 0);
  ExpectNothing(expected);
}

TEST_F(PluginTest, FinalizeThatNoInitWentBefore) {
  const auto expected = Expected();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(host_.v1->finalize(), 0);
  EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
  ExpectOurs(expected);
  EXPECT_EQ(host_.v1->finalize(), 0);
}

TEST_F(PluginTest, ATextOutlivesTheCallsAfterIt) {
  const auto expected = Expected();
  EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
  std::vector<const char*> texts;
  for (const auto& [name, value] : expected) texts.push_back(host_.v1->get_env(name.c_str()));
  EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
  EXPECT_EQ(host_.v2->init(2, 27, 0, "", nullptr), 0);  // an older one: decided again
  std::size_t at = 0;
  for (const auto& [name, value] : expected) EXPECT_EQ(texts[at++], value);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(host_.v1->finalize(), 0);
  at = 0;
  for (const auto& [name, value] : expected) EXPECT_EQ(texts[at++], value) << "after finalize";
}

TEST_F(PluginTest, ManyThreads) {
  const auto expected = Expected();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
      for (int round = 0; round < 200; ++round) ExpectOurs(expected);
      EXPECT_EQ(host_.v1->finalize(), 0);
    });
  }
  for (auto& thread : threads) thread.join();
  ExpectNothing(expected);
}

TEST_F(PluginTest, LeavesTheThreadAsItWas) {
  int before = 0;
  int after = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
  errno = E2BIG;
  EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
  EXPECT_EQ(errno, E2BIG);
  for (const char* name : {"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_NONE", "PATH"}) host_.v1->get_env(name);
  EXPECT_EQ(errno, E2BIG);
  EXPECT_EQ(host_.v1->finalize(), 0);
  EXPECT_EQ(errno, E2BIG);
  pthread_setcancelstate(before, &after);
  EXPECT_EQ(after, PTHREAD_CANCEL_ENABLE);
}

// What init and finalize leave of a signal when an explanation could not be written to `stderr_now`.
void ExplainInto(const envplugin::NcclEnvV1& plugin, int stderr_now, int number) {
  const Variable explain("NCCL_TUNE", "explain");
  const int own = dup(STDERR_FILENO);
  dup2(stderr_now, STDERR_FILENO);
  const int began = plugin.init(2, 28, 9, "");
  dup2(own, STDERR_FILENO);
  close(stderr_now);
  close(own);
  EXPECT_EQ(began, 0);
  sigset_t pending;
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, number), 0) << "no signal is left behind";
  sigset_t mask;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
  EXPECT_EQ(sigismember(&mask, number), 0);
  EXPECT_EQ(plugin.finalize(), 0);
}

TEST_F(PluginTest, APipeThatNobodyReadsEndsNothing) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  ExplainInto(*host_.v1, ends[1], SIGPIPE);
}

TEST_F(PluginTest, AFileThatMayNotGrowEndsNothing) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  ExplainInto(*host_.v1, dup(fileno(file)), SIGXFSZ);
  setrlimit(RLIMIT_FSIZE, &before);
  std::fclose(file);
}

TEST_F(PluginTest, InAThreadWithASmallStack) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  const auto body = [](void* table) -> void* {
    static_cast<const envplugin::NcclEnvV1*>(table)->init(2, 28, 9, "");
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, const_cast<envplugin::NcclEnvV1*>(host_.v1)), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  ExpectOurs(Expected());
  EXPECT_EQ(host_.v1->finalize(), 0);
}

TEST_F(PluginTest, ScrubbedAfterSlurmsPlanItDecidesItself) {
  const auto expected = Expected();
  const Variable plan("NCCL_TUNE_PLAN", R"({"v":1,"node":"n","set":{"NCCL_SOCKET_IFNAME":"=eth9"}})");
  EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
  ExpectOurs(expected);
  EXPECT_EQ(host_.v1->finalize(), 0);
  const Variable there("NCCL_SOCKET_IFNAME", "=eth9");
  EXPECT_EQ(host_.v1->init(2, 28, 9, ""), 0);
  EXPECT_EQ(host_.Get("NCCL_SOCKET_IFNAME"), "=eth9");
  for (const auto& [name, value] : expected) {
    if (name != "NCCL_SOCKET_IFNAME") {
      EXPECT_EQ(host_.Get(name.c_str()), "none") << name << ": the plan stands";
    }
  }
  EXPECT_EQ(host_.v1->finalize(), 0);
}

}  // namespace
}  // namespace nccl_tune::envplugin_test
