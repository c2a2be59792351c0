// SPDX-License-Identifier: Apache-2.0
#include "bench/reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "bench/device_text.h"

namespace nccl_tune::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string Folder() {
  std::string name = std::string(std::getenv("TEST_TMPDIR")) + "/reporter.XXXXXX";
  return mkdtemp(name.data()) == nullptr ? "" : name;
}

std::string Text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Record RecordWith(const std::string& json, const std::string& csv = "") {
  Record record{.program = "all_reduce_perf", .own_version = "nccl-bench 0"};
  record.options.json_file = json;
  record.options.csv_file = csv;
  return record;
}

struct Told {
  explicit Told(Record record, bool progress = false)
      : reporter({.out = &out, .notes = &notes, .progress = progress}, std::move(record)) {}
  void Row(double busbw, std::uint64_t bytes = 8) {
    reporter.BeginRow({.bytes = bytes, .count = bytes / 4, .type = "float", .op = "sum"});
    reporter.AddBlock({.microseconds = 1, .bus_bandwidth = busbw, .wrong = 0}, false);
    reporter.AddBlock({.microseconds = 2, .bus_bandwidth = busbw, .wrong = 0}, true);
    reporter.EndRow();
  }
  std::string TakeOut() {
    std::string text = out.str();
    out.str("");
    return text;
  }
  std::ostringstream out;
  std::ostringstream notes;
  Reporter reporter;
};

TEST(ReporterTest, FilesFromTheFirstLineToTheLast) {
  const std::string folder = Folder();
  Told told(RecordWith(folder + "/a.json", folder + "/a.csv"));
  ASSERT_TRUE(told.reporter.Open().ok());
  EXPECT_EQ(told.TakeOut(), "# Writing JSON output to " + folder + "/a.json\n");
  EXPECT_EQ(told.notes.str(), "nccl-bench: writing CSV to " + folder + "/a.csv\n");
  EXPECT_THAT(Text(folder + "/a.json"), HasSubstr("\"results\":[]"));
  ASSERT_TRUE(told.reporter
                  .Header({.label = "x", .headers_code = 1, .library_code = 2},
                          {DevicesToText({{.host = "a"}}), DevicesToText({{.rank = 1, .host = "b"}})})
                  .ok());
  EXPECT_THAT(told.TakeOut(), HasSubstr("on          b device"));
  EXPECT_THAT(told.reporter.record().devices, SizeIs(2));
  told.Row(3);
  told.Row(5);
  told.reporter.Footer(0, std::nullopt, "");
  EXPECT_THAT(told.TakeOut(),
              HasSubstr("# Avg bus bandwidth    : 4 \n#\n# Collective test concluded: all_reduce_perf\n#\n\n"));
  told.reporter.Verdicts({"good"}, {"noise"});
  EXPECT_EQ(told.TakeOut(), "");  // never between or behind the lines of the table
  EXPECT_THAT(told.notes.str(), HasSubstr("\nnccl-bench: good\nnccl-bench: doubtful: noise\n"));
  ASSERT_TRUE(told.reporter.Finish().ok());
  for (const char* part : {"\"good\"", "\"noise\"", "\"complete\":true", "\"bandwidth\":4", "\"end_time\""}) {
    EXPECT_THAT(Text(folder + "/a.json"), HasSubstr(part));
  }
  EXPECT_THAT(Text(folder + "/a.csv"), HasSubstr("float"));
  // The next run takes the next name.
  Told next(RecordWith(folder + "/a.json"));
  ASSERT_TRUE(next.reporter.Open().ok());
  EXPECT_THAT(next.out.str(), HasSubstr("/a.json.0\n"));
}

TEST(ReporterTest, ARowThatIsDoneIsInTheFileAfterASecond) {
  const std::string folder = Folder();
  Told told(RecordWith(folder + "/a.json"));
  ASSERT_TRUE(told.reporter.Open().ok());
  // Rows of less than a second do not each wait for the disk; none is lost when the run fails.
  for (int i = 0; i < 3; ++i) told.Row(1);
  EXPECT_THAT(told.reporter.record().rows, SizeIs(3));
  told.reporter.Fail("gone");
  EXPECT_THAT(Text(folder + "/a.json"), HasSubstr("\"size\":8"));
}

TEST(ReporterTest, AHalfRowIsClosedAndKept) {
  const std::string folder = Folder();
  Told told(RecordWith(folder + "/a.json"));
  ASSERT_TRUE(told.reporter.Open().ok());
  told.Row(2);
  told.reporter.BeginRow({.bytes = 16, .count = 4, .type = "float", .op = "sum"});
  told.reporter.AddBlock({.microseconds = 1, .bus_bandwidth = 4, .wrong = 0}, false);
  told.reporter.Fail("broke");
  const std::string out = told.TakeOut();
  EXPECT_EQ(out.back(), '\n');
  EXPECT_THAT(out, Not(HasSubstr("\n\n")));
  const Record& record = told.reporter.record();
  ASSERT_THAT(record.rows, SizeIs(2));
  EXPECT_TRUE(record.rows[0].has_in_place);
  EXPECT_FALSE(record.rows[1].has_in_place);
  EXPECT_TRUE(record.ended_early);
  const std::string json = Text(folder + "/a.json");
  EXPECT_THAT(json, HasSubstr("\"broke\""));
  EXPECT_THAT(json, HasSubstr("\"complete\":false"));
  EXPECT_THAT(json, Not(HasSubstr("average_bus_bandwidth")));
  // Other threads may still tell something.
  told.reporter.AddBlock({}, true);
  told.reporter.EndRow();
  told.Row(9);
  told.reporter.Footer(0, std::nullopt, "");
  EXPECT_EQ(told.TakeOut(), "");
}

