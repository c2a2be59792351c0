// SPDX-License-Identifier: Apache-2.0
//
// NCCL's configuration files: which ones a version reads, what it takes of them, and how they rank against the process
// environment. Text in, values out; whoever reads the files is not here.
//
// Threads: plain values. Source: NCCL's reading, 2.18 to 2.32. Two things it does that surprise: nothing is trimmed, so
// "NCCL_X = 1" sets a variable whose name ends in a blank; and of several lines or files the first one wins. The
// settings reach the environment when NCCL starts: a library that looked earlier (Gloo, UCX) does not see them.
#ifndef NCCL_TUNE_CORE_NCCL_CONF_FILE_H_
#define NCCL_TUNE_CORE_NCCL_CONF_FILE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/environment.h"
#include "core/nccl/nccl_version.h"

namespace nccl_tune::nccl {

struct ConfSetting {
  std::string name;   // exactly as NCCL sets it, blanks and all
  std::string value;  // at most 1023 bytes
  int line = 0;       // from 1
};

struct ConfRemark {
  int line = 0;      // from 1; 0: about the file
  std::string what;  // one clause, with what happens
};

struct ConfFile {
  std::string path;
  std::vector<ConfSetting> settings;  // in the file's order; of one name the first counts
  std::vector<ConfRemark> remarks;
};

// The files that a process looks for, first the one that wins. Absolute paths.
struct ConfPlaces {
  std::vector<std::string> paths;
  std::optional<std::string> named;  // the one that NCCL_CONF_FILE names, also in `paths`
  std::vector<std::string> remarks;  // about NCCL_CONF_FILE and HOME: one clause each
};

// From NCCL_CONF_FILE (2.23 and newer; when set, the file of the home directory is not read), HOME and the fixed
// place. Up to 2.29 NCCL asks the password database for the home directory; this takes HOME for it there too.
// A relative path depends on the task's working directory: it is left out, with a remark.
ConfPlaces FindConfPlaces(const Environment& environment, const NcclVersion& version);

// Never fails: a line that NCCL skips or takes otherwise than it looks gives a remark.
ConfFile ParseConfFile(std::string path, std::string_view text, const NcclVersion& version);

// Text by path, for the files that are there.
using ConfTexts = std::map<std::string, std::string, std::less<>>;
// The files of `places` that are there, in their order. One that NCCL_CONF_FILE names and that is not there comes
// without settings and with a remark.
std::vector<ConfFile> ParseConfFiles(const ConfPlaces& places, const ConfTexts& texts, const NcclVersion& version);

// One variable as NCCL will see it.
struct SourcedValue {
  std::string value;
  std::string path;  // of the file; empty: the process environment
  int line = 0;

  bool FromEnvironment() const { return path.empty(); }
  std::string Origin() const;  // "environment", "/etc/nccl.conf:3"
};
using SourcedEnvironment = std::map<std::string, SourcedValue, std::less<>>;

// The process environment first, which no file overrides, then `files` in their order.
SourcedEnvironment MergeSettings(const Environment& environment, const std::vector<ConfFile>& files);

// The values alone: what NCCL's own look-up would find.
Environment ValuesOf(const SourcedEnvironment& settings);

}  // namespace nccl_tune::nccl

#endif  // NCCL_TUNE_CORE_NCCL_CONF_FILE_H_
