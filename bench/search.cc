// SPDX-License-Identifier: Apache-2.0
#include "bench/search.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bench/collective.h"
#include "bench/common_start.h"
#include "bench/idle_worker.h"
#include "bench/measure.h"
#include "bench/pair_search.h"
#include "bench/search_exchange.h"
#include "bench/sizes.h"
#include "bench/table_plan.h"

namespace nccl_tune::bench {
namespace {

using base::Result;
using base::Status;

// What process 0 tells all instead of an assignment, when the search is over.
constexpr std::string_view kNothingFound = "nothing";
constexpr std::string_view kSomethingFound = "something";

// What process 0 tells all at the beginning, of the nodes.
constexpr std::string_view kAlone = "alone";
constexpr std::string_view kOneRank = "one rank each";
constexpr std::string_view kManyRanks = "several ranks";

// What is measured when; made on process 0.
class Plan {
 public:
  Plan(Mode mode, std::uint64_t nodes, double tolerance) {
    if (mode == Mode::kBisect) {
      search_.emplace<Bisect>(nodes, BisectSettings{.tolerance = tolerance});
    } else {
      search_.emplace<PairSearch>(nodes, tolerance);
    }
  }
  const std::vector<NodeGroup>& Next() const {
    return std::visit([](const auto& search) -> const std::vector<NodeGroup>& { return search.Next(); }, search_);
  }
  void Take(const std::vector<double>& busbw) {
    std::visit([&](auto& search) { search.Take(busbw); }, search_);
  }
  void AddTo(SearchResult& result) const {
    if (const auto* const bisect = std::get_if<Bisect>(&search_)) return AddFindings(bisect->findings(), result);
    AddFindings(std::get<PairSearch>(search_).Findings(), result);
  }

 private:
  std::variant<PairSearch, Bisect> search_{std::in_place_type<PairSearch>, 0, 0.5};
};

class Search {
 public:
  Search(const SearchParts& parts, Options options) : parts_(parts), options_(std::move(options)) {}

  Result<SearchEnd> All() {
    Backend& backend = *parts_.backend;
    NCCL_TUNE_ASSIGN_OR_RETURN(place, backend.Connect());
    place_ = place;
    identity_ = backend.identity();
    NCCL_TUNE_ASSIGN_OR_RETURN(decision, AgreeOnStart(backend, options_, place_, parts_.refusal));
    if (!decision.refusal.empty()) return Refused(decision.refusal);
    NCCL_TUNE_RETURN_IF_ERROR(CheckAbilities(options_, identity_));
    NCCL_TUNE_RETURN_IF_ERROR(Header());
    NCCL_TUNE_ASSIGN_OR_RETURN(kind, backend.Broadcast(Leads() ? Kind() : ""));
    if (kind == kAlone) return SearchEnd::kNoPeers;
    // Of many ranks on two nodes only two send to the other node in a sendrecv: that is one rail of each.
    if (options_.names_no_collective && kind == kManyRanks) options_.collective = FindCollective("all_reduce");
    NCCL_TUNE_RETURN_IF_ERROR(Fit());
    NCCL_TUNE_RETURN_IF_ERROR(backend.Join(options_.sweep.max_bytes));
    return Rounds();
  }

 private:
  bool Leads() const { return place_.process == 0; }
  const SearchResult& result() const { return parts_.reporter->result(); }
  void Fill(const std::function<void(SearchResult&)>& fill) { parts_.reporter->Fill(fill); }

  Result<SearchEnd> Refused(const std::string& refusal) {
    if (Leads()) {
      parts_.reporter->Fail(refusal);
      parts_.reporter->Note(refusal);
    }
    return SearchEnd::kRefused;
  }

  Status Header() {
    const std::vector<Device> devices = parts_.backend->LocalDevices();
    if (!devices.empty()) host_ = devices[0].host;
    NCCL_TUNE_ASSIGN_OR_RETURN(texts, GatherDevices(*parts_.backend));
    if (!Leads()) return base::Ok();
    NCCL_TUNE_ASSIGN_OR_RETURN(all, parts_.reporter->Header(identity_, texts));
    FindNodes(all);
    return base::Ok();
  }

  // Nodes are counted in the order of their first process.
  void FindNodes(const std::vector<std::vector<Device>>& devices) {
    std::map<std::string, std::uint64_t> numbers;
    std::vector<std::uint64_t> ranks;
    for (const auto& process : devices) {
      const std::string host = process.empty() ? "" : process[0].host;
      const auto [known, is_new] = numbers.emplace(host, names_.size());
      if (is_new) {
        names_.push_back(host);
        ranks.push_back(0);
      }
      node_of_.push_back(known->second);
      ranks[known->second] += process.size();
      ranks_ += process.size();
    }
    Fill([&](SearchResult& result) {
      result.ranks = ranks_;
      result.nodes = names_;
    });
    const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end());
    if (names_.size() < 2) {
      parts_.reporter->Note("a search compares nodes, and all ranks are on " + (names_.empty() ? "none" : names_[0]) +
                            ": two are needed, three to tell a slow one: srun -N3 ...");
    } else if (*least != *most) {
      parts_.reporter->Note("doubtful: the nodes have from " + std::to_string(*least) + " to " + std::to_string(*most) +
                            " ranks, so their numbers may differ for that: srun --ntasks-per-node=N");
    }
  }

  std::string Kind() const {
    if (names_.size() < 2) return std::string(kAlone);
    return std::string(ranks_ > names_.size() ? kManyRanks : kOneRank);
  }

