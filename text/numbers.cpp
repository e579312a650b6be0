#include "text/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace flashlab {
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

/// Removes zeros at the end of decimals.
std::string shortened(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string three_digits(double value) {
  const double size = std::fabs(value);
  constexpr int kMostDecimals = 6;
  int decimals = 0;
  for (double limit = 99.95; decimals < kMostDecimals && size != 0 && size < limit; limit /= 10) {
    ++decimals;
  }
  return fixed_text(value, decimals);
}

std::string short_text(double number, int digits) { return fmt::format("{:.{}g}", number, digits); }

std::string shortest_text(double number) { return fmt::format("{}", number); }
std::string shortest_text(float number) { return fmt::format("{}", number); }

std::string fixed_text(double number, int decimals) {
  return fmt::format("{:.{}f}", number, decimals);
}

bool is_drawable(double value) { return value > 1e-30 && value < 1e30; }

std::string si_text(double value, std::string_view unit) {
  if (!std::isfinite(value) || std::fabs(value) >= 1e21) return "-";
  const double size = std::fabs(value);
  const auto prefix = std::find_if(kPrefixes.begin(), kPrefixes.end(),
                                   [&](const Prefix& row) { return size >= row.factor * 0.9995; });
  if (prefix == kPrefixes.end()) return "0 " + std::string(unit);
  return shortened(three_digits(value / prefix->factor)) + " " + prefix->letter + std::string(unit);
}

std::string bytes_text(double bytes) { return si_text(bytes, "B"); }

std::string time_text(double milliseconds) { return si_text(milliseconds / 1e3, "s"); }

std::string kib_text(std::int64_t bytes) {
  return shortened(three_digits(static_cast<double>(bytes) / 1024)) + " KiB";
}

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  if (std::fabs(ratio) >= 1e6) return si_text(ratio, "");
  return shortened(three_digits(ratio));
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return "-";
  return shortened(three_digits(std::round(std::clamp(share, -1e6, 1e6) * 100))) + " %";
}

std::string length_text(std::int64_t length) {
  if (length < 1024 || length % 1024 != 0) return std::to_string(length);
  return std::to_string(length / 1024) + "k";
}

}  // namespace flashlab
