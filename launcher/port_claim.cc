// SPDX-License-Identifier: Apache-2.0
#include "launcher/port_claim.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "base/hash.h"
#include "base/parse_number.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr std::uint16_t kLowest = 1024;  // below are the system's

// Shells and scripts use low numbers as they like (bash itself up to 63, and 255).
constexpr int kLowestDescriptor = 100;

class Socket {
 public:
  Socket(int family, int type) : descriptor_(socket(family, type | SOCK_CLOEXEC, 0)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

Error SystemError(const std::string& what, int reason) {
  return Error{.code = Code::kUnreadable, .what = what + ": " + std::strerror(reason), .where = "MASTER_PORT"};
}

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t length = 0;
};

AbstractAddress AddressOf(std::uint16_t port) {
  AbstractAddress out;
  out.address.sun_family = AF_UNIX;
  const std::string name = ClaimName(port);
  std::copy(name.begin(), name.end(), out.address.sun_path + 1);
  out.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return out;
}

// The user of who holds a claim, by asking the kernel about the listening end.
std::optional<uid_t> HolderOf(std::uint16_t port) {
  const Socket asking(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK);
  const AbstractAddress where = AddressOf(port);
  if (connect(asking.get(), reinterpret_cast<const sockaddr*>(&where.address), where.length) != 0) return std::nullopt;
  ucred holder{};
  socklen_t length = sizeof holder;
  if (getsockopt(asking.get(), SOL_SOCKET, SO_PEERCRED, &holder, &length) != 0) return std::nullopt;
  return holder.uid;
}

// 0 or the errno of binding TCP to the port on all addresses of the family. A socket that is bound and closed without
// more leaves no trace.
template <typename Address>
int TryBind(const Address& address, int family) {
  const Socket trying(family, SOCK_STREAM);
  if (trying.get() < 0) return errno;
  const int only = 1;
  if (family == AF_INET6 && setsockopt(trying.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) != 0) return errno;
  return bind(trying.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

int TryTcp(std::uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_ANY);
  const int reason = TryBind(v4, AF_INET);
  if (reason != 0) return reason;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_any;
  const int other = TryBind(v6, AF_INET6);
  const bool has_none = other == EAFNOSUPPORT || other == EADDRNOTAVAIL;
  return has_none ? 0 : other;
}

// What stood in the way.
struct Refusals {
  std::vector<std::uint16_t> claimed{};
  std::uint32_t in_use = 0;
  std::uint32_t refused = 0;
  int refusal = 0;  // the last errno of those
};

// " of users 0, 2001"; empty: nobody says.
std::string HoldersOf(const std::vector<std::uint16_t>& ports) {
  constexpr std::size_t kAsked = 64;
  std::set<uid_t> users;
  for (std::size_t i = 0; i < std::min(kAsked, ports.size()); ++i) {
    if (const auto holder = HolderOf(ports[i])) users.insert(*holder);
  }
  std::string out;
  for (const uid_t user : users) out += (out.empty() ? "" : ", ") + std::to_string(user);
  if (out.empty()) return "";
  return (users.size() > 1 ? " of users " : " of user ") + out;
}

Error NoPort(const PortRange& range, const Refusals& refusals) {
  std::string what = "none of the " + std::to_string(range.last - range.first + 1) + " ports from " +
                     std::to_string(range.first) + " to " + std::to_string(range.last) +
                     " is left on this node: " + std::to_string(refusals.claimed.size()) +
                     " claimed by other nccl-launch" + HoldersOf(refusals.claimed) + ", " +
                     std::to_string(refusals.in_use) + " in use by other programs";
  if (refusals.refused > 0) {
    what += ", " + std::to_string(refusals.refused) + " refused (" + std::strerror(refusals.refusal) + ")";
  }
  return Error{.code = Code::kNotFound,
               .what = what,
               .where = "MASTER_PORT",
               .hint = "Wait for another step on the node to end, widen " + std::string(kPortRangeVariable) +
                       ", or set MASTER_PORT yourself."};
}

// The same socket under a number that is out of the way and stays open at exec.
Result<int> KeptAtExec(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD, kLowestDescriptor);
  if (high >= 0) {
    close(descriptor);
    return high;
  }
  // A limit of fewer descriptors than that.
  if (fcntl(descriptor, F_SETFD, 0) == 0) return descriptor;
  const Error error = SystemError("cannot keep the claim on a port", errno);
  close(descriptor);
  return error;
}

Error BadRange(std::string_view text, const std::string& what) {
  return Error{.code = Code::kInvalidInput,
               .what = what,
               .where = kPortRangeVariable,
               .seen = std::string(text),
               .expected = "FIRST-LAST, ports from 1024 to 65535, such as 20000-28000"};
}

}  // namespace

