// SPDX-License-Identifier: Apache-2.0
#include "launcher/visible_gpus.h"

#include <algorithm>
#include <utility>

#include "base/parse_number.h"

namespace nccl_tune::launcher {
namespace {

using base::Code;
using base::Environment;
using base::Error;
using base::Result;

constexpr const char* kCuda = "CUDA_VISIBLE_DEVICES";
constexpr const char* kRocr = "ROCR_VISIBLE_DEVICES";
constexpr const char* kHip = "HIP_VISIBLE_DEVICES";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Without what follows the UUID, "MIG-GPU-UUID/GI/CI" included; empty for what is none.
std::string_view UuidOf(std::string_view entry) {
  if (!entry.starts_with("GPU-") && !entry.starts_with("MIG-")) return "";
  std::size_t end = 4;
  while (end < entry.size() &&
         (IsLetter(entry[end]) || IsDigit(entry[end]) || entry[end] == '-' || entry[end] == '/')) {
    ++end;
  }
  return end > 4 ? entry.substr(0, end) : "";
}

bool IsUuid(std::string_view entry) { return !UuidOf(entry).empty(); }

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Nothing for what is no index. One that no int holds is none: CUDA takes it modulo 2^32, which nobody means.
std::optional<int> ReadIndex(std::string_view entry) {
  while (!entry.empty() && (entry.front() == ' ' || (entry.front() >= '\t' && entry.front() <= '\r'))) {
    entry.remove_prefix(1);
  }
  if (entry.starts_with('+')) entry.remove_prefix(1);
  std::size_t digits = 0;
  while (digits < entry.size() && IsDigit(entry[digits])) ++digits;
  const auto index = base::ParseInt(entry.substr(0, digits));
  return index.ok() ? std::optional<int>(*index) : std::nullopt;
}

// The entry as it is written into a variable; nothing where it ends the list.
std::optional<std::string> ReadEntry(std::string_view entry, std::optional<std::size_t> devices) {
  if (IsUuid(entry)) return std::string(UuidOf(entry));
  const auto index = ReadIndex(entry);
  if (!index || (devices && static_cast<std::size_t>(*index) >= *devices)) return std::nullopt;
  return std::to_string(*index);
}

// A shortened UUID names the device that the full one names.
bool NameTheSame(const std::string& one, const std::string& other) {
  if (!IsUuid(one) || !IsUuid(other)) return one == other;
  const std::string a = Lower(one);
  const std::string b = Lower(other);
  return a.starts_with(b) || b.starts_with(a);
}

// The list of a variable; nothing where it is not set.
Result<std::optional<std::vector<std::string>>> ReadList(const Environment& environment, const char* name,
                                                         std::optional<std::size_t> devices) {
  const auto text = base::Lookup(environment, name);
  if (!text) return std::optional<std::vector<std::string>>();
  auto ids = ParseVisibleList(*text, devices);
  if (!ids.ok()) {
    Error error = ids.error();
    error.where = name;
    return error;
  }
  return std::optional(std::move(ids).value());
}

std::vector<std::string> CountTo(std::size_t count) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(std::to_string(i));
  return ids;
}

// Where no variable of the vendor is set.
Result<VisibleGpus> FromStep(const Environment& environment, std::size_t devices, const char* variable) {
  const auto known = devices > 0 ? std::optional(devices) : std::nullopt;
  NCCL_TUNE_ASSIGN_OR_RETURN(step, ReadList(environment, "SLURM_STEP_GPUS", known));
  if (step) return VisibleGpus{.ids = *std::move(step), .variable = variable, .source = "SLURM_STEP_GPUS"};
  if (const auto text = base::Lookup(environment, "SLURM_GPUS_ON_NODE")) {
    constexpr std::size_t kMost = 1024;
    const auto count = base::ParseInteger<std::size_t>(*text);
    if (!count.ok() || *count > kMost) {
      return Error{.code = Code::kInvalidInput,
                   .what = "not a number of GPUs",
                   .where = "SLURM_GPUS_ON_NODE",
                   .seen = *text,
                   .expected = "0 to 1024"};
    }
    return VisibleGpus{.ids = CountTo(*count), .variable = variable, .source = "SLURM_GPUS_ON_NODE"};
  }
  return VisibleGpus{.ids = CountTo(devices), .variable = variable, .source = "the devices of this node"};
}

// HIP's list chooses from ROCr's.
VisibleGpus Choose(VisibleGpus rocr, const std::vector<std::string>& chosen, const char* by) {
  std::vector<std::string> ids;
  for (const std::string& one : chosen) {
    const auto index = base::ParseInteger<std::size_t>(one);
    if (!index.ok() || *index >= rocr.ids.size()) break;
    ids.push_back(rocr.ids[*index]);
  }
  rocr.ids = std::move(ids);
  rocr.source += std::string(" and ") + by;
  rocr.counting.push_back(by);
  return rocr;
}

Result<VisibleGpus> FindAmd(const Environment& environment, std::size_t devices) {
  const auto known = devices > 0 ? std::optional(devices) : std::nullopt;
  const char* upper_name = environment.contains(kHip) ? kHip : kCuda;
  NCCL_TUNE_ASSIGN_OR_RETURN(rocr, ReadList(environment, kRocr, known));
  NCCL_TUNE_ASSIGN_OR_RETURN(upper, ReadList(environment, upper_name, rocr ? std::optional(rocr->size()) : known));
  if (rocr) {
    VisibleGpus gpus{.ids = *std::move(rocr), .variable = kRocr, .source = kRocr};
    return upper ? Choose(std::move(gpus), *upper, upper_name) : gpus;
  }
  if (upper) return VisibleGpus{.ids = *std::move(upper), .variable = upper_name, .source = upper_name};
  return FromStep(environment, devices, kRocr);
}

}  // namespace

