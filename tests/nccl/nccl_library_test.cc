// SPDX-License-Identifier: Apache-2.0
#include "tests/nccl/nccl_library.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::nccl_judge {
namespace {

TEST(NcclLibraryTest, TakenInterface) {
  const struct {
    const char* log;
    const char* taken;
  } rows[] = {
      {"h:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.5<0>\n", "eth0 10.0.0.5"},
      {"h:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.5<0>\nmore\n", "eth0 10.0.0.5"},
      {"x\nh:1:1 [0] NCCL INFO Bootstrap: Using eth0:fe80::5%eth0<0>", "eth0 fe80::5"},
      {"h:1:1 [0] NCCL INFO Bootstrap: Using ens5f0.3003:2001:db8::5<43211>\n", "ens5f0.3003 2001:db8::5"},
      {"", ""},
      {"h:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.5<0>\n", ""},
      {"Bootstrap: Using ", ""},
      {"Bootstrap: Using eth0", ""},
      {"Bootstrap: Using eth0:10.0.0.5", ""},
      {"Bootstrap: Using eth0<0>:10.0.0.5", ""},
      {"Bootstrap: Using eth0:10.0.\n0.5<0>", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(TakenInterface(row.log), row.taken) << row.log;
}

TEST(NcclLibraryTest, LastWarning) {
  EXPECT_EQ(LastWarning("a NCCL WARN one\nb NCCL WARN two, three\nc NCCL INFO four\n"), "two, three");
  EXPECT_EQ(LastWarning("NCCL WARN no end"), "no end");
  EXPECT_EQ(LastWarning("NCCL INFO x\n"), "");
  EXPECT_EQ(LastWarning(""), "");
}

TEST(NcclLibraryTest, NoLibrary) {
  const auto missing = OpenNccl("/proc/nonexistent/libnccl.so.2");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, base::Code::kNotFound);
  EXPECT_EQ(missing.error().what, "no libnccl.so.2");
  const auto other = OpenNccl("libc.so.6");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().what, "this library is no NCCL");
}

TEST(NcclLibraryTest, AnEmptyLog) {
  const auto log = Log::Open();
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->Text(), "");
}

}  // namespace
}  // namespace nccl_tune::nccl_judge
