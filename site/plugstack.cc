// SPDX-License-Identifier: Apache-2.0
#include "site/plugstack.h"

#include <algorithm>
#include <utility>

#include "base/result.h"
#include "core/policy/glob.h"

namespace nccl_tune::site {
namespace {

constexpr int kMostFiles = 256;
constexpr std::size_t kLargest = 1 << 20;

// A carriage return is a part of its word, for Slurm too.
std::vector<std::string> WordsOf(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string> out;
  while (true) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return out;
    const auto end = std::min(line.find_first_of(" \t", begin), line.size());
    out.emplace_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

bool Names(std::string_view path, std::string_view what) {
  return path.substr(path.rfind('/') + 1).find(what) != std::string_view::npos;
}

bool IsOurs(std::string_view path) { return Names(path, "nccl_tune"); }

PluginLine ToLine(const std::vector<std::string>& words, const std::string& file, int number) {
  return {.file = file,
          .line = number,
          .is_required = words[0] == "required",
          .path = words[1],
          .arguments = {words.begin() + 2, words.end()}};
}

class Reader {
 public:
  explicit Reader(const hw::Tree& tree) : tree_(tree) {}

  Plugstack Read(const std::string& path) {
    TakeFile(path);
    return std::move(out_);
  }

 private:
  void Note(const std::string& where, std::string what) {
    out_.notes.push_back({.where = where, .what = std::move(what)});
  }

  void TakeFile(const std::string& path) {
    if (++files_ > kMostFiles) {
      if (files_ == kMostFiles + 1) Note(path, "more than 256 files: the rest is not read");
      return;
    }
    const auto text = tree_.Read(path, kLargest);
    if (!text.ok()) return Note(path, text.error().what);
    if (files_ == 1) out_.is_read = true;
    int number = 0;
    for (std::string_view rest = *text; !rest.empty();) {
      const auto end = std::min(rest.find('\n'), rest.size());
      TakeLine(rest.substr(0, end), path, ++number);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  void TakeLine(std::string_view line, const std::string& file, int number) {
    const auto words = WordsOf(line);
    if (words.empty()) return TakeComment(line, file, number);
    const std::string where = file + ":" + std::to_string(number);
    const std::string kind = words[0];
    if (words.back().ends_with('\r') && with_cr_ != file) {
      with_cr_ = file;  // once is enough
      Note(where,
           "ends with CR LF, and Slurm takes the CR for a part of the last word. Do: sed -i 's/\\r$//' /" + file);
    }
    if (kind == "\r") return;
    if (kind != "required" && kind != "optional" && kind != "include")
      return Note(where, "neither required, optional nor include");
    if (words.size() < 2) return Note(where, kind + " without a path");
    if (kind == "include") return Include(words[1], file);
    if (!out_.lines.empty() && out_.pyxis_after.empty() && Names(words[1], "pyxis")) out_.pyxis_after = where;
    if (IsOurs(words[1])) out_.lines.push_back(ToLine(words, file, number));
  }

  void TakeComment(std::string_view line, const std::string& file, int number) {
    const auto begin = line.find_first_not_of(" \t#");
    if (begin == std::string_view::npos) return;
    const auto words = WordsOf(line.substr(begin));
    if (words.size() < 2 || (words[0] != "optional" && words[0] != "required") || !IsOurs(words[1])) return;
    out_.disabled.push_back(ToLine(words, file, number));
  }

  // A pattern in its last part; a relative one lies beside the file.
  void Include(const std::string& pattern, const std::string& file) {
    const std::string path =
        pattern.starts_with('/') ? pattern.substr(1) : file.substr(0, file.rfind('/') + 1) + pattern;
    out_.includes.push_back(path);
    const auto slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
    const std::string last = path.substr(slash + 1);
    if (last.find_first_of("*?") == std::string::npos) return TakeFile(path);
    const auto names = tree_.List(folder);
    if (!names.ok()) return;  // nothing matches
    for (const auto& name : *names) {
      if (!name.starts_with('.') && policy::MatchesGlob(last, name)) TakeFile(folder + "/" + name);
    }
  }

  const hw::Tree& tree_;
  int files_ = 0;
  std::string with_cr_;
  Plugstack out_;
};

}  // namespace

Plugstack ReadPlugstack(const hw::Tree& tree, const std::string& path) { return Reader(tree).Read(path); }

}  // namespace nccl_tune::site