Result<std::vector<std::string>> ParseVisibleList(std::string_view text, std::optional<std::size_t> devices) {
  std::vector<std::string> ids;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto id = ReadEntry(text.substr(0, comma), devices);
    if (!id || (!ids.empty() && IsUuid(*id) != IsUuid(ids.front()))) return ids;
    for (const std::string& other : ids) {
      if (!NameTheSame(*id, other)) continue;
      return Error{.code = Code::kInvalidInput,
                   .what = "names a GPU twice, so that no program can use any",
                   .seen = *id,
                   .expected = "each GPU once"};
    }
    ids.push_back(*id);
    if (comma == std::string_view::npos) return ids;
    text.remove_prefix(comma + 1);
  }
}

Result<VisibleGpus> FindVisibleGpus(const Environment& environment, const facts::Node& node) {
  const bool cuda_set = environment.contains(kCuda);
  const bool rocm_set = environment.contains(kRocr) || environment.contains(kHip);
  const bool is_amd = node.gpus.empty() ? !cuda_set && rocm_set : node.gpus.front().vendor == facts::GpuVendor::kAmd;
  if (is_amd) return FindAmd(environment, node.gpus.size());
  const auto known = node.gpus.empty() ? std::nullopt : std::optional(node.gpus.size());
  NCCL_TUNE_ASSIGN_OR_RETURN(cuda, ReadList(environment, kCuda, known));
  if (cuda) return VisibleGpus{.ids = *std::move(cuda), .variable = kCuda, .source = kCuda};
  return FromStep(environment, node.gpus.size(), kCuda);
}

Result<int> RanksForGpus(const VisibleGpus& gpus) {
  if (gpus.ids.empty()) {
    return Error{.code = Code::kNotFound,
                 .what = "this node has no GPU for a rank, by " + gpus.source,
                 .where = "--procs-per-node gpu",
                 .hint = "Ask Slurm for GPUs (--gpus-per-node), or give a number: --procs-per-node 8"};
  }
  return static_cast<int>(gpus.ids.size());
}

bool SeesOwnGpusOnly(const Environment& environment, const VisibleGpus& gpus) {
  const auto text = base::Lookup(environment, "SLURM_GPUS_ON_NODE");
  const auto granted = text ? base::ParseInteger<std::size_t>(*text) : Result<std::size_t>(std::size_t{0});
  return granted.ok() && gpus.ids.size() < *granted;
}

std::optional<std::size_t> NumberOnNode(std::string_view id, const VisibleGpus& gpus, const Environment& environment,
                                        std::size_t devices) {
  const auto index = base::ParseInteger<std::size_t>(id);
  if (!index.ok() || *index >= devices) return std::nullopt;
  const auto granted = ParseVisibleList(base::Lookup(environment, "SLURM_STEP_GPUS").value_or(""), devices);
  if (!granted.ok() || granted->empty()) return *index;
  const auto is_granted = [&](const std::string& one) {
    return std::find(granted->begin(), granted->end(), one) != granted->end();
  };
  if (std::all_of(gpus.ids.begin(), gpus.ids.end(), is_granted)) return *index;
  std::vector<std::size_t> numbers;
  for (const std::string& one : *granted) numbers.push_back(base::ParseInteger<std::size_t>(one).value_or(devices));
  std::sort(numbers.begin(), numbers.end());
  if (*index >= numbers.size() || numbers[*index] >= devices) return std::nullopt;
  return numbers[*index];
}

}  // namespace nccl_tune::launcher
