// SPDX-License-Identifier: Apache-2.0
#include "hw/read_dcb.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "base/result.h"
#include "hw/pci_text.h"

namespace nccl_tune::hw {
namespace {

// The text of a file that most drivers do not have; empty where it cannot be read.
std::optional<std::string> ReadOptional(const Tree& tree, const std::string& path, std::vector<facts::Note>* notes) {
  const auto text = tree.Read(path);
  if (text.ok()) return std::string(base::Trim(*text));
  if (text.error().code == base::Code::kNotFound) return std::nullopt;
  notes->push_back({.where = path, .what = text.error().what});
  return "";
}

// Of OFED's file: empty while nothing is set. Rules for single peers without a class for all are more than is
// understood here.
std::optional<std::string> ReadHostClass(const Tree& tree, const std::string& path, std::vector<facts::Note>* notes) {
  const auto text = tree.Read(path);
  if (!text.ok() && text.error().code == base::Code::kNotFound) return std::nullopt;
  if (text.ok() && base::Trim(*text).empty()) return std::nullopt;
  const auto number = text.ok() ? ParseTrafficClass(*text) : text.error();
  if (number.ok()) return *number ? std::to_string(**number) : "";
  notes->push_back({.where = path, .what = number.error().ToString()});
  return "";
}

class Reader {
 public:
  Reader(const Tree& tree, const DcbSource& ask, facts::Node* node) : tree_(tree), ask_(ask), node_(node) {}

  void Run() {
    for (auto& hca : node_->hcas) {
      if (hca.is_software || hca.node_type != facts::NodeType::kChannelAdapter) continue;
      for (auto& port : hca.ports) {
        const bool roce = port.state == facts::PortState::kActive && port.link_layer == facts::LinkLayer::kEthernet;
        if (roce && port.netdev && AskFor(*port.netdev)) {
          port.host_traffic_class = ReadHostClass(
              tree_, "sys/class/infiniband/" + hca.name + "/tc/" + std::to_string(port.number) + "/traffic_class",
              &node_->notes);
        }
      }
    }
  }

 private:
  facts::Netdev* Find(const std::string& name) {
    const auto found =
        std::find_if(node_->netdevs.begin(), node_->netdevs.end(), [&](const auto& n) { return n.name == name; });
    return found == node_->netdevs.end() ? nullptr : &*found;
  }

  // Whether it, or a member of it, has a lossless priority.
  bool AskFor(const std::string& name) {
    facts::Netdev* netdev = Find(name);
    if (netdev == nullptr) return false;
    if (netdev->kind != facts::NetdevKind::kBond) return AskOne(netdev);
    bool out = false;
    for (const auto& member : netdev->members) {
      facts::Netdev* below = Find(member);
      if (below != nullptr && AskOne(below)) out = true;
    }
    return out;
  }

  bool AskOne(facts::Netdev* netdev) {
    if (asked_.insert(netdev->name).second) {
      netdev->dcb = ask_(netdev->name, &node_->notes);
      if (netdev->dcb && netdev->dcb->pfc != 0)
        netdev->dcb->trust = ReadOptional(tree_, "sys/class/net/" + netdev->name + "/qos/trust", &node_->notes);
    }
    return netdev->dcb && netdev->dcb->pfc != 0;
  }

  const Tree& tree_;
  const DcbSource& ask_;
  facts::Node* node_;
  std::set<std::string> asked_;
};

}  // namespace

void ReadDcb(const Tree& tree, const DcbSource& ask, facts::Node* node) {
  if (ask) Reader(tree, ask, node).Run();
}

}  // namespace nccl_tune::hw
