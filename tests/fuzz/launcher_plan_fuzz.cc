// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "launcher/facts_of_step.h"
#include "launcher/rank_facts.h"
#include "launcher/rank_variables.h"
#include "launcher/rendezvous.h"
#include "pmix/step.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/require.h"

namespace nccl_tune::fuzz {
namespace {

// Lines NAME=VALUE; of several with one name the first counts.
base::Environment ReadLines(ByteReader* bytes) {
  base::Environment out;
  while (!bytes->AtEnd()) {
    const std::string_view line = bytes->Line();
    const auto equals = line.find('=');
    if (equals != line.npos) out.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return out;
}

// The launcher in an environment that somebody else has made: Slurm's variables, a plan, other launchers' values.
void TryOne(ByteReader bytes) {
  base::Environment environment = ReadLines(&bytes);
  const auto read = pmix::ReadStep(environment);
  if (!read.ok()) RequireReadable(read.error());
  const pmix::Step step = read.ok() && *read ? **read : pmix::Step{.job = "1", .step = "0", .size = 1, .node = "node1"};
  (void)pmix::CheckPmix(environment, &step);
  (void)pmix::StoreSetting(environment);
  const std::vector<launcher::OwnAddress> own = {{.interface = "eth0", .text = "10.0.0.1", .network = "10.0.0.0/24"},
                                                 {.interface = "ib0", .text = "fd00::1", .network = "fd00::/64"}};
  const std::string address = launcher::BootstrapAddress(environment, own, step.node);
  Require(address == step.node || address == own[0].text || address == own[1].text, "an address is this node's",
          address);
  const auto found = launcher::FactsOfStep(step, environment);
  if (!found.ok()) RequireReadable(found.error());
  auto facts = found.ok() ? *found : launcher::RankFacts{.job = "1", .step = "0"};
  facts.master_address = address;
  facts.master_port = 20000;
  const auto additions = launcher::DecideAdditions(facts, environment);
  for (const auto& [name, value] : additions.set) {
    const bool stays = launcher::StaysTheUsers(facts, environment, name);
    Require(!name.empty() && !stays, "a variable has a name and is not the user's", value);
  }
  base::Environment applied = environment;
  launcher::Apply(additions, &applied);
  const auto again = launcher::DecideAdditions(facts, applied);
  Require(!again.inherited && again.unset.empty(), "what was set is not taken for another launcher's");
}

}  // namespace
}  // namespace nccl_tune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nccl_tune::fuzz::TryOne(nccl_tune::fuzz::ByteReader(data, size));
  return 0;
}
