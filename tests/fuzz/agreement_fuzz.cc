// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/env/plan.h"
#include "launcher/agreement.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/node_from_bytes.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// An agreement, a plan, then a node and who has changed what.
void TryOne(ByteReader bytes) {
  const std::string text(bytes.Line());
  const std::string plan_text(bytes.Line());
  const auto agreement = launcher::DecodeAgreement(text);
  if (!agreement.ok()) {
    RequireReadable(agreement.error());
    return;
  }
  const std::string written = launcher::EncodeAgreement(*agreement);
  const auto again = launcher::DecodeAgreement(written);
  Require(again.ok() && *again == *agreement, "an agreement is read as it is written", written);
  const auto plan = env::ParsePlan(plan_text);
  base::Environment environment;
  if (plan.ok()) environment = plan->set;
  environment["NCCL_TUNE_PLAN"] = plan_text;
  if (bytes.Flag()) environment["NCCL_IB_HCA"] = "mine";
  if (bytes.Flag()) environment["NCCL_SOCKET_IFNAME"] = "mine";
  const auto before = environment;
  const auto node = NodeFromBytes(&bytes);
  for (const auto& line : launcher::ApplyAgreement(*agreement, node, &environment))
    Require(IsPrintableLine(line), "a line is printable", line);
  for (const char* name : {"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"}) {
    const bool theirs = base::Lookup(before, name) == "mine" && !(plan.ok() && base::Lookup(plan->set, name) == "mine");
    Require(!theirs || base::Lookup(environment, name) == "mine", "what the user has set stays", name);
  }
  const auto hca = base::Lookup(environment, "NCCL_IB_HCA");
  Require(hca == base::Lookup(before, "NCCL_IB_HCA") || (hca && hca->starts_with('=') && hca->size() > 1),
          "a list that is changed stays exact", hca.value_or("unset"));
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
