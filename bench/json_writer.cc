// SPDX-License-Identifier: Apache-2.0
#include "bench/json_writer.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "bench/number_text.h"

namespace nccl_tune::bench {

void JsonWriter::Separate() {
  if (follows_) text_ += ',';
  follows_ = true;
}

void JsonWriter::Begin(char bracket) {
  Separate();
  text_ += bracket;
  follows_ = false;
}

void JsonWriter::End(char bracket) {
  text_ += bracket;
  follows_ = true;
}

void JsonWriter::Raw(std::string_view text) {
  Separate();
  text_ += text;
}

void JsonWriter::Key(std::string_view name) {
  String(name);
  text_ += ':';
  follows_ = false;
}

void JsonWriter::String(std::string_view text) {
  // Nearly all need no escapes, and a long list of ranks has many.
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; })) {
    Separate();
    text_.append("\"").append(text).append("\"");
  } else {
    Raw(base::DumpJson(base::Json(std::string(text))));
  }
}

void JsonWriter::Strings(const std::vector<std::string>& texts) {
  BeginList();
  for (const std::string& text : texts) String(text);
  EndList();
}

void JsonWriter::Number(double number) {
  if (std::isnan(number)) {
    Raw("\"nan\"");
  } else if (std::isinf(number)) {
    Raw(number > 0 ? "\"inf\"" : "\"-inf\"");
  } else {
    Raw(FixedText(number, 6));
  }
}

}  // namespace nccl_tune::bench
