// SPDX-License-Identifier: Apache-2.0
#include "core/facts/node_details.h"

#include <gtest/gtest.h>

#include <optional>

namespace nccl_tune::facts {
namespace {

constexpr std::nullopt_t kNone = std::nullopt;

TEST(PciLinkTest, SaysWhenItIsBelowItsMaximum) {
  const struct {
    PciLink link;
    bool below;
    const char* text;
  } rows[] = {
      {{.current = {32, 16}, .maximum = {32, 16}}, false, "PCIe 32 GT/s x16"},
      {{.current = {16, 8}, .maximum = {32, 16}}, true, "PCIe 16 GT/s x8 of 32 GT/s x16"},
      {{.current = {32, 8}, .maximum = {32, 16}}, true, "PCIe 32 GT/s x8 of 32 GT/s x16"},
      {{.current = {2.5, 16}, .maximum = {32, 16}}, true, "PCIe 2.5 GT/s x16 of 32 GT/s x16"},
      {{.current = {64, 16}, .maximum = {32, 16}}, false, "PCIe 64 GT/s x16"},
      {{.current = {32, 16}, .maximum = {kNone, kNone}}, false, "PCIe 32 GT/s x16"},
      {{.current = {kNone, kNone}, .maximum = {32, 16}}, false, ""},
      {{.current = {kNone, 4}, .maximum = {kNone, 16}}, true, "PCIe x4 of x16"},
      {{.current = {8, kNone}, .maximum = {16, 16}}, true, "PCIe 8 GT/s of 16 GT/s x16"},
      {{.current = {kNone, kNone}, .maximum = {kNone, kNone}}, false, ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.link.ToString(), row.text);
    EXPECT_EQ(row.link.IsBelowMaximum(), row.below) << row.text;
  }
}

}  // namespace
}  // namespace nccl_tune::facts
