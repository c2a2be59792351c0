// SPDX-License-Identifier: Apache-2.0
//
// JSON with numbers as nccl-tests writes them (six decimals), which base/json.h cannot do. Pure.
//
// The text is on one line. The caller nests correctly; strings are escaped to ASCII by base/json.h.
#ifndef NCCL_TUNE_BENCH_JSON_WRITER_H_
#define NCCL_TUNE_BENCH_JSON_WRITER_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nccl_tune::bench {

class JsonWriter {
 public:
  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginList() { Begin('['); }
  void EndList() { End(']'); }
  // The name of the value that comes next.
  void Key(std::string_view name);

  void String(std::string_view text);
  void Strings(const std::vector<std::string>& texts);
  void Integer(std::integral auto number) { Raw(std::to_string(number)); }
  // "12.500000"; the string "nan", "inf" or "-inf" for what is no JSON number.
  void Number(double number);
  void Null() { Raw("null"); }
  void Boolean(bool value) { Raw(value ? "true" : "false"); }
  // nccl-tests' booleans are strings.
  void QuotedBoolean(bool value) { Raw(value ? "\"true\"" : "\"false\""); }

  std::string Take() { return std::move(text_); }

 private:
  void Begin(char bracket);
  void End(char bracket);
  void Raw(std::string_view text);
  void Separate();

  std::string text_{};
  bool follows_ = false;  // whether a comma is needed before the next
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_JSON_WRITER_H_
