// SPDX-License-Identifier: Apache-2.0
//
// Text form of a capture: ParseCapture and WriteCapture.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/parse_number.h"
#include "hw/capture_tree.h"

namespace nccl_tune::hw {
namespace {

constexpr std::string_view kMagic = "nccl-tune-capture 1";
constexpr std::size_t kFileLimit = 8 << 20;
constexpr std::size_t kValueLimit = 64 << 10;
constexpr std::size_t kPathLimit = 1000;
constexpr std::array<std::string_view, 4> kErrnoNames = {"EINVAL", "EACCES", "EIO", "ENODATA"};
constexpr std::array<std::string_view, 3> kKeys = {"name", "node-addr", "source"};

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// A path as the format wants it: no blanks, no empty, "." or ".." part.
bool IsCleanPath(std::string_view path) {
  if (path.empty() || path.size() > kPathLimit) return false;
  while (true) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (part.find_first_of(" \t") != std::string_view::npos || HasControlCharacter(part)) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : rest_(text), file_(file) {}

  base::Result<Capture> Run() {
    if (rest_.size() > kFileLimit) return Bad("capture too large", std::to_string(rest_.size()), "at most 8 MiB");
    const auto first = NextLine();
    if (!first) return Bad("empty capture", "", "a first line \"" + std::string(kMagic) + "\"");
    if (*first != kMagic) return Bad("not a capture", *first, "\"" + std::string(kMagic) + "\"");
    while (const auto line = NextLine()) NCCL_TUNE_RETURN_IF_ERROR(ParseLine(*line));
    NCCL_TUNE_RETURN_IF_ERROR(CheckTree());
    if (capture_.entries.empty()) return Bad("capture without any file", "", "lines such as PATH = VALUE");
    return std::move(capture_);
  }

 private:
  base::Error Bad(std::string what, std::string_view seen, std::string expected) const {
    return {.code = base::Code::kInvalidInput,
            .what = std::move(what),
            .where = file_ + ":" + std::to_string(line_number_),
            .seen = std::string(seen),
            .expected = std::move(expected)};
  }

  std::optional<std::string_view> NextLine() {
    if (rest_.empty()) return std::nullopt;
    const auto end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_number_;
    return line;
  }

  base::Status ParseLine(std::string_view line) {
    if (HasControlCharacter(line)) return Bad("control character", line, "printable text");
    if (line.empty() || line.starts_with('#')) return base::Ok();
    if (line.starts_with(": ")) return ParseHeader(line.substr(2));
    if (line.starts_with("in ")) return ParseFolder(line.substr(3));
    if (line.starts_with('|')) return Bad("text line outside a file", line, "a line PATH << before it");
    return ParseEntry(line);
  }

  base::Status ParseHeader(std::string_view text) {
    const auto blank = text.find(' ');
    const std::string_view key = text.substr(0, blank);
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      return Bad("unknown header key", key, "name, node-addr or source");
    }
    const std::string_view value = blank == std::string_view::npos ? "" : base::Trim(text.substr(blank));
    if (value.empty()) return Bad("header key without a value", text, "KEY TEXT");
    if (!capture_.header.emplace(key, value).second) return Bad("header key stands twice", key, "each key once");
    return base::Ok();
  }

  base::Status ParseFolder(std::string_view folder) {
    if (folder != "." && !IsCleanPath(folder)) return Bad("bad folder", folder, "a path below the root, or .");
    folder_ = folder == "." ? "" : std::string(folder) + "/";
    return base::Ok();
  }

