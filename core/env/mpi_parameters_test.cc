// SPDX-License-Identifier: Apache-2.0
#include "core/env/mpi_parameters.h"

#include <gtest/gtest.h>

#include <string>

namespace nccl_tune::env {
namespace {

std::string Show(std::string_view text) {
  std::string out;
  for (const auto& s : ParseMpiParameters("/f", text).settings) {
    out += (out.empty() ? "" : "|") + std::to_string(s.line) + " " + s.name + "=" + s.value;
  }
  return out;
}

TEST(MpiParametersTest, Lines) {
  const struct {
    std::string text;
    const char* settings;
  } rows[] = {
      {"btl_tcp_if_exclude = lo,docker0\n", "1 OMPI_MCA_btl_tcp_if_exclude=lo,docker0"},
      {"a=1\n\n# c = 3\nb = 2", "1 OMPI_MCA_a=1|4 OMPI_MCA_b=2"},
      {"  a\t=\t1 # why\r\n", "1 OMPI_MCA_a=1"},
      {"a = b = c\n", "1 OMPI_MCA_a=b = c"},
      {"a =\n", "1 OMPI_MCA_a="},
      {"", ""},
      {"\n\n\n", ""},
      {"no value\n", ""},
      {"= 1\n", ""},
      {"a b = 1\n", ""},
      {"a-b = 1\n", ""},
      {"#a = 1\n", ""},
      {std::string("a\0b = 1\n", 8), ""},
      {"\xff\xfe = 1\n", ""},
      {std::string(100000, '='), ""},
      {std::string(100000, '\n') + "a=1", "100001 OMPI_MCA_a=1"},
  };
  for (const auto& row : rows) EXPECT_EQ(Show(row.text), row.settings) << row.text.substr(0, 40);
}

TEST(MpiParametersTest, Places) {
  using Paths = std::vector<std::string>;
  const std::string site = "/etc/openmpi/openmpi-mca-params.conf";
  EXPECT_EQ(MpiParameterPaths({{"HOME", "/home/u"}}), (Paths{"/home/u/.openmpi/mca-params.conf", site}));
  for (const char* home : {"", "home", "~", "./x"}) EXPECT_EQ(MpiParameterPaths({{"HOME", home}}), Paths{site}) << home;
  EXPECT_EQ(MpiParameterPaths({}), Paths{site});
}

}  // namespace
}  // namespace nccl_tune::env
