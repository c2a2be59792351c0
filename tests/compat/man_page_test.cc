// SPDX-License-Identifier: Apache-2.0
//
// nccl-bench(1) beside the tables of flags and variables: the same names, arguments and defaults, and no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/flag_table.h"
#include "bench/option_variables.h"
#include "bench/options.h"
#include "tests/compat/compat_page.h"

namespace nccl_tune::compat {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One entry of a list: what it is about, and the text below.
struct Entry {
  std::string tag{};
  std::string text{};
};

// A line as a reader sees it: macros and quotes away, the arguments of .BR and .BI put together.
std::string Shown(std::string line) {
  line = std::regex_replace(line, std::regex(R"(\\f.)"), "");
  line = std::regex_replace(line, std::regex(R"(\\-)"), "-");
  if (!line.starts_with('.')) return line;
  const bool joins = line.starts_with(".BR ") || line.starts_with(".BI ") || line.starts_with(".RB ");
  line.erase(0, std::min(line.find(' ') + 1, line.size()));
  std::string shown;
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c != ' ' || is_quoted || !joins) {
      shown += c;
    }
  }
  return shown;
}

// The page as lines that a reader sees, but for .SH and .TP.
std::vector<std::string> Page() {
  std::ifstream file("docs/man/nccl-bench.1");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    const bool is_kept = line.starts_with(".SH ") || line.starts_with(".SS ") || line == ".TP" || line == ".PP";
    lines.push_back(is_kept ? line : Shown(line));
  }
  return lines;
}

// The entries of a section: ".SH OPTIONS OF NCCL\-BENCH".
std::vector<Entry> Entries(const std::string& section) {
  std::vector<Entry> entries;
  bool is_inside = false;
  bool is_tag = false;
  for (const std::string& line : Page()) {
    if (line.starts_with(".SH ")) is_inside = line == section;
    if (!is_inside) continue;
    if (line == ".TP") {
      is_tag = true;
    } else if (is_tag) {
      entries.push_back({.tag = line});
      is_tag = false;
    } else if (!entries.empty()) {
      entries.back().text += line + "\n";
    }
  }
  return entries;
}

std::string TagOf(const bench::Flag& flag) {
  return bench::FlagNames(flag) + (flag.value.empty() ? "" : " " + std::string(flag.value));
}

void ExpectSection(const std::string& section, bench::FlagOrigin origin) {
  const auto entries = Entries(section);
  auto entry = entries.begin();
  for (const bench::Flag& flag : bench::Flags()) {
    if (flag.origin != origin) continue;
    ASSERT_NE(entry, entries.end()) << section << " ends before " << flag.name;
    EXPECT_EQ(entry->tag, TagOf(flag));
    if (!flag.standard.empty() && flag.standard != "0") {
      EXPECT_THAT(entry->text, HasSubstr("default")) << flag.name;
      EXPECT_THAT(entry->text, HasSubstr(std::string(flag.standard))) << flag.name;
    }
    ++entry;
  }
  EXPECT_EQ(entry, entries.end()) << section << " has more than the table: " << entry->tag;
}

// What a pattern's first group finds in a text.
std::set<std::string> Found(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex compiled(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), compiled), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

std::string Text() {
  std::string text;
  for (const std::string& line : Page()) text += line + "\n";
  return text;
}

// The flags that a text names and the table has not, but for those of srun.
std::set<std::string> Unknown(const std::string& text) {
  std::set<std::string> names = Found(text, "(?:^|[^A-Za-z0-9-])(-[A-Za-z]|--[a-z][a-z_-]*)(?![A-Za-z0-9_])");
  for (const char* of_srun :
       {"--mpi", "--ntasks-per-node", "--gpus-per-node", "--nccl-tune", "--wait", "--kill-on-bad-exit"}) {
    names.erase(of_srun);
  }
  for (const bench::Flag& flag : bench::Flags()) {
    names.erase(std::string("-") + flag.letter);
    names.erase("--" + std::string(flag.name));
  }
  return names;
}

TEST(ManPageTest, HasTheFlagsOfTheTableWithArgumentsAndDefaults) {
  ExpectSection(".SH OPTIONS OF NCCL\\-TESTS", bench::FlagOrigin::kNcclTests);
  ExpectSection(".SH OPTIONS OF NCCL\\-BENCH", bench::FlagOrigin::kOwn);
}

TEST(ManPageTest, HasTheVariablesOfTheTable) {
  const auto entries = Entries(".SH ENVIRONMENT");
  auto entry = entries.begin();
  std::set<std::string> names;
  for (const bench::Variable& variable : bench::Variables()) {
    ASSERT_NE(entry, entries.end()) << variable.name;
    EXPECT_EQ(entry->tag, std::string(variable.name) + "=" + std::string(variable.value));
    names.insert(std::string(variable.name));
    ++entry;
  }
  EXPECT_EQ(entry, entries.end());
  EXPECT_EQ(Found(Text(), "(NCCL_(?:TESTS|BENCH)_[A-Z_]+)"), names);
  EXPECT_EQ(Found(bench::HelpText(), "(NCCL_(?:TESTS|BENCH)_[A-Z_]+)"), names);
}

TEST(ManPageTest, NamesNoFlagThatDoesNotExist) {
  EXPECT_THAT(Unknown(Text()), IsEmpty());
  EXPECT_THAT(Unknown(bench::HelpText()), IsEmpty());
}

TEST(ManPageTest, WhatHostMemoryLeavesAsideIsAsTheProgramSays) {
  const std::string text = Text();
  const std::size_t begin = text.find("\nIn host memory\n-");
  const std::string line = text.substr(begin, text.find("\nsay nothing", begin) - begin);
  std::set<std::string> aside;
  for (const bench::Flag& flag : bench::Flags()) {
    for (const FlagRow& row : FlagRows()) {
      if (row.name != flag.name || !MpiCell(row).starts_with("left aside")) continue;
      aside.insert(flag.letter == 0 ? "--" + std::string(flag.name) : std::string("-") + flag.letter);
    }
  }
  EXPECT_EQ(Found(line, "(-[A-Za-z]|--[a-z][a-z_-]*)(?![A-Za-z0-9_-])"), aside);
}

TEST(ManPageTest, HasTheStatusesOfTheHelp) {
  std::set<std::string> statuses;
  for (const Entry& entry : Entries(".SH EXIT STATUS")) statuses.insert(entry.tag);
  const std::string help = bench::HelpText();
  EXPECT_EQ(Found(help.substr(help.find("\nExit status:")), "([0-9])\\s(?:measured|failed|out|not|wrong)"), statuses);
  EXPECT_EQ(statuses.size(), 8U);
}

TEST(ManPageTest, WhatIsNotThereIsSeen) {
  EXPECT_EQ(Unknown("with --min-busbw, -b 8, --mini-busbw and -Z or x-ray\n-W"),
            (std::set<std::string>{"--mini-busbw", "-Z", "-W"}));
  EXPECT_EQ(Shown(R"(.BR \-b ", " \-\-minbytes " \fISIZE\fR")"), "-b, --minbytes SIZE");
  EXPECT_EQ(Shown(R"(.BI \-\-json " FILE")"), "--json FILE");
  EXPECT_EQ(Shown("size, count"), "size, count");
  EXPECT_THAT(Entries(".SH NOWHERE"), IsEmpty());
}

}  // namespace
}  // namespace nccl_tune::compat
