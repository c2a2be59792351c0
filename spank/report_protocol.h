// SPDX-License-Identifier: Apache-2.0
//
// What nodes tell srun when a user asks for an explanation, so that nodes with one plan share one table: where srun
// listens (NCCL_TUNE_COLLECTOR, only in the environment of slurmstepd's hooks, never in a task's), and one line a node.
#ifndef NCCL_TUNE_SPANK_REPORT_PROTOCOL_H_
#define NCCL_TUNE_SPANK_REPORT_PROTOCOL_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/facts/ip_address.h"

namespace nccl_tune::spank {

inline constexpr std::string_view kCollectorVariable = "NCCL_TUNE_COLLECTOR";
inline constexpr std::size_t kReportLimit = 128 << 10;  // bytes of a line
inline constexpr std::string_view kReceived = "ok\n";   // srun's answer

// "PORT:TOKEN:ADDRESS,...". The token is what makes a report one of this step.
struct CollectorPlace {
  int port = 0;
  std::string token;                        // 32 hexadecimal digits
  std::vector<facts::IpAddress> addresses;  // of srun's host, the likeliest first; 1 to 8

  bool operator==(const CollectorPlace&) const = default;
};
std::string ToText(const CollectorPlace& place);
base::Result<CollectorPlace> ParseCollectorPlace(std::string_view text);

struct Report {
  std::string node;  // host name
  std::string key;   // equal on nodes that share a plan
  std::string text;  // lines for the user

  bool operator==(const Report&) const = default;
};
// With the line end.
std::string ToLine(const Report& report, std::string_view token);
// `line` may have come from anywhere: kForbidden when the token is another.
base::Result<Report> ParseReport(std::string_view line, std::string_view token);

}  // namespace nccl_tune::spank

#endif  // NCCL_TUNE_SPANK_REPORT_PROTOCOL_H_
