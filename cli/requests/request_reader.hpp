// Reads the fields of a JSON request. Every error names the place as a JSON pointer, the value, and
// what was expected.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/json.hpp"

namespace flashlab::cli {

/// A request that is wrong before anything is computed.
class BadRequest : public std::exception {
 public:
  std::string place;  // "/params/n"; "byte 17" for a text that is not JSON
  std::string value;  // as JSON, cut; empty for a missing one
  std::string problem, expected, suggestion;

  const char* what() const noexcept override { return problem.c_str(); }
};

/// Parses a request's text. Throws BadRequest: not JSON (with the byte), nested too deeply, a
/// repeated key, invalid UTF-8, a number that no double holds.
Json parse_request(std::string_view text);

/// Reads one object. Each function returns nothing for a missing field, and throws BadRequest for a
/// value of another type or outside the allowed range.
class ObjectReader {
 public:
  /// `place`: the pointer to the object; empty for the request itself.
  ObjectReader(const Json& object, std::string place);

  std::optional<std::string> text(const std::string& key);
  std::optional<std::string> one_of(const std::string& key,
                                    const std::vector<std::string>& allowed);
  std::optional<std::int64_t> whole(const std::string& key, std::int64_t least, std::int64_t most);
  std::optional<double> number(const std::string& key, double least, double most);
  bool flag(const std::string& key);
  /// Returns the value of any type, or null.
  const Json* any(const std::string& key);
  /// Returns a text; throws if it is missing.
  std::string required_text(const std::string& key, const std::string& expected);

  /// Throws for a field that no function above asked for, with the nearest name.
  void finish() const;

  std::string place_of(const std::string& key) const;
  BadRequest wrong(const std::string& key, const std::string& expected) const;
  /// Calls `use`, and reports a request_failure() of it at this field.
  void at(const std::string& key, const std::function<void()>& use) const;

 private:
  const Json& object_;
  std::string place_;
  std::set<std::string> known_;
};

}  // namespace flashlab::cli
