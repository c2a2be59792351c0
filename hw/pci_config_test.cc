// SPDX-License-Identifier: Apache-2.0
#include "hw/pci_config.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

namespace nccl_tune::hw {
namespace {

using facts::Tristate;

// A space of `size` bytes, zero but for these, and for a vendor at its start.
std::string Config(std::size_t size, std::initializer_list<std::pair<std::size_t, int>> bytes) {
  std::string out(size, '\0');
  out[0] = '\xb3';
  out[1] = '\x15';
  for (const auto& [at, value] : bytes) out.at(at) = static_cast<char>(value);
  return out;
}

TEST(PciConfigTest, RelaxedOrdering) {
  const struct {
    const char* what;
    std::string config;
    Tristate expected;
  } rows[] = {
      {"set", Config(256, {{0x34, 0x60}, {0x60, 0x10}, {0x68, 0x10}}), Tristate::kYes},
      {"set, second in the list", Config(256, {{0x34, 0x40}, {0x40, 0x01}, {0x41, 0x60}, {0x60, 0x10}, {0x68, 0x30}}),
       Tristate::kYes},
      {"set, reserved bits in the pointer", Config(256, {{0x34, 0x63}, {0x60, 0x10}, {0x68, 0x10}}), Tristate::kYes},
      {"not set", Config(256, {{0x34, 0x60}, {0x60, 0x10}, {0x68, 0x2f}}), Tristate::kNo},
      {"an ordinary user's 64 bytes", Config(64, {{0x34, 0x60}}), Tristate::kUnknown},
      {"no list", Config(256, {}), Tristate::kUnknown},
      {"no such capability", Config(256, {{0x34, 0x40}, {0x40, 0x01}}), Tristate::kUnknown},
      {"a list that loops", Config(256, {{0x34, 0x40}, {0x40, 0x01}, {0x41, 0x40}}), Tristate::kUnknown},
      {"a list into the header", Config(256, {{0x34, 0x3c}, {0x3c, 0x10}}), Tristate::kUnknown},
      {"cut before the control word", Config(0x69, {{0x34, 0x60}, {0x60, 0x10}, {0x68, 0x10}}), Tristate::kUnknown},
      {"a function that does not answer", std::string(256, '\xff'), Tristate::kUnknown},
      {"one byte", "x", Tristate::kUnknown},
      {"empty", "", Tristate::kUnknown},
  };
  for (const auto& row : rows) EXPECT_EQ(RelaxedOrderingOf(row.config), row.expected) << row.what;
}

TEST(PciConfigTest, AcsRedirect) {
  // An extended capability's header: id in the low 16 bits, the next one's place in the upper 12.
  const struct {
    const char* what;
    std::string config;
    Tristate expected;
  } rows[] = {
      {"request redirect", Config(4096, {{0x100, 0x0d}, {0x106, 0x04}}), Tristate::kYes},
      {"completion redirect", Config(4096, {{0x100, 0x0d}, {0x106, 0x08}}), Tristate::kYes},
      {"upstream forwarding", Config(4096, {{0x100, 0x0d}, {0x106, 0x10}}), Tristate::kYes},
      {"the second capability", Config(4096, {{0x100, 0x01}, {0x103, 0x15}, {0x150, 0x0d}, {0x156, 0x1d}}),
       Tristate::kYes},
      {"source validation only", Config(4096, {{0x100, 0x0d}, {0x106, 0x01}}), Tristate::kNo},
      {"capable, but off", Config(4096, {{0x100, 0x0d}, {0x104, 0x1f}}), Tristate::kNo},
      {"no extended capability", Config(4096, {}), Tristate::kNo},
      {"others only", Config(4096, {{0x100, 0x01}, {0x103, 0x15}, {0x150, 0x03}}), Tristate::kNo},
      {"a list that loops", Config(4096, {{0x100, 0x01}, {0x103, 0x10}}), Tristate::kNo},
      {"an ordinary user's 64 bytes", Config(64, {}), Tristate::kUnknown},
      {"without the extended part", Config(256, {}), Tristate::kUnknown},
      {"an extended part that does not answer", Config(256, {}) + std::string(3840, '\xff'), Tristate::kUnknown},
      {"a list that leads to the last bytes",
       Config(4096, {{0x100, 0x01}, {0x102, 0xc0}, {0x103, 0xff}, {0xffc, 0x0d}}), Tristate::kUnknown},
      {"a function that does not answer", std::string(4096, '\xff'), Tristate::kUnknown},
      {"empty", "", Tristate::kUnknown},
  };
  for (const auto& row : rows) EXPECT_EQ(AcsRedirectOf(row.config), row.expected) << row.what;
}

}  // namespace
}  // namespace nccl_tune::hw
