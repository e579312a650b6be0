// Reads a table of a TOML file key by key. Reports every error with its place, and every key that
// no getter has requested.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// Collects the errors of one file. Stops after kMostErrors in all files.
class ErrorList {
 public:
  ErrorList(std::string file, std::string text, std::vector<ReadError>& errors)
      : source_(std::move(file), std::move(text)), errors_(errors) {}
  bool full() const { return errors_.size() >= kMostErrors; }
  const toy::SourceText& source() const { return source_; }
  void add(const toml::source_region& where, std::string what, std::string expected = {},
           std::string suggestion = {});
  void add(toy::SourceSpan where, std::string what, std::string expected = {},
           std::string suggestion = {});

 private:
  static constexpr std::size_t kMostErrors = 100;
  /// Converts columns: TOML's count characters, those of spans count bytes.
  toy::SourceSpan span_of(const toml::source_region& region) const;

  toy::SourceText source_;
  std::vector<ReadError>& errors_;
};

/// One table. Every getter marks its key as known. finish() reports the keys that are left; the
/// destructor does nothing.
class TomlTable {
 public:
  TomlTable(const toml::table& table, std::string name, ErrorList& errors)
      : table_(table), name_(std::move(name)), errors_(errors) {}

  bool has(std::string_view key) const { return table_.contains(key); }
  const toml::node* node(std::string_view key);
  /// Returns the place of the key's value, or of the table if the key is missing.
  toml::source_region where(std::string_view key) const;

  /// Returns a text. It may contain line ends but no other control characters.
  std::string text(std::string_view key, std::string fallback = {});
  /// Returns a text on one line.
  std::string line(std::string_view key, std::string fallback = {});
  /// These two report an error if the text is missing or empty.
  std::string required_text(std::string_view key);
  std::string required_line(std::string_view key);
  bool flag(std::string_view key, bool fallback = false);
  double number(std::string_view key, double fallback);
  std::int64_t whole(std::string_view key, std::int64_t fallback, std::int64_t least,
                     std::int64_t most);
  /// Returns a list of different texts, one line each.
  std::vector<std::string> texts(std::string_view key, std::size_t most = 64);
  /// Returns a number or a text, as text.
  std::string expression(std::string_view key);
  /// Returns the table under the key, or null if it is missing or not a table.
  const toml::table* table(std::string_view key);
  /// Returns the tables of an array under the key.
  std::vector<const toml::table*> tables(std::string_view key, std::size_t most);

  void missing(std::string_view key, const std::string& expected);
  void wrong(std::string_view key, const std::string& what, const std::string& expected = {},
             const std::string& suggestion = {});
  void finish();
  const toml::table& raw() const { return table_; }
  ErrorList& errors() { return errors_; }

 private:
  void wrong_type(std::string_view key, const std::string& expected);
  const toml::array* array(std::string_view key, std::size_t most, const std::string& expected);
  /// Returns whether a text is safe to show. Reports an error if not.
  bool is_clean(const toml::node& place, std::string_view key, const std::string& text,
                bool one_line);
  std::string required(std::string_view key, std::string text);

  const toml::table& table_;
  std::string name_;  // "[machine]"
  ErrorList& errors_;
  std::vector<std::string> known_;
};

}  // namespace flashlab::exercises
