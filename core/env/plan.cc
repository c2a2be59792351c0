// SPDX-License-Identifier: Apache-2.0
#include "core/env/plan.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "core/nccl/nccl_integer.h"
#include "core/nccl/variables.h"
#include "core/policy/decide.h"

namespace nccl_tune::env {
namespace {

using base::Lookup;

using nccl::SourcedEnvironment;

std::optional<std::string> Value(const SourcedEnvironment& settings, std::string_view name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::nullopt : std::optional(found->second.value);
}

// The user's settings without what an outer step of ours set.
SourcedEnvironment WithoutOurs(SourcedEnvironment user) {
  const auto text = Value(user, kPlanVariable);
  if (!text) return user;
  user.erase(std::string(kPlanVariable));
  const auto outer = ParsePlan(*text);
  if (!outer.ok()) return user;
  for (const auto& [name, value] : outer->set) {
    const auto now = user.find(name);
    if (IsTunable(name) && now != user.end() && now->second.FromEnvironment() && now->second.value == value)
      user.erase(now);
  }
  return user;
}

// How a value that the user asks for by an option is shown.
constexpr std::string_view kByOption = "--nccl-tune";

// The environment without what the user's option says otherwise. A file's setting cannot be taken away, only
// overridden.
SourcedEnvironment WithoutOption(SourcedEnvironment user, const policy::Preferences& preferences) {
  for (const auto& [name, value] : preferences.asked) user.erase(name);
  for (const auto& name : preferences.left_out) {
    const auto found = user.find(name);
    if (found != user.end() && found->second.FromEnvironment()) user.erase(found);
  }
  return user;
}

// What is fixed on this node whatever was detected: the site's own variables, its traffic class for the links that have
// one, and over them what the user's option asks for.
policy::Variables FixedValues(const policy::Situation& situation) {
  const auto& site = situation.preferences.site;
  policy::Variables out = site.set;
  for (const auto& [name, value] : situation.preferences.asked)
    out[name] = {.value = value, .origin = {.key = std::string(kByOption), .line = 0}};
  for (const auto& name : situation.preferences.left_out) out.erase(name);
  const auto& ports = situation.selection.ports;
  if (ports.empty()) return out;
  const auto add = [&](const char* name, const std::optional<policy::Stated<int>>& number) {
    if (number && policy::MaySet(site, name) && !situation.preferences.left_out.contains(name))
      out.try_emplace(name, policy::Stated<std::string>{std::to_string(number->value), number->origin});
  };
  add("NCCL_IB_SL", site.sl);
  if (!ports.front().IsEthernet()) return out;
  add("NCCL_IB_TC", site.tc);
  add("NCCL_IB_FIFO_TC", site.fifo_tc);
  return out;
}

// Settles one rule after another: what a variable follows stands before it. Then what only the site sets.
class Settler {
 public:
  Settler(const policy::Situation& situation, const SourcedEnvironment& user)
      : situation_(situation), user_(user), site_(FixedValues(situation)) {}

  std::vector<Setting> Run() {
    for (const auto& rule : policy::Rules()) settings_.push_back(Settle(rule));
    for (const auto& [name, stated] : site_) {
      if (Find(name) == nullptr) settings_.push_back(SettleSite(name, stated));
    }
    return std::move(settings_);
  }

 private:
  const Setting* Find(std::string_view variable) const {
    const auto found = std::find_if(settings_.begin(), settings_.end(),
                                    [&](const Setting& s) { return s.decision.variable == variable; });
    return found == settings_.end() ? nullptr : &*found;
  }

  // What a variable has whatever the rules say, and who gave it.
  struct Given {
    std::string value;
    std::string who;  // "you have set NAME"
  };

