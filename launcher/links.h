// SPDX-License-Identifier: Apache-2.0
//
// A task's connections to other launchers of its step: up to its parent (another node's first task by TCP, its own
// node's first task by a Unix socket), down from those whose parent it is, and the ring's probe. Whoever connects sends
// the step's token first and is answered only when it is right; Unix sockets also ask the kernel for the user. What
// does not know the token is closed unread.
//
// Threads: used by one thread, which polls: AppendPolls, poll(2), Advance. Ownership: Links owns its descriptors; all
// are close-on-exec. Errors: what breaks is an event, never an end.
#ifndef NCCL_TUNE_LAUNCHER_LINKS_H_
#define NCCL_TUNE_LAUNCHER_LINKS_H_

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launcher/channel.h"
#include "launcher/message.h"

namespace nccl_tune::launcher {

using Clock = std::chrono::steady_clock;

struct LinkEvent {
  enum class Kind {
    kOpen,     // both sides have said who they are
    kMessage,  // of an open one
    kGone,     // an open one was closed by the other side, or broke
    kFailed,   // one that we asked for could not be opened: reason
  };
  Kind kind = Kind::kOpen;
  Role role = Role::kTree;
  bool incoming = false;   // a child, a local task, the ring's predecessor
  std::uint32_t node = 0;  // of the other side
  std::uint32_t rank = 0;
  std::int64_t pid = 0;   // of a local task's launcher
  Message message{};      // of kOpen: the other side's greeting
  std::string address{};  // "172.20.0.12:41234", of kFailed
  std::string reason{};
};

class Links {
 public:
  // Nothing is listened to before Listen, nothing answered before Introduce.
  Links() = default;
  ~Links();
  Links(Links&& other) noexcept;
  Links& operator=(Links&& other) noexcept;

  // Opens a TCP port on all addresses and an abstract Unix socket with a random name.
  base::Status Listen();
  std::uint16_t port() const { return port_; }
  const std::string& socket_name() const { return name_; }

  // Who we are; `digest` goes with our own greeting: whatever the other side should know about us. Those that have
  // connected meanwhile wait in the kernel.
  void Introduce(std::uint32_t node, std::uint32_t rank, std::string token, std::string digest = "");

  // Asks for a connection; an event tells when it stands or what went wrong, at `deadline` at the latest.
  void ConnectTo(Role role, std::uint32_t node, const std::string& address, std::uint16_t port,
                 Clock::time_point deadline);
  void ConnectLocal(const std::string& socket_name, std::uint32_t node, Clock::time_point deadline);

  void AppendPolls(std::vector<pollfd>* polls);
  // `polls` as AppendPolls filled it, after poll(2).
  std::vector<LinkEvent> Advance(const std::vector<pollfd>& polls, Clock::time_point now);
  // When Advance must be called without anything having happened.
  std::optional<Clock::time_point> NextDeadline() const;

  // To the parent, when it has answered where it has not yet; false when there is none (any more).
  bool SendUp(const Message& message);
  // Asked for, and neither open nor failed yet.
  bool AwaitsParent() const;
  // To all that have connected to us, but the ring's.
  void SendDown(const Message& message);
  bool HasParent() const;
  // Those below that are open, as their kOpen events said.
  std::vector<LinkEvent> OpenBelow() const;
  std::size_t CountBelow() const { return OpenBelow().size(); }
  // Waits until what was sent is on its way, no longer than `patience`.
  void Drain(std::chrono::milliseconds patience);

  void CloseRing();
  void StopListening();

 private:
  enum class State { kConnecting, kGreeted, kAccepted, kOpen };
  struct Peer {
    Channel channel{-1};
    State state = State::kOpen;
    Role role = Role::kTree;
    bool incoming = false;
    std::uint32_t node = 0;  // expected, when we asked for it
    std::uint32_t rank = 0;
    std::int64_t pid = 0;
    std::string address{};
    std::string digest{};  // of the other side's greeting
    Clock::time_point deadline{};
    std::size_t poll = 0;
    std::string failed{};                // ConnectTo itself failed; told by the next Advance
    bool dismissed = false;              // closed by us: no event
    std::vector<std::string> backlog{};  // to be sent when it is open
  };

  void Accept(int listener, bool local, Clock::time_point now);
  void Greet(Peer* peer);
  void AdvancePeer(Peer* peer, short happened, Clock::time_point now, std::vector<LinkEvent>* events);
  void ReadPeer(Peer* peer, std::vector<LinkEvent>* events);
  // False when the peer is to be dropped.
  bool TakeHello(Peer* peer, const std::string& line, std::vector<LinkEvent>* events);
  static LinkEvent EventOf(const Peer& peer, LinkEvent::Kind kind);
  static bool IsBelow(const Peer& peer);

  int tcp_ = -1;
  int unix_ = -1;
  std::uint16_t port_ = 0;
  std::string name_{};
  bool introduced_ = false;
  std::uint32_t node_ = 0;
  std::uint32_t rank_ = 0;
  std::string token_{};
  std::string digest_{};
  std::size_t listener_poll_ = 0;
  std::vector<std::unique_ptr<Peer>> peers_{};
};

// 128 random bits as text.
std::string RandomToken();

}  // namespace nccl_tune::launcher

#endif  // NCCL_TUNE_LAUNCHER_LINKS_H_
