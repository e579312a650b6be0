// The text of a picture's lines and markers, and the places of axes, ticks and legends, by hand.
#include "text/picture/svg.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "text/picture/axes.hpp"

namespace flashlab::test {
namespace {

using namespace picture;

/// What was drawn, without the file around it.
std::string body_of(const Svg& svg) {
  const std::string text = svg.finish(1, "", ""), paper = "height=\"1\"/>\n";
  const std::size_t begin = text.find(paper) + paper.size();
  return text.substr(begin, text.rfind("</svg>") - begin);
}

std::string marker_points(Marker shape) {
  Svg svg(10);
  svg.marker(shape, {0, 0}, "c", 4);
  const std::string text = body_of(svg), lead = "<polygon points=\"";
  REQUIRE(text.starts_with(lead));
  CHECK(text.ends_with("\" class=\"marker c\"/>\n"));
  return text.substr(lead.size(), text.find('"', lead.size()) - lead.size());
}

bool is_at(double value, double expected) { return std::abs(value - expected) < 1e-9; }

std::string plain_number(double value) { return std::to_string(std::llround(value)); }

/// "1 - 10 ten": values with labels, "-" where there is none.
std::string ticks_text(const std::vector<Tick>& ticks) {
  std::string text;
  for (const Tick& tick : ticks) {
    text += (text.empty() ? "" : " ") + plain_number(tick.value) +
            (tick.label.empty() ? "-" : ":" + tick.label);
  }
  return text;
}

std::vector<Tick> decades(double low, double high, double length, double room) {
  return decade_ticks({low, high, 0, length}, plain_number, room);
}

Axis linear_axis(double low, double high, double length) {
  return {low, high, 0, length, AxisScale::kLinear};
}

}  // namespace

TEST_CASE("lines and boxes have a tenth of a unit, and no zeros behind the point") {
  Svg svg(10);
  svg.line({1, 2}, {3.04, 4.06}, "a b");
  svg.line({-0.04, -1.25}, {0, 10}, "");
  svg.rect({1.5, 2}, 30, 40.26, "box");
  svg.polyline({{1, 2}}, "one point is no line");
  svg.polyline({{0, 1}, {2, 3.5}}, "c");
  CHECK(body_of(svg) ==
        "<line x1=\"1\" y1=\"2\" x2=\"3\" y2=\"4.1\" class=\"a b\"/>\n"
        "<line x1=\"0\" y1=\"-1.2\" x2=\"0\" y2=\"10\"/>\n"
        "<rect x=\"1.5\" y=\"2\" width=\"30\" height=\"40.3\" class=\"box\"/>\n"
        "<polyline points=\"0,1 2,3.5\" class=\"c\"/>\n");
}

TEST_CASE("text is escaped, and turned only if asked for") {
  Svg svg(10);
  svg.text({1, 2}, "a & b");
  svg.text({1, 2}, "c", "<x>");
  svg.text({1.5, 2}, "d", "soft", -90);
  CHECK(body_of(svg) ==
        "<text x=\"1\" y=\"2\">a &amp; b</text>\n"
        "<text x=\"1\" y=\"2\" class=\"&lt;x&gt;\">c</text>\n"
        "<text x=\"1.5\" y=\"2\" transform=\"rotate(-90 1.5 2)\" class=\"soft\">d</text>\n");
}

TEST_CASE("a picture's file has its size, title and description") {
  const Svg svg(320);
  CHECK(svg.width() == 320);
  const std::string text = svg.finish(99.5, "a < b", "c & d");
  CHECK(
      text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" "
                       "viewBox=\"0 0 320 99.5\">\n<title>a &lt; b</title>\n<desc>c &amp; "
                       "d</desc>\n<style>"));
  CHECK(
      text.ends_with("</style>\n<rect class=\"paper\" width=\"320\" height=\"99.5\"/>\n</svg>\n"));
  Svg hatched(10);
  hatched.define_hatch();
  CHECK_THAT(body_of(hatched), contains("<pattern id=\"hatch\""));
}