  base::Status ParseEntry(std::string_view line) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) return Bad("line without an operator", line, "PATH = VALUE, PATH -> TARGET, ...");
    const std::string path = folder_ + std::string(line.substr(0, blank));
    if (!IsCleanPath(path)) return Bad("bad path", path, "a path below the root without blanks, \".\" and \"..\"");
    const std::string_view rest = line.substr(blank + 1);
    const auto second = rest.find(' ');
    const std::string_view operation = rest.substr(0, second);
    const std::string_view value = second == std::string_view::npos ? "" : rest.substr(second + 1);
    NCCL_TUNE_ASSIGN_OR_RETURN(entry, MakeEntry(operation, value));
    if (!capture_.entries.emplace(path, std::move(entry)).second) return Bad("path stands twice", path, "each path once");
    return base::Ok();
  }

  base::Result<CaptureEntry> MakeEntry(std::string_view operation, std::string_view value) {
    if (operation == "=") {
      if (value.size() > kValueLimit) return Bad("value too long", value, "at most 64 KiB");
      return CaptureEntry(CaptureFile{std::string(value) + "\n"});
    }
    if (operation == "<<" && value.empty()) return ReadLines();
    if (operation == "->" && !value.empty() && value.size() <= kPathLimit) {
      return CaptureEntry(CaptureLink{std::string(value)});
    }
    if (operation == "!") {
      if (std::find(kErrnoNames.begin(), kErrnoNames.end(), value) == kErrnoNames.end()) {
        return Bad("unknown failure", value, "EINVAL, EACCES, EIO or ENODATA");
      }
      return CaptureEntry(CaptureFailure{std::string(value)});
    }
    if (operation == "*" && (value == "rw" || value == "-")) return CaptureEntry(CaptureDevice{value == "rw"});
    if (operation == "/" && value.empty()) return CaptureEntry(CaptureFolder{});
    return Bad("unknown operator", std::string(operation) + " " + std::string(value), "=, <<, ->, !, * rw, * - or /");
  }

  base::Result<CaptureEntry> ReadLines() {
    CaptureFile out;
    while (rest_.starts_with('|')) {
      const std::string_view line = *NextLine();
      if (line != "|" && !line.starts_with("| ")) return Bad("bad text line", line, "\"| TEXT\"");
      if (HasControlCharacter(line)) return Bad("control character", line, "printable text");
      out.content += line.substr(std::min<std::size_t>(2, line.size()));
      out.content += '\n';
      if (out.content.size() > kFileLimit) return Bad("value too long", "", "at most 8 MiB");
    }
    if (out.content.empty()) return Bad("file of several lines without a line", "", "\"| TEXT\"");
    return CaptureEntry(std::move(out));
  }

  // A path may not lie below one that is no folder.
  base::Status CheckTree() const {
    for (const auto& [path, entry] : capture_.entries) {
      for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        const auto parent = capture_.entries.find(std::string_view(path).substr(0, slash));
        if (parent != capture_.entries.end() && !std::holds_alternative<CaptureFolder>(parent->second)) {
          return Bad("path is both a file and a folder", parent->first, "one of them");
        }
      }
    }
    return base::Ok();
  }

  std::string_view rest_;
  std::string file_;
  std::string folder_;
  int line_number_ = 0;
  Capture capture_;
};

void WriteEntry(const std::string& name, const CaptureEntry& entry, std::string* out) {
  if (const auto* link = std::get_if<CaptureLink>(&entry)) {
    *out += name + " -> " + link->target + "\n";
  } else if (const auto* failure = std::get_if<CaptureFailure>(&entry)) {
    *out += name + " ! " + failure->errno_name + "\n";
  } else if (const auto* device = std::get_if<CaptureDevice>(&entry)) {
    *out += name + (device->openable ? " * rw\n" : " * -\n");
  } else if (std::holds_alternative<CaptureFolder>(entry)) {
    *out += name + " /\n";
  } else {
    std::string_view text = std::get<CaptureFile>(entry).content;
    if (text.empty()) text = "\n";
    if (text.find('\n') + 1 == text.size()) {
      *out += name + " = " + std::string(text);
      return;
    }
    *out += name + " <<\n";
    while (!text.empty()) {
      const auto end = text.find('\n');
      *out += "| " + std::string(text.substr(0, end)) + "\n";
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }
}

}  // namespace

base::Result<Capture> ParseCapture(std::string_view text, std::string_view file) { return Parser(text, file).Run(); }

std::string WriteCapture(const Capture& capture) {
  std::string out = std::string(kMagic) + "\n";
  for (const auto& key : kKeys) {
    const auto found = capture.header.find(key);
    if (found != capture.header.end()) out += ": " + found->first + " " + found->second + "\n";
  }
  std::string folder = ".";
  for (const auto& [path, entry] : capture.entries) {
    const auto slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
    if (parent != folder) out += "in " + parent + "\n";
    folder = parent;
    WriteEntry(path.substr(slash == std::string::npos ? 0 : slash + 1), entry, &out);
  }
  return out;
}

}  // namespace nccl_tune::hw
