// The TOML parser proper: slow to compile, so in a file of its own.
#include "exercises/grader/read_parts.hpp"

namespace flashlab::exercises {

std::optional<toml::table> parse_toml(const std::string& text, ErrorList& errors) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    errors.add(error.source(), std::string(error.description()), "TOML 1.0");
    return std::nullopt;
  }
}

}  // namespace flashlab::exercises
