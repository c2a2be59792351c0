// SPDX-License-Identifier: Apache-2.0
#include "launcher/links.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "launcher/sockets.h"

namespace nccl_tune::launcher {
namespace {

// Of connections that have not yet said who they are: the bound of what a stranger can make us hold.
constexpr std::size_t kMostStrangers = 1024;
constexpr std::chrono::seconds kStrangersTime(5);

}  // namespace

std::string RandomToken() {
  std::array<unsigned char, 16> bytes{};
  for (std::size_t got = 0; got < bytes.size();) {
    const ssize_t now = getrandom(bytes.data() + got, bytes.size() - got, 0);
    if (now > 0) got += static_cast<std::size_t>(now);
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xfU];
  }
  return text;
}

Links::~Links() { StopListening(); }

Links::Links(Links&& other) noexcept { *this = std::move(other); }

Links& Links::operator=(Links&& other) noexcept {
  if (this == &other) return *this;
  StopListening();
  tcp_ = std::exchange(other.tcp_, -1);
  unix_ = std::exchange(other.unix_, -1);
  port_ = other.port_;
  name_ = std::move(other.name_);
  introduced_ = other.introduced_;
  node_ = other.node_;
  rank_ = other.rank_;
  token_ = std::move(other.token_);
  digest_ = std::move(other.digest_);
  peers_ = std::move(other.peers_);
  return *this;
}

void Links::StopListening() {
  if (tcp_ >= 0) close(tcp_);
  if (unix_ >= 0) close(unix_);
  tcp_ = unix_ = -1;
}

base::Status Links::Listen() {
  NCCL_TUNE_ASSIGN_OR_RETURN(tcp, ListenTcp(&port_));
  tcp_ = tcp;
  name_ = "nccl-launch-" + RandomToken();
  NCCL_TUNE_ASSIGN_OR_RETURN(local, ListenUnix(name_));
  unix_ = local;
  return base::Ok();
}

void Links::Introduce(std::uint32_t node, std::uint32_t rank, std::string token, std::string digest) {
  node_ = node;
  rank_ = rank;
  token_ = std::move(token);
  digest_ = std::move(digest);
  introduced_ = true;
}

void Links::ConnectTo(Role role, std::uint32_t node, const std::string& address, std::uint16_t port,
                      Clock::time_point deadline) {
  auto peer = std::make_unique<Peer>();
  peer->role = role;
  peer->node = node;
  peer->deadline = deadline;
  peer->address = address + ":" + std::to_string(port);
  peer->state = State::kConnecting;
  const auto descriptor = StartTcp(address, port);
  if (descriptor.ok()) {
    KeepAlive(*descriptor);
    peer->channel = Channel(*descriptor);
  } else {
    peer->failed = descriptor.error().ToString();
  }
  peers_.push_back(std::move(peer));
}

void Links::ConnectLocal(const std::string& socket_name, std::uint32_t node, Clock::time_point deadline) {
  auto peer = std::make_unique<Peer>();
  peer->role = Role::kLocal;
  peer->node = node;
  peer->deadline = deadline;
  peer->address = socket_name;
  peer->state = State::kConnecting;
  const auto descriptor = StartUnix(socket_name);
  if (descriptor.ok()) {
    peer->channel = Channel(*descriptor);
  } else {
    peer->failed = descriptor.error().ToString();
  }
  peers_.push_back(std::move(peer));
}

void Links::AppendPolls(std::vector<pollfd>* polls) {
  listener_poll_ = polls->size();
  // A negative descriptor is skipped by poll.
  polls->push_back({.fd = introduced_ ? tcp_ : -1, .events = POLLIN, .revents = 0});
  polls->push_back({.fd = introduced_ ? unix_ : -1, .events = POLLIN, .revents = 0});
  for (const auto& peer : peers_) {
    peer->poll = polls->size();
    const short events = peer->state == State::kConnecting ? POLLOUT : peer->channel.Events();
    polls->push_back({.fd = peer->channel.descriptor(), .events = events, .revents = 0});
  }
}

