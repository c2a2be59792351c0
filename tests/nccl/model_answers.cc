// SPDX-License-Identifier: Apache-2.0
//
// What our model of NCCL expects on every captured machine, as JSON for the judges beside this:
//   model_answers HOSTS RELEASE        model_answers tests/hosts 2.28.9
// For each machine: the NCCL variables that we set, and the interface and HCA ports that NCCL then takes, and those
// that it takes without any variable.
#include <iostream>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/json.h"
#include "base/result.h"
#include "core/env/plan.h"
#include "core/facts/node.h"
#include "core/nccl/hca_selection.h"
#include "core/nccl/interface_order.h"
#include "core/nccl/nccl_version.h"
#include "tests/hosts/replay.h"

namespace nccl_tune::nccl_judge {
namespace {

using base::Json;

Json Answer(const facts::Node& node, nccl::NcclVersion version, const base::Environment& environment) {
  Json out;
  const auto bootstrap = nccl::ChooseBootstrap(node, version, environment);
  out["interface"] = bootstrap.interfaces.empty()
                         ? ""
                         : bootstrap.interfaces[0].name + " " + bootstrap.interfaces[0].address.ToString();
  const auto selection = nccl::SelectHcas(node, version, environment);
  out["off"] = selection.transport_off;
  out["ports"] = Json::array();
  for (const auto& port : selection.Taken()) out["ports"].push_back(port.hca + ":" + std::to_string(port.port));
  return out;
}

base::Result<Json> AnswerAll(const std::string& folder, std::string_view release) {
  NCCL_TUNE_ASSIGN_OR_RETURN(version, nccl::ParseNcclVersion(release));
  NCCL_TUNE_ASSIGN_OR_RETURN(names, hosts::ListCaptures(folder));
  Json out = Json::array();
  for (const std::string& name : names) {
    NCCL_TUNE_ASSIGN_OR_RETURN(replay, hosts::ReplayCapture(folder, name));
    base::Environment ours;
    for (const auto& [variable, value] : env::ValuesOf(replay.plan)) {
      if (variable.starts_with("NCCL_")) ours[variable] = value;
    }
    Json machine;
    machine["name"] = name;
    machine["set"] = Json::object();
    for (const auto& [variable, value] : ours) machine["set"][variable] = value;
    machine["with"] = Answer(replay.node, version, ours);
    machine["without"] = Answer(replay.node, version, {});
    out.push_back(machine);
  }
  return out;
}

}  // namespace
}  // namespace nccl_tune::nccl_judge

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "model_answers: expected a folder of captures and a release of NCCL\n";
    return 2;
  }
  const auto answers = nccl_tune::nccl_judge::AnswerAll(words[1], words[2]);
  if (!answers.ok()) {
    std::cerr << "model_answers: " << answers.error().ToString() << "\n";
    return 1;
  }
  std::cout << nccl_tune::base::DumpJson(*answers, 1) << "\n";
  return 0;
}
