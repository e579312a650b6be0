#include "exercises/grader/exercise/toml_table.hpp"

#include <algorithm>
#include <cmath>

#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {

namespace {

/// The byte column of a character column. Both start at 1.
std::uint32_t byte_column(std::string_view line, std::uint32_t column) {
  std::uint32_t characters = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;
    if (begins && ++characters == column) return static_cast<std::uint32_t>(i + 1);
  }
  return static_cast<std::uint32_t>(line.size() + 1);
}

}  // namespace

toy::SourceSpan ErrorList::span_of(const toml::source_region& region) const {
  toy::SourceSpan span{region.begin.line, 1, 1};
  const std::string_view line = source_.line(span.line);
  span.column = byte_column(line, region.begin.column);
  const std::uint32_t end = region.end.line == region.begin.line
                                ? byte_column(line, region.end.column)
                                : static_cast<std::uint32_t>(line.size() + 1);
  if (end > span.column) span.length = end - span.column;
  return span;
}

void ErrorList::add(toy::SourceSpan where, std::string what, std::string expected,
                    std::string suggestion) {
  if (full()) return;
  toy::Diagnostic diagnostic;
  diagnostic.span = where;
  diagnostic.what = std::move(what);
  diagnostic.expected = std::move(expected);
  diagnostic.suggestion = std::move(suggestion);
  errors_.push_back({source_.name(), std::move(diagnostic)});
}

void ErrorList::add(const toml::source_region& where, std::string what, std::string expected,
                    std::string suggestion) {
  add(span_of(where), std::move(what), std::move(expected), std::move(suggestion));
}

const toml::node* TomlTable::node(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
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

bool TomlTable::is_clean(const toml::node& place, std::string_view key, const std::string& text,
                         bool one_line) {
  const std::string name = "'" + std::string(key) + "' in " + name_;
  if (first_unprintable(text)) {
    errors_.add(place.source(), name + " holds a control character", "text that can be shown");
    return false;
  }
  if (one_line && text.find_first_of("\n\r\t") != std::string::npos) {
    errors_.add(place.source(), name + " has a line end or a tab", "text on one line");
    return false;
  }
  return true;
}

std::string TomlTable::text(std::string_view key, std::string fallback) {
  const toml::node* found = node(key);
  if (found == nullptr) return fallback;
  const auto* value = found->as_string();
  if (value == nullptr) {
    wrong_type(key, "a text in quotes");
    return fallback;
  }
  return is_clean(*found, key, value->get(), false) ? value->get() : fallback;
}

std::string TomlTable::line(std::string_view key, std::string fallback) {
  const toml::node* found = node(key);
  if (found != nullptr && found->is_string() &&
      !is_clean(*found, key, found->as_string()->get(), true)) {
    return fallback;
  }
  return text(key, fallback);
}

std::string TomlTable::required(std::string_view key, std::string text) {
  if (!has(key)) {
    missing(key, "a text in quotes");
  } else if (const auto* value = table_.get(key)->as_string();
             value != nullptr && value->get().find_first_not_of(" \t\r\n") == std::string::npos) {
    wrong(key, "the text is empty", "a text in quotes");
  }
  return text;
}

std::string TomlTable::required_text(std::string_view key) { return required(key, text(key)); }
std::string TomlTable::required_line(std::string_view key) { return required(key, line(key)); }

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

std::int64_t TomlTable::whole(std::string_view key, std::int64_t fallback, std::int64_t least,
                              std::int64_t most) {
  const toml::node* found = node(key);
  if (found == nullptr) return fallback;
  const auto* value = found->as_integer();
  if (value == nullptr) {
    wrong_type(key, "a whole number");
  } else if (value->get() < least || value->get() > most) {
    wrong(key, std::to_string(value->get()) + " is out of range",
          "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  } else {
    return value->get();
  }
  return fallback;
}

const toml::array* TomlTable::array(std::string_view key, std::size_t most,
                                    const std::string& expected) {
  const toml::node* found = node(key);
  if (found == nullptr) return nullptr;
  const toml::array* list = found->as_array();
  if (list == nullptr) {
    wrong_type(key, expected);
  } else if (list->size() > most) {
    wrong(key, std::to_string(list->size()) + " entries", "at most " + std::to_string(most));
    return nullptr;
  }
  return list;
}

std::vector<std::string> TomlTable::texts(std::string_view key, std::size_t most) {
  std::vector<std::string> result;
  const toml::array* list = array(key, most, "a list of texts: [\"…\", \"…\"]");
  if (list == nullptr) return result;
  for (const toml::node& entry : *list) {
    const auto* value = entry.as_string();
    if (value == nullptr) {
      errors_.add(entry.source(),
                  "an entry of '" + std::string(key) + "' in " + name_ + " is not a text",
                  "a text in quotes");
    } else if (is_clean(entry, key, value->get(), true)) {
      if (std::find(result.begin(), result.end(), value->get()) != result.end()) {
        errors_.add(entry.source(), "'" + value->get() + "' is listed twice", "each entry once");
      }
      result.push_back(value->get());
    }
  }
  return result;
}

std::string TomlTable::expression(std::string_view key) {
  const toml::node* found = node(key);
  if (found == nullptr) return {};
  if (found->is_string()) return line(key);
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

std::vector<const toml::table*> TomlTable::tables(std::string_view key, std::size_t most) {
  std::vector<const toml::table*> result;
  const toml::array* list = array(key, most, "a list of tables");
  if (list == nullptr) return result;
  for (const toml::node& entry : *list) {
    if (const toml::table* value = entry.as_table()) {
      result.push_back(value);
    } else {
      errors_.add(entry.source(),
                  "an entry of '" + std::string(key) + "' in " + name_ + " is not a table",
                  "{ key = value }");
    }
  }
  return result;
}

void TomlTable::finish() {
  for (const auto& [key, value] : table_) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    if (errors_.full()) return;
    errors_.add(key.source(), "unknown key '" + printable(name) + "' in " + name_,
                "one of " + joined(known_), nearest(name, known_).value_or(""));
  }
}

}  // namespace flashlab::exercises