TEST_CASE("a coordinate that is no number is refused") {
  Svg svg(10);
  for (const double odd :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_AS(svg.line({0, 0}, {odd, 0}, ""), std::logic_error);
  }
}

TEST_CASE("a circle has its radius, other markers their corners") {
  Svg svg(10);
  svg.marker(Marker::kCircle, {1, 2}, "c");
  svg.marker(Marker::kCircle, {1, 2}, "c", 3);
  CHECK(body_of(svg) ==
        "<circle cx=\"1\" cy=\"2\" r=\"5\" class=\"marker c\"/>\n"
        "<circle cx=\"1\" cy=\"2\" r=\"3\" class=\"marker c\"/>\n");
  // Radius 4: corners at 5, those of the star at 6 and 2.4.
  CHECK(marker_points(Marker::kSquare) == "3.5,3.5 -3.5,3.5 -3.5,-3.5 3.5,-3.5");
  CHECK(marker_points(Marker::kUp) == "0,-5 4.3,2.5 -4.3,2.5");
  CHECK(marker_points(Marker::kDiamond) == "5,0 0,5 -5,0 0,-5");
  CHECK(marker_points(Marker::kDown) == "0,5 -4.3,-2.5 4.3,-2.5");
  CHECK(marker_points(Marker::kPentagon) == "0,-5 4.8,-1.5 2.9,4 -2.9,4 -4.8,-1.5");
  CHECK(marker_points(Marker::kStar) == "0,-6 1.7,-1.7 6,0 1.7,1.7 0,6 -1.7,1.7 -6,0 -1.7,-1.7");
  CHECK(marker_points(Marker::kLeft) == "-5,0 2.5,-4.3 2.5,4.3");
  CHECK(marker_points(Marker::kRight) == "5,0 -2.5,4.3 -2.5,-4.3");
  CHECK(marker_points(Marker::kHexagon) == "5,0 2.5,4.3 -2.5,4.3 -5,0 -2.5,-4.3 2.5,-4.3");
}

TEST_CASE("a text is as wide as its letters, not as its bytes") {
  CHECK(text_width("") == 0);
  CHECK(is_at(text_width("abcde"), 41));
  CHECK(is_at(text_width("×µ"), 16.4));
  CHECK(wide_text_width("") == 0);
  CHECK(is_at(wide_text_width("wide µ"), 14.5 + 5.8 + 10 + 10 + 5.8 + 10));
}

TEST_CASE("an extent holds what fits an axis") {
  Extent extent;
  CHECK(extent.is_empty());
  for (const double odd : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    extent.include(odd);
  }
  CHECK(extent.is_empty());
  extent.include(5);
  CHECK_FALSE(extent.is_empty());
  CHECK(extent.low() == 5);
  CHECK(extent.high() == 5);
  extent.include(7);
  extent.include(3);
  CHECK(extent.low() == 3);
  CHECK(extent.high() == 7);
}

TEST_CASE("an axis places values between its ends") {
  const Axis up{1, 100, 10, 210}, down{1, 100, 210, 10};
  CHECK(is_at(up.at(10), 110));
  CHECK(is_at(up.at(1), 10));
  CHECK(is_at(up.at(0.1), 10));
  CHECK(is_at(up.at(1000), 210));
  CHECK(is_at(up.at(std::numeric_limits<double>::quiet_NaN()), 10));
  CHECK(is_at(down.at(1), 210));
  CHECK(is_at(down.at(100), 10));
  CHECK(is_at(up.decade(), 100));
  CHECK(is_at(down.decade(), 100));
  const Axis linear{10, 20, 100, 300, AxisScale::kLinear};
  CHECK(is_at(linear.at(12.5), 150));
  CHECK(is_at(linear.at(5), 100));
  CHECK(is_at(linear.at(25), 300));
}

