// SPDX-License-Identifier: Apache-2.0
#include "launcher/exchange.h"

#include <string>

#include "launcher/meeting.h"
#include "launcher/rank_table.h"
#include "launcher/rendezvous.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr const char* kKey = "nccl-tune.task";

Status CheckSize(const pmix::Session& session, const pmix::Step& step) {
  if (session.size() == step.size) return base::Ok();
  return Error{.code = Code::kInvalidInput,
               .what = "PMIx counts " + std::to_string(session.size()) + " ranks, but this step has " +
                       std::to_string(step.size) + " tasks: they would run as separate jobs",
               .hint = "Start all tasks by one srun --mpi=pmix."};
}

Entry OwnEntry(const pmix::Step& step, const base::Environment& environment, std::optional<std::uint16_t> port) {
  Entry entry = DescribeTask(step, environment);
  const auto own = ListOwnAddresses();
  if (const auto meeting = PlannedMeeting(environment, own)) {
    entry.network = meeting->network;
    entry.on_rail = meeting->on_rail;
  }
  if (step.rank != 0) return entry;
  entry.address = BootstrapAddress(environment, own, step.node);
  entry.port = port;
  return entry;
}

Result<std::vector<Entry>> Collect(pmix::Session& session, std::uint32_t count) {
  std::vector<Entry> entries;
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const auto text = session.Get(rank, kKey);
    if (!text.ok() && text.error().code == Code::kNotFound) {
      missing.push_back(rank);
      continue;
    }
    if (!text.ok()) return text.error();
    NCCL_TUNE_ASSIGN_OR_RETURN(entry, DecodeEntry(*text));
    entries.push_back(std::move(entry));
  }
  if (missing.empty()) return entries;
  return Error{.code = Code::kNotFound,
               .what = "the exchange ended without an entry of rank " + CompactList(missing),
               .hint = "That task ended before it took part; its own messages say why."};
}

}  // namespace

Result<std::vector<Entry>> ExchangeEntries(pmix::Session& session, const pmix::Step& step,
                                           const base::Environment& environment, std::optional<std::uint16_t> port,
                                           std::chrono::milliseconds deadline) {
  NCCL_TUNE_RETURN_IF_ERROR(CheckSize(session, step));
  NCCL_TUNE_RETURN_IF_ERROR(session.Put(kKey, EncodeEntry(OwnEntry(step, environment, port))));
  NCCL_TUNE_RETURN_IF_ERROR(session.Fence(deadline, "start nccl-launch"));
  NCCL_TUNE_ASSIGN_OR_RETURN(entries, Collect(session, step.size));
  if (!entries[0].address || !entries[0].port) {
    return Error{.what = "rank 0's entry has no address or port"};
  }
  return entries;
}

}  // namespace nccl_tune::launcher
