// `flashlab picture`: SVG files of runs, and what they refuse to draw.
#include <algorithm>
#include <regex>
#include <string>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

std::size_t matches_in(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<std::size_t>(std::distance(
      std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

void picture_refused(const std::string& arguments, const std::string& words) {
  CAPTURE(arguments);
  const Outcome outcome = flashlab("picture " + arguments);
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, contains(words));
}

std::string picture(const std::string& arguments) {
  CAPTURE(arguments);
  const Outcome outcome = flashlab("picture " + arguments);
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.starts_with("<svg "));
  CHECK(outcome.out.ends_with("</svg>\n"));
  return outcome.out;
}

/// Checks that words which end or begin at a place have room in the picture, also in a wide font.
void check_room(const std::string& svg) {
  std::smatch size;
  REQUIRE(std::regex_search(svg, size, std::regex("viewBox=\"0 0 ([0-9.]+) ")));
  const std::regex words("<text x=\"([0-9.]+)\"[^>]*class=\"([a-z ]*)\">([^<]*)<");
  std::size_t count = 0;
  for (std::sregex_iterator one(svg.begin(), svg.end(), words), end; one != end; ++one) {
    const std::string text = std::regex_replace((*one)[3].str(), std::regex("&[a-z]+;"), "&");
    const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
    });
    const double x = std::stod((*one)[1]), width = 10.2 * static_cast<double>(letters);
    CAPTURE(text, x, width);
    const bool is_end = (*one)[2].str().find("end") != std::string::npos;
    if (is_end) CHECK(width <= x);
    if (text.starts_with("widest ")) CHECK(x + width <= std::stod(size[1]));
    ++count;
  }
  CHECK(count > 3);
}

constexpr const char* kLongNames =
    "; long names\n"
    ".isa softmax\n"
    ".registers 4\n"
    ".param n = 3\n"
    ".input a_very_long_array_name_of_forty_letters_xx[n]\n"
    ".output y[n]\n"
    ".reg the_accumulating_register_name, the_accumulated_register_name\n"
    "for i in 0..n\n"
    "  LOAD a_very_long_array_name_of_forty_letters_xx[i], the_accumulating_register_name\n"
    "  MOV the_accumulating_register_name, the_accumulated_register_name\n"
    "  STORE the_accumulated_register_name, y[i]\n"
    "end\n";

}  // namespace

TEST_CASE("words of pictures stay inside in wide fonts and with long names") {
  check_room(picture("rescaled softmax_online"));
  check_room(picture("rescaled softmax_online --input x=[-1e30,-2e30,-1.25e-30,1]"));
  check_room(picture("cells matmul_outer"));
  check_room(picture("memory bwd_onepass flash2"));
  const Workplace place;
  place.write("long.toy", kLongNames);
  const std::string cells = place.shell("flashlab picture cells long.toy").out;
  check_room(cells);
  CHECK_THAT(cells, contains(">the_accumulating_register_name<"));
  CHECK_THAT(cells, contains(">the_accumulated_register_name<"));
}

TEST_CASE("a picture of live cells marks every load and store of the run") {
  const std::string svg = picture("cells matmul_inner");
  // Of 13 loads, 5 are of values that were loaded before. The legend shows each marker once.
  CHECK(matches_in(svg, "class=\"marker hollow c5\"") == 8 + 1);
  CHECK(matches_in(svg, "class=\"marker filled c6\"") == 5 + 1);
  CHECK(matches_in(svg, "class=\"marker filled c2\"") == 4 + 1);
}

TEST_CASE("a picture of tiles connects them in their order and leaves the others blank") {
  const std::string causal = picture("tiles flash2_causal -D n=8 -D B=2");
  CHECK(matches_in(causal, "<line [^>]*c6\"") == 9);  // 10 of 16 tiles
  CHECK_THAT(causal, contains("visits 10 of 16 tiles, row by row"));
  CHECK_THAT(picture("tiles flash1 -D n=8 -D B=2"), contains("column by column"));
}

TEST_CASE("words beside the tiles stay inside the picture") {
  const std::string svg = picture("tiles bwd_onepass -D n=8 -D B=2");
  std::smatch match;
  REQUIRE(std::regex_search(svg, match, std::regex("x=\"([0-9.]+)\"[^>]*>atomic additions<")));
  CHECK(std::stod(match[1]) < 480 - 120);
}