TEST(ReporterTest, ARowWithoutABlockIsNone) {
  Told told(RecordWith(""));
  told.reporter.BeginRow({.bytes = 16});
  told.reporter.Fail("broke");
  EXPECT_THAT(told.reporter.record().rows, IsEmpty());
  EXPECT_EQ(told.TakeOut().back(), '\n');
  Told between(RecordWith(""));
  between.Row(1);
  between.TakeOut();
  between.reporter.Fail("broke");
  EXPECT_EQ(between.TakeOut(), "");  // no empty line
}

TEST(ReporterTest, AFailureBehindTheFooterLeavesTheNumbers) {
  Told told(RecordWith(""));
  told.Row(1);
  told.reporter.Footer(0, std::nullopt, "");
  told.reporter.Fail("cannot close");
  EXPECT_FALSE(told.reporter.record().ended_early);
}

TEST(ReporterTest, NoRowNoDivision) {
  Told told(RecordWith(""));
  told.reporter.Footer(0, MemoryUse{}, "last words");
  EXPECT_THAT(told.out.str(), HasSubstr("# Avg bus bandwidth    : 0 \n"));
  EXPECT_THAT(told.out.str(), HasSubstr("# GPU memory usage"));
  EXPECT_THAT(told.out.str(), HasSubstr("\n# error: last words\n"));
}

TEST(ReporterTest, EnoughIsNineTenthsOfMinBw) {
  for (const auto& [average, enough] : {std::pair{8.9, false}, {9.0, true}}) {
    Record record = RecordWith("");
    record.options.least_average = 10;
    Told told(record);
    told.Row(average);
    told.reporter.Footer(0, std::nullopt, "");
    EXPECT_EQ(told.reporter.record().enough, enough);
    EXPECT_THAT(told.out.str(), HasSubstr(enough ? " : 9 OK\n" : " : 8.9 FAILED\n"));
  }
}

TEST(ReporterTest, ProgressIsWipedBeforeAnythingElse) {
  Told told(RecordWith(""), true);
  told.Row(1);
  told.reporter.BeginRow({.bytes = 16, .type = "float"});
  told.reporter.Note("a note");
  const std::string first = "nccl-bench: 0 sizes done, now 8 bytes of float";
  const std::string second = "nccl-bench: 1 sizes done, now 16 bytes of float";
  const auto wiped = [](const std::string& line) { return line + "\r" + std::string(line.size(), ' ') + "\r"; };
  EXPECT_EQ(told.notes.str(), wiped(first) + wiped(second) + "a note\n");
  Told without(RecordWith(""));
  without.Row(1);
  EXPECT_EQ(without.notes.str(), "");
}

TEST(ReporterTest, AMissedLimitIsAnErrorInTheFileToo) {
  const std::string folder = Folder();
  Told told(RecordWith(folder + "/a.json"));
  ASSERT_TRUE(told.reporter.Open().ok());
  told.Row(3);
  told.reporter.Footer(0, std::nullopt, "");
  told.TakeOut();
  told.reporter.Missed("the best busbw is 3 GB/s, under --min-busbw 4");
  EXPECT_EQ(told.TakeOut(), "");
  EXPECT_THAT(told.notes.str(), HasSubstr("nccl-bench: the best busbw is 3 GB/s, under --min-busbw 4\n"));
  ASSERT_TRUE(told.reporter.Finish().ok());
  EXPECT_THAT(Text(folder + "/a.json"), HasSubstr("\"the best busbw is 3 GB/s, under --min-busbw 4\""));
}

TEST(ReporterTest, FilesThatCannotBeMadeEndTheRunBeforeItBegins) {
  const std::string folder = Folder();
  const std::string missing = "/proc/nonexistent/a: cannot be made: No such file or directory. Make its folder first";
  for (const auto& [json, csv] : {std::pair<std::string, std::string>{"/proc/nonexistent/a", ""},
                                  {"/proc/nonexistent/a", folder + "/a.csv"},
                                  {folder + "/a.json", "/proc/nonexistent/a"},
                                  {"", "/proc/nonexistent/a"}}) {
    Told told(RecordWith(json, csv));
    const auto opened = told.reporter.Open();
    ASSERT_FALSE(opened.ok()) << json << csv;
    EXPECT_THAT(opened.error().ToString(), HasSubstr(missing));
    told.reporter.Fail(opened.error().ToString());
    EXPECT_EQ(told.out.str() + told.notes.str(), "") << "who asked says it";
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << "neither of the two is left";
  }
}

