#include "cli/terminal/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "text/numbers.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

constexpr std::size_t kMostColumns = 100, kFewestColumns = 16;
constexpr std::array<const char*, 6> kUnicodeMarks{"●", "▲", "■", "◆", "○", "△"};
constexpr std::array<const char*, 6> kAsciiMarks{"*", "+", "o", "x", "#", "@"};
constexpr std::array<Style, 4> kSeriesStyles{Style::kBlue, Style::kYellow, Style::kGreen,
                                             Style::kRed};

/// One axis: the range of values, and their mapping to 0 … 1.
struct PlotAxis {
  double low = 0, high = 1;
  bool logarithmic = false;

  double operator()(double value) const {
    if (logarithmic) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
    return (value - low) / (high - low);
  }
};

/// Returns 1, 2 or 5 times a power of ten, so that at most `count` steps span `range`.
double tick_step(double range, double count) {
  const double rough = range / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) return factor * power;
  }
  return 10 * power;
}

PlotAxis make_axis(double low, double high, bool logarithmic, bool from_zero) {
  PlotAxis axis{low, high, logarithmic && low > 0};
  if (axis.logarithmic) {
    if (low == high) axis.high = 2 * low;
    return axis;
  }
  if (from_zero && low > 0) axis.low = 0;
  if (axis.low == axis.high) axis.high = axis.low + 1;
  if (from_zero) {
    const double step = tick_step(axis.high - axis.low, 5);
    axis.high = std::ceil(axis.high / step - 1e-9) * step;
  }
  return axis;
}

std::vector<double> linear_ticks(const PlotAxis& axis, double count, bool integers) {
  double step = tick_step(axis.high - axis.low, count);
  if (integers) step = std::max(step, 1.0);
  std::vector<double> ticks;
  for (double tick = std::ceil(axis.low / step - 1e-9) * step; tick <= axis.high + step * 1e-9;
       tick += step) {
    ticks.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return ticks;
}

/// Returns powers of two for short ranges, of ten for long ones.
std::vector<double> log_ticks(const PlotAxis& axis, double count) {
  double base = axis.high / axis.low > 2000 ? 10 : 2;
  while (std::log(axis.high / axis.low) / std::log(base) > count) base *= base == 2 ? 2 : 10;
  std::vector<double> ticks;
  for (double tick = std::pow(base, std::ceil(std::log(axis.low) / std::log(base) - 1e-9));
       tick <= axis.high * (1 + 1e-9); tick *= base) {
    ticks.push_back(tick);
  }
  if (ticks.size() < 2) ticks = {axis.low, axis.high};
  return ticks;
}

std::vector<double> ticks_of(const PlotAxis& axis, double count) {
  return axis.logarithmic ? log_ticks(axis, count) : linear_ticks(axis, count, true);
}

/// A drawing surface of letters, each with 2 x 4 dots.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows)
      : columns_(columns),
        rows_(rows),
        dots_(columns * rows),
        marks_(columns * rows, -1),
        owners_(columns * rows, 0) {}

  double dots_across() const { return static_cast<double>(2 * columns_ - 1); }
  double dots_down() const { return static_cast<double>(4 * rows_ - 1); }

  /// Draws a straight line between two points, given in dots from the left and from the top.
  void line(double x0, double y0, double x1, double y1, std::size_t owner) {
    const double steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1.0});
    for (double i = 0; i <= steps; ++i) {
      dot(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, owner);
    }
  }

  void mark(double x, double y, std::size_t owner) {
    const std::size_t cell = cell_at(x, y);
    marks_[cell] = static_cast<int>(owner);
    owners_[cell] = owner;
  }

  std::string letter(std::size_t column, std::size_t row, const Terminal& terminal) const {
    const std::size_t cell = row * columns_ + column;
    const Style style = kSeriesStyles[owners_[cell] % kSeriesStyles.size()];
    if (marks_[cell] >= 0) {
      const auto& marks = terminal.unicode ? kUnicodeMarks : kAsciiMarks;
      return styled(marks[static_cast<std::size_t>(marks_[cell]) % marks.size()], style, terminal);
    }
    if (dots_[cell] == 0) return " ";
    if (!terminal.unicode) return styled(".", style, terminal);
    const unsigned code = 0x2800U + dots_[cell];  // three bytes in UTF-8
    const std::string braille{static_cast<char>(0xE0U | code >> 12),
                              static_cast<char>(0x80U | (code >> 6 & 0x3FU)),
                              static_cast<char>(0x80U | (code & 0x3FU))};
    return styled(braille, style, terminal);
  }

 private:
  std::size_t cell_at(double x, double y) const {
    const auto column = static_cast<std::size_t>(std::lround(x)) / 2;
    const auto row = static_cast<std::size_t>(std::lround(y)) / 4;
    return std::min(row, rows_ - 1) * columns_ + std::min(column, columns_ - 1);
  }

  void dot(double x, double y, std::size_t owner) {
    constexpr unsigned char kBits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    const std::size_t cell = cell_at(x, y);
    dots_[cell] |= kBits[std::lround(y) % 4][std::lround(x) % 2];
    owners_[cell] = owner;
  }

  std::size_t columns_, rows_;
  std::vector<unsigned char> dots_;
  std::vector<int> marks_;  // series, or -1
  std::vector<std::size_t> owners_;
};

void draw(const Series& series, std::size_t owner, const PlotAxis& x_axis, const PlotAxis& y_axis,
          Canvas& canvas) {
  const auto x = [&](double value) { return x_axis(value) * canvas.dots_across(); };
  const auto y = [&](double value) { return (1 - y_axis(value)) * canvas.dots_down(); };
  for (std::size_t i = 1; i < series.points.size(); ++i) {
    const auto [x0, y0] = series.points[i - 1];
    const auto [x1, y1] = series.points[i];
    canvas.line(x(x0), y(y0), x(x1), y(y1), owner);
  }
}

