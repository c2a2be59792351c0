// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>

#include "hw/capture_tree.h"

namespace nccl_tune::hw {
namespace {

const std::string kMagic = "nccl-tune-capture 1\n";

// One line that says what stands at a path, so that tables can compare it.
std::string Show(const CaptureEntry& entry) {
  if (const auto* file = std::get_if<CaptureFile>(&entry)) return "file " + file->content;
  if (const auto* link = std::get_if<CaptureLink>(&entry)) return "link " + link->target;
  if (const auto* failure = std::get_if<CaptureFailure>(&entry)) return "fails " + failure->errno_name;
  if (const auto* device = std::get_if<CaptureDevice>(&entry)) return device->openable ? "device rw" : "device -";
  return "folder";
}

TEST(ParseCaptureTest, TakesEveryKindOfLine) {
  const struct {
    const char* text;
    const char* path;
    const char* entry;
  } rows[] = {
      {"a = b", "a", "file b\n"},
      {"a = ", "a", "file \n"},
      {"a =", "a", "file \n"},
      {"a = b c  d ", "a", "file b c  d \n"},
      {"a = = x -> y", "a", "file = x -> y\n"},
      {"a = \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "a", "file \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n"},
      {"in sys/devices/pci0000:00\n0000:03:00.1/class = 0x020000", "sys/devices/pci0000:00/0000:03:00.1/class",
       "file 0x020000\n"},
      {"in sys\nin .\nx = 1", "x", "file 1\n"},
      {"a <<\n| one\n|\n|  two\nb = 1", "a", "file one\n\n two\n"},
      {"a <<\n| \n", "a", "file \n"},
      {"in sys/class/net\neth0 -> ../../devices/eth0", "sys/class/net/eth0", "link ../../devices/eth0"},
      {"a/b -> ..", "a/b", "link .."},
      {"a ! EINVAL", "a", "fails EINVAL"},
      {"a ! EACCES", "a", "fails EACCES"},
      {"a ! EIO", "a", "fails EIO"},
      {"a ! ENODATA", "a", "fails ENODATA"},
      {"dev/infiniband/uverbs0 * rw", "dev/infiniband/uverbs0", "device rw"},
      {"dev/infiniband/uverbs0 * -", "dev/infiniband/uverbs0", "device -"},
      {"in dev\ninfiniband /", "dev/infiniband", "folder"},
      {"a /\na/b = 1", "a", "folder"},
      {"a/b = 1\na /", "a", "folder"},
      {"# comment\n\n#\na = 1", "a", "file 1\n"},
      {"in-use = 1", "in-use", "file 1\n"},
  };
  for (const auto& row : rows) {
    const auto got = ParseCapture(kMagic + row.text, "f");
    ASSERT_TRUE(got.ok()) << row.text << ": " << got.error().ToString();
    const auto entry = got->entries.find(row.path);
    ASSERT_NE(entry, got->entries.end()) << row.text;
    EXPECT_EQ(Show(entry->second), row.entry) << row.text;
  }
}

TEST(ParseCaptureTest, TakesTheHeader) {
  const auto got = ParseCapture(kMagic + ": name server 1\n: node-addr  10.0.0.11 \n: source by hand\na = 1", "f");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->header.at("name"), "server 1");
  EXPECT_EQ(got->header.at("node-addr"), "10.0.0.11");
  EXPECT_EQ(got->header.at("source"), "by hand");
}

TEST(ParseCaptureTest, RefusesWithFileAndLine) {
  const std::string folders = "below the root without blanks, \".\" and \"..\"";
  const std::string text = "control character or no UTF-8";
  const std::string target = "bad target of a link";
  const struct {
    std::string text;
    std::string message;
  } rows[] = {
      {"", "f:0: empty capture: got \"\", expected a first line \"nccl-tune-capture 1\""},
      {"\n", "f:1: not a capture: got \"\", expected \"nccl-tune-capture 1\""},
      {"nccl-tune-capture 2\na = 1",
       "f:1: not a capture: got \"nccl-tune-capture 2\", expected \"nccl-tune-capture 1\""},
      {"nccl-tune-capture 1 \na = 1", "f:1: not a capture: got \"nccl-tune-capture 1 \""},
      {"nccl-tune-capture 1\r\na = 1", "f:1: not a capture: got \"nccl-tune-capture 1\\x0d\""},
      {"\xef\xbb\xbfnccl-tune-capture 1\na = 1", "f:1: not a capture: got \"\\xef\\xbb\\xbfnccl"},
      {"{\"v\":1}", "f:1: not a capture: got \"{\"v\":1}\""},
      {kMagic, "f:1: capture without any file: got \"\", expected lines such as PATH = VALUE"},
      {kMagic + "# only words\n: name x\n", "f:3: capture without any file"},
      {kMagic + "a = 1\x01", "f:2: " + text + ": got \"a = 1\\x01\", expected UTF-8 text without control characters"},
      {kMagic + "a = 1\tb", "f:2: " + text},
      {kMagic + "a = 1\r\n", "f:2: " + text},
      {kMagic + std::string("a = \0b", 6), "f:2: " + text},
      {kMagic + "a = \x7f", "f:2: " + text},
      {kMagic + "a = \xc2\x85", "f:2: " + text},
      {kMagic + "a = \xff", "f:2: " + text},
      {kMagic + "a = \xc3", "f:2: " + text},
      {kMagic + "a = \xc0\xaf", "f:2: " + text},
      {kMagic + "a = \xe0\x80\xaf", "f:2: " + text},
      {kMagic + "a = \xed\xa0\x80", "f:2: " + text},
      {kMagic + "a = \xf4\x90\x80\x80", "f:2: " + text},
      {kMagic + "a <<\n| x\x1b[31m", "f:3: " + text},
      {kMagic + ": serial 12", "f:2: unknown header key: got \"serial\", expected name, node-addr or source"},
      {kMagic + ": name", "f:2: header key without a value: got \"name\", expected KEY TEXT"},
      {kMagic + ": name  ", "f:2: header key without a value"},
      {kMagic + ": name a\n: name b", "f:3: header key stands twice: got \"name\", expected each key once"},
      {kMagic + ": ", "f:2: unknown header key: got \"\""},
      {kMagic + "in /sys", "f:2: bad folder: got \"/sys\", expected a path below the root, or ."},
      {kMagic + "in ..", "f:2: bad folder: got \"..\""},
      {kMagic + "in sys/../..", "f:2: bad folder"},
      {kMagic + "in sys/", "f:2: bad folder"},
      {kMagic + "in sys class", "f:2: bad folder"},
      {kMagic + "in ", "f:2: bad folder: got \"\""},
      {kMagic + "| text", "f:2: text line outside a file: got \"| text\", expected a line PATH << before it"},
      {kMagic + "a = 1\n|", "f:3: text line outside a file"},
      {kMagic + "a", "f:2: line without an operator: got \"a\", expected PATH = VALUE"},
      {kMagic + "in", "f:2: line without an operator"},
      {kMagic + "/a = 1", "f:2: bad path: got \"/a\", expected a path " + folders},
      {kMagic + "a//b = 1", "f:2: bad path"},
      {kMagic + "./a = 1", "f:2: bad path"},
      {kMagic + "in sys\n../a = 1", "f:3: bad path: got \"sys/../a\""},
      {kMagic + "a/ = 1", "f:2: bad path"},
      {kMagic + " = 1", "f:2: bad path: got \"\""},
      {kMagic + std::string(1001, 'x') + " = 1", "f:2: bad path"},
      {kMagic + "a = 1\na = 2", "f:3: path stands twice: got \"a\", expected each path once"},
      {kMagic + "a = 1\na -> b", "f:3: path stands twice"},
      {kMagic + "a /\na /", "f:3: path stands twice"},
      {kMagic + "a = 1\na/b = 2\nc = 3", "f:3: path is both a file and a folder: got \"a\", expected one of them"},
      {kMagic + "a/b/c = 2\na = 1\nd = 3", "f:3: path is both a file and a folder: got \"a\""},
      {kMagic + "a -> b\na/c = 2", "f:3: path is both a file and a folder"},
      {kMagic + "a ! EIO\na/c = 2", "f:3: path is both a file and a folder"},
      {kMagic + "a * rw\na/c = 2", "f:3: path is both a file and a folder"},
      {kMagic + "a = " + std::string((64 << 10) + 1, 'x'), "f:2: value too long: got \"xxxx"},
      {kMagic + "a <<", "f:2: file of several lines without a line: got \"\", expected \"| TEXT\""},
      {kMagic + "a <<\nb = 1", "f:2: file of several lines without a line"},
      {kMagic + "a <<\n|x", "f:3: bad text line: got \"|x\", expected \"| TEXT\""},
      {kMagic + "a << x", "f:2: unknown operator: got \"<< x\", expected =, <<, ->, !, * rw, * - or /"},
      {kMagic + "a ! ENOENT", "f:2: unknown failure: got \"ENOENT\", expected EINVAL, EACCES, EIO or ENODATA"},
      {kMagic + "a !", "f:2: unknown failure: got \"\""},
      {kMagic + "a * r", "f:2: unknown operator: got \"* r\""},
      {kMagic + "a *", "f:2: unknown operator"},
      {kMagic + "a / b", "f:2: unknown operator"},
      {kMagic + "a == b", "f:2: unknown operator: got \"== b\""},
      {kMagic + "a  = b", "f:2: unknown operator"},
      {kMagic + "a ->", "f:2: " + target + ": got \"\", expected a relative path that stays below the root"},
      {kMagic + "a -> b c", "f:2: " + target + ": got \"b c\""},
      {kMagic + "a -> /etc/passwd", "f:2: " + target},
      {kMagic + "a -> ..", "f:2: " + target},
      {kMagic + "a -> x/../../y", "f:2: " + target},
      {kMagic + "in sys/class/net\neth0 -> ../../../../etc/passwd", "f:3: " + target},
      {kMagic + "a -> " + std::string(1001, 'x'), "f:2: " + target},
      {kMagic + std::string(8 << 20, '\n'), "f:0: capture too large: got \"8388628\", expected at most 8 MiB"},
  };
  for (const auto& row : rows) {
    const auto got = ParseCapture(row.text, "f");
    ASSERT_FALSE(got.ok()) << row.message;
    EXPECT_EQ(got.error().ToString().substr(0, row.message.size()), row.message);
    EXPECT_EQ(got.error().code, base::Code::kInvalidInput);
  }
}

TEST(WriteCaptureTest, IsReadBackToTheSame) {
  Capture capture;
  capture.header = {{"name", "server1"}, {"node-addr", "10.0.0.11"}, {"source", "by hand"}};
  for (const char* path : {"a", "sys/b", "sys/class/net/in", "sys/class/net/#1", "sys/class/net/|",
                           "sys/class/net/:", "sys/in/in/in", "sys/#/|x", "sys/z"}) {
    capture.entries[path] = CaptureFile{std::string(path) + "\n"};
  }
  capture.entries["lines"] = CaptureFile{"one\n\n two\n"};
  capture.entries["blank"] = CaptureFile{"\n"};
  capture.entries["sys/class/infiniband/mlx5_2"] = CaptureLink{"../../devices/mlx5_2"};
  capture.entries["gids/4"] = CaptureFailure{"EINVAL"};
  capture.entries["dev/infiniband/uverbs0"] = CaptureDevice{true};
  capture.entries["dev/infiniband/uverbs1"] = CaptureDevice{false};
  capture.entries["sys/bus"] = CaptureFolder{};
  const std::string text = WriteCapture(capture);
  const auto got = ParseCapture(text, "f");
  ASSERT_TRUE(got.ok()) << got.error().ToString() << "\n" << text;
  EXPECT_EQ(got->header, capture.header);
  ASSERT_EQ(got->entries.size(), capture.entries.size());
  for (const auto& [path, entry] : capture.entries) {
    ASSERT_TRUE(got->entries.contains(path)) << path;
    EXPECT_EQ(Show(got->entries.at(path)), Show(entry)) << path;
  }
  EXPECT_EQ(WriteCapture(*got), text);
}

TEST(WriteCaptureTest, EndsEveryFileWithALineEnd) {
  Capture capture;
  capture.entries["empty"] = CaptureFile{""};
  capture.entries["open"] = CaptureFile{"x"};
  capture.entries["two"] = CaptureFile{"x\ny"};
  const auto got = ParseCapture(WriteCapture(capture), "f");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(Show(got->entries.at("empty")), "file \n");
  EXPECT_EQ(Show(got->entries.at("open")), "file x\n");
  EXPECT_EQ(Show(got->entries.at("two")), "file x\ny\n");
}

}  // namespace
}  // namespace nccl_tune::hw
