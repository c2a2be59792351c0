// SPDX-License-Identifier: Apache-2.0
#include "bench/mpi_settings.h"

#include <set>
#include <string_view>

#include "core/env/mpi_parameters.h"

namespace nccl_tune::bench {
namespace {

constexpr std::string_view kPrefix = "OMPI_MCA_";

// The parameter names that a file sets: "name = value" lines.
std::set<std::string, std::less<>> NamesIn(const std::vector<std::string>& files) {
  std::set<std::string, std::less<>> names;
  for (const std::string& file : files) {
    for (const auto& setting : env::ParseMpiParameters("", file).settings) names.insert(setting.name);
  }
  return names;
}

class Chooser {
 public:
  explicit Chooser(const MpiFacts& facts) : facts_(facts), in_files_(NamesIn(facts.parameter_files)) {}

  std::vector<Setting> All() {
    if (facts_.ranks <= 1) return {};
    Interface();
    Transport();
    Yield();
    Ring();
    return settings_;
  }

 private:
  bool InEnvironment(std::string_view parameter) const {
    return facts_.environment.contains(std::string(kPrefix).append(parameter));
  }
  bool IsSet(std::string_view parameter) const {
    return InEnvironment(parameter) || in_files_.contains(std::string(kPrefix).append(parameter));
  }

  void Set(std::string_view parameter, const std::string& value, const std::string& why) {
    settings_.push_back({.name = std::string(kPrefix).append(parameter), .value = value, .why = why});
  }

  // Open MPI stripes over all networks otherwise. It aborts when both include and exclude are set.
  void Interface() {
    const std::string value = base::Lookup(facts_.environment, "NCCL_SOCKET_IFNAME").value_or("");
    const bool one_exact_name =
        value.size() > 1 && value[0] == '=' && value.find_first_of(",:^= ", 1) == std::string::npos;
    if (!one_exact_name || IsSet("btl_tcp_if_include") || IsSet("btl_tcp_if_exclude")) return;
    Set("btl_tcp_if_include", value.substr(1), "NCCL_SOCKET_IFNAME names this interface");
  }

  void Transport() {
    if (InEnvironment("btl") || InEnvironment("pml")) return;
    if (!IsSet("pml")) Set("pml", "ob1", "the interface above is that of its TCP transport");
    if (!IsSet("btl")) Set("btl", "^openib", "it only warns on current machines");
  }

  void Yield() {
    if (IsSet("mpi_yield_when_idle")) return;
    if (facts_.ranks > facts_.online_cores) {
      Set("mpi_yield_when_idle", "1",
          std::to_string(facts_.ranks) + " ranks may share the machine's " + std::to_string(facts_.online_cores) +
              " cores");
    } else if (facts_.local_ranks >= facts_.usable_cores) {
      Set("mpi_yield_when_idle", "1",
          std::to_string(facts_.local_ranks) + " ranks of this node share " + std::to_string(facts_.usable_cores) +
              " cores");
    }
  }

  // Open MPI's own choice is not a ring for 3 ranks: one node then sends 2.5 times what the others do.
  void Ring() {
    if (IsSet("coll_tuned_use_dynamic_rules") || IsSet("coll_tuned_allreduce_algorithm")) return;
    Set("coll_tuned_use_dynamic_rules", "1", "needed for the next");
    Set("coll_tuned_allreduce_algorithm", "4", "ring, so that all nodes send the same");
  }

  const MpiFacts& facts_;
  std::set<std::string, std::less<>> in_files_;
  std::vector<Setting> settings_;
};

}  // namespace

std::vector<Setting> ChooseMpiSettings(const MpiFacts& facts) { return Chooser(facts).All(); }

}  // namespace nccl_tune::bench
