// SPDX-License-Identifier: Apache-2.0
#include "launcher/exchange.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/parse_number.h"
#include "launcher/child.h"
#include "launcher/gather.h"
#include "launcher/leaders.h"
#include "launcher/rank_table.h"
#include "launcher/tree.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr const char* kRootKey = "nccl-tune.root";
constexpr const char* kVerdictKey = "nccl-tune.verdict";

// Words of rank 0, one line: the last may hold anything.
std::string Join(const std::string& first, const std::string& second, const std::string& third) {
  return first + " " + second + " " + third;
}

struct Words {
  std::string first;
  std::string second;
  std::string third;
};

Result<Words> Split(const std::string& text) {
  const std::size_t one = text.find(' ');
  const std::size_t two = one == std::string::npos ? one : text.find(' ', one + 1);
  if (two == std::string::npos) {
    return Error{.code = Code::kInvalidInput,
                 .what = "not an entry of this version of nccl-launch",
                 .seen = base::Shortened(text),
                 .hint = "Do all tasks have the same nccl-launch, with the same options?"};
  }
  return Words{text.substr(0, one), text.substr(one + 1, two - one - 1), text.substr(two + 1)};
}

class Assembly {
 public:
  Assembly(pmix::Exchange& exchange, const Bringing& own)
      : exchange_(exchange), own_(own), leaders_(exchange, own.tasks) {}

  Result<Together> Run() {
    NCCL_TUNE_RETURN_IF_ERROR(Offer());
    if (auto met = exchange_.Fence(own_.start_limit, "start nccl-launch (--start-timeout)"); !met.ok())
      return met.error();
    NCCL_TUNE_RETURN_IF_ERROR(ReadRoot());
    NCCL_TUNE_RETURN_IF_ERROR(CountRanks());
    if (NeedsLinks()) NCCL_TUNE_RETURN_IF_ERROR(Connect());
    if (Compares()) NCCL_TUNE_RETURN_IF_ERROR(Preflight());
    if (own_.supervised) out_.links = std::move(links_);
    return std::move(out_);
  }

 private:
  bool IsLeader() const { return own_.step.rank == own_.node_ranks.front(); }
  bool Compares() const { return own_.preflight != launcher::Preflight::kOff; }
  bool NeedsLinks() const { return own_.supervised || Compares(); }

  Status Offer() {
    if (own_.step.rank == 0) {
      token_ = RandomToken();
      NCCL_TUNE_RETURN_IF_ERROR(
          exchange_.Put(kRootKey, Join(token_, std::to_string(own_.master_port), own_.master_address)));
    }
    if (!IsLeader()) return base::Ok();
    if (NeedsLinks()) NCCL_TUNE_RETURN_IF_ERROR(links_.Listen());
    return exchange_.Put(kLeaderKey, EncodePoint({.node = own_.step.node_id,
                                                  .name = own_.step.node,
                                                  .address = own_.address,
                                                  .port = links_.port(),
                                                  .socket_name = links_.socket_name(),
                                                  .procs = own_.procs,
                                                  .exec_error = own_.exec_error,
                                                  .entry = Compares() ? EncodeEntry(own_.entry) : ""}));
  }

  Status ReadRoot() {
    auto text = exchange_.Get(0, kRootKey);
    if (!text.ok() && text.error().code == Code::kNotFound) {
      return Error{.code = Code::kNotFound,
                   .what = "the exchange ended without an entry of rank 0",
                   .hint = "That task ended before it took part; its own messages say why."};
    }
    if (!text.ok()) return text.error();
    NCCL_TUNE_ASSIGN_OR_RETURN(words, Split(*text));
    NCCL_TUNE_ASSIGN_OR_RETURN(port, base::ParseInteger<std::uint16_t>(words.second));
    token_ = words.first;
    out_.master_port = port;
    out_.master_address = words.third;
    return base::Ok();
  }

