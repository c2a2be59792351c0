// SPDX-License-Identifier: Apache-2.0
#include "hw/read_device.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/test_machine.h"

namespace nccl_tune::hw {
namespace {

using Notes = std::vector<facts::Note>;

TEST(DeviceReaderTest, EachFactOrNothing) {
  const struct {
    const char* lines;  // below sys/devices/a
    const char* facts;  // NUMA node and driver
    const char* note;
  } rows[] = {
      {"numa_node = 1\ndriver -> ../../bus/x", "1 x", ""},
      {"numa_node = 0", "0 ", ""},
      {"numa_node = -1\ndriver -> ../../bus/x", "? x", ""},
      {"class = 1", "? ", ""},
      {"driver -> ../../bus/none", "? ", ""},
      {"numa_node = one", "? ", "not a whole number: got \"one\", expected decimal digits"},
      {"numa_node =", "? ", "not a whole number: got \"\", expected decimal digits"},
      {"numa_node = 99999999999", "? ", "number out of range: got \"99999999999\""},
      {"numa_node ! EACCES", "? ", "EACCES"},
      {"numa_node ! EIO", "? ", "EIO"},
  };
  for (const auto& row : rows) {
    const CaptureTree tree(
        ParseMachine("nccl-tune-capture 1\nin sys/bus\nx /\nin sys/devices/a\n" + std::string(row.lines) + "\n"));
    Notes notes;
    DeviceReader reader;
    const auto& got = reader.Read(tree, "sys/devices/a", &notes);
    EXPECT_EQ((got.numa_node ? std::to_string(*got.numa_node) : "?") + " " + got.driver, row.facts) << row.lines;
    EXPECT_EQ(notes.empty() ? "" : notes[0].what, row.note) << row.lines;
  }
}

TEST(DeviceReaderTest, ReadsADeviceOnceAndNotesItOnce) {
  const CaptureTree whole(ParseMachine("nccl-tune-capture 1\nin sys/devices\na/numa_node = x\nb/numa_node = 1\n"));
  const CountingTree tree(whole);
  Notes notes;
  DeviceReader reader;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(reader.Read(tree, "sys/devices/a", &notes).numa_node);
    EXPECT_EQ(reader.Read(tree, "sys/devices/b", &notes).numa_node, 1);
  }
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_EQ(tree.reads().at("sys/devices/a/numa_node"), 1);
  EXPECT_EQ(tree.reads().at("sys/devices/b/numa_node"), 1);
}

}  // namespace
}  // namespace nccl_tune::hw