  std::optional<Given> FindGiven(const std::string& name) const {
    if (const auto user = user_.find(name); user != user_.end()) {
      const auto& setting = user->second;
      return Given{.value = setting.value,
                   .who = setting.FromEnvironment() ? "you have set " + name : setting.Origin() + " sets " + name};
    }
    const auto fixed = site_.find(name);
    if (fixed == site_.end()) return std::nullopt;
    const auto& origin = fixed->second.origin;
    return Given{.value = fixed->second.value,
                 .who = (origin.line == 0 ? "" : "the ") + origin.ToString() + " sets " + name};
  }

  // The job does without the verbs transport; empty: does not.
  std::string TransportOff() const {
    const auto disable = FindGiven("NCCL_IB_DISABLE");
    if (disable && nccl::ReadNcclInteger(disable->value).value.value_or(0) != 0)
      return disable->who + "=" + disable->value;
    const auto net = FindGiven("NCCL_NET");
    return net && base::EqualsIgnoringCase(net->value, "Socket") ? net->who + "=" + net->value : "";
  }

  // NCCL finds the named interface with an address of this family or fails.
  std::string FamilyMissing() const {
    const auto family = FindGiven("NCCL_SOCKET_FAMILY");
    const facts::Netdev* netdev = situation_.bootstrap.netdev;
    if (!family || (family->value != "AF_INET" && family->value != "AF_INET6") || netdev == nullptr) return "";
    const bool has = std::any_of(netdev->addresses.begin(), netdev->addresses.end(), [&](const auto& a) {
      return a.prefix.address.IsV4() == (family->value == "AF_INET");
    });
    return has ? "" : family->who + "=" + family->value + ", and " + netdev->name + " has no such address";
  }

  // Why the variable cannot go with `name`, which it was computed for; empty: it can. Some rules follow one that stands
  // after them (whether there are ports at all): then only the user's value counts.
  std::string Parted(const std::string& name) const {
    const Setting* followed = Find(name);
    if (followed != nullptr && followed->action == Action::kYielded)
      return name + " is left unset, and this goes with it";
    const auto given = FindGiven(name);
    if (!given) return "";
    const bool users = followed != nullptr && followed->action == Action::kKeep;
    if (users && followed->decision.value == given->value) return "";
    return given->who + ", and this was computed for another value";
  }

  std::string OppositeOf(const policy::Rule& rule) const {
    for (const auto& name : policy::SplitNames(rule.opposites)) {
      if (const auto given = FindGiven(name)) return given->who + ", which settles the same";
    }
    return "";
  }

  std::string RuledOutBy(const policy::Rule& rule) const {
    if (situation_.preferences.left_out.contains(std::string(rule.variable))) return "you ask for it to be left unset";
    if (!policy::MaySet(situation_.preferences.site, rule.variable)) return "the site's policy does not let it be set";
    if (auto opposite = OppositeOf(rule); !opposite.empty()) return opposite;
    if (rule.variable.starts_with("NCCL_IB_")) {
      if (auto off = TransportOff(); !off.empty()) return off;
    }
    if (rule.variable == "NCCL_SOCKET_IFNAME") return FamilyMissing();
    for (const auto& name : policy::SplitNames(rule.follows)) {
      if (auto parted = Parted(name); !parted.empty()) return parted;
    }
    return "";
  }

  // The user's value, if there is one, wins.
  bool Keep(Setting* setting) const {
    const auto theirs = user_.find(setting->decision.variable);
    if (theirs == user_.end()) return false;
    setting->action = Action::kKeep;
    setting->user_value = theirs->second.value;
    setting->origin = theirs->second.Origin();
    return true;
  }

  Setting SettleSite(const std::string& name, const policy::Stated<std::string>& stated) const {
    Setting out;
    out.decision.variable = name;
    out.decision.value = stated.value;
    out.decision.reason = stated.origin.line == 0 ? "you ask for it" : "the site's policy sets it";
    const auto* variable = nccl::Lookup(name);
    if (variable != nullptr) out.since = variable->since;
    if (Keep(&out)) return out;
    out.action = Action::kSet;
    out.origin = stated.origin.ToString();
    return out;
  }