std::optional<Clock::time_point> Links::NextDeadline() const {
  std::optional<Clock::time_point> next;
  for (const auto& peer : peers_) {
    if (peer->state == State::kOpen) continue;
    const auto due = peer->failed.empty() ? peer->deadline : Clock::time_point{};
    next = next ? std::min(*next, due) : due;
  }
  return next;
}

std::vector<LinkEvent> Links::Advance(const std::vector<pollfd>& polls, Clock::time_point now) {
  std::vector<LinkEvent> events;
  const std::size_t known = peers_.size();
  if (polls[listener_poll_].revents != 0) Accept(tcp_, false, now);
  if (polls[listener_poll_ + 1].revents != 0) Accept(unix_, true, now);
  for (std::size_t index = 0; index < known; ++index) {
    Peer* peer = peers_[index].get();
    AdvancePeer(peer, polls[peer->poll].revents, now, &events);
  }
  peers_.erase(std::remove_if(peers_.begin(), peers_.end(), [](const auto& peer) { return !peer->channel.open(); }),
               peers_.end());
  return events;
}

void Links::Accept(int listener, bool local, Clock::time_point now) {
  while (true) {
    const int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) return;
    const auto strangers =
        std::count_if(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->state == State::kAccepted; });
    if (static_cast<std::size_t>(strangers) >= kMostStrangers || (local && !IsOwnUser(descriptor))) {
      close(descriptor);
      continue;
    }
    if (!local) KeepAlive(descriptor);
    auto peer = std::make_unique<Peer>();
    peer->channel = Channel(descriptor);
    peer->state = State::kAccepted;
    peer->role = local ? Role::kLocal : Role::kTree;
    peer->incoming = true;
    if (local) peer->pid = PeerPid(descriptor);
    peer->deadline = now + kStrangersTime;
    peers_.push_back(std::move(peer));
  }
}

LinkEvent Links::EventOf(const Peer& peer, LinkEvent::Kind kind) {
  return {.kind = kind,
          .role = peer.role,
          .incoming = peer.incoming,
          .node = peer.node,
          .rank = peer.rank,
          .pid = peer.pid,
          .address = peer.address};
}

void Links::Greet(Peer* peer) {
  // Nothing is lost when it cannot be sent: the other side's silence ends at the deadline.
  static_cast<void>(peer->channel.Send(EncodeMessage({.kind = Message::Kind::kHello,
                                                      .role = peer->role,
                                                      .node = node_,
                                                      .rank = rank_,
                                                      .token = token_,
                                                      .digest = digest_})));
}

void Links::AdvancePeer(Peer* peer, short happened, Clock::time_point now, std::vector<LinkEvent>* events) {
  if (peer->state == State::kOpen && !peer->channel.open()) {  // it broke while we were sending
    if (!peer->dismissed) events->push_back(EventOf(*peer, LinkEvent::Kind::kGone));
    return;
  }
  const bool opening = peer->state != State::kOpen;
  std::string failed = peer->failed;
  if (failed.empty() && happened != 0 && peer->state == State::kConnecting) {
    const int error = ConnectError(peer->channel.descriptor());
    if (error != 0) {
      failed = std::strerror(error);
    } else {
      peer->state = State::kGreeted;
      Greet(peer);
    }
  } else if (failed.empty() && happened != 0) {
    if ((happened & POLLOUT) != 0) peer->channel.Flush();
    ReadPeer(peer, events);
    if (opening && !peer->channel.open()) failed = "it closed the connection";
  }
  if (failed.empty() && peer->state != State::kOpen && now >= peer->deadline) {
    failed = peer->state == State::kConnecting ? "no answer" : "connected, but no nccl-launch of this step answers";
  }
  if (failed.empty() || !opening) return;
  peer->channel.Close();
  if (peer->incoming) return;  // a stranger
  LinkEvent event = EventOf(*peer, LinkEvent::Kind::kFailed);
  event.reason = std::move(failed);
  events->push_back(std::move(event));
}

