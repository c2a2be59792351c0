// SPDX-License-Identifier: Apache-2.0
#include "envplugin/answers.h"

#include <string_view>

namespace nccl_tune::envplugin {

const char* Answers::Find(const char* name, const env::LookupNow& now) const {
  const auto found = values_.find(std::string_view(name));
  if (found == values_.end() || !env::StillRight(values_, kept_, now).contains(found->first)) return nullptr;
  return found->second.c_str();
}

}  // namespace nccl_tune::envplugin
