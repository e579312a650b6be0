#include "text/encoding.hpp"

#include <array>
#include <cstddef>

namespace flashlab {

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

}  // namespace flashlab
