// SPDX-License-Identifier: Apache-2.0
#include "core/policy/host_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nccl_tune::policy {
namespace {

TEST(HostListTest, Contains) {
  const struct {
    const char* list;
    const char* host;
    bool contained;
  } kRows[] = {
      {"node1", "node1", true},
      {"node1", "node10", false},
      {"node1,node2", "node2", true},
      {"node[1-3]", "node3", true},
      {"node[1-3]", "node4", false},
      {"node[1-3]", "node03", false},
      {"node[1-3]", "node", false},
      {"node[01-16,20]", "node01", true},
      {"node[01-16,20]", "node1", false},
      {"node[01-16,20]", "node16", true},
      {"node[01-16,20]", "node17", false},
      {"node[01-16,20]", "node20", true},
      {"node[01-16,20]", "node001", false},
      {"node[01-100]", "node99", true},
      {"node[01-100]", "node100", true},
      {"node[01-100]", "node099", false},
      {"node[0-9]", "node0", true},
      {"node[007]", "node007", true},
      {"node[007]", "node7", false},
      {"rack[0-3]n[1-9]", "rack2n9", true},
      {"rack[0-3]n[1-9]", "rack4n9", false},
      {"n[1-99][0-9]", "n123", true},
      {"n[1-99][0-9]", "n1", false},
      {"n[1-2]-ib", "n2-ib", true},
      {"n[1-2]-ib", "n2", false},
      {"[1-4]", "3", true},
      {"a.b_c-d", "a.b_c-d", true},
      {"node[1-3]", "Node1", false},
      {"node[1-3]", "", false},
      {"a[1,2],b[3,4]", "b4", true},
      {"a[1,2],b[3,4]", "a4", false},
      {"n[999999999]", "n999999999", true},
      {"n[1-999999999]", "n1234567890", false},
  };
  for (const auto& row : kRows) {
    const auto list = ParseHostList(row.list);
    ASSERT_TRUE(list.ok()) << row.list;
    EXPECT_EQ(list->Contains(row.host), row.contained) << row.list << " " << row.host;
  }
}

TEST(HostListTest, BadListsSayWhichEntry) {
  const struct {
    std::string list;
    std::string message;
  } kRows[] = {
      {"", "empty host name: got \"\", expected a form such as node[01-16,20]"},
      {",", "empty host name: got \"\", expected a form such as node[01-16,20]"},
      {"a,", "empty host name: got \"\", expected a form such as node[01-16,20]"},
      {"a,,b", "empty host name: got \"\", expected a form such as node[01-16,20]"},
      {"a, b", "a character that no host name has: got \" b\", expected a form such as node[01-16,20]"},
      {"node1 node2", "a character that no host name has: got \"node1 node2\", expected a form such as node[01-16,20]"},
      {"node*", "a character that no host name has: got \"node*\", expected a form such as node[01-16,20]"},
      {"ok,node{1,2}", "a character that no host name has: got \"node{1\", expected a form such as node[01-16,20]"},
      {"node]", "a character that no host name has: got \"node]\", expected a form such as node[01-16,20]"},
      {"n\xc3\xb6", "a character that no host name has: got \"n\\xc3\\xb6\", expected a form such as node[01-16,20]"},
      {"a\n", "a character that no host name has: got \"a\\x0a\", expected a form such as node[01-16,20]"},
      {"node[1-3", "a bracket that does not close: got \"node[1-3\", expected ]"},
      {"node[", "a bracket that does not close: got \"node[\", expected ]"},
      {"node[]", "not a range of host numbers: got \"\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"node[1,]", "not a range of host numbers: got \"\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"node[1-]", "not a range of host numbers: got \"1-\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"node[-3]", "not a range of host numbers: got \"-3\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"node[1-2-3]",
       "not a range of host numbers: got \"1-2-3\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"node[a-f]",
       "not a range of host numbers: got \"a-f\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"node[000x333]",
       "not a range of host numbers: got \"000x333\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"node[[1-2]]",
       "not a range of host numbers: got \"[1-2\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"node[1- 3]",
       "not a range of host numbers: got \"1- 3\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"node[+1]", "not a range of host numbers: got \"+1\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"n[1234567890]",
       "not a range of host numbers: got \"1234567890\", expected a form such as 01-16 or 20, of at most 9 digits"},
      {"n[1-99999999999999999999]",
       "not a range of host numbers: got \"1-99999999999999999999\", expected a form such as 01-16 or 20, of at most 9 "
       "digits"},
      {"node[9-1]", "range from the larger to the smaller: got \"9-1\", expected the smaller number first"},
      {"node[1-016]",
       "range whose ends are filled up differently: got \"1-016\", expected as many digits in both, such as 01-16"},
      {"node[001-16]",
       "range whose ends are filled up differently: got \"001-16\", expected as many digits in both, such as 01-16"},
      {"n[1]a[1]b[1]c[1]d[1]", "more than 4 pairs of brackets: got \"n[1]a[1]b[1]c[1]d[1]\", expected at most 4"},
      {std::string("a\0b", 3),
       "a character that no host name has: got \"a\\x00b\", expected a form such as node[01-16,20]"},
  };
  for (const auto& row : kRows) {
    const auto got = ParseHostList(row.list);
    ASSERT_FALSE(got.ok()) << row.list;
    EXPECT_EQ(got.error().ToString(), row.message);
  }
}

TEST(HostListTest, LongListsStayCheap) {
  std::string list = "n0";
  for (int i = 1; i < 50000; ++i) list += ",n[" + std::to_string(i) + "-999999]";
  const auto parsed = ParseHostList(list);
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->Contains("n999999"));
  EXPECT_FALSE(parsed->Contains("m1"));
}

