// SPDX-License-Identifier: Apache-2.0
//
// The rtnetlink side of DCB.
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include "hw/dcb.h"
#include "hw/directory_tree.h"

namespace nccl_tune::hw {
namespace {

using base::Code;
using base::Error;
using base::Result;

constexpr std::size_t kAlign = 4;
constexpr int kLastDscp = 63;
constexpr int kLastPriority = IEEE_8021QAZ_MAX_TCS - 1;

Error Odd(std::string what) { return {.code = Code::kInvalidInput, .what = std::move(what)}; }

// The first bytes of `text` as a T; it has at least so many.
template <typename T>
T Take(std::string_view text) {
  T out{};
  std::memcpy(&out, text.data(), sizeof out);
  return out;
}

template <typename T>
void Append(std::string* out, const T& value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::size_t Aligned(std::size_t length) { return (length + kAlign - 1) / kAlign * kAlign; }

// Calls `use` with the type and the payload of each attribute until that fails.
template <typename Use>
base::Status ForEachAttribute(std::string_view text, Use use) {
  while (!text.empty()) {
    if (text.size() < sizeof(nlattr)) return Odd("attribute cut short");
    const auto head = Take<nlattr>(text);
    if (head.nla_len < sizeof head || head.nla_len > text.size()) {
      return Odd("attribute of " + std::to_string(head.nla_len) + " bytes where " + std::to_string(text.size()) +
                 " are left");
    }
    NCCL_TUNE_RETURN_IF_ERROR(use(head.nla_type & NLA_TYPE_MASK, text.substr(sizeof head, head.nla_len - sizeof head)));
    text.remove_prefix(std::min(Aligned(head.nla_len), text.size()));
  }
  return base::Ok();
}

base::Status ReadPfc(std::string_view payload, std::optional<std::uint8_t>* out) {
  if (payload.size() < sizeof(ieee_pfc)) return Odd("PFC of " + std::to_string(payload.size()) + " bytes");
  *out = Take<ieee_pfc>(payload).pfc_en;
  return base::Ok();
}

base::Status ReadApp(std::string_view payload, std::vector<facts::DscpPriority>* out) {
  if (payload.size() < sizeof(dcb_app)) return Odd("application entry of " + std::to_string(payload.size()) + " bytes");
  const auto app = Take<dcb_app>(payload);
  if (app.selector != IEEE_8021QAZ_APP_SEL_DSCP) return base::Ok();
  if (app.protocol > kLastDscp || app.priority > kLastPriority) {
    return Odd("DSCP " + std::to_string(app.protocol) + " with priority " + std::to_string(app.priority));
  }
  out->push_back({.dscp = app.protocol, .priority = app.priority});
  return base::Ok();
}

Result<facts::Dcb> ReadIeee(std::string_view payload) {
  std::optional<std::uint8_t> pfc;
  facts::Dcb out;
  NCCL_TUNE_RETURN_IF_ERROR(ForEachAttribute(payload, [&](int type, std::string_view value) -> base::Status {
    if (type == DCB_ATTR_IEEE_PFC) return ReadPfc(value, &pfc);
    if (type != DCB_ATTR_IEEE_APP_TABLE) return base::Ok();
    return ForEachAttribute(value, [&](int kind, std::string_view entry) -> base::Status {
      return kind == DCB_ATTR_IEEE_APP ? ReadApp(entry, &out.dscp) : base::Ok();
    });
  }));
  if (!pfc) return Error{.code = Code::kNotFound, .what = "no PFC"};
  out.pfc = *pfc;
  std::sort(out.dscp.begin(), out.dscp.end());
  out.dscp.erase(std::unique(out.dscp.begin(), out.dscp.end()), out.dscp.end());
  return out;
}

Error ReadKernelError(std::string_view payload) {
  if (payload.size() < sizeof(int)) return Odd("error cut short");
  const int code = Take<int>(payload);
  if (code >= 0) return Odd("an acknowledgement in place of an answer");
  // The interface left meanwhile, or its driver or the kernel knows no DCB.
  const bool absent = code == -EOPNOTSUPP || code == -ENODEV;
  return {.code = absent ? Code::kNotFound : Code::kUnreadable,
          .what = code == std::numeric_limits<int>::min() ? "error" : std::generic_category().message(-code)};
}

class LiveSource {
 public:
  std::optional<facts::Dcb> Ask(const std::string& interface, std::vector<facts::Note>* notes) {
    auto got = Exchange(interface);
    if (got.ok()) return std::move(got).value();
    if (got.error().code != Code::kNotFound)
      notes->push_back({.where = "DCB of " + base::Printable(interface), .what = got.error().what});
    return std::nullopt;
  }

 private:
  static Error FromErrno() { return {.code = Code::kUnreadable, .what = std::generic_category().message(errno)}; }

  Result<facts::Dcb> Exchange(const std::string& interface) {
    if (!socket_.valid()) socket_ = Descriptor(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!socket_.valid()) return FromErrno();
    NCCL_TUNE_ASSIGN_OR_RETURN(request, MakeDcbRequest(interface, ++sequence_));
    if (send(socket_.get(), request.data(), request.size(), MSG_DONTWAIT) < 0) return FromErrno();
    constexpr std::size_t kLongest = 16 << 10;  // the kernel makes at most a page of it
    std::string buffer(kLongest, '\0');
    // What an earlier question left behind is not for this one.
    for (int i = 0; i < 4; ++i) {
      const ssize_t length = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
      if (length < 0) return FromErrno();
      if (static_cast<std::size_t>(length) > buffer.size()) return Odd("an answer longer than a page");
      const std::string_view message = std::string_view(buffer).substr(0, static_cast<std::size_t>(length));
      if (message.size() >= sizeof(nlmsghdr) && Take<nlmsghdr>(message).nlmsg_seq != sequence_) continue;
      return ParseDcbReply(message);
    }
    return Odd("no answer to what was asked");
  }

  Descriptor socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace

Result<std::string> MakeDcbRequest(std::string_view interface, std::uint32_t sequence) {
  if (interface.empty() || interface.size() >= IFNAMSIZ || interface.find('\0') != std::string_view::npos)
    return Error{.code = Code::kNotFound, .what = "no name of an interface"};
  const auto attribute = static_cast<unsigned short>(sizeof(nlattr) + interface.size() + 1);
  const std::size_t length = sizeof(nlmsghdr) + sizeof(dcbmsg) + Aligned(attribute);
  std::string out;
  Append(&out, nlmsghdr{.nlmsg_len = static_cast<__u32>(length),
                        .nlmsg_type = RTM_GETDCB,
                        .nlmsg_flags = NLM_F_REQUEST,
                        .nlmsg_seq = sequence,
                        .nlmsg_pid = 0});
  Append(&out, dcbmsg{.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET, .dcb_pad = 0});
  Append(&out, nlattr{.nla_len = attribute, .nla_type = DCB_ATTR_IFNAME});
  out += interface;
  out.resize(length, '\0');
  return out;
}

Result<facts::Dcb> ParseDcbReply(std::string_view message) {
  if (message.size() < sizeof(nlmsghdr)) return Odd("answer of " + std::to_string(message.size()) + " bytes");
  const auto head = Take<nlmsghdr>(message);
  if (head.nlmsg_len < sizeof head || head.nlmsg_len > message.size()) {
    return Odd("answer of " + std::to_string(message.size()) + " bytes that says " + std::to_string(head.nlmsg_len));
  }
  std::string_view payload = message.substr(sizeof head, head.nlmsg_len - sizeof head);
  if (head.nlmsg_type == NLMSG_ERROR) return ReadKernelError(payload);
  if (head.nlmsg_type != RTM_GETDCB) return Odd("answer of type " + std::to_string(head.nlmsg_type));
  if (payload.size() < sizeof(dcbmsg)) return Odd("answer cut short");
  if (Take<dcbmsg>(payload).cmd != DCB_CMD_IEEE_GET) return Odd("answer to another question");
  payload.remove_prefix(sizeof(dcbmsg));
  std::optional<std::string_view> ieee;
  NCCL_TUNE_RETURN_IF_ERROR(ForEachAttribute(payload, [&](int type, std::string_view value) -> base::Status {
    if (type == DCB_ATTR_IEEE) ieee = value;
    return base::Ok();
  }));
  if (!ieee) return Error{.code = Code::kNotFound, .what = "no DCB of IEEE's kind"};
  return ReadIeee(*ieee);
}

DcbSource LiveDcb() {
  return [source = std::make_shared<LiveSource>()](const std::string& interface, std::vector<facts::Note>* notes) {
    return source->Ask(interface, notes);
  };
}

}  // namespace nccl_tune::hw
