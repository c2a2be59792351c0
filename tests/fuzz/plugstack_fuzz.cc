// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "hw/capture_tree.h"
#include "hw/elf_number.h"
#include "site/plugstack.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// The text is plugstack.conf and a file that it may include, and a plugin that it may name.
void TryOne(std::string_view text) {
  hw::Capture capture;
  for (const char* path : {"etc/slurm/plugstack.conf", "etc/slurm/plugstack.conf.d/a.conf"})
    capture.entries.emplace(path, hw::CaptureFile{std::string(text)});
  const auto found = site::ReadPlugstack(hw::CaptureTree(std::move(capture)), "etc/slurm/plugstack.conf");
  Require(found.is_read, "the file is there");
  for (const auto& line : found.lines) {
    Require(line.line > 0 && !line.file.empty(), "a line has its place");
    Require(line.path.find("nccl_tune") != std::string::npos, "a line of ours names our plugin", line.path);
    for (const auto& argument : line.arguments)
      Require(!argument.empty() && argument.find_first_of(" \t#\n") == std::string::npos, "an argument is a word",
              argument);
  }
  const auto number = hw::ReadElfNumber(text, "plugin_version");
  if (!number.ok()) RequireReadable(number.error());
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
