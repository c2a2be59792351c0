// SPDX-License-Identifier: Apache-2.0
#include "bench/rail_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace nccl_tune::bench {
namespace {

namespace fs = std::filesystem;
using base::Environment;
using ::testing::HasSubstr;

std::string Folder() {
  std::string name = testing::TempDir() + "/rail_files.XXXXXX";
  return mkdtemp(name.data()) == nullptr ? "" : name;
}

std::string Text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(RailFilesTest, FilesAreNamedByTheRail) {
  for (const auto& [file, name] : std::vector<std::pair<std::string, std::string>>{
           {"result.json", "result.mlx5_0_1.json"},
           {"/a.b/result.tar.json", "/a.b/result.tar.mlx5_0_1.json"},
           {"/a.b/result", "/a.b/result.mlx5_0_1"},
           {".json", ".mlx5_0_1.json"},
           {"a/.json", "a/.mlx5_0_1.json"},
           {"result.", "result.mlx5_0_1."},
           {"a/", "a/"},
           {"", ""},
       }) {
    EXPECT_EQ(RailFileName(file, "mlx5_0:1"), name) << file;
  }
  EXPECT_EQ(RailFileName("a.csv", "eth0.100"), "a.eth0.100.csv");
  EXPECT_EQ(RailFileName("a.csv", "../../etc\n x"), "a..._.._etc__x.csv") << "no other folder, no odd letter";
  EXPECT_EQ(RailFileName("a", "\xc3\xa4"), "a.__");
}

TEST(RailFilesTest, WhatCannotBeMadeIsFoundBefore) {
  const std::string folder = Folder();
  const std::string longest(248, 'x');
  EXPECT_TRUE(RailFiles(folder + "/a.json", folder + "/a.csv", {"mlx5_0:1", "mlx5_2:1"}).Try().ok());
  EXPECT_TRUE(RailFiles("", "", {"mlx5_0:1"}).Try().ok());
  EXPECT_TRUE(RailFiles(folder + "/" + longest, "", {"e12345"}).Try().ok());
  for (const auto& [file, message] : std::vector<std::pair<std::string, std::string>>{
           {folder + "/" + longest, "cannot be made: File name too long. Name a shorter one"},
           {folder + "/", "/: cannot be made: this is the name of a folder. Name a file in it"},
           {folder + "/none/a.json", "/none/a.mlx5_0_1.json: cannot be made: No such file"},
           {"/sys/kernel/a", "/sys/kernel/a.mlx5_0_1: cannot be made"},
       }) {
    for (const bool is_json : {true, false}) {
      const auto tried = RailFiles(is_json ? file : folder + "/a", is_json ? "" : file, {"mlx5_0:1", "e1"}).Try();
      ASSERT_FALSE(tried.ok()) << file;
      EXPECT_THAT(tried.error().ToString(), HasSubstr(message));
    }
  }
  EXPECT_TRUE(fs::is_empty(folder)) << "none is left";
}

TEST(RailFilesTest, TheMeasurementThatCountsIsKept) {
  const std::string folder = Folder();
  Put(folder + "/a.e1.json", "of an earlier run");
  RailFiles files(folder + "/a.json", folder + "/a.csv", {"e1", "e2"});
  Environment environment;
  ASSERT_TRUE(files.Begin(0, environment).ok());
  EXPECT_EQ(files.Names(0), folder + "/a.e1.json.0, " + folder + "/a.e1.csv");
  EXPECT_EQ(files.Names(1), "");
  EXPECT_EQ(environment, (Environment{{"NCCL_BENCH_RAIL_JSON", folder + "/a.e1.json.0"},
                                      {"NCCL_BENCH_RAIL_CSV", folder + "/a.e1.csv"}}));
  const auto measure = [&](const std::string& text, bool counts) {
    Environment again;
    EXPECT_TRUE(files.Begin(0, again).ok());
    EXPECT_EQ(again, environment) << "the same files";
    Put(folder + "/a.e1.json.0", text);
    Put(folder + "/a.e1.csv", text);
    EXPECT_TRUE(files.Settle(0, counts).ok());
    EXPECT_EQ(Text(folder + "/a.e1.json.0"), Text(folder + "/a.e1.csv"));
    return Text(folder + "/a.e1.csv");
  };
  EXPECT_EQ(measure("astray", false), "astray") << "there is no other yet";
  EXPECT_EQ(measure("first", true), "first");
  EXPECT_EQ(measure("worse", false), "first");
  EXPECT_EQ(measure("better", true), "better");
  EXPECT_EQ(measure("worst", false), "better");
  EXPECT_EQ(Text(folder + "/a.e1.json"), "of an earlier run");
}

TEST(RailFilesTest, AFolderThatGoesAway) {
  const std::string folder = Folder();
  RailFiles files(folder + "/x/a.json", "", {"e1"});
  Environment environment{{"NCCL_BENCH_RAIL_JSON", "of another rail"}};
  const auto begun = files.Begin(0, environment);
  ASSERT_FALSE(begun.ok());
  EXPECT_THAT(begun.error().ToString(), HasSubstr("/x/a.e1.json: cannot be made"));
  EXPECT_TRUE(environment.empty());
  fs::create_directory(folder + "/x");
  ASSERT_TRUE(files.Begin(0, environment).ok());
  Put(folder + "/x/a.e1.json", "first");
  ASSERT_TRUE(files.Begin(0, environment).ok());
  fs::remove_all(folder + "/x");
  EXPECT_FALSE(files.Settle(0, false).ok());
}

TEST(RailFilesTest, EmptyFilesGo) {
  const std::string folder = Folder();
  RailFiles files(folder + "/a.json", folder + "/a.csv", {"e1"});
  Environment environment;
  ASSERT_TRUE(files.Begin(0, environment).ok());
  Put(folder + "/a.e1.csv", "x");
  files.RemoveEmpty(0);
  EXPECT_FALSE(fs::exists(folder + "/a.e1.json"));
  EXPECT_TRUE(fs::exists(folder + "/a.e1.csv"));
}

TEST(RailFilesTest, ARailsProcessTakesTheNamesItIsGiven) {
  Options options{.json_file = "a.json", .csv_file = "a.csv"};
  TakeRailFiles({{"NCCL_BENCH_RAIL_CSV", "x"}}, options);
  EXPECT_EQ(options.csv_file, "a.csv") << "no rail's process";
  EXPECT_FALSE(options.files_are_made);
  TakeRailFiles({{"NCCL_BENCH_RAIL", "1"}, {"NCCL_BENCH_RAIL_CSV", "a.e1.csv"}}, options);
  EXPECT_EQ(options.json_file, "");
  EXPECT_EQ(options.csv_file, "a.e1.csv");
  EXPECT_TRUE(options.files_are_made);
}

}  // namespace
}  // namespace nccl_tune::bench