PortClaim::~PortClaim() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<PortRange> ParsePortRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return BadRange(text, "not a range of ports");
  const auto first = base::ParseInteger<std::uint32_t>(text.substr(0, dash));
  const auto last = base::ParseInteger<std::uint32_t>(text.substr(dash + 1));
  if (!first.ok() || !last.ok()) return BadRange(text, "not a range of ports");
  constexpr std::uint32_t kHighest = 65'535;
  if (*first > kHighest || *last > kHighest) return BadRange(text, "no port is above 65535");
  if (*first == 0 || *last == 0) return BadRange(text, "port 0 cannot be listened on");
  if (*first > *last) return BadRange(text, "the range is backwards");
  if (*first < kLowest) return BadRange(text, "ports below 1024 are the system's");
  return PortRange{.first = static_cast<std::uint16_t>(*first), .last = static_cast<std::uint16_t>(*last)};
}

Result<PortRange> ReadPortRange(const base::Environment& environment) {
  const auto text = base::Lookup(environment, kPortRangeVariable);
  return text ? ParsePortRange(*text) : Result<PortRange>(PortRange{});
}

std::string DescribeOverlap(const PortRange& range, std::uint16_t local_first, std::uint16_t local_last) {
  if (range.last < local_first || range.first > local_last) return "";
  return std::string(kPortRangeVariable) + ": ports from " + std::to_string(range.first) + " to " +
         std::to_string(range.last) + " are used, but the kernel gives those from " + std::to_string(local_first) +
         " to " + std::to_string(local_last) +
         " to any connection (net.ipv4.ip_local_port_range), which may take MASTER_PORT before the program does";
}

std::uint16_t StartPort(const PortRange& range, std::string_view job, std::string_view step, std::uint32_t user) {
  const std::uint64_t hash = base::HashText(std::string(job) + "." + std::string(step) + "." + std::to_string(user));
  return static_cast<std::uint16_t>(range.first + hash % (range.last - range.first + 1U));
}

std::string ClaimName(std::uint16_t port) { return "nccl-tune-master-port-" + std::to_string(port); }

Result<int> BindClaim(std::uint16_t port) {
  Socket claim(AF_UNIX, SOCK_STREAM);
  if (claim.get() < 0) return SystemError("cannot make a socket", errno);
  const AbstractAddress where = AddressOf(port);
  if (bind(claim.get(), reinterpret_cast<const sockaddr*>(&where.address), where.length) != 0) {
    if (errno == EADDRINUSE) return Error{.code = Code::kForbidden, .what = "claimed", .where = ClaimName(port)};
    return SystemError("cannot claim port " + std::to_string(port), errno);
  }
  // So that others can ask whose it is. Nobody is ever answered.
  constexpr int kAskers = 16;
  if (listen(claim.get(), kAskers) != 0) return SystemError("cannot claim port " + std::to_string(port), errno);
  return claim.Release();
}

Result<PortClaim> ClaimPort(const PortRange& range, std::uint16_t start, AtExec at_exec, Claimer claimer) {
  const std::uint32_t count = range.last - range.first + 1U;
  Refusals refusals;
  for (std::uint32_t tried = 0; tried < count; ++tried) {
    const auto port = static_cast<std::uint16_t>(range.first + (start - range.first + tried) % count);
    auto descriptor = claimer(port);
    if (!descriptor.ok() && descriptor.error().code != Code::kForbidden) return descriptor.error();
    if (!descriptor.ok()) {
      refusals.claimed.push_back(port);
      continue;
    }
    PortClaim claim(port, *descriptor);
    const int reason = TryTcp(port);
    if (reason == EMFILE || reason == ENFILE) return SystemError("cannot make a socket", reason);
    if (reason != 0) {
      ++(reason == EADDRINUSE ? refusals.in_use : refusals.refused);
      if (reason != EADDRINUSE) refusals.refusal = reason;
      continue;
    }
    if (at_exec == AtExec::kClosed) return claim;
    NCCL_TUNE_ASSIGN_OR_RETURN(kept, KeptAtExec(claim.Release()));
    return PortClaim(port, kept);
  }
  return NoPort(range, refusals);
}

}  // namespace nccl_tune::launcher
