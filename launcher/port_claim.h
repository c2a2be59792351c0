// SPDX-License-Identifier: Apache-2.0
//
// MASTER_PORT: a port of a range that rank 0's program can listen on, and a claim on it until that program ends.
//
// Between the look for a free port and the program's own bind lie seconds, in which another launcher on the node would
// find the same port free. So a port is claimed first, by an abstract Unix socket named after it, one name for all
// users; like TCP ports such names belong to a network namespace, and the kernel drops one when the last descriptor
// of its socket is closed, however its owner ends.
//
// Threads: ClaimPort may be called by any; a PortClaim by one. Ownership: a PortClaim holds its descriptor.
#ifndef NCCL_TUNE_LAUNCHER_PORT_CLAIM_H_
#define NCCL_TUNE_LAUNCHER_PORT_CLAIM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/result.h"

namespace nccl_tune::launcher {

inline constexpr const char* kPortRangeVariable = "NCCL_TUNE_PORT_RANGE";

// Both ends included. The default lies below the ports that Linux hands out by itself (32768 to 60999).
struct PortRange {
  std::uint16_t first = 20'000;
  std::uint16_t last = 28'000;
};

// "FIRST-LAST", two decimal numbers from 1024 to 65535, the first not above the last. The Error names the variable.
base::Result<PortRange> ParsePortRange(std::string_view text);

// The variable's; the default where it is not set.
base::Result<PortRange> ReadPortRange(const base::Environment& environment);

// What to tell the user when ports of the range are ones that the kernel gives to any connection; empty: none is.
std::string DescribeOverlap(const PortRange& range, std::uint16_t local_first, std::uint16_t local_last);

// Where in the range to start looking: steps that run at the same time on a node start at different ports.
std::uint16_t StartPort(const PortRange& range, std::string_view job, std::string_view step, std::uint32_t user);

// What becomes of the claim when the process becomes another program.
enum class AtExec {
  kClosed,  // gone: somebody stays who holds it
  kKept     // the program holds it, by a descriptor of 100 or more, and so does all that it starts with it
};

// A port and what holds it. An empty one has port 0 and descriptor -1.
class PortClaim {
 public:
  PortClaim() = default;
  PortClaim(std::uint16_t port, int descriptor) : port_(port), descriptor_(descriptor) {}
  PortClaim(PortClaim&& other) noexcept
      : port_(std::exchange(other.port_, std::uint16_t{0})), descriptor_(std::exchange(other.descriptor_, -1)) {}
  PortClaim& operator=(PortClaim&& other) noexcept {
    std::swap(port_, other.port_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~PortClaim();

  std::uint16_t port() const { return port_; }
  int descriptor() const { return descriptor_; }
  // The descriptor is the caller's now.
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  std::uint16_t port_ = 0;
  int descriptor_ = -1;
};

// The name of the claim on a port, without the zero byte that makes it abstract.
std::string ClaimName(std::uint16_t port);

// A descriptor, closed at exec, that holds the name of the port; kForbidden when another process holds it.
base::Result<int> BindClaim(std::uint16_t port);

// How a port is claimed: BindClaim, or a stand-in of a test.
using Claimer = base::Result<int> (*)(std::uint16_t port);

// The first port of the range, from `start` on and around, that could be claimed and that TCP could be bound to then,
// for IPv4 and, where the system has it, IPv6; neither a listener nor a connection in TIME_WAIT has it. kNotFound when
// there is none: the Error counts what was claimed, by which users, and what was in use. Another code when the system
// gives no socket at all.
base::Result<PortClaim> ClaimPort(const PortRange& range, std::uint16_t start, AtExec at_exec,
                                  Claimer claimer = BindClaim);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_PORT_CLAIM_H_