  Status Fit() {
    NCCL_TUNE_ASSIGN_OR_RETURN(largest, CutToMemory(*parts_.backend, options_));
    if (largest && Leads()) parts_.reporter->MemoryCut(*largest);
    sizes_ = SizesOf(options_.sweep);
    if (!Leads()) return base::Ok();
    Fill([&](SearchResult& result) {
      result.sizes = sizes_;
      result.collective = options_.collective->name;
      result.type = NameOf(options_.types[0]);
      result.op = options_.collective->lists_ops ? NameOf(options_.ops[0]) : options_.collective->op_column;
    });
    return base::Ok();
  }

  Result<SearchEnd> Rounds() {
    std::optional<Plan> plan;
    if (Leads()) plan.emplace(options_.mode, names_.size(), result().tolerance);
    while (true) {
      std::string wanted;
      if (Leads()) wanted = Announce(*plan);
      NCCL_TUNE_ASSIGN_OR_RETURN(text, parts_.backend->Broadcast(wanted));
      if (text == kNothingFound) return SearchEnd::kNothing;
      if (text == kSomethingFound) return SearchEnd::kSuspicious;
      NCCL_TUNE_ASSIGN_OR_RETURN(assignment, AssignmentFromText(text, place_.processes));
      NCCL_TUNE_ASSIGN_OR_RETURN(own, MeasureIn(assignment[place_.process]));
      NCCL_TUNE_ASSIGN_OR_RETURN(texts, parts_.backend->Gather(MeasurementToText(own)));
      if (Leads()) NCCL_TUNE_RETURN_IF_ERROR(Take(*plan, assignment, texts));
    }
  }

  // What all processes do next.
  std::string Announce(const Plan& plan) {
    if (!plan.Next().empty()) {
      parts_.reporter->Progress(plan.Next().size());
      return AssignmentToText(Assign(plan.Next(), node_of_));
    }
    Fill([&](SearchResult& result) {
      plan.AddTo(result);
      result.is_complete = true;
    });
    parts_.reporter->Findings();
    return std::string(IsSuspicious(result()) ? kSomethingFound : kNothingFound);
  }

  // Everybody makes the same calls; who is in no group measures nothing.
  Result<Measurement> MeasureIn(const std::optional<std::uint64_t>& group) {
    NCCL_TUNE_ASSIGN_OR_RETURN(place, parts_.backend->Regroup(group));
    Worker& worker = parts_.backend->worker(0);
    IdleWorker idle(worker);
    Lane lane{.worker = group ? &worker : &idle,
              .options = &options_,
              .ranks = group ? place.ranks : 1,
              .workers = place_.processes,
              .primes = identity_.primes,
              .seed = seed_};
    Call call{.collective = options_.collective,
              .type = options_.types[0],
              .op = OpsOf(options_, identity_)[0],
              .traffic = &options_.traffic};
    NCCL_TUNE_RETURN_IF_ERROR(lane.worker->Barrier());
    NCCL_TUNE_RETURN_IF_ERROR(WarmUp(lane, options_.sweep, call));
    Measurement measurement;
    for (const std::uint64_t size : sizes_) {
      const Question question{.elements = size / BytesOf(call.type),
                              .type_bytes = BytesOf(call.type),
                              .ranks = lane.ranks,
                              .traffic = call.traffic};
      call.shape = call.collective->shape(question);
      NCCL_TUNE_ASSIGN_OR_RETURN(measured, MeasureBlock(lane, question, call));
      if (!group) continue;
      measurement.busbw.push_back(measured.block.bus_bandwidth);
      if (measured.faults.empty()) continue;
      measurement.is_right = false;
      Tell(*group, call, measured.faults);
    }
    seed_ = lane.seed;
    return measurement;
  }

  void Tell(std::uint64_t group, const Call& call, const std::vector<std::string>& faults) {
    for (const std::string& fault : faults) {
      // One write, so that the lines of several processes do not mix.
      *parts_.notes << ("nccl-bench: wrong data: " + host_ + ": " + std::string(call.collective->name) + " of " +
                        std::to_string(call.shape.count) + " " + std::string(NameOf(call.type)) + " in group " +
                        std::to_string(group) + ": " + fault + "\n")
                    << std::flush;
    }
  }

  Status Take(Plan& plan, const Assignment& assignment, const std::vector<std::string>& texts) {
    const std::vector<NodeGroup> groups = plan.Next();
    std::vector<std::vector<Measurement>> members(groups.size());
    for (std::size_t process = 0; process < texts.size(); ++process) {
      NCCL_TUNE_ASSIGN_OR_RETURN(one, MeasurementFromText(texts[process]));
      if (assignment[process]) members[*assignment[process]].push_back(std::move(one));
    }
    std::vector<double> busbw;
    Fill([&](SearchResult& result) {
      ++result.rounds;
      for (std::size_t group = 0; group < groups.size(); ++group) {
        busbw.push_back(GroupBusbw(members[group]));
        result.measured.push_back({.round = result.rounds, .nodes = groups[group], .busbw = busbw.back()});
        const bool is_right = std::ranges::all_of(members[group], [](const auto& one) { return one.is_right; });
        std::vector<NodeGroup>& wrong = result.wrong;
        if (!is_right && std::ranges::find(wrong, groups[group]) == wrong.end()) wrong.push_back(groups[group]);
      }
    });
    plan.Take(busbw);
    return base::Ok();
  }

  SearchParts parts_;
  Options options_;  // the sizes are cut to the memory
  Identity identity_{};
  Place place_{};
  std::string host_{};
  std::vector<std::uint64_t> sizes_{};
  std::uint64_t seed_ = 0;
  // Of process 0 alone:
  std::uint64_t ranks_ = 0;
  std::vector<std::string> names_{};      // of the nodes
  std::vector<std::uint64_t> node_of_{};  // each process
};

}  // namespace

Result<SearchEnd> RunSearch(const SearchParts& parts, Options options) {
  return Search(parts, std::move(options)).All();
}

}  // namespace nccl_tune::bench
