// Reads members of a client's message, which may be missing or of any type.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace flashlab::cli {

/// Returns the member as text; empty if there is none of that type.
inline std::string text_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

inline std::int64_t number_in(const nlohmann::json& object, const char* key,
                              std::int64_t otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                             : otherwise;
}

inline bool switch_in(const nlohmann::json& object, const char* key, bool otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

/// Returns the objects of a list; empty if there is none.
inline std::vector<nlohmann::json> objects_in(const nlohmann::json& object, const char* key) {
  std::vector<nlohmann::json> result;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return result;
  for (const nlohmann::json& one : *found) {
    if (one.is_object()) result.push_back(one);
  }
  return result;
}

}  // namespace flashlab::cli
