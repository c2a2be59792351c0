// SPDX-License-Identifier: Apache-2.0
//
// The sockets of launchers: TCP over IPv4 and IPv6, and abstract Unix sockets, which leave no file behind.
//
// Threads: any. Ownership: the caller closes what it is given. Every descriptor is close-on-exec and non-blocking.
#ifndef NCCL_TUNE_LAUNCHER_SOCKETS_H_
#define NCCL_TUNE_LAUNCHER_SOCKETS_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace nccl_tune::launcher {

// Listens on all addresses, at a port that the kernel chooses.
base::Result<int> ListenTcp(std::uint16_t* port);
// Listens at the abstract name `name` (without the leading zero byte).
base::Result<int> ListenUnix(const std::string& name);

// Starts to connect; the descriptor becomes writable when that has ended, and ConnectError tells how. `address` is a
// number, never a name: looking one up may take seconds.
base::Result<int> StartTcp(const std::string& address, std::uint16_t port);
base::Result<int> StartUnix(const std::string& name);
// 0 when connected.
int ConnectError(int descriptor);

// Makes a dead node known within half a minute, and small messages leave at once.
void KeepAlive(int descriptor);

// Whether the other end of a Unix socket is a process of our own user.
bool IsOwnUser(int descriptor);

// Of the process at the other end of a Unix socket when it connected; 0: not known.
std::int64_t PeerPid(int descriptor);

// The address of this node from which packets to `peer` (a number) leave; empty when there is no route.
std::string SourceAddressTowards(const std::string& peer);

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_SOCKETS_H_
