// Places of a text as the Language Server Protocol counts them: lines and columns from 0, columns in
// units of UTF-16. The client's text may begin with a byte order mark, which is one such unit in line 0
// and no part of the source text. Every place that comes from a client or goes to one passes here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "toymachine/language/source.hpp"

namespace flashlab::cli {

/// Lines and columns from 1, columns in bytes, as in toy::SourceSpan. Line 0: no place.
struct BytePlace {
  std::uint32_t line = 0, column = 0;
};

/// Converts places. Many places of a long line cost one pass over it if they are asked in order.
class LspPositions {
 public:
  explicit LspPositions(const toy::SourceText& source) : source_(source) {}

  /// Units of UTF-16 before a byte column, which counts from 1.
  std::uint32_t column(std::uint32_t line, std::size_t column);
  nlohmann::json position(std::uint32_t line, std::size_t column);
  nlohmann::json range(const toy::SourceSpan& span);
  /// Returns a range that is never empty if the text is not: some clients do not show empty ones. One behind
  /// a line's end is its last character, one in an empty line its line end.
  nlohmann::json visible_range(const toy::SourceSpan& span);
  /// As JSON text.
  std::string range_text(const toy::SourceSpan& span);

  /// Returns the place of a request. A column behind the line's end is its end, one inside a character
  /// its start. Line 0: the text has no such line.
  BytePlace place(const nlohmann::json& position) const;
  /// Returns the byte of the client's text, with its mark, at a position. Behind the text it is its end.
  std::size_t offset(const nlohmann::json& position) const;

 private:
  /// The unit that a byte order mark takes before a line.
  std::uint32_t mark_before(std::uint32_t line) const {
    return line == 1 && source_.has_byte_order_mark() ? 1 : 0;
  }

  const toy::SourceText& source_;
  std::uint32_t line_ = 0, units_ = 0;  // where the last conversion ended
  std::size_t byte_ = 0;
};

/// Returns the place of params.position.
BytePlace place_in(const toy::SourceText& source, const nlohmann::json& params);

/// Returns the client's text after a change of a range, or of the whole if it names none.
std::string changed_text(const toy::SourceText& source, const nlohmann::json& change);

}  // namespace flashlab::cli
