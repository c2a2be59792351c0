// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "core/nccl/hca_selection.h"
#include "core/nccl/interface_order.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/node_from_bytes.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

void RequireSound(const facts::Node& node, const nccl::InterfaceOrder& order) {
  Require(order.interfaces.size() <= 16, "NCCL keeps 16 interfaces");
  Require(!order.reason.empty() && IsPrintableLine(order.reason), "an order has a reason", order.reason);
  const bool none = order.step == nccl::InterfaceStep::kNone || order.step == nccl::InterfaceStep::kUnresolved;
  Require(order.interfaces.empty() == none, "nothing found, nothing taken", order.reason);
  for (const auto& taken : order.interfaces) {
    Require(node.FindNetdev(taken.name) != nullptr, "an interface is the node's", taken.name);
  }
}

// What NCCL would do on a node, by our model.
void TryOne(ByteReader bytes) {
  const auto version = VersionFromBytes(&bytes);
  const auto environment = EnvironmentFromBytes(&bytes);
  const auto node = NodeFromBytes(&bytes);
  RequireSound(node, nccl::OrderInterfaces(node, version, environment));
  const auto bootstrap = nccl::ChooseBootstrap(node, version, environment);
  RequireSound(node, bootstrap);
  Require(bootstrap.interfaces.size() <= 1, "bootstrap takes one");
  const auto hcas = nccl::SelectHcas(node, version, environment);
  std::size_t ports = 0;
  for (const auto& hca : node.hcas) ports += hca.ports.size();
  Require(hcas.ports.size() == ports, "every port is judged");
  Require(hcas.Taken().size() <= 32, "NCCL keeps 32 ports");
  Require(hcas.transport_off.empty() || hcas.Taken().empty(), "a transport that is off takes none");
  for (const auto& port : hcas.ports)
    Require(!nccl::Explain(port.verdict).empty() || port.verdict == nccl::PortVerdict::kTaken, "a verdict is told");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
