// SPDX-License-Identifier: Apache-2.0
#include "hw/read_gpus.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/test_machine.h"

namespace nccl_tune::hw {
namespace {

using Notes = std::vector<facts::Note>;

// The GPUs of a machine with these lines below the folder of PCI devices, in one line.
std::string Read(const std::string& lines, Notes* notes) {
  const auto capture = ParseMachine("nccl-tune-capture 1\nin sys/bus/pci/devices\n" + lines + "\n");
  std::string out;
  for (const auto& gpu : ReadGpus(CaptureTree(capture), notes)) {
    out += (out.empty() ? "" : " | ") + gpu.pci.ToString() +
           (gpu.vendor == facts::GpuVendor::kNvidia ? " nvidia" : " amd") +
           (gpu.numa_node ? " numa" + std::to_string(*gpu.numa_node) : "");
    for (const auto& pci : gpu.pci_path) out += " below " + pci.ToString();
  }
  return out;
}

TEST(ReadGpusTest, TakesThemByClassAndVendor) {
  const struct {
    const char* lines;
    const char* gpus;
  } rows[] = {
      {"0000:02:00.0/class = 0x030200\n0000:02:00.0/vendor = 0x10de", "0000:02:00.0 nvidia"},
      {"0000:02:00.0/class = 0x030000\n0000:02:00.0/vendor = 0x10de", "0000:02:00.0 nvidia"},
      {"0000:02:00.0/class = 0x120000\n0000:02:00.0/vendor = 0x1002", "0000:02:00.0 amd"},
      {"0000:02:00.0/class = 0x038000\n0000:02:00.0/vendor = 0x1002", "0000:02:00.0 amd"},
      {"0000:02:00.0/class = 0x030200\n0000:02:00.0/vendor = 0x8086", ""},
      {"0000:02:00.0/class = 0x020000\n0000:02:00.0/vendor = 0x10de", ""},
      {"0000:02:00.1/class = 0x040300\n0000:02:00.1/vendor = 0x10de", ""},
      {"10000:02:00.0/class = 0x030200\n10000:02:00.0/vendor = 0x10de\n0000:ff:00.0/class = 0x030200\n"
       "0000:ff:00.0/vendor = 0x10de\n0000:ff:00.0/numa_node = 1",
       "0000:ff:00.0 nvidia numa1 | 10000:02:00.0 nvidia"},
      {"0000:02:00.0/class = 0x030200\n0000:02:00.0/vendor = 0x10de\n0000:02:00.0/numa_node = -1",
       "0000:02:00.0 nvidia"},
      {"0000:04:00.0 -> ../../../devices/pci0000:00/0000:00:04.0/0000:04:00.0\nin sys/devices/pci0000:00/0000:00:04.0\n"
       "0000:04:00.0/class = 0x030200\n0000:04:00.0/vendor = 0x10de",
       "0000:04:00.0 nvidia below 0000:00:04.0"},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(Read(row.lines, &notes), row.gpus) << row.lines;
    EXPECT_TRUE(notes.empty()) << row.lines;
  }
}

TEST(ReadGpusTest, OddDevicesCostThemselvesOnly) {
  const std::string good = "\n0000:09:00.0/class = 0x030200\n0000:09:00.0/vendor = 0x10de";
  const struct {
    const char* lines;
    const char* before;  // the GPU that the odd lines give, if they do
    const char* note;
  } rows[] = {
      {"0000:02:00.0/vendor = 0x10de", "", ""},
      {"0000:02:00.0/class = 0x030200", "", "0000:02:00.0/vendor: No such file or directory"},
      {"0000:02:00.0/class = 0x030200\n0000:02:00.0/vendor = nvidia", "", "0000:02:00.0/vendor: not a whole number"},
      {"0000:02:00.0/class = 0x030200\n0000:02:00.0/vendor ! EIO", "", "0000:02:00.0/vendor: EIO"},
      {"0000:02:00.0/class = vga\n0000:02:00.0/vendor = 0x10de", "",
       "0000:02:00.0/class: not a whole number: got \"vga\""},
      {"0000:02:00.0/class ! EACCES\n0000:02:00.0/vendor = 0x10de", "", "0000:02:00.0/class: EACCES"},
      {"gpu0/class = 0x030200\ngpu0/vendor = 0x10de", "", ""},
      {"0000:02:00.8/class = 0x030200\n0000:02:00.8/vendor = 0x10de", "", ""},
      {"0000:02:00.0 -> ../nowhere", "", ""},
      {"0000:02:00.0/class = 0x030200\n0000:02:00.0/vendor = 0x10de\n0000:02:00.0/numa_node = x",
       "0000:02:00.0 nvidia | ", "0000:02:00.0/numa_node: not a whole number"},
  };
  for (const auto& row : rows) {
    Notes notes;
    EXPECT_EQ(Read(row.lines + good, &notes), std::string(row.before) + "0000:09:00.0 nvidia") << row.lines;
    ASSERT_EQ(notes.size(), std::string(row.note).empty() ? 0u : 1u) << row.lines;
    if (!notes.empty()) {
      const std::string got = notes[0].where + ": " + notes[0].what;
      EXPECT_TRUE(got.starts_with("sys/bus/pci/devices/" + std::string(row.note))) << got;
    }
  }
}

TEST(ReadGpusTest, NoPciIsNormalAndAClosedFolderIsNot) {
  Capture capture;
  capture.entries["sys/class/net/lo/mtu"] = CaptureFile{"1\n"};
  const CaptureTree none(capture);
  Notes notes;
  EXPECT_TRUE(ReadGpus(none, &notes).empty());
  EXPECT_TRUE(notes.empty());
  EXPECT_TRUE(ReadGpus(SpoiltTree(none, "sys/bus/pci/devices", base::Code::kForbidden), &notes).empty());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].where, "sys/bus/pci/devices");
}

}  // namespace
}  // namespace nccl_tune::hw