  // Where each task starts several ranks, those before it are on the nodes before.
  Status CountRanks() {
    if (!own_.procs_vary) {
      out_.first_rank = own_.step.rank * own_.procs;
      out_.all_ranks = exchange_.size() * own_.procs;
      return base::Ok();
    }
    for (std::uint32_t node = 0; node < leaders_.node_count(); ++node) {
      if (node == own_.step.node_id) out_.first_rank = out_.all_ranks;
      NCCL_TUNE_ASSIGN_OR_RETURN(point, leaders_.Find(node));
      out_.all_ranks += point.procs;
    }
    return base::Ok();
  }

  // Asks for the connections; the preflight waits for them, a supervisor does not.
  Status Connect() {
    const pmix::Step& step = own_.step;
    const GatherPlan plan = Plan();
    const auto deadline = Clock::now() + ConnectLimit(plan);
    links_.Introduce(step.node_id, step.rank, token_, IsLeader() ? step.node : own_.digest);
    if (!IsLeader()) {
      NCCL_TUNE_ASSIGN_OR_RETURN(text, exchange_.Get(own_.node_ranks.front(), kLeaderKey));
      NCCL_TUNE_ASSIGN_OR_RETURN(leader, DecodePoint(text));
      links_.ConnectLocal(leader.socket_name, step.node_id, deadline);
      return base::Ok();
    }
    out_.children = ChildrenOf(step.node_id, leaders_.node_count()).size() + own_.node_ranks.size() - 1;
    if (const auto parent = ParentOf(step.node_id)) {
      NCCL_TUNE_ASSIGN_OR_RETURN(point, leaders_.Find(*parent));
      links_.ConnectTo(Role::kTree, *parent, point.address, point.port, deadline);
    }
    const auto next = NextInRing(step.node_id, leaders_.node_count());
    if (next && Compares()) {
      NCCL_TUNE_ASSIGN_OR_RETURN(point, leaders_.Find(*next));
      links_.ConnectTo(Role::kRing, *next, point.address, point.port, deadline);
    }
    return base::Ok();
  }

  GatherPlan Plan() const {
    return {.node = own_.step.node_id,
            .node_count = static_cast<std::uint32_t>(own_.tasks.size()),
            .name = own_.step.node,
            .local_ranks = {own_.node_ranks.begin() + 1, own_.node_ranks.end()},
            .digest = own_.digest,
            .limit = own_.preflight_limit};
  }

  Status Preflight() {
    if (IsLeader()) {
      const Message found = Gather(Plan(), &links_);
      if (own_.step.rank == 0) NCCL_TUNE_RETURN_IF_ERROR(JudgeAll(found));
    } else {
      AwaitParent(&links_);
    }
    NCCL_TUNE_RETURN_IF_ERROR(exchange_.Fence(own_.start_limit, "finish the preflight"));
    auto text = exchange_.Get(0, kVerdictKey);
    if (!text.ok()) return text.error();
    NCCL_TUNE_ASSIGN_OR_RETURN(words, Split(*text));
    NCCL_TUNE_ASSIGN_OR_RETURN(status, base::ParseInteger<int>(words.first));
    NCCL_TUNE_ASSIGN_OR_RETURN(agreement, DecodeAgreement(words.third));
    out_.status = status;
    out_.master_address = words.second;
    out_.agreement = std::move(agreement);
    links_.CloseRing();
    if (IsLeader()) out_.children = links_.CountBelow();
    return base::Ok();
  }

