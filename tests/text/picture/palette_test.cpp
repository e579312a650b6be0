// The colours of pictures without colour: areas that mean different things differ in luminance, and
// whatever is drawn stands out from the paper.
#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch_shim.hpp"
#include "text/picture/svg.hpp"

namespace flashlab::test {
namespace {

using Palette = std::map<std::string, std::string>;  // "c5" to "#0a62a8"

/// The palettes of the style sheet in its order: light, dark, print.
std::vector<Palette> palettes() {
  const std::string style(picture::picture_style());
  const std::regex colour("--([a-z0-9]+): (#[0-9a-f]{6});");
  std::vector<Palette> found;
  for (std::sregex_iterator at(style.begin(), style.end(), colour), end; at != end; ++at) {
    if ((*at)[1] == "ink") found.emplace_back();  // every palette begins with it
    REQUIRE_FALSE(found.empty());
    found.back()[(*at)[1]] = (*at)[2];
  }
  return found;
}

/// Relative luminance as WCAG 2 defines it: 0 is black, 1 is white.
double luminance(const std::string& colour) {
  const auto linear = [&](std::size_t at) {
    const double value = std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5);
}

double contrast(const std::string& one, const std::string& other) {
  // Not minmax(a, b), which returns references: those to temporaries would outlive them.
  const auto [dark, light] = std::minmax({luminance(one), luminance(other)});
  return (light + 0.05) / (dark + 0.05);
}

}  // namespace

TEST_CASE("luminance and contrast are those of WCAG 2", "[palette]") {
  CHECK(std::abs(luminance("#ffffff") - 1) < 1e-9);
  CHECK(std::abs(contrast("#000000", "#ffffff") - 21) < 1e-9);
  CHECK(std::abs(contrast("#767676", "#ffffff") - 4.54) < 0.005);  // WCAG's usual example
}

TEST_CASE("there are palettes for light, dark and print", "[palette]") {
  const std::vector<Palette> all = palettes();
  REQUIRE(all.size() == 3);
  CHECK(all[0].at("paper") == "#ffffff");
  CHECK(all[1].at("paper") == "#1c1f25");
  CHECK(all[2].at("ink") == "#000000");
}

TEST_CASE("areas filled with two tones differ in grey, and both from the paper", "[palette]") {
  constexpr double kLeast = 2;
  for (const Palette& palette : palettes()) {
    CAPTURE(palette.at("paper"));
    // Loads and outputs are c5; softmax and registers are muted; labels and outlines are ink.
    CHECK(contrast(palette.at("c5"), palette.at("muted")) >= kLeast);
    CHECK(contrast(palette.at("muted"), palette.at("paper")) >= kLeast);
    CHECK(contrast(palette.at("muted"), palette.at("ink")) >= kLeast);
  }
}

TEST_CASE("lines and markers stand out from the paper and from shaded areas", "[palette]") {
  constexpr double kLeast = 3;  // WCAG's for graphics
  for (const Palette& palette : palettes()) {
    for (int i = 0; i < 10; ++i) {
      const std::string& colour = palette.at("c" + std::to_string(i));
      CAPTURE(palette.at("paper"), i);
      CHECK(contrast(colour, palette.at("paper")) >= kLeast);
      CHECK(contrast(colour, palette.at("band")) >= kLeast);
    }
  }
}

TEST_CASE("words stand out from the paper and from shaded areas", "[palette]") {
  constexpr double kLeast = 4.5;  // WCAG's for text
  for (const Palette& palette : palettes()) {
    for (const char* words : {"ink", "soft"}) {
      CAPTURE(palette.at("paper"), words);
      CHECK(contrast(palette.at(words), palette.at("paper")) >= kLeast);
      CHECK(contrast(palette.at(words), palette.at("band")) >= kLeast);
    }
  }
}

}  // namespace flashlab::test