TEST_CASE("a picture of the graph has an arrow from each array to what is computed from it") {
  const std::string naive = picture("graph bwd_naive");
  CHECK_THAT(naive,
             contains("dp from v, do; delta from o, do; ds from p, dp, delta; dq from k, ds"));
  // Two results and a temporary come from the inputs alone: dS never leaves the registers.
  CHECK_THAT(picture("graph bwd_onepass"), contains("dk from q, k, v, do, lse, delta"));
  CHECK_THAT(picture("graph flash2"), contains("o from q, k, v; lse from q, k."));
  CHECK_THAT(picture("graph naive"), contains("p from s, m, l (later)"));
  CHECK(matches_in(naive, "class=\"ink dash\"") == 4);  // p, dp, delta, ds
}

TEST_CASE("a picture of memory draws every array, with areas in proportion to the bytes") {
  const std::string svg = picture("memory naive -D n=64 -D d=16");
  const auto area = [&](const std::string& classes) {
    std::smatch match;
    const std::regex box("width=\"([0-9.]+)\" height=\"([0-9.]+)\" class=\"" + classes + "\"");
    REQUIRE(std::regex_search(svg, match, box));
    return std::stod(match[1]) * std::stod(match[2]);
  };
  CHECK(matches_in(svg, "class=\"band\"") == 3);     // q, k, v
  CHECK(matches_in(svg, "class=\"hatched\"") == 4);  // s, p, m, l
  CHECK(area("hatched") == 4 * area("filled c5"));   // s is 64 x 64, o 64 x 16
}

TEST_CASE("inputs, outputs, temporaries and registers differ without colour") {
  const std::string svg = picture("memory naive -D n=64 -D d=16");
  // An outline, a dark area, a pattern and a light area; palette_test.cpp measures the greys.
  for (const char* classes : {"band c0", "filled c5", "hatched", "muted"}) {
    CAPTURE(classes);
    CHECK(matches_in(svg, "class=\"marker " + std::string(classes) + "\"") == 1);
  }
  CHECK(matches_in(svg, "class=\"muted\"") == 1);  // the registers
}

TEST_CASE("loads, stores, softmax and products differ without colour") {
  const std::string svg = picture("timeline flash2");
  for (const char* classes : {"filled c5", "hollow c2", "muted", "hatched"}) {
    CAPTURE(classes);
    CHECK(matches_in(svg, "class=\"marker " + std::string(classes) + "\"") == 1);
  }
  CHECK(matches_in(svg, "class=\"muted\"") > 0);
}

TEST_CASE("a picture of memory names the widest intermediate: n x n in naive, a tile in online") {
  CHECK_THAT(picture("memory naive -D n=64 -D d=16 -D B=8"),
             contains("widest intermediate: 64 x 64, s in DRAM"));
  // flash2 stores no intermediate. Its widest values are tiles of 8 x 16 in registers.
  CHECK_THAT(picture("memory flash2 -D n=64 -D d=16 -D B=8"),
             contains("widest intermediate: 8 x 16, register "));
}

TEST_CASE("a picture of a rescaled sum is a triangle") {
  const std::string svg = picture("rescaled softmax_online -D n=4");
  CHECK(matches_in(svg, "class=\"grid paper\"") == 1 + 2 + 3 + 4);
}

TEST_CASE("a picture of the timeline has the cycles that the timeline prints") {
  CHECK_THAT(picture("timeline softmax_online -D n=4 --cost LOAD=4"),
             contains("serial takes 76 cycles"));  // 52 steps, 8 of them loads of 4 cycles
}

TEST_CASE("what would be too fine to read is not drawn") {
  picture_refused("tiles flash2 -D n=64 -D B=2", "32 x 32 tiles");
  picture_refused("cells softmax_online -D n=20", "at most 120 steps");
  picture_refused("rescaled softmax_online -D n=9", "at most 8");
}

TEST_CASE("a program without what the picture shows is named") {
  picture_refused("tiles softmax_online", "multiplies no two loaded tiles");
  picture_refused("rescaled softmax_safe", "has no sum of scalars that it rescales");
  picture_refused("cells matmul_inner matmul_outer", "got 2 programs");
  picture_refused("tree flash2", "tree");
}

}  // namespace flashlab::test