TEST_CASE("powers of ten have ticks, on a short axis 2 and 5 times them too") {
  CHECK(ticks_text(decades(1, 100, 200, 28)) == "1:1 10:10 100:100");
  CHECK(ticks_text(decades(1, 100, 200, 20)) == "1:1 10:10 100:100");  // a decade is 5 labels
  CHECK(ticks_text(decades(1, 100, 200, 19)) == "1:1 2:2 5:5 10:10 20:20 50:50 100:100");
  CHECK(ticks_text(decades(2, 50, 200, 10)) == "2:2 5:5 10:10 20:20 50:50");
  CHECK(ticks_text(decades(2, 50, 100, 28)) == "10:10");
}

TEST_CASE("on a long axis only some powers of ten have labels") {
  CHECK(ticks_text(decades(1, 1e4, 40, 10)) == "1:1 10:10 100:100 1000:1000 10000:10000");
  CHECK(ticks_text(decades(1, 1e4, 40, 11)) == "1:1 10- 100:100 1000- 10000:10000");
  CHECK(ticks_text(decades(1, 1e4, 40, 28)) == "1:1 10- 100- 1000:1000 10000-");
}

TEST_CASE("a tick a thousandth beyond an axis is drawn at its end") {
  CHECK(ticks_text(decades(1.0005, 50, 100, 28)) == "1:1 10:10");
  CHECK(ticks_text(decades(1.002, 50, 100, 28)) == "10:10");
  CHECK(ticks_text(decades(0.5, 9.995, 100, 28)) == "1:1 10:10");
  CHECK(ticks_text(decades(0.5, 9.98, 100, 28)) == "1:1");
}

TEST_CASE("whole numbers stand in steps of 1, 2, 5, 10 as their labels fit") {
  const Axis axis = linear_axis(0, 10, 100);  // 10 units apart
  CHECK(whole_ticks(axis, 10).size() == 11);
  CHECK(ticks_text(whole_ticks(axis, 11)) == "0:0 2:2 4:4 6:6 8:8 10:10");
  CHECK(ticks_text(whole_ticks(axis, 21)) == "0:0 5:5 10:10");
  CHECK(ticks_text(whole_ticks(axis)) == "0:0 5:5 10:10");
  CHECK(ticks_text(whole_ticks(axis, 50)) == "0:0 5:5 10:10");
  CHECK(ticks_text(whole_ticks(axis, 51)) == "0:0 10:10");
  CHECK(ticks_text(whole_ticks(axis, 101)) == "0:0");
  CHECK(ticks_text(whole_ticks(linear_axis(3, 43, 400), 101)) == "20:20 40:40");
  CHECK(ticks_text(whole_ticks(linear_axis(3, 103, 1000), 201)) == "50:50 100:100");
  const Axis down{0, 10, 100, 0, AxisScale::kLinear};
  CHECK(ticks_text(whole_ticks(down, 21)) == "0:0 5:5 10:10");
}

TEST_CASE("lengths have ticks at powers of two from 16 on, labels as they fit") {
  const auto lengths = [](double low, double high, double length) {
    return ticks_text(length_ticks({low, high, 0, length}));
  };
  CHECK(lengths(16, 128, 133.5) == "16:16 32:32 64:64 128:128");  // 44.5 for each
  CHECK(lengths(16, 128, 130.5) == "16:16 32- 64:64 128-");       // 43.5
  CHECK(lengths(16, 128, 60) == "16:16 32- 64- 128:128");         // 20
  CHECK(lengths(4, 32, 300) == "16:16 32:32");
  CHECK(lengths(20, 128, 100) == "32:32 64- 128:128");
  CHECK(lengths(512, 4096, 600) == "512:512 1024:1k 2048:2k 4096:4k");
  CHECK(lengths(512, 4095, 600) == "512:512 1024:1k 2048:2k 4096:4k");  // within a thousandth
  CHECK(lengths(512, 4090, 600) == "512:512 1024:1k 2048:2k");
  CHECK(length_ticks({1e14, 1e18, 0, 1000}).back().value == 562949953421312.0);
}

