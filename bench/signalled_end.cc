// SPDX-License-Identifier: Apache-2.0
#include "bench/signalled_end.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bench/host_name.h"

namespace nccl_tune::bench {

SignalledEnd::SignalledEnd(Parts parts)
    : parts_(std::move(parts)),
      signals_(
          {.patience =
               [this] { return IsConcluded() ? std::chrono::milliseconds(0) : Patience(parts_.patience, parts_.rank); },
           .end = [this](const std::string& text, int status) { End(text, status); }}) {}

std::chrono::milliseconds SignalledEnd::Patience(std::chrono::milliseconds least, std::uint64_t rank) {
  // Slurm's KillWait, after which all are killed, is 30 seconds.
  constexpr std::uint64_t kMostSteps = 200;
  constexpr std::chrono::milliseconds kStep(50);
  if (rank == 0) return std::chrono::milliseconds(0);
  return least + static_cast<int>(std::min(rank, kMostSteps)) * kStep;
}

void SignalledEnd::Hold() const {
  while (ending_) pause();
}

void SignalledEnd::End(const std::string& text, int status) {
  if (IsConcluded()) std::_Exit(status_);
  ending_ = true;
  parts_.fail(text);
  parts_.note(HostName() + ": " + text);
  if (parts_.ranks > 1) parts_.backend->Abort(status);
}

}  // namespace nccl_tune::bench
