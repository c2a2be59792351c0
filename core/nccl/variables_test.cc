// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/variables.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::nccl {
namespace {

TEST(VariablesTest, TableIsComplete) {
  EXPECT_GE(AllVariables().size(), 90u);
  std::string_view before;
  for (const Variable& variable : AllVariables()) {
    EXPECT_LT(before, variable.name) << "sorted, each once";
    before = variable.name;
    EXPECT_FALSE(variable.purpose.empty()) << variable.name;
    EXPECT_FALSE(variable.section.empty()) << variable.name;
    EXPECT_EQ(variable.kind == VariableKind::kEnum, !variable.legal.empty()) << variable.name;
    EXPECT_EQ(variable.kind == VariableKind::kList, variable.syntax != ListSyntax::kNone) << variable.name;
    EXPECT_EQ(variable.kind == VariableKind::kInteger, variable.low < variable.high) << variable.name;
    EXPECT_TRUE(variable.hint.empty() || variable.hint.ends_with('.')) << variable.name;
    EXPECT_TRUE(variable.since == NcclVersion{} || variable.since.IsKnown()) << variable.name;
  }
}

TEST(VariablesTest, LookupIsExact) {
  ASSERT_NE(Lookup("NCCL_IB_HCA"), nullptr);
  EXPECT_EQ(Lookup("NCCL_IB_HCA")->syntax, ListSyntax::kHcas);
  EXPECT_EQ(Lookup("NCCL_IB_ADDR_RANGE")->since, (NcclVersion{2, 21, 0}));
  EXPECT_EQ(Lookup("NCCL_IB_RETRY_CNT")->high, 7);
  for (const char* name :
       {"", "NCCL_IB_HC", "NCCL_IB_HCAS", "nccl_ib_hca", "NCCL_IB_HCA ", "IB_HCA", "PATH", "NCCL_"}) {
    EXPECT_EQ(Lookup(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace nccl_tune::nccl