TEST_CASE("a frame has its grid, the labels beside it and the names of its axes") {
  Svg svg(kPictureWidth);
  draw_frame(svg, {{1, 100, 74, 466}, {1, 10, 300, 84}}, {{10, "ten"}, {100, ""}},
             {{10, "top"}, {1, ""}}, "across", "up");
  CHECK(body_of(svg) ==
        "<line x1=\"270\" y1=\"84\" x2=\"270\" y2=\"300\" class=\"grid\"/>\n"
        "<text x=\"270\" y=\"319\" class=\"soft middle\">ten</text>\n"
        "<line x1=\"466\" y1=\"84\" x2=\"466\" y2=\"300\" class=\"grid\"/>\n"
        "<line x1=\"74\" y1=\"84\" x2=\"466\" y2=\"84\" class=\"grid\"/>\n"
        "<text x=\"66\" y=\"89.5\" class=\"soft end\">top</text>\n"
        "<line x1=\"74\" y1=\"300\" x2=\"466\" y2=\"300\" class=\"grid\"/>\n"
        "<line x1=\"74\" y1=\"300\" x2=\"466\" y2=\"300\" class=\"ink\"/>\n"
        "<text x=\"466\" y=\"340\" class=\"soft end\">across</text>\n"
        "<text x=\"10\" y=\"72\" class=\"soft\">up</text>\n");
}

TEST_CASE("a heading is two lines at the top") {
  Svg svg(kPictureWidth);
  draw_heading(svg, "What", "of what");
  CHECK(body_of(svg) ==
        "<text x=\"10\" y=\"22\" class=\"strong\">What</text>\n"
        "<text x=\"10\" y=\"43\" class=\"soft\">of what</text>\n");
}

TEST_CASE("a legend's entry has a line, a marker in its middle, and a text") {
  Svg svg(kPictureWidth);
  CHECK(draw_legend(svg, 100, {}) == 0);
  CHECK(body_of(svg).empty());
  // The second begins at 10 + 36 + 10 + 18 = 74, the third as far behind it.
  CHECK(draw_legend(svg, 100,
                    {{Marker::kCircle, "m", "l", "a"},
                     {Marker::kCircle, "m", "", "b"},
                     {Marker::kCircle, "", "l", "c"}}) == 21);
  CHECK(body_of(svg) ==
        "<line x1=\"10\" y1=\"110.5\" x2=\"40\" y2=\"110.5\" class=\"l\"/>\n"
        "<circle cx=\"25\" cy=\"110.5\" r=\"5\" class=\"marker m\"/>\n"
        "<text x=\"46\" y=\"116\">a</text>\n"
        "<circle cx=\"89\" cy=\"110.5\" r=\"5\" class=\"marker m\"/>\n"
        "<text x=\"110\" y=\"116\">b</text>\n"
        "<line x1=\"138\" y1=\"110.5\" x2=\"168\" y2=\"110.5\" class=\"l\"/>\n"
        "<text x=\"174\" y=\"116\">c</text>\n");
}

TEST_CASE("a legend goes on in a new row where its right edge would be crossed") {
  const std::string word = "xxxxxxxxxxxxxx iiii-";  // 36 + 140 + 34.8: 210.8 units, then 18
  const LegendEntry entry{Marker::kCircle, "m", "", word};
  const auto height_in = [&](double width, std::size_t count) {
    Svg svg(width);
    return draw_legend(svg, 100, std::vector<LegendEntry>(count, entry));
  };
  CHECK(height_in(460, 2) == 21);
  CHECK(height_in(459, 2) == 45);
  CHECK(height_in(480, 3) == 45);
  CHECK(height_in(480, 4) == 45);
  CHECK(height_in(480, 5) == 69);
  CHECK(height_in(100, 1) == 21);  // the first of a row stays, however long
  CHECK(height_in(100, 2) == 45);
  Svg svg(480);
  draw_legend(svg, 100, {entry, entry, entry});
  CHECK_THAT(body_of(svg), contains("<text x=\"274.8\" y=\"116\">"));
  CHECK_THAT(body_of(svg), contains("<text x=\"46\" y=\"140\">"));
}

}  // namespace flashlab::test
