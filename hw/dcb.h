// SPDX-License-Identifier: Apache-2.0
//
// Priority flow control and DSCP entries of an interface: from the kernel by rtnetlink (RTM_GETDCB, which any user may
// ask), or from the JSON of `dcb -j pfc show dev NAME` and `dcb -j app show dev NAME` for trees and captures.
//
// Sources: linux/dcbnl.h, linux/rtnetlink.h; iproute2's dcb.
#ifndef NCCL_TUNE_HW_DCB_H_
#define NCCL_TUNE_HW_DCB_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "hw/tree.h"

namespace nccl_tune::hw {

// Answers for one interface; nothing where it has no DCB. An empty function: there is nobody to ask.
using DcbSource = std::function<std::optional<facts::Dcb>(const std::string& interface, std::vector<facts::Note>*)>;

// The kernel, for interfaces of this network namespace. One request an interface; the kernel answers before sending
// returns, so nothing is waited for but, as with getifaddrs, another change of the network that is under way. The first
// question opens a socket, which the source keeps. One thread.
DcbSource LiveDcb();

// The files dcb/NAME/pfc.json and dcb/NAME/app.json at the top of `tree`, read at once. What makes no sense is noted.
DcbSource DcbFiles(const Tree& tree, std::vector<facts::Note>* notes);

// The request for `interface`. Fails for a name that no interface can have.
base::Result<std::string> MakeDcbRequest(std::string_view interface, std::uint32_t sequence);

// One message of rtnetlink. kNotFound: the interface has no DCB, or none of IEEE's kind.
base::Result<facts::Dcb> ParseDcbReply(std::string_view message);

// `app` may be empty: no entries are known.
base::Result<facts::Dcb> ParseDcbJson(std::string_view pfc, std::string_view app);

// Facts back to the JSON that ParseDcbJson reads.
std::string WriteDcbPfc(const facts::Dcb& dcb);
std::string WriteDcbApp(const facts::Dcb& dcb);

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_DCB_H_
