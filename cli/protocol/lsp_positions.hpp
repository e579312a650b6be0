// Places of a source text as the Language Server Protocol counts them: lines and columns from 0,
// columns in units of UTF-16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "toymachine/language/source.hpp"

namespace flashlab::cli {

/// The byte, from 0, of a column in units of UTF-16.
std::size_t byte_of_column(std::string_view line, std::int64_t column);

/// Converts places. Many places of a long line cost one pass over it if they are asked in order.
class LspPositions {
 public:
  explicit LspPositions(const toy::SourceText& source) : source_(source) {}

  /// Units of UTF-16 before a byte column, which counts from 1.
  std::uint32_t column(std::uint32_t line, std::size_t column);
  nlohmann::json position(std::uint32_t line, std::size_t column);
  nlohmann::json range(const toy::SourceSpan& span);
  /// As JSON text.
  std::string range_text(const toy::SourceSpan& span);

 private:
  const toy::SourceText& source_;
  std::uint32_t line_ = 0, units_ = 0;  // where the last conversion ended
  std::size_t byte_ = 0;
};

struct BytePlace {
  std::uint32_t line = 0, column = 0;  // from 1
};
/// Returns the place of a request. A column behind the line's end is its end. Line 0: the text has
/// no such line.
BytePlace place_in(const toy::SourceText& source, const nlohmann::json& params);

}  // namespace flashlab::cli
