// A picture as SVG text: lines, boxes, markers and words. It uses classes instead of colours, so
// that one style serves light and dark pages, greyscale and print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::picture {

struct Point {
  double x = 0, y = 0;  // in the picture's own units, y downwards
};

/// Shapes that differ without colour, at the size of a letter.
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
  /// Writes text, turned clockwise by `degrees` around `at`. The classes "end" and "middle" say
  /// which point of the text `at` is.
  void text(Point at, std::string_view text, std::string_view classes = {}, double degrees = 0);
  /// Defines the pattern of diagonal lines for the class "hatched". One picture of a page
  /// must have it.
  void define_hatch();

  double width() const { return width_; }
  /// Returns the whole file, which also works inside HTML.
  /// title        what is shown, for a reader who does not see it
  /// description  the content in a sentence
  std::string finish(double height, std::string_view title, std::string_view description) const;

 private:
  double width_;
  std::string body_;
};

/// Returns the approximate width of the text in the picture's units.
double text_width(std::string_view text);

/// Returns the approximate width in a font with wide letters, by the kind of each letter.
double wide_text_width(std::string_view text);

/// Returns a width that the text does not exceed in usual fonts, of which some are wide.
double text_room(std::string_view text);

/// Returns the text, or as much of both its ends as fits into a width by text_room().
std::string fitted_to_room(std::string_view text, double width);

/// Returns the style in every picture. The Content-Security-Policy of a page contains its digest.
std::string_view picture_style();

}  // namespace flashlab::picture
