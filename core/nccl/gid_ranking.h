// SPDX-License-Identifier: Apache-2.0
//
// Which GID index NCCL takes on a port, and why. A model of NCCL 2.18 to 2.32; it says what will happen, not what would
// be right.
#ifndef NCCL_TUNE_CORE_NCCL_GID_RANKING_H_
#define NCCL_TUNE_CORE_NCCL_GID_RANKING_H_

#include <optional>
#include <string>

#include "core/facts/node.h"
#include "core/nccl/environment.h"
#include "core/nccl/nccl_version.h"

namespace nccl_tune::nccl {

enum class GidRule {
  kPinned,          // NCCL_IB_GID_INDEX, unchecked
  kOldDefault,      // 0, up to 2.20.5
  kIndexZero,       // nothing beat index 0
  kFamily,          // rule A: first of the wanted family while the choice was of the other one
  kVersion,         // rule B: the wanted RoCE version
  kRoutableFlid,    // InfiniBand: that GID carries an FLID
  kInfiniBandZero,  // InfiniBand: index 0
  kInitFails,       // no index
};

struct GidChoice {
  std::optional<int> index{};  // absent: NCCL's init fails
  GidRule rule = GidRule::kIndexZero;
  std::optional<facts::Gid> gid{};  // absent: the slot is empty, or there is no index
  std::string reason{};             // one clause, for explain
};

// Reads NCCL_IB_GID_INDEX, NCCL_IB_ADDR_FAMILY, NCCL_IB_ADDR_RANGE, NCCL_IB_ROCE_VERSION_NUM and
// NCCL_IB_ROUTABLE_FLID_GID_INDEX. `table_length` is the port's gid_tbl_len; absent, the table ends with its last
// entry. Slots that `port` does not list are empty: zero, and their type cannot be read. A link layer that is not known
// counts as Ethernet.
GidChoice ChooseGid(const facts::IbPort& port, NcclVersion version, const Environment& environment,
                    std::optional<int> table_length = std::nullopt);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_GID_RANKING_H_
