// A picture as SVG text: lines, boxes, markers and words, with classes instead of colours, so that
// one style serves light and dark paper, greyscale and print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::compare {

struct Point {
  double x = 0, y = 0;  // in the picture's own units, y downwards
};

/// Shapes that can be told apart without colour, at the size of a letter.
enum class Marker : unsigned char {
  kCircle,
  kSquare,
  kUp,
  kDiamond,
  kDown,
  kPentagon,
  kStar,
  kLeft,
  kRight,
  kHexagon,
};
inline constexpr std::size_t kNumMarkers = 10;

/// Half of a marker's width.
inline constexpr double kMarkerRadius = 5;

class Svg {
 public:
  explicit Svg(double width) : width_(width) {}

  void line(Point from, Point to, std::string_view classes);
  void polyline(const std::vector<Point>& points, std::string_view classes);
  void rect(Point top_left, double width, double height, std::string_view classes);
  void marker(Marker shape, Point at, std::string_view classes, double radius = kMarkerRadius);
  /// Turned by `degrees` around `at`, clockwise. Classes "end" and "middle" say what `at` is of it.
  void text(Point at, std::string_view text, std::string_view classes = {}, double degrees = 0);
  /// A pattern of diagonal lines, as class "hatched" fills with it. One picture of a page has it.
  void define_hatch();

  double width() const { return width_; }
  /// The whole file, by itself or inside HTML.
  /// title        what is shown, for a reader who does not see it
  /// description  what it says, in a sentence
  std::string finish(double height, std::string_view title, std::string_view description) const;

 private:
  double width_;
  std::string body_;
};

/// How wide the text is about, in the picture's units.
double text_width(std::string_view text);

/// The style that every picture carries; the Content-Security-Policy of a page names its digest.
std::string_view picture_style();

}  // namespace flashlab::compare