TEST(ReporterTest, AFileOfMinusJThatCannotBeMadeIsLeftOut) {
  Record record = RecordWith("/proc/nonexistent/a.json");
  record.options.json_may_fail = true;
  Told told(record);
  ASSERT_TRUE(told.reporter.Open().ok());
  EXPECT_EQ(told.TakeOut(), "# skipping json output; /proc/nonexistent/a.json not accessible\n");
  EXPECT_THAT(told.notes.str(), HasSubstr("nccl-bench: -J: /proc/nonexistent/a.json: cannot be made: No such file"));
  told.Row(1);
  EXPECT_TRUE(told.reporter.Finish().ok());
  // --csv is ours.
  record.options.csv_file = "/proc/nonexistent/a.csv";
  Told both(record);
  EXPECT_FALSE(both.reporter.Open().ok());
  EXPECT_EQ(both.out.str(), "");
}

TEST(ReporterTest, FilesThatAreMadeAreReplacedSilently) {
  const std::string folder = Folder();
  std::ofstream(folder + "/a.json") << "old";
  Record record = RecordWith(folder + "/a.json", folder + "/a.csv");
  record.options.files_are_made = true;
  Told told(record);
  ASSERT_TRUE(told.reporter.Open().ok());
  told.Row(1);
  ASSERT_TRUE(told.reporter.Finish().ok());
  EXPECT_THAT(Text(folder + "/a.json"), HasSubstr("\"size\":8"));
  EXPECT_THAT(Text(folder + "/a.csv"), HasSubstr("float"));
  EXPECT_THAT(told.out.str(), Not(HasSubstr("Writing")));
  EXPECT_EQ(told.notes.str(), "");
}

TEST(ReporterTest, AFolderThatGoesAndComesBack) {
  const std::string folder = Folder();
  Told told(RecordWith(folder + "/a.json"));
  ASSERT_TRUE(told.reporter.Open().ok());
  ASSERT_EQ(rename(folder.c_str(), (folder + "x").c_str()), 0);
  EXPECT_FALSE(told.reporter.Finish().ok());
  EXPECT_THAT(told.notes.str(), HasSubstr("cannot be written, its former content stays: No such file"));
  ASSERT_EQ(rename((folder + "x").c_str(), folder.c_str()), 0);
  EXPECT_TRUE(told.reporter.Finish().ok());  // the file is what it should be
}

TEST(ReporterTest, AnEndlessRunKeepsNoRowsForNobody) {
  Record endless = RecordWith("");
  endless.options.cycles = 0;
  Told told(endless);
  for (int i = 0; i < 3; ++i) told.Row(2);
  EXPECT_THAT(told.reporter.record().rows, IsEmpty());
  EXPECT_EQ(told.reporter.record().average_bus_bandwidth, 2);
  endless.options.json_file = Folder() + "/a.json";
  Told kept(endless);
  ASSERT_TRUE(kept.reporter.Open().ok());
  for (int i = 0; i < 3; ++i) kept.Row(2);
  EXPECT_THAT(kept.reporter.record().rows, SizeIs(3));
}

// 64 MiB of rows, however many cycles were asked for.
TEST(ReporterTest, AHugeNumberOfCyclesKeepsABoundOfRows) {
  Record many = RecordWith("");
  many.options.cycles = 2'000'000'000;
  Told told(many);
  constexpr std::size_t kMost = (64ULL << 20U) / sizeof(Row) + 1;
  for (std::size_t i = 0; i < kMost + 10; ++i) {
    told.Row(i == kMost + 5 ? 9 : 2);
    told.out.str("");
  }
  EXPECT_THAT(told.reporter.record().rows, SizeIs(kMost));
  EXPECT_EQ(told.reporter.record().best_bus_bandwidth, 9);
  EXPECT_GT(told.reporter.record().average_bus_bandwidth, 2);
  EXPECT_EQ(told.notes.str(), "");
}

TEST(ReporterTest, TimesOfIterationsCountForTheBound) {
  Told told(RecordWith(""));
  for (int i = 0; i < 6; ++i) {
    told.reporter.BeginRow({.bytes = 8, .count = 2, .type = "float", .op = "sum"});
    Block block{.bus_bandwidth = 1.0 + i, .iterations = IterationTimes{.times = std::vector<double>(1'000'000)}};
    block.iterations->per_process = {block.iterations->times, block.iterations->times};
    told.reporter.AddBlock(block, false);
    told.reporter.AddBlock({.bus_bandwidth = 1.0 + i}, true);
    told.reporter.EndRow();
  }
  EXPECT_THAT(told.reporter.record().rows, SizeIs(3));  // 24 MB each: the third goes over 64 MiB
  EXPECT_EQ(told.reporter.record().best_bus_bandwidth, 6);
}

TEST(ReporterTest, ADeviceTextThatIsNone) {
  Told told(RecordWith(""));
  const auto header = told.reporter.Header({}, {DevicesToText({{}}), "rubbish\n"});
  ASSERT_FALSE(header.ok());
  EXPECT_THAT(header.error().ToString(), HasSubstr("not a device: got \"rubbish\""));
}

}  // namespace
}  // namespace nccl_tune::bench
