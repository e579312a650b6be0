#include "text/encoding.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "text/read_number.hpp"

namespace flashlab {
namespace {

/// The unit of UTF-16 that "\uXXXX" at this place is; nothing: it is no such escape.
std::optional<std::uint32_t> escaped_unit(std::string_view json, std::size_t at) {
  constexpr std::size_t kDigits = 4;
  constexpr int kBase = 16;
  const std::string_view text = json.substr(std::min(at, json.size()));
  if (!text.starts_with("\\u") || text.size() < 2 + kDigits) return std::nullopt;
  const std::string_view digits = text.substr(2, kDigits);
  std::uint32_t unit = 0;
  const auto end = read_number(digits, unit, kBase).ptr;
  return end == digits.data() + kDigits ? std::optional(unit) : std::nullopt;
}
bool is_first_half(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_second_half(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

std::string_view other_encoding(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xFF\xFE\0\0"sv) || bytes.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return "UTF-16";
  // Without a mark: of four bytes, those at some places are 0 in most letters, those at others never.
  constexpr std::size_t kMostLooked = 4096, kFewest = 8;
  const std::string_view start = bytes.substr(0, kMostLooked);
  if (start.size() < kFewest) return {};
  std::array<std::size_t, 4> zeros{};
  for (std::size_t i = 0; i < start.size(); ++i) zeros[i % 4] += start[i] == '\0' ? 1U : 0U;
  const auto most = [&](std::size_t place) { return 2 * zeros[place] > start.size() / 4; };
  const auto none = [&](std::size_t place) { return zeros[place] == 0; };
  const bool little = most(1) && most(3) && none(0), big = most(0) && most(2) && none(3);
  if (little) return most(2) ? "UTF-32" : none(2) ? "UTF-16" : ""sv;
  if (big) return most(1) ? "UTF-32" : none(1) ? "UTF-16" : ""sv;
  return {};
}

std::string without_half_characters(std::string json) {
  constexpr std::size_t kEscape = 6;  // bytes of \uXXXX
  for (std::size_t at = 0; (at = json.find('\\', at)) != std::string::npos;) {
    const auto unit = escaped_unit(json, at);
    if (!unit) {
      at += 2;  // another escape: what follows the backslash is no escape of its own
      continue;
    }
    const auto second = is_first_half(*unit) ? escaped_unit(json, at + kEscape) : std::nullopt;
    if (second && is_second_half(*second)) {
      at += 2 * kEscape;
      continue;
    }
    if (is_first_half(*unit) || is_second_half(*unit)) json.replace(at, kEscape, "\\ufffd");
    at += kEscape;
  }
  return json;
}

}  // namespace flashlab
