#include "compare/picture/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace flashlab::compare {
namespace {

struct Prefix {
  double factor;
  const char* letter;
};

constexpr std::array<Prefix, 10> kPrefixes = {{{1e18, "E"},
                                               {1e15, "P"},
                                               {1e12, "T"},
                                               {1e9, "G"},
                                               {1e6, "M"},
                                               {1e3, "k"},
                                               {1, ""},
                                               {1e-3, "m"},
                                               {1e-6, "µ"},
                                               {1e-9, "n"}}};

/// Three digits, never as an exponent.
std::string three_digits(double value) {
  const double size = std::fabs(value);
  const int decimals = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  std::string text = buffer.data();
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

}  // namespace

bool is_drawable(double value) { return value > 1e-30 && value < 1e30; }

std::string si_text(double value, std::string_view unit) {
  if (!std::isfinite(value) || std::fabs(value) >= 1e21) return "-";
  const double size = std::fabs(value);
  const auto prefix = std::find_if(kPrefixes.begin(), kPrefixes.end(),
                                   [&](const Prefix& row) { return size >= row.factor * 0.9995; });
  if (prefix == kPrefixes.end()) return "0 " + std::string(unit);
  return three_digits(value / prefix->factor) + " " + prefix->letter + std::string(unit);
}

std::string bytes_text(double bytes) { return si_text(bytes, "B"); }

std::string time_text(double milliseconds) { return si_text(milliseconds / 1e3, "s"); }

std::string kib_text(std::int64_t bytes) {
  return three_digits(static_cast<double>(bytes) / 1024) + " KiB";
}

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  if (std::fabs(ratio) >= 1e6) return si_text(ratio, "");
  return three_digits(ratio);
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return "-";
  return three_digits(std::round(std::clamp(share, -1e6, 1e6) * 100)) + " %";
}

std::string length_text(std::int64_t length) {
  if (length < 1024 || length % 1024 != 0) return std::to_string(length);
  return std::to_string(length / 1024) + "k";
}

}  // namespace flashlab::compare
