// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/env/mpi_parameters.h"
#include "core/nccl/conf_file.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void TryOne(std::string_view text) {
  constexpr std::size_t kLongest = 1023;
  for (const nccl::NcclVersion version : {nccl::NcclVersion{2, 18, 0}, nccl::NcclVersion{2, 32, 0}}) {
    const auto file = nccl::ParseConfFile("/f", text, version);
    for (const auto& setting : file.settings) {
      Require(setting.value.size() <= kLongest, "a value is cut where NCCL cuts it", setting.value);
      Require(setting.line > 0 && !setting.name.empty(), "a setting has a line and a name");
    }
    for (const auto& remark : file.remarks)
      Require(IsPrintableLine(remark.what) && !remark.what.empty(), "a remark is one printable line", remark.what);
  }
  for (const auto& setting : env::ParseMpiParameters("/f", text).settings) {
    Require(setting.name.starts_with("OMPI_MCA_") && IsPrintableLine(setting.name), "a parameter is a variable",
            setting.name);
    Require(setting.value.find_first_of("#\n") == std::string::npos, "a value ends at its line", setting.value);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
