// SPDX-License-Identifier: Apache-2.0
#include "launcher/agreement.h"

#include <cstdint>

#include "base/json.h"
#include "base/parse_number.h"
#include "core/facts/ip_address.h"
#include "launcher/rails.h"

namespace nccl_tune::launcher {
namespace {

using base::Error;
using base::Json;
using base::Result;

constexpr std::int64_t kVersion = 1;

bool ReadNetworks(const Json& json, Agreement* out) {
  const Json& networks = base::GetMember(json, "nets");
  if (networks.is_null()) return true;
  if (!networks.is_array() || networks.size() > kMostRails) return false;
  for (const Json& one : networks) {
    if (!one.is_string()) return false;
    const auto& text = *one.get_ptr<const Json::string_t*>();
    if (!facts::ParseIpPrefix(text).ok()) return false;
    out->drop_networks.push_back(text);
  }
  return !out->drop_networks.empty();
}

bool ReadPlaces(const Json& json, Agreement* out) {
  const Json& places = base::GetMember(json, "places");
  const auto size = base::GetInteger(json, "of");
  if (places.is_null()) return base::GetMember(json, "of").is_null();
  if (!places.is_array() || places.empty() || !size || *size < 1 || *size > std::int64_t{kMostPlaces}) return false;
  out->layout_size = static_cast<std::size_t>(*size);
  for (const Json& one : places) {
    if (!one.is_number_integer()) return false;
    const auto place = one.get<std::int64_t>();  // cannot throw: it is a number
    const auto above =
        out->drop_places.empty() ? std::int64_t{0} : static_cast<std::int64_t>(out->drop_places.back()) + 1;
    if (place < above || place >= *size) return false;
    out->drop_places.push_back(static_cast<std::size_t>(place));
  }
  return true;
}

// A flag is there and true, or not there.
bool ReadFlag(const Json& json, std::string_view key, bool* out) {
  const Json& flag = base::GetMember(json, key);
  if (flag.is_null()) return true;
  *out = flag.is_boolean() && flag == true;
  return *out;
}

bool ReadValues(const Json& json, Agreement* out) {
  if (!base::GetMember(json, "family").is_null()) {
    const auto family = base::GetInteger(json, "family");
    if (family != 4 && family != 6) return false;
    out->family = static_cast<int>(*family);
  }
  if (base::GetMember(json, "tc").is_null()) return true;
  out->traffic_class = base::GetString(json, "tc");
  if (!out->traffic_class) return false;
  return out->traffic_class->empty() || base::ParseInteger<std::uint8_t>(*out->traffic_class).ok();
}

}  // namespace

std::string EncodeAgreement(const Agreement& agreement) {
  Json out;
  out["v"] = kVersion;
  if (!agreement.drop_networks.empty()) out["nets"] = agreement.drop_networks;
  if (!agreement.drop_places.empty()) {
    out["places"] = agreement.drop_places;
    out["of"] = agreement.layout_size;
  }
  if (agreement.family) out["family"] = *agreement.family;
  if (agreement.traffic_class) out["tc"] = *agreement.traffic_class;
  if (agreement.fall_back) out["back"] = true;
  if (agreement.stop) out["stop"] = true;
  return base::DumpJson(out);
}

Result<Agreement> DecodeAgreement(std::string_view text) {
  const Error malformed{.code = base::Code::kInvalidInput,
                        .what = "not an agreement of this version of nccl-launch",
                        .seen = base::Shortened(text),
                        .hint = "Do all nodes have the same nccl-launch?"};
  const auto json = base::ParseJson(text);
  if (!json.ok() || base::GetInteger(*json, "v") != kVersion) return malformed;
  Agreement out;
  const bool good = ReadNetworks(*json, &out) && ReadPlaces(*json, &out) && ReadValues(*json, &out) &&
                    ReadFlag(*json, "back", &out.fall_back) && ReadFlag(*json, "stop", &out.stop);
  if (!good) return malformed;
  return out;
}

}  // namespace nccl_tune::launcher
