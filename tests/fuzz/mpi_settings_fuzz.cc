// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/mpi_settings.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// Open MPI's parameter file, as a user may have written it.
void TryOne(std::string_view text) {
  bench::MpiFacts facts{.parameter_files = {std::string(text)}, .ranks = 4, .local_ranks = 2};
  facts.usable_cores = facts.online_cores = 4;
  for (const auto& setting : bench::ChooseMpiSettings(facts)) {
    Require(!setting.name.empty() && !setting.why.empty(), "a setting has a reason", setting.name);
    Require(IsPrintableLine(setting.value), "a value is one printable line", setting.value);
  }
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::AsText(data, size));
  return 0;
}
