// SPDX-License-Identifier: Apache-2.0
#include "site/plugstack.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "hw/capture_tree.h"

namespace nccl_tune::site {
namespace {

using Files = std::map<std::string, std::string>;
constexpr const char* kStack = "etc/slurm/plugstack.conf";

// Our lines as "FILE:LINE optional PATH ARGUMENTS", then the notes.
std::string Read(const Files& files) {
  hw::Capture capture;
  for (const auto& [path, text] : files) capture.entries.emplace(path, hw::CaptureFile{text});
  const auto got = ReadPlugstack(hw::CaptureTree(std::move(capture)), kStack);
  EXPECT_EQ(got.is_read, files.contains(kStack));
  std::string out;
  for (const auto& line : got.lines) {
    out += line.file + ":" + std::to_string(line.line) + (line.is_required ? " required " : " optional ") + line.path;
    for (const auto& argument : line.arguments) out += " " + argument;
    out += "\n";
  }
  for (const auto& line : got.disabled) out += "disabled " + line.file + ":" + std::to_string(line.line) + "\n";
  if (!got.pyxis_after.empty()) out += "pyxis " + got.pyxis_after + "\n";
  for (const auto& note : got.notes) out += "note " + note.where + ": " + note.what + "\n";
  return out;
}

TEST(PlugstackTest, OurLines) {
  const std::string file(kStack);
  const struct {
    Files files;
    std::string lines;
  } kRows[] = {
      {{{kStack, "optional /usr/lib/spank_nccl_tune.so\n"}}, file + ":1 optional /usr/lib/spank_nccl_tune.so\n"},
      {{{kStack, "# x\n\n  required\tspank_nccl_tune.so default=off  timeout_ms=9 # why\r\n"}},
       file + ":3 required spank_nccl_tune.so default=off timeout_ms=9\n"},
      {{{kStack, "optional /a/pyxis.so\noptional /a/spank_nccl_tune_22.05.so"}},
       file + ":2 optional /a/spank_nccl_tune_22.05.so\n"},
      {{{kStack, "include /etc/slurm/plugstack.conf.d/*.conf\n"},
        {"etc/slurm/plugstack.conf.d/b.conf", "optional /b/spank_nccl_tune.so\n"},
        {"etc/slurm/plugstack.conf.d/a.conf", "optional /a/pyxis.so\n"},
        {"etc/slurm/plugstack.conf.d/c.conf~", "optional /c/spank_nccl_tune.so\n"},
        {"etc/slurm/plugstack.conf.d/.d.conf", "optional /d/spank_nccl_tune.so\n"}},
       "etc/slurm/plugstack.conf.d/b.conf:1 optional /b/spank_nccl_tune.so\n"},
      {{{kStack, "include ours\n"}, {"etc/slurm/ours", "optional spank_nccl_tune.so"}},
       "etc/slurm/ours:1 optional spank_nccl_tune.so\n"},
      {{{kStack, "optional /x/nccl_tune/other.so\n"}}, ""},
      {{{kStack, "#optional /usr/lib/spank_nccl_tune.so\n"}}, "disabled " + file + ":1\n"},
      {{{kStack, "# # optional /usr/lib/spank_nccl_tune.so default=off\n"}}, "disabled " + file + ":1\n"},
      {{{kStack, "# optional, never required: spank_nccl_tune.so\n#\n# optional\n"}}, ""},
      {{{kStack, "optional /a/spank_nccl_tune.so\noptional /a/spank_pyxis.so\n"}},
       file + ":1 optional /a/spank_nccl_tune.so\npyxis " + file + ":2\n"},
      {{{kStack, "include /none/*\n"}}, ""},
      {{{kStack, ""}}, ""},
  };
  for (const auto& row : kRows) EXPECT_EQ(Read(row.files), row.lines);
}

TEST(PlugstackTest, WhatSlurmWouldNotTake) {
  const std::string note = "note " + std::string(kStack);
  const struct {
    Files files;
    std::string notes;
  } kRows[] = {
      {{}, note + ": No such file or directory\n"},
      {{{kStack, "optional\n"}}, note + ":1: optional without a path\n"},
      {{{kStack, "include"}}, note + ":1: include without a path\n"},
      {{{kStack, "Optional /a/spank_nccl_tune.so"}}, note + ":1: neither required, optional nor include\n"},
      {{{kStack, "/a/spank_nccl_tune.so"}}, note + ":1: neither required, optional nor include\n"},
      {{{kStack, "optional /a/spank_nccl_tune.so default=auto\r\n\r\n"}},
       std::string(kStack) + ":1 optional /a/spank_nccl_tune.so default=auto\r\n" + note +
           ":1: ends with CR LF, and Slurm takes the CR for a part of the last word. Do: sed -i 's/\\r$//' "
           "/etc/slurm/plugstack.conf\n"},
      {{{kStack, "include gone\n"}}, "note etc/slurm/gone: No such file or directory\n"},
      {{{kStack, "include plugstack.conf\n"}}, note + ": more than 256 files: the rest is not read\n"},
  };
  for (const auto& row : kRows) EXPECT_EQ(Read(row.files), row.notes);
}

}  // namespace
}  // namespace nccl_tune::site
