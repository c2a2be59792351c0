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

// The length of the UTF-8 sequence that `text` begins with; 0: none, or a control character (U+0000..1F, U+007F..9F).
std::size_t PrintableLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) < 0x20 || byte(0) == 0x7f ? 0 : 1;
  const std::size_t length = byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : byte(0) < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool too_long = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool no_character = (byte(0) == 0xed && byte(1) >= 0xa0) || (byte(0) == 0xf4 && byte(1) >= 0x90);
  const bool control = byte(0) == 0xc2 && byte(1) < 0xa0;
  return too_long || no_character || control ? 0 : length;
}

bool IsPrintableText(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = PrintableLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// A path as the format wants it: no blanks, no empty, "." or ".." part.
bool IsCleanPath(std::string_view path) {
  if (path.empty() || path.size() > kPathLimit) return false;
  while (true) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (part.find(' ') != std::string_view::npos) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

// A link's target as the format wants it: relative, without blanks, and never above the root from the link's folder.
bool IsCleanTarget(std::string_view link, std::string_view target) {
  if (target.empty() || target.size() > kPathLimit || target.front() == '/' ||
      target.find(' ') != std::string_view::npos) {
    return false;
  }
  auto depth = std::count(link.begin(), link.end(), '/');
  while (!target.empty()) {
    const auto slash = target.find('/');
    const std::string_view part = target.substr(0, slash);
    if (part == "..")
      --depth;
    else if (!part.empty() && part != ".")
      ++depth;
    if (depth < 0) return false;
    target.remove_prefix(slash == std::string_view::npos ? target.size() : slash + 1);
  }
  return true;
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

  base::Error BadText(std::string_view line) const {
    return Bad("control character or no UTF-8", line, "UTF-8 text without control characters");
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
    if (!IsPrintableText(line)) return BadText(line);
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
    if (blank == std::string_view::npos)
      return Bad("line without an operator", line, "PATH = VALUE, PATH -> TARGET, ...");
    const std::string path = folder_ + std::string(line.substr(0, blank));
    if (!IsCleanPath(path)) return Bad("bad path", path, "a path below the root without blanks, \".\" and \"..\"");
    const std::string_view rest = line.substr(blank + 1);
    const auto second = rest.find(' ');
    const std::string_view operation = rest.substr(0, second);
    const std::string_view value = second == std::string_view::npos ? "" : rest.substr(second + 1);
    NCCL_TUNE_ASSIGN_OR_RETURN(entry, MakeEntry(path, operation, value));
    NCCL_TUNE_RETURN_IF_ERROR(CheckPlace(path, entry));
    if (!capture_.entries.emplace(path, std::move(entry)).second)
      return Bad("path stands twice", path, "each path once");
    return base::Ok();
  }

  base::Result<CaptureEntry> MakeEntry(std::string_view path, std::string_view operation, std::string_view value) {
    if (operation == "=") {
      if (value.size() > kValueLimit) return Bad("value too long", value, "at most 64 KiB");
      return CaptureEntry(CaptureFile{std::string(value) + "\n"});
    }
    if (operation == "<<" && value.empty()) return ReadLines();
    if (operation == "->") {
      if (!IsCleanTarget(path, value))
        return Bad("bad target of a link", value, "a relative path that stays below the root");
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
      if (!IsPrintableText(line)) return BadText(line);
      out.content += line.substr(std::min<std::size_t>(2, line.size()));
      out.content += '\n';
      if (out.content.size() > kFileLimit) return Bad("value too long", "", "at most 8 MiB");
    }
    if (out.content.empty()) return Bad("file of several lines without a line", "", "\"| TEXT\"");
    return CaptureEntry(std::move(out));
  }

  // No path lies below one that is no folder, whichever comes first.
  base::Status CheckPlace(const std::string& path, const CaptureEntry& entry) const {
    for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const auto parent = capture_.entries.find(std::string_view(path).substr(0, slash));
      if (parent != capture_.entries.end() && !std::holds_alternative<CaptureFolder>(parent->second)) {
        return Bad("path is both a file and a folder", parent->first, "one of them");
      }
    }
    const auto below = capture_.entries.lower_bound(path + "/");
    const bool is_folder = below != capture_.entries.end() && below->first.starts_with(path + "/");
    if (is_folder && !std::holds_alternative<CaptureFolder>(entry)) {
      return Bad("path is both a file and a folder", path, "one of them");
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

// Where in `path` the part begins that stands on the entry's own line: its name, or more of it where the name alone
// would read as another kind of line (an interface may be called "in").
std::size_t NameStart(std::string_view path) {
  auto slash = path.rfind('/');
  while (slash != std::string_view::npos && slash > 0) {
    const std::string_view rest = path.substr(slash + 1);
    const std::string_view name = rest.substr(0, rest.find('/'));
    if (name != "in" && name != ":" && name.find_first_of("#|") != 0) return slash + 1;
    slash = path.rfind('/', slash - 1);
  }
  return 0;
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
    const std::size_t start = NameStart(path);
    const std::string parent = start == 0 ? "." : path.substr(0, start - 1);
    if (parent != folder) out += "in " + parent + "\n";
    folder = parent;
    WriteEntry(path.substr(start), entry, &out);
  }
  return out;
}

}  // namespace nccl_tune::hw
