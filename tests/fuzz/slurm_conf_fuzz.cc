// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/capture_tree.h"
#include "site/slurm_conf.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// The text is slurm.conf and the file that it may include, so that a circle is possible.
void TryOne(std::string_view text) {
  hw::Capture capture;
  for (const char* path : {"etc/slurm/slurm.conf", "etc/slurm/nodes.conf"})
    capture.entries.emplace(path, hw::CaptureFile{std::string(text)});
  std::vector<facts::Note> notes;
  const auto features = site::ReadNodeFeatures(hw::CaptureTree(std::move(capture)), "", "node01", &notes);
  Require(features.has_value() != (notes.size() == 1), "either features or one note");
  for (const auto& note : notes) Require(IsPrintableLine(note.what), "a note is one printable line", note.what);
  if (!features) return;
  for (const auto& feature : *features)
    Require(!feature.empty() && feature.find_first_of(",\n") == std::string::npos, "a feature is one word", feature);
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
