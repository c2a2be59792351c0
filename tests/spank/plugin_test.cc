// SPDX-License-Identifier: Apache-2.0
//
// Drives the plugin as Slurm does. It reads the machine that the test runs on, whatever that is, so the checks compare
// what it sets with the plan that it left and never with values.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/env/plan.h"
#include "tests/spank/host.h"

namespace nccl_tune::spank_test {
namespace {

using Variables = std::map<std::string, std::string>;

// In which Slurm hands the option to steps inside.
const char* const kCarrier = "SLURM_SPANK__SLURM_SPANK_OPTION_nccl_tune_nccl_tune";

// Long enough for a loaded machine under a sanitizer.
const char* const kPatient = "timeout_ms=10000";

// A line of the log as it names the node.
std::string FromThisNode(const std::string& line) {
  char name[256] = {};
  EXPECT_EQ(gethostname(name, sizeof name - 1), 0);
  return "nccl-tune: " + std::string(name) + ": " + line;
}

// What the plugin says of a value that is no mode.
std::string ParseError(const std::string& value, const std::string& where = "--nccl-tune") {
  if (where == "default")
    return "default: unknown mode: got \"" + value + "\", expected policy, off, auto, explain, dry-run, strict or mpi";
  return where + ": unknown mode: got \"" + value +
         "\", expected auto, off, explain, dry-run, strict, mpi, profile=NAME, set=NAME:VALUE, unset=NAME or several "
         "of "
         "them with commas between";
}

void ExpectNoChild() {
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// One step from the option to the task; the task starts with the job's variables.
void RunStep(Host* host, const char* mode) {
  ASSERT_TRUE(host->loaded());
  EXPECT_EQ(host->Init({kPatient}), 0);
  EXPECT_EQ(host->Option(mode, true), 0);
  EXPECT_EQ(host->UserInit(), 0);
  host->task.insert(host->job.begin(), host->job.end());
  EXPECT_EQ(host->TaskInit(), 0);
  ExpectNoChild();
}

env::PlanSummary PlanOf(const Host& host) {
  const auto text = host.task.find("NCCL_TUNE_PLAN");
  if (text == host.task.end()) {
    ADD_FAILURE() << "no NCCL_TUNE_PLAN; the plugin said: " << host.log;
    return {};
  }
  const auto plan = env::ParsePlan(text->second);
  EXPECT_TRUE(plan.ok()) << text->second;
  return plan.value_or({});
}

TEST(PluginTest, RegistersItsOption) {
  Host host;
  ASSERT_TRUE(host.loaded());
  EXPECT_EQ(host.Init(), 0);
  EXPECT_EQ(host.option_name, "nccl-tune");
  EXPECT_NE(host.callback, nullptr);
  EXPECT_EQ(host.log, "");
}

TEST(PluginTest, AutoSetsWhatThePlanSays) {
  for (const char* mode : {static_cast<const char*>(nullptr), "", "(null)", "auto"}) {
    Host host;
    host.job = {{"PATH", "/bin"}, {"NCCL_DEBUG", "INFO"}};
    RunStep(&host, mode);
    Variables expected = host.job;
    for (const auto& [name, value] : PlanOf(host).set) expected[name] = value;
    expected["NCCL_TUNE_PLAN"] = host.task["NCCL_TUNE_PLAN"];
    expected[kCarrier] = mode == nullptr || *mode == '\0' ? "auto" : mode;
    EXPECT_EQ(host.task, expected);
    EXPECT_EQ(host.forks, 1);
    EXPECT_EQ(host.log, "") << "quiet unless asked";
    EXPECT_NE(host.info.find(FromThisNode("set ").substr(0, FromThisNode("set ").size() - 1)), std::string::npos);
    EXPECT_EQ(std::count(host.info.begin(), host.info.end(), '\n'), 1) << "one line a step: " << host.info;
    EXPECT_NE(host.debug.find(FromThisNode("{\"v\":1")), std::string::npos) << host.debug;
  }
}

TEST(PluginTest, OffTouchesNothing) {
  const struct {
    const char* what;
    const char* option;  // nullptr: not given
    const char* site;
    const char* wish;  // NCCL_TUNE; nullptr: unset
  } rows[] = {
      {"nothing asked for", nullptr, "", nullptr},
      {"the option", "off", "", nullptr},
      {"the option against the site", "off", "default=auto", nullptr},
      {"the option against the user's wish", "off", "", "auto"},
      {"the user's wish against the site", nullptr, "default=explain", "off"},
      {"the site", nullptr, "default=off", nullptr},
      {"a wish that is no mode", nullptr, "default=auto", "fast"},
  };
  for (const auto& row : rows) {
    Host host;
    ASSERT_TRUE(host.loaded());
    if (row.wish != nullptr) host.job["NCCL_TUNE"] = row.wish;
    EXPECT_EQ(host.Init({kPatient, *row.site == '\0' ? "default=off" : row.site}), 0);
    if (row.option != nullptr) {
      EXPECT_EQ(host.Option(row.option, true), 0);
    }
    EXPECT_EQ(host.UserInit(), 0) << row.what;
    EXPECT_EQ(host.TaskInit(), 0) << row.what;
    EXPECT_EQ(host.forks, 0) << row.what;
    EXPECT_EQ(host.changes, 0) << row.what;
    EXPECT_EQ(host.info, "") << row.what;
    const bool complains = row.wish != nullptr && std::string(row.wish) == "fast";
    EXPECT_EQ(host.log,
              complains ? FromThisNode(ParseError("fast", "NCCL_TUNE")) + "; leaving this step untuned\n" : "")
        << row.what;
    ExpectNoChild();
  }
}

TEST(PluginTest, OnWithoutTheOption) {
  for (const bool by_site : {true, false}) {
    Host host;
    ASSERT_TRUE(host.loaded());
    if (!by_site) host.job["NCCL_TUNE"] = "auto";
    EXPECT_EQ(host.Init({kPatient, by_site ? "default=auto" : "default=off"}), 0);
    EXPECT_EQ(host.UserInit(), 0);
    EXPECT_EQ(host.TaskInit(), 0);
    EXPECT_EQ(host.forks, 1);
    PlanOf(host);
  }
}

// A policy at a place of its own, and the argument that names it.
std::string WritePolicy(const char* text) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/policy.toml";
  std::ofstream(path) << text;
  return path;
}

TEST(PluginTest, TheSitesPolicyDecidesForJobsThatSayNothing) {
  const struct {
    const char* policy;
    const char* option;  // nullptr: none given
    bool tuned;
  } rows[] = {
      {"mode = \"auto\"\n", nullptr, true},
      {"mode = \"auto\"\n", "off", false},
      {"mode = \"off\"\n", nullptr, false},
      {"mode = \"off\"\n", "auto", false},
      {"gid_index = \"auto\"\n", nullptr, false},
      {"gid_index = \"auto\"\n", "auto", true},
      {"", nullptr, false},
      {"mode = broken", nullptr, false},
      {"mode = broken", "auto", true},
  };
  for (const auto& row : rows) {
    Host host;
    ASSERT_TRUE(host.loaded());
    host.Init({kPatient, "default=policy", "policy=" + WritePolicy(row.policy)});
    if (row.option != nullptr) {
      EXPECT_EQ(host.Option(row.option, true), 0);
    }
    EXPECT_EQ(host.UserInit(), 0);
    EXPECT_EQ(host.TaskInit(), 0);
    EXPECT_EQ(host.task.contains("NCCL_TUNE_PLAN"), row.tuned) << row.policy << host.log << host.info;
    EXPECT_EQ(host.info.find("site policy ignored") != std::string::npos, std::string(row.policy) == "mode = broken")
        << host.info;
  }
}

TEST(PluginTest, ExplainAlsoPrints) {
  Host host;
  RunStep(&host, "explain");
  PlanOf(host);
  EXPECT_TRUE(host.log.starts_with("nccl-tune: ")) << host.log;
  EXPECT_EQ(host.log.find("dry run"), std::string::npos);
  EXPECT_NE(host.log.find("nccl-tune: "), std::string::npos) << host.log;
}

TEST(PluginTest, DryRunSetsNothing) {
  Host host;
  host.job["NCCL_SOCKET_IFNAME"] = "mine";
  RunStep(&host, "dry-run");
  EXPECT_EQ(host.changes, 0);
  EXPECT_EQ(host.task, host.job);
  EXPECT_EQ(host.forks, 1);
  EXPECT_NE(host.log.find("dry run, nothing is set"), std::string::npos) << host.log;
  EXPECT_NE(host.log.find("NCCL_SOCKET_IFNAME"), std::string::npos) << host.log;
  EXPECT_NE(host.info.find(FromThisNode("would set")), std::string::npos) << host.info;
}

TEST(PluginTest, TheUsersOwnStays) {
  Host host;
  host.job = {
      {"NCCL_SOCKET_IFNAME", "mine"}, {"NCCL_IB_HCA", "mlx5_7"}, {"NCCL_IB_GID_INDEX", ""}, {"NCCL_IB_DISABLE", "0"}};
  const Variables before = host.job;
  RunStep(&host, "auto");
  const auto plan = PlanOf(host);
  EXPECT_TRUE(plan.set.empty());
  for (const auto& [name, value] : before) {
    EXPECT_EQ(host.task[name], value) << name;
    EXPECT_EQ(plan.kept.at(name), value) << name;
  }
}

TEST(PluginTest, WhatWasSetSinceUserInitStays) {
  for (const char* mode : {"auto", "explain"}) {
    Host host;
    ASSERT_TRUE(host.loaded());
    host.Init({kPatient});
    host.Option(mode, true);
    host.UserInit();
    host.log.clear();
    const char* const names[] = {"NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_SOCKET_IFNAME", "NCCL_IB_DISABLE"};
    for (const char* name : names) host.task[name] = "image";
    EXPECT_EQ(host.TaskInit(), 0);
    // Ours are not set over them, nor what was computed to go with ours, and NCCL_TUNE_PLAN does not call them ours.
    const auto plan = PlanOf(host);
    for (const char* name : names) {
      EXPECT_EQ(host.task[name], "image") << name;
      EXPECT_EQ(plan.kept.at(name), "image") << name;
    }
    for (const auto& [name, value] : plan.set) EXPECT_EQ(host.task[name], value) << name;
    EXPECT_FALSE(plan.set.contains("GLOO_SOCKET_IFNAME"));
    EXPECT_FALSE(host.task.contains("GLOO_SOCKET_IFNAME"));
    const std::string said =
        FromThisNode("since this plan was made a container or another plugin has set NCCL_IB_DISABLE");
    EXPECT_EQ(host.log.starts_with(said), std::string(mode) == "explain") << host.log;
    EXPECT_EQ(host.log.empty(), std::string(mode) == "auto") << host.log;
  }
}

TEST(PluginTest, StepsInsideGetTheOptionThatTheUserGave) {
  {
    Host host;
    host.job = {{"NCCL_TUNE", "auto"}};
    host.Init({kPatient});
    host.UserInit();
    host.TaskInit();
    EXPECT_TRUE(host.task.contains("NCCL_TUNE_PLAN"));
    EXPECT_FALSE(host.task.contains(kCarrier)) << "no option was given";
  }
  const struct {
    const char* outer;  // what Slurm hands from the job; null: nothing
    const char* own;
    const char* handed;
  } kRows[] = {
      {"explain", "explain", "explain"}, {"auto", "off", "off"}, {"auto", "explain", "explain"}, {"off", "", "auto"},
      {nullptr, "explain", "explain"},   {nullptr, "", "auto"},
  };
  for (const auto& row : kRows) {
    Host host;
    if (row.outer != nullptr) host.job = {{kCarrier, row.outer}};
    RunStep(&host, row.own);
    EXPECT_EQ(host.task[kCarrier], row.handed) << row.own;
  }
  Host host;
  RunStep(&host, "off");
  EXPECT_FALSE(host.task.contains(kCarrier)) << "off leaves the environment as it is";
}

// Two lines of plugstack.conf name the same file: Slurm calls every hook twice.
TEST(PluginTest, ASecondLineDoesNothing) {
  Host host;
  ASSERT_TRUE(host.loaded());
  host.Init({kPatient, "default=explain"});
  host.Init({kPatient, "default=off", "nonsense"});
  EXPECT_EQ(host.log, "");
  host.UserInit();
  const std::string once = host.log;
  EXPECT_NE(once, "");
  host.UserInit();
  EXPECT_EQ(host.log, once);
  host.TaskInit();
  const auto task = host.task;
  const int changes = host.changes;
  EXPECT_TRUE(task.contains("NCCL_TUNE_PLAN"));
  host.TaskInit();
  EXPECT_EQ(host.task, task);
  EXPECT_EQ(host.changes, changes);
}

TEST(PluginTest, OneTaskOfAStepSaysWhatHasChanged) {
  for (const auto& [node, task] : {std::pair{0U, 1}, std::pair{1U, 0}}) {
    Host host;
    ASSERT_TRUE(host.loaded());
    host.Init({kPatient});
    host.Option("explain", true);
    host.UserInit();
    host.log.clear();
    host.node_id = node;
    host.task_id = task;
    host.task["NCCL_SOCKET_IFNAME"] = "image";
    EXPECT_EQ(host.TaskInit(), 0);
    EXPECT_EQ(host.log, "") << node << task;
  }
}

// The outer step ran on another node: what it set and is not right here must not stay.
TEST(PluginTest, ANestedStepReplacesWhatTheOuterSet) {
  Host host;
  host.job = {{"NCCL_IB_GID_INDEX", "77"},
              {"NCCL_SOCKET_IFNAME", "=gone0"},
              {"NCCL_IB_HCA", "changed_by_hand"},
              {"NCCL_TUNE_PLAN",
               R"({"v":1,"set":{"NCCL_IB_GID_INDEX":"77","NCCL_SOCKET_IFNAME":"=gone0","NCCL_IB_HCA":"=gone:1"}})"}};
  RunStep(&host, "auto");
  const auto plan = PlanOf(host);
  for (const char* name : {"NCCL_IB_GID_INDEX", "NCCL_SOCKET_IFNAME"}) {
    const auto ours = plan.set.find(name);
    EXPECT_EQ(host.task.contains(name), ours != plan.set.end()) << name;
    if (ours != plan.set.end()) {
      EXPECT_EQ(host.task[name], ours->second) << name;
    }
    EXPECT_FALSE(plan.kept.contains(name)) << name;
  }
  EXPECT_EQ(host.task["NCCL_IB_HCA"], "changed_by_hand");
  EXPECT_EQ(plan.kept.at("NCCL_IB_HCA"), "changed_by_hand");
}

TEST(PluginTest, ABadValueEndsTheCommandAndNeverAStep) {
  for (const char* value : {"fast", "Auto", "auto,", "off,auto", "auto explain", "\x1b[31m", "--help"}) {
    Host host;
    ASSERT_TRUE(host.loaded());
    host.Init({kPatient});
    EXPECT_NE(host.Option(value, false), 0) << value;
    EXPECT_TRUE(host.log.starts_with("error: nccl-tune: --nccl-tune: ")) << host.log;
    EXPECT_EQ(host.log.find('\x1b'), std::string::npos);
    host.log.clear();
    EXPECT_EQ(host.Option(value, true), 0) << value;
    EXPECT_NE(host.log, "");
    EXPECT_EQ(host.UserInit(), 0);
    EXPECT_EQ(host.TaskInit(), 0);
    EXPECT_EQ(host.changes, 0) << value;
    EXPECT_EQ(host.forks, 0) << value;
  }
}

TEST(PluginTest, TheOptionMayComeTwice) {
  Host host;
  ASSERT_TRUE(host.loaded());
  host.Init({kPatient});
  EXPECT_EQ(host.Option("auto", true), 0);
  EXPECT_EQ(host.Option("off", true), 0);
  EXPECT_EQ(host.Option("off", true), 0);
  EXPECT_EQ(host.UserInit(), 0);
  EXPECT_EQ(host.forks, 0) << "the last one counts";
}

TEST(PluginTest, ATooShortDeadlineLetsTheStepGoOn) {
  Host host;
  ASSERT_TRUE(host.loaded());
  EXPECT_EQ(host.Init({"timeout_ms=1"}), 0);
  EXPECT_EQ(host.Option("auto", true), 0);
  EXPECT_EQ(host.UserInit(), 0);
  EXPECT_EQ(host.TaskInit(), 0);
  // A fast machine may make it in time; either way the two agree.
  const bool in_time = host.log.empty();
  EXPECT_EQ(host.task.contains("NCCL_TUNE_PLAN"), in_time) << host.log;
  if (!in_time) {
    EXPECT_EQ(
        host.log,
        FromThisNode(
            "no answer in time: to look at it takes longer than 1 ms (timeout_ms in plugstack.conf); this node goes "
            "on with NCCL's own defaults\n"));
    EXPECT_EQ(host.changes, 0);
  }
}

// Which arguments there are is the business of site/arguments.h.
TEST(PluginTest, OddArgumentsWarnAndAreIgnored) {
  Host host;
  ASSERT_TRUE(host.loaded());
  EXPECT_EQ(host.Init({"debug", "default=fast", "timeout_ms=0"}), 0);
  EXPECT_EQ(host.log,
            "error: nccl-tune: plugstack.conf: unknown argument: got \"debug\", expected default=MODE, "
            "policy=FILE or timeout_ms=NUMBER; ignoring it\n"
            "error: nccl-tune: plugstack.conf: " +
                ParseError("fast", "default") +
                "; ignoring it\n"
                "error: nccl-tune: plugstack.conf: bad timeout_ms: got \"0\", expected 1 to 10000; ignoring "
                "it\n");
  EXPECT_EQ(host.UserInit(), 0);
  EXPECT_EQ(host.forks, 0);
}

TEST(PluginTest, WhatTheOptionSetsStandsOverTheEnvironment) {
  Host host;
  host.job = {{"NCCL_IB_TC", "1"}, {"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "LL"}, {"NCCL_SOCKET_IFNAME", "mine"}};
  RunStep(&host, "set=NCCL_IB_TC:106,unset=NCCL_ALGO,unset=NCCL_SOCKET_IFNAME,set=NCCL_DEBUG:WARN");
  EXPECT_EQ(host.task["NCCL_IB_TC"], "106");
  EXPECT_EQ(host.task["NCCL_DEBUG"], "WARN");
  EXPECT_EQ(host.task["NCCL_PROTO"], "LL");
  EXPECT_FALSE(host.task.contains("NCCL_ALGO"));
  EXPECT_FALSE(host.task.contains("NCCL_SOCKET_IFNAME"));
  EXPECT_FALSE(host.task.contains("GLOO_SOCKET_IFNAME")) << "it goes with NCCL_SOCKET_IFNAME";
  const auto plan = PlanOf(host);
  EXPECT_EQ(plan.set.at("NCCL_IB_TC"), "106");
  EXPECT_EQ(plan.forced, (std::set<std::string>{"NCCL_DEBUG", "NCCL_IB_TC"}));
  EXPECT_EQ(plan.removed, (std::set<std::string>{"NCCL_ALGO", "NCCL_SOCKET_IFNAME"}));
  EXPECT_EQ(host.log, "");
}

TEST(PluginTest, ASiteBoundsWhatTheOptionSets) {
  Host host;
  ASSERT_TRUE(host.loaded());
  host.job = {{"NCCL_ALGO", "Ring"}, {"NCCL_IB_TC", "1"}};
  host.Init({kPatient, "policy=" + WritePolicy("[variables]\ndeny = [\"NCCL_IB_TC\", \"NCCL_ALGO\"]\n")});
  EXPECT_EQ(host.Option("set=NCCL_IB_TC:106,unset=NCCL_ALGO", true), 0);
  EXPECT_EQ(host.UserInit(), 0);
  host.task = host.job;
  EXPECT_EQ(host.TaskInit(), 0);
  EXPECT_EQ(host.task["NCCL_IB_TC"], "1");
  EXPECT_EQ(host.task["NCCL_ALGO"], "Ring");
  const std::string denied = ": the site's policy does not let it be changed\n";
  EXPECT_EQ(host.log,
            FromThisNode("--nccl-tune=set=NCCL_IB_TC") + denied + FromThisNode("--nccl-tune=unset=NCCL_ALGO") + denied);
}

TEST(PluginTest, AWarningComesFromTheFirstNodeOnly) {
  for (const unsigned node : {0U, 1U}) {
    Host host;
    host.node_id = node;
    host.job = {{"NCCL_IB_TIMEOUT", "twenty"}};
    RunStep(&host, "auto");
    const std::string line = FromThisNode("NCCL_IB_TIMEOUT=twenty: text, which reads silently as 0, expected 14 to 31");
    EXPECT_EQ(host.log.starts_with(line), node == 0) << host.log;
    EXPECT_EQ(host.info.starts_with(line), node != 0) << host.info;
  }
}

// Runs task_init in a process of its own: its exit status, and what it said.
std::pair<int, std::string> EndedTask(Host* host, int task) {
  host->task_id = task;
  std::array<int, 2> ends;
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    host->log_to = ends[1];
    _exit(host->TaskInit() == 0 ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  for (char c; read(ends[0], &c, 1) == 1;) said += c;
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, said};
}

TEST(PluginTest, StrictEndsTheTasksAndTheFirstSaysWhy) {
  Host host;
  ASSERT_TRUE(host.loaded());
  host.job = {{"NCCL_IB_TIMEOUT", "twenty"}};
  host.Init({kPatient});
  EXPECT_EQ(host.Option("strict", true), 0);
  EXPECT_EQ(host.UserInit(), 0) << "an error there would drain the node";
  EXPECT_EQ(host.log, "");
  const auto [status, said] = EndedTask(&host, 0);
  EXPECT_EQ(status, 78);
  EXPECT_TRUE(said.starts_with(FromThisNode("strict: NCCL_IB_TIMEOUT=twenty: text, which reads silently as 0")))
      << said;
  EXPECT_NE(said.find("tasks end with status 78"), std::string::npos) << said;
  EXPECT_EQ(EndedTask(&host, 1), (std::pair<int, std::string>(78, "")));
}

TEST(PluginTest, StrictEndsTheTasksOfANodeThatCannotTell) {
  Host host;
  ASSERT_TRUE(host.loaded());
  host.has_environment = false;
  host.Init({"timeout_ms=1", "policy=" + WritePolicy("")});
  EXPECT_EQ(host.Option("strict", true), 0);
  EXPECT_EQ(host.UserInit(), 0);
  const auto [status, said] = EndedTask(&host, 0);
  // A fast machine may make it in time.
  EXPECT_TRUE((status == 78 && said.find("strict: no answer in time") != std::string::npos) ||
              (status == 0 && said.empty()) || said.find("strict: nothing could be decided") != std::string::npos)
      << status << said;
}

TEST(PluginTest, WhereSrunCollectsIsNoBusinessOfTheTask) {
  for (const char* mode : {"off", "auto", "explain"}) {
    Host host;
    host.job = {{"NCCL_TUNE_COLLECTOR", "1:0123456789abcdef0123456789abcdef:127.0.0.1"}};
    RunStep(&host, mode);
    EXPECT_FALSE(host.task.contains("NCCL_TUNE_COLLECTOR")) << mode;
    EXPECT_EQ(host.log.empty(), std::string(mode) != "explain") << "nobody listens there, so it says it itself";
  }
}

TEST(PluginTest, NothingThatSlurmRefusesStopsAStep) {
  Host host;
  ASSERT_TRUE(host.loaded());
  host.has_environment = false;
  host.Init({kPatient});
  host.Option("auto", true);
  EXPECT_EQ(host.UserInit(), 0);
  host.can_set = false;
  EXPECT_EQ(host.TaskInit(), 0);
  EXPECT_NE(host.log.find("error: nccl-tune: could not set NCCL_TUNE_PLAN\n"), std::string::npos) << host.log;
}

}  // namespace
}  // namespace nccl_tune::spank_test
