// SPDX-License-Identifier: Apache-2.0
#include "site/mode.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/nearest.h"
#include "core/nccl/settable.h"

namespace nccl_tune::site {
namespace {

using base::Error;
using base::Status;

constexpr std::string_view kWhere = "--nccl-tune";
constexpr std::string_view kNcclPrefix = "NCCL_";
constexpr std::size_t kMostBytes = 4096;  // as in a policy's [set]: a plan is at most 8 KiB
constexpr std::string_view kSet = "set=";

Error Wrong(std::string what, std::string_view seen, std::string expected, std::string hint = "") {
  return {.code = base::Code::kInvalidInput,
          .what = std::move(what),
          .where = std::string(kWhere),
          .seen = std::string(seen),
          .expected = std::move(expected),
          .hint = std::move(hint)};
}

// The word that is meant by one in other letters, of other programs, or misspelt; empty: none.
std::string_view MeantWord(std::string_view item) {
  constexpr std::array<std::string_view, 6> kModes = {"auto", "off", "explain", "dry-run", "strict", "mpi"};
  constexpr std::array<std::string_view, 5> kYes = {"on", "1", "yes", "true", "enable"};
  constexpr std::array<std::string_view, 5> kNo = {"0", "no", "false", "none", "disable"};
  const std::string lower = base::LowerAscii(item);
  if (std::find(kYes.begin(), kYes.end(), lower) != kYes.end()) return "auto";
  if (std::find(kNo.begin(), kNo.end(), lower) != kNo.end()) return "off";
  return base::Nearest(lower, kModes);
}

Error Unknown(std::string_view item) {
  const std::string_view meant = MeantWord(item);
  return Wrong("unknown mode", item, std::string(ModeItems()) + " or several of them with commas between",
               meant.empty() ? "" : "Did you mean " + std::string(meant) + "?");
}

// What follows set=NAME:VALUE, and is no item, may have been meant as a part of the value.
Error UnknownAfterValue(std::string_view before, std::string_view item) {
  return Wrong("unknown mode", item, std::string(ModeItems()),
               "A comma in a value is written twice: " + base::Printable(before) + ",," + base::Printable(item));
}

// As the site's policy allows them: so a name also travels in a line.
bool IsProfile(std::string_view text) {
  return !text.empty() && text.size() <= nccl::kLongestName && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

// A name that set= and unset= take: NCCL's only, whatever else a policy may fix.
Status CheckName(std::string_view item, std::string_view name) {
  const auto settable = nccl::CheckSettableName(name);
  if (settable.ok() && name.starts_with(kNcclPrefix)) return base::Ok();
  const std::string hint = settable.ok() ? "" : settable.error().hint;
  return Wrong("not a variable of NCCL's that can be set", item, "a name that begins with NCCL_", hint);
}

Status TakeProfile(std::string_view item, std::string_view name, Mode* out) {
  if (name.empty()) return Wrong("no name", item, "profile=NAME");
  if (!IsProfile(name)) return Wrong("not the name of a profile", item, "at most 64 letters, digits, _ - and .");
  if (!out->profile.empty() && out->profile != name)
    return Wrong("a second profile", item, "one profile", "Ask the site for one that holds both.");
  out->profile = name;
  return base::Ok();
}

Status TakeValue(std::string_view item, std::string_view text, Mode* out) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return Wrong("no value", item, "set=NAME:VALUE");
  const std::string_view name = text.substr(0, colon);
  const std::string value(text.substr(colon + 1));
  NCCL_TUNE_RETURN_IF_ERROR(CheckName(item, name));
  if (auto checked = nccl::CheckSettableValue(name, value); !checked.ok()) {
    Error error = checked.error();
    error.where = std::string(kWhere) + ": set=" + std::string(name);
    return error;
  }
  if (!out->values.emplace(name, value).second) return Wrong("set twice", item, "one value for a variable");
  std::size_t bytes = 0;
  for (const auto& [set, text_of] : out->values) bytes += set.size() + text_of.size();
  if (bytes > kMostBytes) {
    return Wrong("too much to set", item,
                 "at most " + std::to_string(kMostBytes) + " bytes of names and values in all");
  }
  return base::Ok();
}

Status TakeUnset(std::string_view item, std::string_view name, Mode* out) {
  NCCL_TUNE_RETURN_IF_ERROR(CheckName(item, name));
  out->unset.emplace(name);
  return base::Ok();
}

// What an item that is a word alone does.
struct Word {
  std::string_view word;
  void (*take)(Mode*);
};
constexpr Word kWords[] = {
    {"auto", [](Mode*) {}},
    {"explain", [](Mode* out) { out->explain = true; }},
    {"dry-run",
     [](Mode* out) {
       out->explain = true;
       out->set = false;
     }},
    {"strict", [](Mode* out) { out->strict = true; }},
    {"mpi", [](Mode* out) { out->mpi = true; }},
};

struct Prefix {
  std::string_view text;
  Status (*take)(std::string_view item, std::string_view rest, Mode* out);
};
constexpr Prefix kPrefixes[] = {{"profile=", &TakeProfile}, {"set=", &TakeValue}, {"unset=", &TakeUnset}};

Status TakeItem(std::string_view item, Mode* out) {
  for (const auto& word : kWords) {
    if (item != word.word) continue;
    word.take(out);
    return base::Ok();
  }
  for (const auto& prefix : kPrefixes) {
    if (item.starts_with(prefix.text)) return prefix.take(item, item.substr(prefix.text.size()), out);
  }
  return Unknown(item);
}

// The next item, its own commas single again. Takes it and the comma after it off `rest`; `*last`: there was none.
std::string NextItem(std::string_view* rest, bool* last) {
  const bool has_value = rest->starts_with(kSet);
  std::string out;
  while (!rest->empty()) {
    const char c = rest->front();
    const bool doubled = has_value && rest->starts_with(",,");
    rest->remove_prefix(doubled ? 2 : 1);
    if (c == ',' && !doubled) {
      *last = false;
      return out;
    }
    out += c;
  }
  *last = true;
  return out;
}

}  // namespace

std::string_view ModeItems() {
  return "auto, off, explain, dry-run, strict, mpi, profile=NAME, set=NAME:VALUE, unset=NAME";
}

std::vector<std::string> UnknownVariables(const Mode& mode) {
  std::vector<std::string> out;
  const auto look = [&](std::string_view item, const std::string& name) {
    if (nccl::IsKnownName(name)) return;
    const std::string meant = nccl::DidYouMean(name);
    out.push_back(std::string(item) + name + ": not a variable that we know" + (meant.empty() ? "" : ". " + meant));
  };
  for (const auto& [name, value] : mode.values) look(kSet, name);
  for (const auto& name : mode.unset) look("unset=", name);
  return out;
}

namespace {

base::Result<Mode> ParseItems(std::string_view text) {
  Mode out;
  out.set = true;
  if (text.empty() || text == "(null)") return out;
  bool off = false;
  bool other = false;
  std::string_view rest = text;
  std::string before;
  for (bool last = false; !last;) {
    std::string item = NextItem(&rest, &last);
    (item == "off" ? off : other) = true;
    if (item != "off") {
      auto taken = TakeItem(item, &out);
      const bool unknown = !taken.ok() && taken.error().what == Unknown("").what;
      if (unknown && !item.empty() && before.starts_with(kSet)) return UnknownAfterValue(before, item);
      NCCL_TUNE_RETURN_IF_ERROR(std::move(taken));
    }
    before = std::move(item);
  }
  if (off && other) return Wrong("off together with another mode", text, "off alone");
  for (const auto& name : out.unset) {
    if (out.values.contains(name)) return Wrong("set and unset", name, "one of them");
  }
  return off ? Mode{} : out;
}

}  // namespace

base::Result<Mode> ParseMode(std::string_view text, std::string_view where) {
  auto mode = ParseItems(text);
  if (mode.ok()) return mode;
  Error error = mode.error();
  error.where = std::string(where) + error.where.substr(std::min(error.where.size(), kWhere.size()));
  return error;
}

}  // namespace nccl_tune::site