void Links::ReadPeer(Peer* peer, std::vector<LinkEvent>* events) {
  std::vector<std::string> lines;
  bool good = peer->channel.Read(&lines);
  for (const std::string& line : lines) {
    if (peer->state != State::kOpen) {
      if (TakeHello(peer, line, events)) continue;
      good = false;
      break;
    }
    auto message = DecodeMessage(line);
    if (!message.ok()) {
      good = false;
      break;
    }
    LinkEvent event = EventOf(*peer, LinkEvent::Kind::kMessage);
    event.message = std::move(message).value();
    events->push_back(std::move(event));
  }
  if (good) return;
  if (peer->state == State::kOpen) events->push_back(EventOf(*peer, LinkEvent::Kind::kGone));
  peer->channel.Close();
}

bool Links::TakeHello(Peer* peer, const std::string& line, std::vector<LinkEvent>* events) {
  const auto message = DecodeMessage(line);
  if (!message.ok() || message->kind != Message::Kind::kHello || message->token != token_) return false;
  if (!peer->incoming) {
    // Another node that has taken the address of the one we look for.
    if (message->node != peer->node) return false;
  } else {
    if ((message->role == Role::kLocal) != (peer->role == Role::kLocal)) return false;
    peer->role = message->role;
    peer->node = message->node;
  }
  peer->rank = message->rank;
  peer->digest = message->digest;
  peer->state = State::kOpen;
  if (peer->incoming) Greet(peer);
  for (const std::string& waiting : peer->backlog) static_cast<void>(peer->channel.Send(waiting));
  peer->backlog.clear();
  LinkEvent event = EventOf(*peer, LinkEvent::Kind::kOpen);
  event.message = *message;
  events->push_back(std::move(event));
  return true;
}

bool Links::IsBelow(const Peer& peer) {
  return peer.state == State::kOpen && peer.incoming && peer.role != Role::kRing && peer.channel.open();
}

bool Links::SendUp(const Message& message) {
  for (const auto& peer : peers_) {
    if (peer->incoming || peer->role == Role::kRing) continue;
    if (peer->state == State::kOpen) return peer->channel.Send(EncodeMessage(message));
    if (!peer->failed.empty()) return false;
    peer->backlog.push_back(EncodeMessage(message));
    return true;
  }
  return false;
}

bool Links::AwaitsParent() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) {
    return !peer->incoming && peer->role != Role::kRing && peer->state != State::kOpen;
  });
}

void Links::SendDown(const Message& message) {
  const std::string line = EncodeMessage(message);
  for (const auto& peer : peers_) {
    // One that is gone is told by its own event.
    if (IsBelow(*peer)) static_cast<void>(peer->channel.Send(line));
  }
}

bool Links::HasParent() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) {
    return !peer->incoming && peer->role != Role::kRing && peer->state == State::kOpen && peer->channel.open();
  });
}

std::vector<LinkEvent> Links::OpenBelow() const {
  std::vector<LinkEvent> out;
  for (const auto& peer : peers_) {
    if (!IsBelow(*peer)) continue;
    out.push_back(EventOf(*peer, LinkEvent::Kind::kOpen));
    out.back().message.digest = peer->digest;
  }
  return out;
}

void Links::Drain(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (Clock::now() < deadline) {
    std::vector<pollfd> polls;
    for (const auto& peer : peers_) {
      if (!peer->channel.open() || !peer->channel.waiting()) continue;
      polls.push_back({.fd = peer->channel.descriptor(), .events = POLLOUT, .revents = 0});
    }
    if (polls.empty()) return;
    constexpr int kStepMilliseconds = 20;
    if (poll(polls.data(), polls.size(), kStepMilliseconds) < 0 && errno != EINTR) return;
    for (const auto& peer : peers_) peer->channel.Flush();
  }
}

void Links::CloseRing() {
  for (const auto& peer : peers_) {
    if (peer->role != Role::kRing) continue;
    peer->dismissed = true;
    peer->channel.Close();
  }
}

}  // namespace nccl_tune::launcher
