// Where a source text names things, and other names for them, for editors. Works also in programs with
// errors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/source.hpp"
#include "toymachine/language/source_words.hpp"

namespace flashlab::toy {

/// Lines and columns count from 1, columns in bytes, as in SourceSpan.
class NamedPlaces {
 public:
  explicit NamedPlaces(std::shared_ptr<const SourceText> source);

  const SourceWords& words() const { return words_; }
  /// Returns the word that contains a place or ends there; null: none, or a comment.
  const SourceWord* word_at(std::uint32_t line, std::uint32_t column) const;
  std::string_view text_of(const SourceWord& word) const;
  /// Returns the declaration of what a word names; nothing for R0 and words of the language.
  std::optional<SourceSpan> declaration_of(const SourceWord& word) const;
  /// Returns all places at which the thing is named, in source order.
  std::vector<SourceSpan> places_of(const SourceWord& word) const;
  /// Returns why the thing cannot get another name; empty: it can.
  std::string why_not_renamed(const SourceWord& word) const;
  /// Returns why it cannot get this name; empty: it can, and every word keeps its meaning.
  std::string why_not_renamed(const SourceWord& word, const std::string& new_name) const;

 private:
  std::string with_name(const SourceWord& word, const std::string& new_name) const;

  std::shared_ptr<const SourceText> source_;
  SourceWords words_;
};

}  // namespace flashlab::toy
