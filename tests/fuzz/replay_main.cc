// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzzer without libFuzzer: every file of a folder, then so many changes of them, always the same ones.
//
//   REPLAY FOLDER [--runs=N]        N changes (2000)
//   REPLAY FOLDER --dump=NUMBER     writes one change to stdout
//   REPLAY FILE                     one file
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse_number.h"
#include "tests/fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// There under the sanitizers, which end the process without a signal.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

namespace base = nccl_tune::base;
namespace fuzz = nccl_tune::fuzz;

// What runs now; the only state that a signal handler can reach.
std::string g_now;

void SayWhatRan() {
  std::fputs(("the input was " + g_now + "\n").c_str(), stderr);
  std::fflush(stderr);
}

void OnSignal(int number) {
  std::signal(number, SIG_DFL);
  SayWhatRan();
  std::raise(number);
}

// In memory of its own size, so that a sanitizer sees one byte too many.
void Run(const std::string& text, std::string name) {
  g_now = std::move(name);
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::map<std::string, std::string> ReadFiles(const std::string& path) {
  std::map<std::string, std::string> files;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) files.emplace(path, ReadWhole(path));
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    files.emplace(entry.path().string(), ReadWhole(entry.path()));
  }
  return files;
}

int Replay(const std::map<std::string, std::string>& files, std::uint32_t runs) {
  std::vector<std::string> texts;
  for (const auto& [path, text] : files) {
    Run(text, path);
    texts.push_back(text);
  }
  Run("", "nothing");
  for (std::uint32_t number = 0; number < runs; ++number) {
    Run(fuzz::Mutation(texts, number), "change " + std::to_string(number) + " (--dump=" + std::to_string(number) + ")");
  }
  std::printf("%zu files and %u changes of them\n", texts.size(), runs);
  return 0;
}

int Dump(const std::map<std::string, std::string>& files, std::uint32_t number) {
  std::vector<std::string> texts;
  for (const auto& [path, text] : files) texts.push_back(text);
  const std::string text = fuzz::Mutation(texts, number);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto files = words.empty() ? std::map<std::string, std::string>() : ReadFiles(words[0]);
  std::string_view option = words.size() > 1 ? std::string_view(words[1]) : "--runs=2000";
  const bool dump = option.starts_with("--dump=");
  if (files.empty() || words.size() > 2 || !(dump || option.starts_with("--runs="))) {
    std::fputs("usage: REPLAY FOLDER [--runs=N | --dump=NUMBER], a folder with files\n", stderr);
    return 2;
  }
  const auto number = base::ParseInteger<std::uint32_t>(option.substr(option.find('=') + 1));
  if (!number.ok()) {
    std::fputs((number.error().ToString() + "\n").c_str(), stderr);
    return 2;
  }
  if (dump) return Dump(files, *number);
  for (const int one : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(one, OnSignal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(SayWhatRan);
  const bool one_file = files.size() == 1 && files.begin()->first == words[0];
  return Replay(files, one_file ? 0 : *number);
}
