// SPDX-License-Identifier: Apache-2.0
//
// Command line of nccl-tune: words in, what to do out. Knows no files.
#ifndef NCCL_TUNE_CLI_OPTIONS_H_
#define NCCL_TUNE_CLI_OPTIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/facts/ip_address.h"

namespace nccl_tune::cli {

enum class Command { kFacts, kEnv, kExplain, kCapture, kCheckPolicy, kDoctor, kHelp, kVersion };
enum class Format { kText, kJson, kShell, kConf };

struct Options {
  Command command = Command::kHelp;
  Format format = Format::kText;
  std::optional<std::string> root;            // --root
  std::optional<std::string> host;            // --host
  std::optional<facts::IpAddress> node_addr;  // --node-addr; absent also for an empty value: none known
  bool node_addr_given = false;
  std::optional<std::string> site_policy;  // --policy: instead of the machine's own
  bool mpi = false;                        // --mpi: also the variables of MPI and UCX
  std::string output;                      // capture's FILE
  std::string policy;                      // check-policy's FILE
};

// `words` without the program's name. Every error names the word and what is valid.
base::Result<Options> ParseOptions(const std::vector<std::string>& words);

std::string_view HelpText();

}  // namespace nccl_tune::cli

#endif  // NCCL_TUNE_CLI_OPTIONS_H_
