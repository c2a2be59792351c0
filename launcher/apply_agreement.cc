// SPDX-License-Identifier: Apache-2.0
//
// ApplyAgreement: an agreement onto one node's variables and its plan.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/json.h"
#include "core/env/plan.h"
#include "core/env/short_json.h"
#include "core/nccl/name_list.h"
#include "core/policy/choose_bootstrap.h"
#include "core/policy/decide.h"
#include "core/policy/steer_gid.h"
#include "launcher/agreement.h"
#include "launcher/rails.h"

namespace nccl_tune::launcher {
namespace {

using base::Environment;
using Value = std::optional<std::string>;

constexpr const char* kHca = "NCCL_IB_HCA";
constexpr const char* kInterface = "NCCL_SOCKET_IFNAME";
constexpr const char* kClass = "NCCL_IB_TC";
constexpr const char* kFifoClass = "NCCL_IB_FIFO_TC";

class Applier {
 public:
  Applier(const facts::Node& node, env::PlanSummary plan, Environment* environment)
      : node_(node),
        plan_(std::move(plan)),
        ports_(plan_.ports),
        interface_(plan_.interface),
        environment_(environment) {}

  void DropRails(const Agreement& agreement) {
    if (!IsOurs(kHca)) return;
    const auto rails = DescribeRails(node_, plan_.ports);
    const auto size = DescribeLayout(node_, plan_.ports).size();
    std::vector<env::PlanPort> left;
    for (std::size_t i = 0; i < plan_.ports.size(); ++i) {
      const auto network = i < rails.size() ? rails[i].network : std::nullopt;
      const bool by_network = network && Has(agreement.drop_networks, network->ToString());
      const auto place = size == agreement.layout_size ? FindPlace(node_, plan_.ports[i]) : std::nullopt;
      if (!by_network && (!place || !Has(agreement.drop_places, *place))) left.push_back(plan_.ports[i]);
    }
    const auto list = ListOf(left);
    if (left.size() == plan_.ports.size() || !list) return;  // a list of none would mean all
    ports_ = std::move(left);
    Change(kHca, list);
    Follow("NVSHMEM_HCA_LIST", list->substr(1));
    FollowUcx();
  }

  void TakeFamily(int family) {
    std::vector<std::pair<const facts::Hca*, const facts::IbPort*>> found;
    for (const auto& port : ports_) {
      for (const auto& hca : node_.hcas) {
        for (const auto& candidate : hca.ports) {
          if (hca.name == port.hca && candidate.number == port.port) found.emplace_back(&hca, &candidate);
        }
      }
    }
    std::vector<policy::PortRef> refs;
    for (const auto& [hca, port] : found) {
      const auto* gid = FindGid(node_, *port, family);
      if (gid != nullptr) refs.push_back({.hca = hca, .port = port, .gid = gid});
    }
    if (!IsOurs(kHca) || refs.empty() || refs.size() != ports_.size()) return;
    for (std::size_t i = 0; i < refs.size(); ++i) ports_[i].gid = refs[i].gid->index;
    // An index where the plan had one, as the site's policy may want none.
    const auto steering = policy::SteerGid(refs, plan_.set.contains("NCCL_IB_GID_INDEX"));
    const Value index = steering.index ? Value(std::to_string(*steering.index)) : std::nullopt;
    const bool by_address = steering.means == policy::GidMeans::kAddress;
    const Value range = by_address && steering.range ? Value(steering.range->ToString()) : std::nullopt;
    const Value name = by_address && steering.ipv6 ? Value("AF_INET6") : std::nullopt;
    for (const auto& [end, value] :
         {std::pair("_IB_GID_INDEX", index), std::pair("_IB_ADDR_FAMILY", name), std::pair("_IB_ADDR_RANGE", range)}) {
      Change(std::string("NCCL") + end, value);
      if (IsOurs("NVSHMEM_HCA_LIST")) Change(std::string("NVSHMEM") + end, value);
    }
  }

  void TakeClass(const std::string& value) {
    if (!IsOurs(kHca)) return;
    const Value wanted = value.empty() ? std::nullopt : Value(value);
    Change(kClass, wanted);
    Change(kFifoClass, wanted);
  }

