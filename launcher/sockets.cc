// SPDX-License-Identifier: Apache-2.0
#include "launcher/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr int kBacklog = 4096;

Error SocketError(const std::string& call) {
  return Error{.code = Code::kUnreadable, .what = std::strerror(errno), .where = call};
}

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Result<Address> Parse(const std::string& text, std::uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof *v4;
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  address.storage = {};
  if (inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof *v6;
    return address;
  }
  return Error{.code = Code::kInvalidInput, .what = "not an IP address", .seen = text};
}

Result<Address> AbstractAddress(const std::string& name) {
  Address address;
  auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
  if (name.empty() || name.size() + 1 > sizeof local->sun_path) {
    return Error{.code = Code::kInvalidInput, .what = "not a name for a Unix socket", .seen = name};
  }
  local->sun_family = AF_UNIX;
  name.copy(local->sun_path + 1, name.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Result<int> Open(int family) {
  const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return SocketError("socket");
  return descriptor;
}

Result<int> Listen(int descriptor, const Address& address) {
  if (bind(descriptor, address.get(), address.length) == 0 && listen(descriptor, kBacklog) == 0) return descriptor;
  const Error error = SocketError("bind");
  close(descriptor);
  return error;
}

Result<int> Start(const Address& address) {
  NCCL_TUNE_ASSIGN_OR_RETURN(descriptor, Open(address.storage.ss_family));
  if (connect(descriptor, address.get(), address.length) == 0 || errno == EINPROGRESS) return descriptor;
  const Error error = SocketError("connect");
  close(descriptor);
  return error;
}

void Set(int descriptor, int level, int name, int value) { setsockopt(descriptor, level, name, &value, sizeof value); }

}  // namespace

Result<int> ListenTcp(std::uint16_t* port) {
  Address any;
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&any.storage);
  v6->sin6_family = AF_INET6;
  v6->sin6_addr = in6addr_any;
  any.length = sizeof *v6;
  auto descriptor = Open(AF_INET6);
  if (descriptor.ok()) {
    Set(*descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    descriptor = Listen(*descriptor, any);
  }
  if (!descriptor.ok()) {  // a kernel without IPv6
    any = {};
    any.storage.ss_family = AF_INET;
    any.length = sizeof(sockaddr_in);
    NCCL_TUNE_ASSIGN_OR_RETURN(plain, Open(AF_INET));
    descriptor = Listen(plain, any);
    if (!descriptor.ok()) return descriptor.error();
  }
  Address bound;
  bound.length = sizeof bound.storage;
  if (getsockname(*descriptor, reinterpret_cast<sockaddr*>(&bound.storage), &bound.length) != 0) {
    close(*descriptor);
    return SocketError("getsockname");
  }
  // The port lies at the same place in both kinds of address.
  *port = ntohs(reinterpret_cast<const sockaddr_in*>(&bound.storage)->sin_port);
  return *descriptor;
}

Result<int> ListenUnix(const std::string& name) {
  NCCL_TUNE_ASSIGN_OR_RETURN(address, AbstractAddress(name));
  NCCL_TUNE_ASSIGN_OR_RETURN(descriptor, Open(AF_UNIX));
  return Listen(descriptor, address);
}

Result<int> StartTcp(const std::string& text, std::uint16_t port) {
  NCCL_TUNE_ASSIGN_OR_RETURN(address, Parse(text, port));
  return Start(address);
}

Result<int> StartUnix(const std::string& name) {
  NCCL_TUNE_ASSIGN_OR_RETURN(address, AbstractAddress(name));
  return Start(address);
}

int ConnectError(int descriptor) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void KeepAlive(int descriptor) {
  constexpr int kIdleSeconds = 10;
  constexpr int kBetweenSeconds = 5;
  constexpr int kProbes = 3;
  Set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  Set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kBetweenSeconds);
  Set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  Set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, (kIdleSeconds + kProbes * kBetweenSeconds) * 1000);
  Set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
}

bool IsOwnUser(int descriptor) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

std::int64_t PeerPid(int descriptor) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

std::string SourceAddressTowards(const std::string& peer) {
  constexpr std::uint16_t kDiscard = 9;  // nothing is sent: connecting a datagram socket only looks up the route
  const auto address = Parse(peer, kDiscard);
  if (!address.ok()) return "";
  const int descriptor = socket(address->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return "";
  Address own;
  own.length = sizeof own.storage;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (connect(descriptor, address->get(), address->length) == 0 &&
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&own.storage), &own.length) == 0) {
    const int family = own.storage.ss_family;
    const void* number = family == AF_INET
                             ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&own.storage)->sin_addr)
                             : &reinterpret_cast<const sockaddr_in6*>(&own.storage)->sin6_addr;
    inet_ntop(family, number, text.data(), text.size());
  }
  close(descriptor);
  return text.data();
}

}  // namespace nccl_tune::launcher
