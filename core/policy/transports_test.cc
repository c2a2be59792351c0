// SPDX-License-Identifier: Apache-2.0
#include "core/policy/transports.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/policy/test_nodes.h"

namespace nccl_tune::policy {
namespace {

std::string Show(const std::vector<Transport>& all) {
  std::string out;
  for (const auto& t : all) {
    EXPECT_FALSE(t.what.empty() || t.what.ends_with('.')) << t.name;
    out += (out.empty() ? "" : " | ") + t.name + ": " + t.evidence.where + " = " + t.evidence.value;
  }
  return out;
}

TEST(TransportsTest, ByTheirDrivers) {
  const auto netdev = [](const char* driver) { return [=](facts::Node* n) { n->netdevs.back().driver = driver; }; };
  const struct {
    const char* what;
    std::function<void(facts::Node*)> change;
    const char* shown;
  } rows[] = {
      {"a server", [](facts::Node*) {}, ""},
      {"nothing", [](facts::Node* n) { *n = facts::Node{}; }, ""},
      {"EFA", [](facts::Node* n) { n->hcas[0].driver = "efa"; },
       "AWS EFA: sys/class/infiniband/mlx5_2/device/driver = efa"},
      {"gVNIC beside RoCE",
       [](facts::Node* n) {
         n->gpus.resize(1);
         n->netdevs[1].driver = "gve";
       },
       "Google gIB: sys/class/net/eno1/device/driver = gve"},
      {"gVNIC alone",
       [](facts::Node* n) {
         n->gpus.resize(1);
         n->hcas.clear();
         n->netdevs[1].driver = "gve";
       },
       "Google GPUDirect-TCPX: sys/class/net/eno1/device/driver = gve"},
      {"gVNIC without a GPU", netdev("gve"), ""},
      {"Slingshot", netdev("cxi_ss1"), "HPE Slingshot: sys/class/net/ens5f1/device/driver = cxi_ss1"},
      {"a name that looks like one", [](facts::Node* n) { n->netdevs.back().name = "hsn0"; }, ""},
      {"a device that is called efa_0", [](facts::Node* n) { n->hcas[0].name = "efa_0"; }, ""},
  };
  for (const auto& row : rows) {
    facts::Node node = MakeServer();
    row.change(&node);
    EXPECT_EQ(Show(RecognizeTransports(node)), row.shown) << row.what;
  }
}

}  // namespace
}  // namespace nccl_tune::policy