TEST(FormatHostListTest, Table) {
  const struct {
    std::vector<std::string> names;
    const char* text;
  } kRows[] = {
      {{}, ""},
      {{"a"}, "a"},
      {{"a", "a"}, "a"},
      {{"n1", "n2", "n3"}, "n[1-3]"},
      {{"n3", "n1", "n10", "n2"}, "n[1-3,10]"},
      {{"n8", "n9", "n10", "n11"}, "n[8-11]"},
      {{"n08", "n09", "n10", "n11"}, "n[08-11]"},
      {{"n9", "n10"}, "n[9-10]"},
      {{"n09", "n9"}, "n09,n9"},
      {{"n1", "m1", "login"}, "login,m1,n1"},
      {{"r1n1", "r1n2", "r2n1", "r2n2"}, "r1n[1-2],r2n[1-2]"},
      {{"n1-ib", "n2-ib", "n1"}, "n1,n[1-2]-ib"},
      {{"n1", "n3", "n5"}, "n[1,3,5]"},
      {{"7", "8"}, "[7-8]"},
      {{"n1234567890", "n1234567891"}, "n1234567890,n1234567891"},
  };
  for (const auto& row : kRows) EXPECT_EQ(FormatHostList(row.names), row.text);
}

TEST(FormatHostListTest, WhatItWritesHoldsEveryName) {
  std::vector<std::string> names;
  for (int i = 0; i < 300; i += 1 + i % 7) {
    names.push_back("node" + std::to_string(i));
    names.push_back("rack" + std::to_string(i % 5) + "-n0" + std::to_string(i));
  }
  const auto list = ParseHostList(FormatHostList(names));
  ASSERT_TRUE(list.ok()) << FormatHostList(names);
  for (const auto& name : names) EXPECT_TRUE(list->Contains(name)) << name;
  EXPECT_FALSE(list->Contains("node2"));
}

TEST(HostLessTest, AsPeopleCount) {
  const std::vector<std::string> sorted = {"", "a", "a1", "a2", "a10", "a10b", "a11", "b"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) EXPECT_EQ(HostLess(sorted[i], sorted[j]), i < j) << i << " " << j;
  }
  EXPECT_NE(HostLess("a01", "a1"), HostLess("a1", "a01")) << "an order of different names";
}

}  // namespace
}  // namespace nccl_tune::policy
