// SPDX-License-Identifier: Apache-2.0
#include "site/document.h"

#include <algorithm>
#include <utility>

// Where NDEBUG is set, toml++ 3.3 tells the compiler to assume what its assertions say, and not all of them hold for
// broken text: "[*a]" contradicts one. Its parser checks the same things and says what is wrong.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

namespace nccl_tune::site {
namespace {

using base::Code;
using base::Error;
using base::Result;
using base::Status;

constexpr int kMostKeyParts = 16;

std::string Where(std::string_view file, int line) { return std::string(file) + ":" + std::to_string(line); }

bool IsNotAscii(char c) { return static_cast<unsigned char>(c) > 0x7f; }

int LineAt(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::string_view LineOf(std::string_view text, std::size_t number) {
  for (; number > 1; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

Status CheckText(std::string_view text, std::string_view file) {
  if (text.size() > kLargestPolicy) {
    return Error{.code = Code::kInvalidInput,
                 .what = "file too large",
                 .where = std::string(file),
                 .seen = std::to_string(text.size()) + " bytes",
                 .expected = "at most 1 MiB"};
  }
  const auto is_control = [](char c) {
    return (c >= 0 && c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
  };
  const auto control = std::find_if(text.begin(), text.end(), is_control);
  if (control == text.end()) return base::Ok();
  return Error{.code = Code::kInvalidInput,
               .what = "not a text file: a control character",
               .where = Where(file, LineAt(text, static_cast<std::size_t>(control - text.begin()))),
               .seen = std::string(1, *control),
               .expected = "TOML in UTF-8"};
}

// Finds what must not reach the library. It has no limit on the parts of a dotted key, each of which is a table in a
// table, and taking those down recurses. And its look at letters that are not ASCII is undefined for some where broken
// text makes it take a quoted one for a bare one: such letters are for comments only, and are blanked there.
class BareText {
 public:
  explicit BareText(std::string_view text) : text_(text) {}

  // Where a key has too many parts or a byte outside comments is not ASCII, or the end of the text.
  std::size_t FindBad() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // byte order mark
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (static_cast<unsigned char>(c) > 0x7f) {
        return at_;
      } else if (c == '"' || c == '\'') {
        const std::size_t start = at_;
        SkipQuoted(c);
        const auto quoted = text_.substr(start, at_ - start);
        const auto odd = std::find_if(quoted.begin(), quoted.end(), IsNotAscii);
        if (odd != quoted.end()) return start + static_cast<std::size_t>(odd - quoted.begin());
      } else {
        if (c == '.' && ++dots_ >= kMostKeyParts) return at_;
        if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots_ = 0;
        ++at_;
      }
    }
    return text_.size();
  }

 private:
  void SkipQuoted(char quote) {
    const std::string three(3, quote);
    const std::string_view end =
        text_.substr(at_, 3) == three ? std::string_view(three) : std::string_view(three).substr(2);
    at_ += end.size();
    while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
      if (end.size() == 1 && text_[at_] == '\n') return;  // never closed: the parser will say so
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + end.size(), text_.size());
    // A text in three quotes may end with one or two of its own.
    for (int more = 0; end.size() == 3 && more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int dots_ = 0;
};

Status CheckBareText(std::string_view text, std::string_view file) {
  const std::size_t bad = BareText(text).FindBad();
  if (bad == text.size()) return base::Ok();
  const int line = LineAt(text, bad);
  const bool dots = text[bad] == '.';
  return Error{.code = Code::kInvalidInput,
               .what = dots ? "key of too many parts" : "a character that is not ASCII",
               .where = Where(file, line),
               .seen = std::string(LineOf(text, static_cast<std::size_t>(line))),
               .expected = dots ? "at most " + std::to_string(kMostKeyParts) + ", with dots between"
                                : "such characters in comments only"};
}

std::string_view Trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// For a line that would be right with quotes around its value; empty: something else is wrong.
std::string QuotesHint(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return "";
  const std::string_view key = Trim(line.substr(0, equals));
  const std::string_view value = Trim(line.substr(equals + 1, line.find('#', equals) - equals - 1));
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kOfTexts = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:*?^=,~";
  if (value.starts_with('[') && value.find('"') == std::string_view::npos &&
      value.find('\'') == std::string_view::npos && value.find_first_of(kLetters) != std::string_view::npos)
    return "A text needs quotes, in a list too: [\"a\", \"b\"].";
  const bool is_text = value.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:/") != value.npos ||
                       std::count(value.begin(), value.end(), '.') > 1;
  if (key.empty() || !is_text || value.find_first_not_of(kOfTexts) != std::string_view::npos) return "";
  return "A text needs quotes: " + base::Printable(key) + " = \"" + base::Printable(value) + "\".";
}

int LineOf(const toml::source_region& source) { return static_cast<int>(source.begin.line); }

Value Convert(const toml::node& node);

Value ConvertTable(const toml::table& table) {
  Value out;
  for (const auto& [key, node] : table) {
    out.members.push_back({.key = std::string(key.str()), .line = LineOf(key.source()), .value = Convert(node)});
  }
  const auto by_line = [](const Member& a, const Member& b) { return a.line < b.line; };
  std::stable_sort(out.members.begin(), out.members.end(), by_line);
  return out;
}

Value ConvertPlain(const toml::node& node) {
  Value out;
  out.kind = Value::Kind::kDate;
  if (const auto* text = node.as_string()) {
    out.kind = Value::Kind::kText;
    out.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    out.kind = Value::Kind::kInteger;
    out.integer = integer->get();
  } else if (const auto* decimal = node.as_floating_point()) {
    out.kind = Value::Kind::kDecimal;
    out.decimal = decimal->get();
  } else if (node.is_boolean()) {
    out.kind = Value::Kind::kBoolean;
  }
  return out;
}

Value Convert(const toml::node& node) {
  Value out;
  if (const auto* table = node.as_table()) {
    out = ConvertTable(*table);
  } else if (const auto* list = node.as_array()) {
    out.kind = Value::Kind::kList;
    for (const toml::node& item : *list) out.items.push_back(Convert(item));
  } else {
    out = ConvertPlain(node);
  }
  out.line = LineOf(node.source());
  return out;
}

}  // namespace

std::string_view ToText(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kText:
      return "a text";
    case Value::Kind::kInteger:
      return "a whole number";
    case Value::Kind::kDecimal:
      return "a decimal fraction";
    case Value::Kind::kBoolean:
      return "a boolean";
    case Value::Kind::kDate:
      return "a date or time";
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kTable:
      return "a table";
  }
  return "";
}

Result<Value> ParseDocument(std::string_view text, std::string_view file) {
  NCCL_TUNE_RETURN_IF_ERROR(CheckText(text, file));
  NCCL_TUNE_RETURN_IF_ERROR(CheckBareText(text, file));
  std::string ascii(text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text);
  std::replace_if(ascii.begin(), ascii.end(), IsNotAscii, '?');
  const toml::parse_result parsed = toml::parse(ascii);
  if (!parsed) {
    const auto line = parsed.error().source().begin.line;
    const std::string seen(LineOf(text, line));
    std::string hint = QuotesHint(seen);
    return Error{.code = Code::kInvalidInput,
                 .what = "not TOML: " + (hint.empty() ? base::Printable(parsed.error().description())
                                                      : std::string("a text without quotes")),
                 .where = Where(file, static_cast<int>(line)),
                 .seen = seen,
                 .hint = std::move(hint)};
  }
  return ConvertTable(parsed.table());
}

}  // namespace nccl_tune::site
