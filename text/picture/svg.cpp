#include "text/picture/svg.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "picture_files.hpp"
#include "text/markup.hpp"
#include "text/numbers.hpp"
#include "text/width.hpp"

namespace flashlab::picture {
namespace {

constexpr double kRoomOfLetter = 10.2;  // a digit of 16 px in DejaVu Sans

/// A tenth of a unit is smaller than a pixel.
std::string coordinate(double value) {
  if (!std::isfinite(value)) throw std::logic_error("a picture's coordinate is not finite");
  std::string text = fixed_text(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + coordinate(value) + "\"";
}

std::string class_attribute(std::string_view classes) {
  return classes.empty() ? "" : " class=\"" + markup_text(classes) + "\"";
}

std::string points_text(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points) {
    if (!text.empty()) text += ' ';
    text += coordinate(point.x) + "," + coordinate(point.y);
  }
  return text;
}

/// Corners at equal angles. Every other corner of a star is nearer to the centre.
std::vector<Point> corners(Point at, int count, double radius, double first_degrees,
                           double inner = 1) {
  std::vector<Point> points;
  for (int i = 0; i < count; ++i) {
    const double angle = (first_degrees + 360.0 * i / count) * std::numbers::pi / 180;
    const double length = i % 2 == 1 ? radius * inner : radius;
    points.push_back({at.x + length * std::cos(angle), at.y + length * std::sin(angle)});
  }
  return points;
}

std::vector<Point> marker_corners(Marker shape, Point at, double radius) {
  constexpr double kEqualArea = 1.25;  // triangles and diamonds look smaller than circles
  switch (shape) {
    case Marker::kSquare:
      return corners(at, 4, radius * kEqualArea, 45);
    case Marker::kUp:
      return corners(at, 3, radius * kEqualArea, -90);
    case Marker::kDiamond:
      return corners(at, 4, radius * kEqualArea, 0);
    case Marker::kDown:
      return corners(at, 3, radius * kEqualArea, 90);
    case Marker::kPentagon:
      return corners(at, 5, radius * kEqualArea, -90);
    case Marker::kStar:
      return corners(at, 8, radius * 1.5, -90, 0.4);
    case Marker::kLeft:
      return corners(at, 3, radius * kEqualArea, 180);
    case Marker::kRight:
      return corners(at, 3, radius * kEqualArea, 0);
    case Marker::kHexagon:
      return corners(at, 6, radius * kEqualArea, 0);
    case Marker::kCircle:
      break;
  }
  return {};
}

}  // namespace

void Svg::line(Point from, Point to, std::string_view classes) {
  body_ += "<line" + attribute("x1", from.x) + attribute("y1", from.y) + attribute("x2", to.x) +
           attribute("y2", to.y) + class_attribute(classes) + "/>\n";
}

void Svg::polyline(const std::vector<Point>& points, std::string_view classes) {
  if (points.size() < 2) return;
  body_ += "<polyline points=\"" + points_text(points) + "\"" + class_attribute(classes) + "/>\n";
}

void Svg::rect(Point top_left, double width, double height, std::string_view classes) {
  body_ += "<rect" + attribute("x", top_left.x) + attribute("y", top_left.y) +
           attribute("width", width) + attribute("height", height) + class_attribute(classes) +
           "/>\n";
}

void Svg::marker(Marker shape, Point at, std::string_view classes, double radius) {
  const std::string all = "marker " + std::string(classes);
  if (shape == Marker::kCircle) {
    body_ += "<circle" + attribute("cx", at.x) + attribute("cy", at.y) + attribute("r", radius) +
             class_attribute(all) + "/>\n";
    return;
  }
  body_ += "<polygon points=\"" + points_text(marker_corners(shape, at, radius)) + "\"" +
           class_attribute(all) + "/>\n";
}

void Svg::text(Point at, std::string_view text, std::string_view classes, double degrees) {
  body_ += "<text" + attribute("x", at.x) + attribute("y", at.y);
  if (degrees != 0) {
    body_ += " transform=\"rotate(" + coordinate(degrees) + " " + coordinate(at.x) + " " +
             coordinate(at.y) + ")\"";
  }
  body_ += class_attribute(classes) + ">" + markup_text(text) + "</text>\n";
}

void Svg::define_hatch() {
  body_ +=
      "<defs><pattern id=\"hatch\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
      "<path class=\"ink\" d=\"M-1 9 9 -1M-1 1 1 -1M7 9 9 7\"/></pattern></defs>\n";
}

std::string Svg::finish(double height, std::string_view title, std::string_view description) const {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" viewBox=\"0 0 " +
         coordinate(width_) + " " + coordinate(height) + "\">\n<title>" + markup_text(title) +
         "</title>\n<desc>" + markup_text(description) + "</desc>\n<style>" +
         std::string(picture_style()) + "</style>\n<rect class=\"paper\"" +
         attribute("width", width_) + attribute("height", height) + "/>\n" + body_ + "</svg>\n";
}

double text_width(std::string_view text) {
  constexpr double kLetterWidth = 8.2;  // mean of 16 px sans serif
  return kLetterWidth * static_cast<double>(display_width(text));
}

double wide_text_width(std::string_view text) {
  constexpr double kNarrow = 5.8, kUsual = 10, kWide = 14.5;  // 16 px DejaVu Sans
  double width = 0;
  for (const std::string& cell : display_cells(text)) {
    if (std::string_view(" !'(),-./:;I[]fijlrt|").find(cell) != std::string_view::npos) {
      width += kNarrow;
    } else {
      width += std::string_view("%@MWmw").find(cell) != std::string_view::npos ? kWide : kUsual;
    }
  }
  return width;
}

double text_room(std::string_view text) {
  return kRoomOfLetter * static_cast<double>(display_width(text));
}

std::string fitted_to_room(std::string_view text, double width) {
  if (text_room(text) <= width) return std::string(text);
  const std::vector<std::string> cells = display_cells(text);
  const auto kept = static_cast<std::size_t>(std::max(width / kRoomOfLetter - 1, 2.0));
  std::string result;
  for (std::size_t at = 0; at < kept - kept / 2; ++at) result += cells[at];
  result += "…";
  for (std::size_t at = cells.size() - kept / 2; at < cells.size(); ++at) result += cells[at];
  return result;
}

std::string_view picture_style() { return picture_files[0].text; }

}  // namespace flashlab::picture