  void FallBack() {
    if (!IsOurs(kInterface)) return;
    const auto bootstrap = policy::ChooseBootstrap(node_, policy::PortSelection{});
    const facts::Netdev* netdev = node_.address ? bootstrap.netdev : nullptr;
    const bool has = netdev != nullptr && std::any_of(netdev->addresses.begin(), netdev->addresses.end(),
                                                      [&](auto& a) { return a.prefix.address == *node_.address; });
    Value list;
    if (has) {
      auto formatted = nccl::FormatExactList({{netdev->name, std::nullopt}}, nccl::kInterfaceListLimit);
      if (formatted.ok()) list = *std::move(formatted);
    }
    interface_ = list ? Value(netdev->name) : std::nullopt;
    plan_.address = list ? Value(node_.address->ToString()) : std::nullopt;
    Change(kInterface, list);
    for (const auto& rule : policy::Rules()) {
      const std::string name(rule.variable);
      if (policy::Follows(rule, kInterface) && name != "UCX_NET_DEVICES") Follow(name, interface_);
    }
    FollowUcx();
  }

  // Writes the changed plan; what was done.
  std::vector<std::string> Finish(base::Json json) {
    std::vector<std::string> lines;
    for (const auto& [name, value] : changed_)
      lines.push_back(base::Printable(value ? name + "=" + *value : name + " unset"));
    if (changed_.empty()) return lines;
    for (const auto& [name, value] : changed_) {
      if (value)
        json["set"][name] = *value;
      else
        json["set"].erase(name);
      if (json.contains("why") && json["why"].is_object()) json["why"].erase(name);
    }
    SetOrErase(&json, "if", interface_);
    SetOrErase(&json, "addr", plan_.address);
    WritePorts(&json);
    auto text = env::ShortJson(std::move(json));
    if (text.ok()) (*environment_)[std::string(env::kPlanVariable)] = *std::move(text);
    return lines;
  }

 private:
  template <typename List, typename T>
  static bool Has(const List& list, const T& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  static void SetOrErase(base::Json* json, const char* key, const Value& value) {
    if (value)
      (*json)[key] = *value;
    else
      json->erase(key);
  }

  static Value ListOf(const std::vector<env::PlanPort>& ports) {
    std::vector<nccl::NamedPort> named;
    for (const auto& port : ports) named.push_back({port.hca, port.port});
    auto list = nccl::FormatExactList(named);
    return list.ok() ? Value(*std::move(list)) : std::nullopt;
  }

  bool IsOurs(const std::string& name) const {
    const auto now = base::Lookup(*environment_, name);
    return now && now == base::Lookup(plan_.set, name) && !plan_.forced.contains(name);
  }

  // Ours, or set by nobody: neither the user's, nor asked for or taken away by an option.
  bool IsFree(const std::string& name) const {
    if (plan_.removed.contains(name) || plan_.kept.contains(name)) return false;
    return !environment_->contains(name) || IsOurs(name);
  }

  void Change(const std::string& name, const Value& value) {
    if (!IsFree(name) || base::Lookup(*environment_, name) == value) return;
    if (value) {
      (*environment_)[name] = *value;
      plan_.set[name] = *value;
    } else {
      environment_->erase(name);
      plan_.set.erase(name);
    }
    changed_[name] = value;
  }

  // Only what the plan had set already.
  void Follow(const std::string& name, const Value& value) {
    if (IsOurs(name)) Change(name, value);
  }

  void FollowUcx() {
    const auto list = ListOf(ports_);
    Follow("UCX_NET_DEVICES", list && interface_ ? Value(list->substr(1) + "," + *interface_) : std::nullopt);
  }

  void WritePorts(base::Json* json) const {
    base::Json out = base::Json::array();
    const base::Json& before = base::GetMember(*json, "ports");
    for (const auto& port : ports_) {
      for (const base::Json& entry : before) {
        if (base::GetString(entry, "hca") != port.hca || base::GetInteger(entry, "port") != port.port) continue;
        out.push_back(entry);
        if (port.gid) out.back()["gid"] = *port.gid;
        break;
      }
    }
    (*json)["ports"] = std::move(out);
  }

  const facts::Node& node_;
  env::PlanSummary plan_;
  std::vector<env::PlanPort> ports_;  // those that are left
  Value interface_;
  Environment* environment_;
  std::map<std::string, Value> changed_;
};

}  // namespace

std::vector<std::string> ApplyAgreement(const Agreement& agreement, const facts::Node& node, Environment* environment) {
  const auto text = base::Lookup(*environment, env::kPlanVariable);
  if (!text) return {};
  auto plan = env::ParsePlan(*text);
  auto json = base::ParseJson(*text);
  if (!plan.ok() || !json.ok()) return {};
  Applier applier(node, std::move(plan).value(), environment);
  if (!agreement.drop_networks.empty() || !agreement.drop_places.empty()) applier.DropRails(agreement);
  if (agreement.family) applier.TakeFamily(*agreement.family);
  if (agreement.traffic_class) applier.TakeClass(*agreement.traffic_class);
  if (agreement.fall_back) applier.FallBack();
  return applier.Finish(std::move(json).value());
}

}  // namespace nccl_tune::launcher
