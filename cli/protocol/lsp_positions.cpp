#include "cli/protocol/lsp_positions.hpp"

#include <algorithm>

#include "text/utf8.hpp"

namespace flashlab::cli {
namespace {

constexpr std::uint32_t utf16_units(const CodePoint& point) {
  return point.code >= 0x10000 ? 2 : 1;
}

}  // namespace

std::size_t byte_of_column(std::string_view line, std::int64_t column) {
  std::size_t at = 0;
  for (std::int64_t units = 0; at < line.size() && units < column;) {
    const CodePoint point = code_point(line, at);
    units += utf16_units(point);
    at += point.bytes;
  }
  return at;
}

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
  return units_;
}

nlohmann::json LspPositions::position(std::uint32_t line, std::size_t column) {
  return {{"line", line == 0 ? 0 : line - 1}, {"character", this->column(line, column)}};
}

nlohmann::json LspPositions::range(const toy::SourceSpan& span) {
  nlohmann::json start = position(span.line, span.column);
  return {{"start", std::move(start)},
          {"end", position(span.line, span.column + std::max(span.length, 1U))}};
}

std::string LspPositions::range_text(const toy::SourceSpan& span) {
  const std::string line = R"({"line":)" + std::to_string(span.line - 1) + R"(,"character":)";
  const std::uint32_t start = column(span.line, span.column);
  const std::uint32_t end = column(span.line, span.column + std::max(span.length, 1U));
  return R"({"start":)" + line + std::to_string(start) + R"(},"end":)" + line +
         std::to_string(end) + "}}";
}

BytePlace place_in(const toy::SourceText& source, const nlohmann::json& params) {
  const nlohmann::json& position = params.at("position");
  const auto line = position.at("line").get<std::int64_t>();
  if (line < 0 || line > static_cast<std::int64_t>(source.num_lines())) return {};
  const auto number = static_cast<std::uint32_t>(line + 1);
  const std::size_t byte =
      byte_of_column(source.line(number), position.at("character").get<std::int64_t>());
  return {number, static_cast<std::uint32_t>(byte + 1)};
}

}  // namespace flashlab::cli
