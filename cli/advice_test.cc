// SPDX-License-Identifier: Apache-2.0
#include "cli/advice.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "hw/capture_tree.h"

namespace nccl_tune::cli {
namespace {

using Files = std::map<std::string, std::string>;

std::string Advise(const Files& files) {
  hw::Capture capture;
  capture.entries.emplace("etc/slurm/slurm.conf", hw::CaptureFile{"ClusterName=c\n"});
  for (const auto& [path, text] : files) capture.entries.emplace(path, hw::CaptureFile{text});
  const hw::CaptureTree tree(std::move(capture));
  return HowToName(tree, site::ReadInstallation(tree, ""));
}

TEST(AdviceTest, WhatToWriteWhere) {
  const std::string plugin = "usr/lib/nccl-tune/spank_nccl_tune.so";
  const std::string stack = "etc/slurm/plugstack.conf";
  const std::string drop_in = "etc/slurm/plugstack.conf.d/zz-nccl_tune.conf";
  const std::string include = "include /etc/slurm/plugstack.conf.d/*.conf";
  const std::string line = "optional /usr/lib/nccl-tune/spank_nccl_tune.so";
  const struct {
    const char* what;
    Files files;
    std::string advice;
  } kRows[] = {
      {"nothing but the plugin", {{plugin, "x"}}, "write into /" + stack + ": " + line},
      {"an empty plugstack.conf", {{plugin, "x"}, {stack, ""}}, "write into /" + stack + ": " + line},
      {"the drop-in is gone", {{plugin, "x"}, {stack, include + "\n"}}, "write into a new /" + drop_in + ": " + line},
      {"the drop-in is empty",
       {{plugin, "x"}, {stack, include + "\n"}, {drop_in, "\n"}},
       "write into /" + drop_in + ": " + line},
      {"the line is commented out",
       {{plugin, "x"}, {stack, include + "\n"}, {drop_in, "# why\n#" + line + "\n"}},
       "take the # away from /" + drop_in + ":2"},
      {"no include line",
       {{plugin, "x"}, {stack, "# none\n"}, {drop_in, line + "\n"}},
       "write into /" + stack + ", which does not include /" + drop_in + ": " + include},
      {"the package is removed",
       {{stack, include + "\n"}},
       "apt install ./nccl-tune-slurm-plugin.deb, then write into a new /" + drop_in + ": " + line},
  };
  for (const auto& row : kRows) EXPECT_EQ(Advise(row.files), row.advice) << row.what;
  EXPECT_EQ(HowToInstall("/" + plugin), "apt install ./nccl-tune-slurm-plugin.deb");
  EXPECT_EQ(HowToInstall("/opt/spank_nccl_tune.so"), "copy spank_nccl_tune.so to /opt/spank_nccl_tune.so");
}

}  // namespace
}  // namespace nccl_tune::cli
