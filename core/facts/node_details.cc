// SPDX-License-Identifier: Apache-2.0
#include "core/facts/node_details.h"

#include "core/facts/number_text.h"

namespace nccl_tune::facts {
namespace {

// "16 GT/s x8", or the half of it that is known.
std::string Text(const PciLinkState& state) {
  std::string out = state.gigatransfers ? NumberText(*state.gigatransfers) + " GT/s" : "";
  if (state.width) out += (out.empty() ? "x" : " x") + std::to_string(*state.width);
  return out;
}

template <typename T>
bool IsLess(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b && *a < *b;
}

}  // namespace

bool PciLink::IsBelowMaximum() const {
  return IsLess(current.gigatransfers, maximum.gigatransfers) || IsLess(current.width, maximum.width);
}

std::string PciLink::ToString() const {
  const std::string now = Text(current);
  if (now.empty()) return "";
  return "PCIe " + now + (IsBelowMaximum() ? " of " + Text(maximum) : "");
}

}  // namespace nccl_tune::facts
