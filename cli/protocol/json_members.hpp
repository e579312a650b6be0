// Reads members of a client's message, which may be missing or of any type. A member that is there and
// wrong is an error that names it, its value and what was expected; one that is null is missing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "text/visible.hpp"

namespace flashlab::cli {

/// A member that a request needs is missing, or one that it has is wrong.
class WrongMember : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the error: "\"line\" is -1; expected a whole number from 1 on". `value`: null if it is missing.
inline WrongMember wrong_member(const std::string& name, const nlohmann::json* value,
                                const std::string& expected) {
  constexpr std::size_t kMostShown = 40;
  if (value == nullptr) return WrongMember("\"" + name + "\" is missing; expected " + expected);
  const std::string text = value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return WrongMember("\"" + name + "\" is " + visible_start(text, kMostShown) + "; expected " +
                     expected);
}

/// Returns the member, or null if it is missing.
inline const nlohmann::json* member_of(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Members that a request needs -------------------------------------------------------------------

inline std::string text_of(const nlohmann::json& object, const char* key,
                           const char* expected = "a text") {
  const nlohmann::json* const value = member_of(object, key);
  if (value == nullptr || !value->is_string()) throw wrong_member(key, value, expected);
  return value->get<std::string>();
}

/// Larger numbers become the largest one that doubles count up to, so that a few may be added to any.
inline std::int64_t whole_number_of(const nlohmann::json& object, const char* key,
                                    const char* expected = "a whole number") {
  constexpr double kLargest = 9007199254740992;
  constexpr auto kMost = static_cast<std::int64_t>(kLargest);
  const nlohmann::json* const value = member_of(object, key);
  if (value != nullptr && value->is_number_unsigned()) {
    return static_cast<std::int64_t>(
        std::min(value->get<std::uint64_t>(), static_cast<std::uint64_t>(kMost)));
  }
  if (value != nullptr && value->is_number_integer()) {
    return std::clamp(value->get<std::int64_t>(), -kMost, kMost);
  }
  if (value != nullptr && value->is_number_float()) {  // some clients write 3.0
    const auto number = value->get<double>();
    if (std::floor(number) == number && std::fabs(number) <= kLargest) {
      return static_cast<std::int64_t>(number);
    }
  }
  throw wrong_member(key, value, expected);
}

inline const nlohmann::json& object_of(const nlohmann::json& object, const char* key) {
  const nlohmann::json* const value = member_of(object, key);
  if (value == nullptr || !value->is_object()) throw wrong_member(key, value, "an object");
  return *value;
}

/// Returns a list of objects.
inline const nlohmann::json& objects_of(const nlohmann::json& object, const char* key) {
  const nlohmann::json* const value = member_of(object, key);
  if (value == nullptr || !value->is_array()) throw wrong_member(key, value, "a list of objects");
  for (std::size_t i = 0; i < value->size(); ++i) {
    if ((*value)[i].is_object()) continue;
    throw wrong_member(std::string(key) + "[" + std::to_string(i) + "]", &(*value)[i], "an object");
  }
  return *value;
}

// Members that may be missing --------------------------------------------------------------------

/// Returns the member, or an empty text.
inline std::string text_in(const nlohmann::json& object, const char* key,
                           const char* expected = "a text") {
  return member_of(object, key) == nullptr ? std::string() : text_of(object, key, expected);
}

inline std::int64_t number_in(const nlohmann::json& object, const char* key,
                              std::int64_t otherwise) {
  return member_of(object, key) == nullptr ? otherwise : whole_number_of(object, key);
}

inline bool switch_in(const nlohmann::json& object, const char* key, bool otherwise) {
  const nlohmann::json* const value = member_of(object, key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) throw wrong_member(key, value, "true or false");
  return value->get<bool>();
}

/// Returns the objects of a list; empty if there is none.
inline std::vector<nlohmann::json> objects_in(const nlohmann::json& object, const char* key) {
  if (member_of(object, key) == nullptr) return {};
  return objects_of(object, key).get<std::vector<nlohmann::json>>();
}

// Of a message itself, before it is known to be a request -----------------------------------------

inline std::string loose_text(const nlohmann::json& object, const char* key) {
  const nlohmann::json* const value = member_of(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

inline std::int64_t loose_number(const nlohmann::json& object, const char* key) {
  const nlohmann::json* const value = member_of(object, key);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

}  // namespace flashlab::cli