  // Rank 0 alone.
  Status JudgeAll(const Message& found) {
    std::map<int, std::string> cannot;  // errno to the first nodes
    for (std::uint32_t node = 0; node < leaders_.node_count(); ++node) {
      NCCL_TUNE_ASSIGN_OR_RETURN(point, leaders_.Find(node));
      NCCL_TUNE_ASSIGN_OR_RETURN(entry, DecodeNodeEntry(point.entry));
      out_.names.push_back(point.name);
      out_.entries.push_back(std::move(entry));
      if (point.exec_error != 0) AddName(point.name, &cannot[point.exec_error]);
    }
    auto verdict = Judge(out_.entries, FailedProbes(found), own_.preflight, own_.least);
    out_.lines = std::move(verdict.lines);
    const bool alike = AddTaskLines(found);
    int status = verdict.agreement.stop ? kPreflightFailed : 0;
    if (!alike && own_.preflight == launcher::Preflight::kFail) status = kPreflightFailed;
    for (const auto& [reason, nodes] : cannot) {
      const StartFault fault = DescribeExecError(own_.program, reason);
      out_.lines.push_back(fault.text + " on " + nodes);
      status = fault.status;
    }
    const std::string& address = verdict.agreement.fall_back ? own_.fallback_address : own_.master_address;
    return exchange_.Put(kVerdictKey, Join(std::to_string(status), address, EncodeAgreement(verdict.agreement)));
  }

  static void AddName(const std::string& name, std::string* names) {
    constexpr std::size_t kMostText = 100;
    if (names->size() > kMostText) {
      if (!names->ends_with("...")) *names += ", ...";
    } else {
      *names += (names->empty() ? "" : ", ") + base::Printable(name);
    }
  }

  // The problems speak of nodes by number where the name was not at hand.
  std::string NameOf(std::uint32_t node) const {
    return node < out_.names.size() ? out_.names[node] : "node " + std::to_string(node);
  }

  std::vector<FailedProbe> FailedProbes(const Message& found) const {
    std::vector<FailedProbe> probes;
    for (const Problem& one : found.problems) {
      if (one.kind != Problem::Kind::kProbe) continue;
      if (one.from.empty()) {  // a child whose part of the tree did not tell
        const std::string from = NameOf(one.rank);
        probes.push_back({.from = from, .to = one.to, .address = "", .reason = "not by " + from + " in time"});
        continue;
      }
      const auto to = base::ParseInteger<std::uint32_t>(one.to);
      probes.push_back({.from = one.from,
                        .to = to.ok() ? NameOf(*to) : one.to,
                        .address = one.address,
                        .reason = one.reason + " (by " + one.from + ")"});
    }
    return probes;
  }

  // Of tasks beside their node's first; false where a run must not go on.
  bool AddTaskLines(const Message& found) {
    std::map<std::string, std::vector<std::uint32_t>> groups;  // what is said, without the ranks
    bool grave = false;
    for (const Problem& one : found.problems) {
      const std::string node = " on " + base::Printable(one.from);
      if (one.kind == Problem::Kind::kOdd) {
        groups[node + " with other NCCL settings than the first rank of that node: " + base::Printable(one.reason)]
            .push_back(one.rank);
        grave = grave || one.to == "grave";
      }
      if (one.kind == Problem::Kind::kMissing) groups[node + " not come to the preflight in time"].push_back(one.rank);
    }
    constexpr std::size_t kShown = 6;
    std::size_t shown = 0;
    for (auto& [words, ranks] : groups) {
      if (shown++ == kShown) {
        out_.lines.push_back("and so on " + std::to_string(groups.size() - kShown) + " more nodes");
        break;
      }
      std::sort(ranks.begin(), ranks.end());
      out_.lines.push_back((ranks.size() == 1 ? "rank " : "ranks ") + CompactList(ranks) + words);
    }
    if (grave)
      out_.lines.push_back("Set NCCL's variables alike for all ranks: where they differ, ranks wait for each other.");
    return !grave;
  }

  pmix::Exchange& exchange_;
  const Bringing& own_;
  Leaders leaders_;
  Links links_{};
  std::string token_{};
  Together out_{};
};

}  // namespace

Result<Together> ComeTogether(pmix::Exchange& exchange, const Bringing& bringing) {
  return Assembly(exchange, bringing).Run();
}

}  // namespace nccl_tune::launcher