void draw_marks(const Series& series, std::size_t owner, const PlotAxis& x_axis,
                const PlotAxis& y_axis, Canvas& canvas) {
  for (const auto& [x, y] : series.points) {
    canvas.mark(x_axis(x) * canvas.dots_across(), (1 - y_axis(y)) * canvas.dots_down(), owner);
  }
}

/// The axis below the drawing with its numbers, centred under their ticks if there is room.
std::string bottom(const PlotAxis& axis, std::size_t columns, std::size_t margin,
                   const std::string& label, const Terminal& terminal) {
  std::string numbers(margin + columns + 8, ' ');
  std::vector<bool> is_tick(columns, false);
  std::size_t free_from = 0;
  for (const double tick : ticks_of(axis, static_cast<double>(columns) / 8)) {
    const auto column = static_cast<std::size_t>(
        std::lround(axis(tick) * static_cast<double>(2 * columns - 1)) / 2);
    const std::string text = short_number(tick);
    const std::size_t center = margin + std::min(column, columns - 1);
    const std::size_t start = center - std::min(center, text.size() / 2);
    if (start < free_from) continue;
    is_tick[std::min(column, columns - 1)] = true;
    numbers.replace(start, text.size(), text);
    free_from = start + text.size() + 2;
  }
  std::string line(margin - 1, ' ');
  line += terminal.unicode ? "└" : "+";
  for (const bool tick : is_tick)
    line += terminal.unicode ? (tick ? "┴" : "─") : (tick ? "+" : "-");
  numbers = numbers.substr(0, numbers.find_last_not_of(' ') + 1);
  const std::size_t label_start = margin + columns - std::min(columns, display_width(label));
  return line + "\n" + numbers + "\n" + std::string(label_start, ' ') + label + "\n";
}

std::string series_legend(const std::vector<Series>& series, std::size_t margin,
                          const Terminal& terminal) {
  std::string text(margin, ' ');
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto& marks = terminal.unicode ? kUnicodeMarks : kAsciiMarks;
    const std::string entry = std::string(marks[i % marks.size()]) + " " + series[i].name;
    text += (i > 0 ? "   " : "") + styled(entry, kSeriesStyles[i % kSeriesStyles.size()], terminal);
  }
  return text + "\n";
}

}  // namespace

std::string plot(const std::vector<Series>& all_series, const PlotOptions& options,
                 const Terminal& terminal) {
  std::vector<Series> series;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low_x = kInfinity, high_x = -kInfinity, low_y = kInfinity, high_y = -kInfinity;
  for (const Series& one : all_series) {
    if (one.points.empty()) continue;
    series.push_back(one);
    for (const auto& [x, y] : one.points) {
      low_x = std::min(low_x, x), high_x = std::max(high_x, x);
      low_y = std::min(low_y, y), high_y = std::max(high_y, y);
    }
  }
  if (series.empty()) return {};
  const PlotAxis x_axis = make_axis(low_x, high_x, options.log_x, false);
  const PlotAxis y_axis = make_axis(low_y, high_y, options.log_y, true);

  std::vector<std::pair<std::size_t, std::string>> y_ticks;  // row, number
  std::size_t margin = 0;
  for (const double tick : ticks_of(y_axis, static_cast<double>(options.height) / 3)) {
    const double dots = (1 - y_axis(tick)) * static_cast<double>(4 * options.height - 1);
    y_ticks.emplace_back(static_cast<std::size_t>(std::lround(dots)) / 4, short_number(tick));
    margin = std::max(margin, y_ticks.back().second.size());
  }
  margin += 4;  // two blanks before the number, one after it, the axis
  const std::size_t columns = std::clamp(terminal.width - std::min(terminal.width, margin + 3),
                                         kFewestColumns, kMostColumns);
  Canvas canvas(columns, options.height);
  for (std::size_t i = 0; i < series.size(); ++i) draw(series[i], i, x_axis, y_axis, canvas);
  for (std::size_t i = 0; i < series.size(); ++i) draw_marks(series[i], i, x_axis, y_axis, canvas);

  std::string text = series_legend(series, margin, terminal);
  for (std::size_t row = 0; row < options.height; ++row) {
    std::string number;
    for (const auto& [tick_row, tick_text] : y_ticks) {
      if (tick_row == row) number = tick_text;
    }
    std::string line(margin - 2 - number.size(), ' ');
    line += number +
            (terminal.unicode ? (number.empty() ? " │" : " ┤") : (number.empty() ? " |" : " +"));
    for (std::size_t column = 0; column < columns; ++column) {
      line += canvas.letter(column, row, terminal);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text + bottom(x_axis, columns, margin, options.x_label, terminal);
}

bool looks_geometric(const std::vector<double>& values) {
  if (values.size() < 4 || values.front() <= 0) return false;
  const double first_step = values[1] - values[0];
  const double last_step = values.back() - values[values.size() - 2];
  return last_step > 3 * first_step && values.back() / values.front() >= 8;
}

std::string short_number(double value) {
  constexpr std::array<std::pair<double, const char*>, 5> kUnits{
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  if (std::abs(value) >= 1e18) return short_text(value, 3);
  for (const auto& [unit, letter] : kUnits) {
    // From 0.9995 on, three digits round to 1 of this unit.
    if (std::abs(value) < unit * (unit == 1e3 ? 10 : 0.9995)) continue;
    return short_text(value / unit, 3) + letter;
  }
  return short_text(value);
}

}  // namespace flashlab::cli
