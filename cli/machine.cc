// SPDX-License-Identifier: Apache-2.0
#include "cli/machine.h"

#include <utility>

#include "hw/capture_tree.h"
#include "hw/directory_tree.h"
#include "hw/local_address.h"
#include "hw/user_file.h"

namespace nccl_tune::cli {
namespace {

using base::Result;

Result<Machine> OpenCapture(const Options& options) {
  Machine out;
  constexpr std::size_t kLimit = 8 << 20;
  NCCL_TUNE_ASSIGN_OR_RETURN(text, hw::ReadUserFile(*options.host, kLimit));
  NCCL_TUNE_ASSIGN_OR_RETURN(capture, hw::ParseCapture(text, *options.host));
  const auto header = [&](const char* key) {
    const auto found = capture.header.find(key);
    return found == capture.header.end() ? std::string() : found->second;
  };
  out.name = header("name");
  const std::string address = header("node-addr");
  if (!address.empty()) {
    auto parsed = facts::ParseIpAddress(address);
    if (!parsed.ok()) {
      base::Error error = parsed.error();
      error.where = *options.host + ": node-addr";
      return error;
    }
    out.node_addr = *parsed;
  }
  out.tree = std::make_unique<hw::CaptureTree>(std::move(capture));
  return out;
}

}  // namespace

Result<Machine> OpenMachine(const Options& options) {
  Machine out;
  if (options.host) {
    NCCL_TUNE_ASSIGN_OR_RETURN(opened, OpenCapture(options));
    out = std::move(opened);
  } else {
    out.live = !options.root;
    NCCL_TUNE_ASSIGN_OR_RETURN(tree, hw::DirectoryTree::Open(options.root.value_or("/")));
    out.tree = std::move(tree);
    if (out.live) out.name = hw::OwnHostName();
  }
  out.ip = out.live ? hw::ReadLiveIp(*out.tree, &out.notes) : hw::ReadIpFiles(*out.tree, &out.notes);
  if (options.node_addr_given) {
    out.node_addr = options.node_addr;
  } else if (out.live) {
    out.node_addr = hw::FindNodeAddress(out.name, out.ip.interfaces);
  }
  return out;
}

}  // namespace nccl_tune::cli
