// SPDX-License-Identifier: Apache-2.0
//
// A whole node out of a fuzzer's bytes. Names, drivers and addresses mostly come from short lists, so that they meet;
// the rest is any text.
#ifndef NCCL_TUNE_TESTS_FUZZ_NODE_FROM_BYTES_H_
#define NCCL_TUNE_TESTS_FUZZ_NODE_FROM_BYTES_H_

#include "base/environment.h"
#include "core/facts/ip_address.h"
#include "core/facts/node.h"
#include "core/nccl/nccl_version.h"
#include "tests/fuzz/byte_reader.h"

namespace nccl_tune::fuzz {

facts::IpAddress AddressFromBytes(ByteReader* bytes);

// Its GIDs are in order of index.
facts::IbPort PortFromBytes(ByteReader* bytes);

// At most 8 HCAs of 3 ports and 8 GIDs each, 8 interfaces, 8 GPUs and 4 routes; numbers and orders as node.h says.
facts::Node NodeFromBytes(ByteReader* bytes);

// Up to 8 variables of those that we know, or under other names.
base::Environment EnvironmentFromBytes(ByteReader* bytes);

// 2.16 to 2.34, so also what we do not know.
nccl::NcclVersion VersionFromBytes(ByteReader* bytes);

}  // namespace nccl_tune::fuzz

#endif  // NCCL_TUNE_TESTS_FUZZ_NODE_FROM_BYTES_H_