  Setting Settle(const policy::Rule& rule) const {
    if (const auto site = site_.find(rule.variable); site != site_.end()) {
      Setting out = SettleSite(site->first, site->second);
      out.since = rule.since;
      if (out.action == Action::kSet) out.yielded_to = OppositeOf(rule);
      if (!out.yielded_to.empty()) out.action = Action::kYielded;
      return out;
    }
    Setting out;
    out.decision = rule.decide(situation_);
    out.decision.variable = rule.variable;
    out.since = rule.since;
    if (!Keep(&out) && out.decision.value) {
      out.yielded_to = RuledOutBy(rule);
      out.action = out.yielded_to.empty() ? Action::kSet : Action::kYielded;
    }
    return out;
  }

  const policy::Situation& situation_;
  const SourcedEnvironment& user_;
  const policy::Variables site_;
  std::vector<Setting> settings_;
};

PlanPort ToPlanPort(const policy::PortRef& ref) {
  PlanPort out;
  out.hca = ref.hca->name;
  out.port = ref.port->number;
  out.link = ref.IsEthernet() ? "Ethernet" : "InfiniBand";
  if (ref.port->rate) out.gbps = ref.port->rate->value;
  out.netdev = ref.port->netdev;
  if (ref.gid != nullptr) out.gid = ref.gid->index;
  return out;
}

}  // namespace

Plan MakePlan(const std::string& node, const policy::Situation& situation, const SourcedEnvironment& user) {
  Plan plan;
  plan.node = node;
  const auto& preferences = situation.preferences;
  const SourcedEnvironment theirs = WithoutOption(WithoutOurs(user), preferences);
  for (const auto& [name, value] : preferences.asked) plan.forced.insert(name);
  plan.removed = preferences.left_out;
  plan.user = nccl::ValuesOf(theirs);
  plan.settings = Settler(situation, theirs).Run();
  for (const auto& ref : situation.selection.ports) plan.ports.push_back(ToPlanPort(ref));
  if (situation.bootstrap.netdev != nullptr) {
    plan.interface = situation.bootstrap.netdev->name;
    const auto* address = situation.bootstrap.Address();
    if (address != nullptr) plan.address = address->prefix.address.ToString();
  }
  return plan;
}

Environment ValuesOf(const Plan& plan) {
  Environment out;
  for (const auto& setting : plan.settings) {
    if (setting.action == Action::kSet) out.emplace(setting.decision.variable, *setting.decision.value);
  }
  return out;
}

bool IsTunable(std::string_view variable) { return variable.starts_with("NCCL_") || nccl::Lookup(variable) != nullptr; }

Environment FinalValues(const Plan& plan) {
  Environment out = ValuesOf(plan);
  out.insert(plan.user.begin(), plan.user.end());
  return out;
}

namespace {

bool IsRuled(std::string_view variable) {
  const auto rules = policy::Rules();
  return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return rule.variable == variable; });
}

}  // namespace

Environment StillRight(const Environment& set, const Environment& kept, const LookupNow& now) {
  Environment out;
  for (const auto& rule : policy::Rules()) {
    const auto ours = Lookup(set, rule.variable);
    if (!ours || now(std::string(rule.variable))) continue;
    const auto opposites = policy::SplitNames(rule.opposites);
    if (std::any_of(opposites.begin(), opposites.end(), [&](const auto& name) { return now(name).has_value(); }))
      continue;
    const auto follows = policy::SplitNames(rule.follows);
    const bool parted = std::any_of(follows.begin(), follows.end(), [&](const std::string& name) {
      const auto planned = Lookup(set, name);
      const auto theirs = now(name);
      if (theirs) return theirs != planned && theirs != Lookup(kept, name);
      return planned && !out.contains(name);
    });
    if (!parted) out.emplace(rule.variable, *ours);
  }
  for (const auto& [name, value] : set) {
    if (!IsRuled(name) && !now(name)) out.emplace(name, value);
  }
  return out;
}

}  // namespace nccl_tune::env
