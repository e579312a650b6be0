#include "exercises/grader/toml_table.hpp"

#include <algorithm>
#include <cmath>

namespace flashlab::exercises {

toy::SourceSpan span_of(const toml::source_region& region) {
  toy::SourceSpan span;
  span.line = region.begin.line;
  span.column = region.begin.column;
  const bool one_line = region.end.line == region.begin.line;
  span.length = one_line && region.end.column > region.begin.column
                    ? region.end.column - region.begin.column
                    : 1;
  return span;
}

void ErrorList::add(toy::SourceSpan where, std::string what, std::string expected,
                    std::string suggestion) {
  toy::Diagnostic diagnostic;
  diagnostic.span = where;
  diagnostic.what = std::move(what);
  diagnostic.expected = std::move(expected);
  diagnostic.suggestion = std::move(suggestion);
  errors_.push_back({file_, std::move(diagnostic)});
}

void ErrorList::add(const toml::source_region& where, std::string what, std::string expected,
                    std::string suggestion) {
  add(span_of(where), std::move(what), std::move(expected), std::move(suggestion));
}

const toml::node* TomlTable::node(std::string_view key) {
  known_.emplace_back(key);
  return table_.get(key);
}

toml::source_region TomlTable::where(std::string_view key) const {
  const toml::node* found = table_.get(key);
  return found != nullptr ? found->source() : table_.source();
}

void TomlTable::missing(std::string_view key, const std::string& expected) {
  errors_.add(table_.source(), "'" + std::string(key) + "' is missing in " + name_, expected);
}

void TomlTable::wrong(std::string_view key, const std::string& what, const std::string& expected,
                      const std::string& suggestion) {
  errors_.add(where(key), "'" + std::string(key) + "' in " + name_ + ": " + what, expected,
              suggestion);
}

void TomlTable::wrong_type(std::string_view key, const std::string& expected) {
  errors_.add(where(key), "'" + std::string(key) + "' in " + name_ + " has the wrong type",
              expected);
}

std::string TomlTable::text(std::string_view key, std::string fallback) {
  const toml::node* found = node(key);
  if (found == nullptr) return fallback;
  if (const auto* value = found->as_string()) return value->get();
  wrong_type(key, "a text in quotes");
  return fallback;
}

std::string TomlTable::required_text(std::string_view key) {
  if (!has(key)) missing(key, "a text in quotes");
  return text(key);
}

bool TomlTable::flag(std::string_view key, bool fallback) {
  const toml::node* found = node(key);
  if (found == nullptr) return fallback;
  if (const auto* value = found->as_boolean()) return value->get();
  wrong_type(key, "true or false");
  return fallback;
}

double TomlTable::number(std::string_view key, double fallback) {
  const toml::node* found = node(key);
  if (found == nullptr) return fallback;
  const auto value = found->value<double>();
  if (value && found->is_number() && std::isfinite(*value)) return *value;
  wrong_type(key, "a finite number");
  return fallback;
}

std::int64_t TomlTable::whole(std::string_view key, std::int64_t fallback, std::int64_t least) {
  const toml::node* found = node(key);
  if (found == nullptr) return fallback;
  const auto* value = found->as_integer();
  if (value != nullptr && value->get() >= least) return value->get();
  wrong_type(key, "a whole number from " + std::to_string(least));
  return fallback;
}

std::vector<std::string> TomlTable::texts(std::string_view key) {
  const toml::node* found = node(key);
  std::vector<std::string> result;
  if (found == nullptr) return result;
  const toml::array* list = found->as_array();
  if (list == nullptr) {
    wrong_type(key, "a list of texts: [\"…\", \"…\"]");
    return result;
  }
  for (const toml::node& entry : *list) {
    if (const auto* value = entry.as_string()) {
      result.push_back(value->get());
    } else {
      errors_.add(entry.source(),
                  "an entry of '" + std::string(key) + "' in " + name_ + " is no text",
                  "a text in quotes");
    }
  }
  return result;
}

std::string TomlTable::expression(std::string_view key) {
  const toml::node* found = node(key);
  if (found == nullptr) return {};
  if (const auto* value = found->as_string()) return value->get();
  if (const auto* value = found->as_integer()) return std::to_string(value->get());
  wrong_type(key, "a whole number or an expression in quotes");
  return {};
}

const toml::table* TomlTable::table(std::string_view key) {
  const toml::node* found = node(key);
  if (found == nullptr) return nullptr;
  if (const toml::table* value = found->as_table()) return value;
  wrong_type(key, "a table");
  return nullptr;
}

std::vector<const toml::table*> TomlTable::tables(std::string_view key) {
  const toml::node* found = node(key);
  std::vector<const toml::table*> result;
  if (found == nullptr) return result;
  const toml::array* list = found->as_array();
  if (list == nullptr) {
    wrong_type(key, "a list of tables");
    return result;
  }
  for (const toml::node& entry : *list) {
    if (const toml::table* value = entry.as_table()) {
      result.push_back(value);
    } else {
      errors_.add(entry.source(),
                  "an entry of '" + std::string(key) + "' in " + name_ + " is no table",
                  "{ key = value }");
    }
  }
  return result;
}

void TomlTable::finish() {
  for (const auto& [key, value] : table_) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    std::string list;
    for (const std::string& known : known_) list += (list.empty() ? "" : ", ") + known;
    errors_.add(value.source(), "unknown key '" + name + "' in " + name_, "one of " + list,
                toy::nearest(name, known_).value_or(""));
  }
}

}  // namespace flashlab::exercises
