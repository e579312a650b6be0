#include "cli/protocol/lsp_positions.hpp"

#include <algorithm>

#include "cli/protocol/json_members.hpp"
#include "text/utf8.hpp"

namespace flashlab::cli {
namespace {

constexpr std::uint32_t utf16_units(const CodePoint& point) {
  return point.code >= 0x10000 ? 2 : 1;
}

}  // namespace

std::uint32_t LspPositions::column(std::uint32_t line, std::size_t column) {
  const std::string_view text = source_.line(line);
  const std::size_t end = std::min(column == 0 ? 0 : column - 1, text.size());
  if (line != line_ || end < byte_) {
    line_ = line;
    byte_ = units_ = 0;
  }
  while (byte_ < end) {
    const CodePoint point = code_point(text, byte_);
    units_ += utf16_units(point);
    byte_ += point.bytes;
  }
  return units_ + mark_before(line);
}

nlohmann::json LspPositions::position(std::uint32_t line, std::size_t column) {
  return {{"line", line == 0 ? 0 : line - 1}, {"character", this->column(line, column)}};
}

nlohmann::json LspPositions::range(const toy::SourceSpan& span) {
  nlohmann::json start = position(span.line, span.column);
  return {{"start", std::move(start)},
          {"end", position(span.line, span.column + std::max(span.length, 1U))}};
}

nlohmann::json LspPositions::visible_range(const toy::SourceSpan& span) {
  toy::SourceSpan seen = span;
  if (seen.line == 0) seen = {1, 1, static_cast<std::uint32_t>(source_.line(1).size())};
  const std::string_view text = source_.line(seen.line);
  if (!text.empty() && seen.column > text.size()) {
    seen.column = static_cast<std::uint32_t>(text.size());
    while (seen.column > 1 &&
           (static_cast<unsigned char>(text[seen.column - 1]) & 0xC0U) == 0x80U) {
      --seen.column;
    }
    seen.length = static_cast<std::uint32_t>(text.size()) - seen.column + 1;
  }
  nlohmann::json result = range(seen);
  if (!text.empty()) return result;
  if (seen.line < source_.num_lines()) {
    result["end"] = position(seen.line + 1, 1);
  } else if (seen.line > 1) {
    result["start"] = position(seen.line - 1, source_.line(seen.line - 1).size() + 1);
  }
  return result;
}

std::string LspPositions::range_text(const toy::SourceSpan& span) {
  const std::string line = R"({"line":)" + std::to_string(span.line - 1) + R"(,"character":)";
  const std::uint32_t start = column(span.line, span.column);
  const std::uint32_t end = column(span.line, span.column + std::max(span.length, 1U));
  return R"({"start":)" + line + std::to_string(start) + R"(},"end":)" + line +
         std::to_string(end) + "}}";
}

BytePlace LspPositions::place(const nlohmann::json& position) const {
  const auto line = whole_number_of(position, "line");
  if (line < 0 || line > static_cast<std::int64_t>(source_.num_lines())) return {};
  const auto number = static_cast<std::uint32_t>(line + 1);
  const std::string_view text = source_.line(number);
  const std::int64_t units = whole_number_of(position, "character") - mark_before(number);
  std::size_t at = 0;
  for (std::int64_t before = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    before += utf16_units(point);
    if (before > units) break;
    at += point.bytes;
  }
  return {number, static_cast<std::uint32_t>(at + 1)};
}

std::size_t LspPositions::offset(const nlohmann::json& position) const {
  const std::size_t mark = source_.has_byte_order_mark() ? kByteOrderMark.size() : 0;
  const auto line = whole_number_of(position, "line");
  if (mark > 0 && line == 0 && whole_number_of(position, "character") <= 0) return 0;
  const BytePlace found = place(position);
  const bool is_behind = line >= static_cast<std::int64_t>(source_.num_lines());
  if (found.line == 0 || is_behind) return line < 0 ? 0 : mark + source_.text().size();
  return mark + source_.start_of_line(found.line) + found.column - 1;
}

BytePlace place_in(const toy::SourceText& source, const nlohmann::json& params) {
  return LspPositions(source).place(object_of(params, "position"));
}

std::string changed_text(const toy::SourceText& source, const nlohmann::json& change) {
  auto text = text_of(change, "text");
  if (member_of(change, "range") == nullptr) return text;
  const nlohmann::json& range = object_of(change, "range");
  const LspPositions positions(source);
  const std::size_t first = positions.offset(object_of(range, "start"));
  const std::size_t last = std::max(first, positions.offset(object_of(range, "end")));
  std::string result(source.has_byte_order_mark() ? kByteOrderMark : std::string_view());
  result += source.text();
  return result.replace(first, last - first, text);
}

}  // namespace flashlab::cli
