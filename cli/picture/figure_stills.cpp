// A row of stills from a figure that moves: what a page shows where no script runs.
#include <algorithm>
#include <optional>
#include <set>

#include "cli/picture/figure_pages.hpp"
#include "text/picture/axes.hpp"
#include "text/picture/svg.hpp"

namespace flashlab::cli {
namespace {

using picture::Point;
using toy::FigureArray;
using toy::FigureFrame;
using toy::FigureRun;
using toy::FigureSide;
using toy::FigureWrite;

constexpr std::size_t kStills = 4;
constexpr double kStillWidth = picture::kPictureWidth / kStills;
constexpr double kMostSide = 78, kLeastSide = 60, kBetween = 3, kTop = 66;

/// "rows 2 to 3" of an axis in tiles; short: "2–3".
std::string range_text(const toy::FigureAxis& axis, std::int64_t index, bool is_short) {
  const std::int64_t first = index * axis.tile;
  const std::int64_t last = std::min(first + axis.tile, axis.extent) - 1;
  if (first == last) return (is_short ? "" : "row ") + std::to_string(first);
  return (is_short ? "" : "rows ") + std::to_string(first) + (is_short ? "–" : " to ") +
         std::to_string(last);
}

/// What is held and what has moved after a frame.
struct StillState {
  std::vector<FigureWrite> held;  // that are read later, or were just written
  std::set<std::pair<std::int64_t, std::int64_t>> met;
  std::set<std::pair<std::uint32_t, std::int64_t>> stored;  // array, index along its side
  std::int64_t loaded = 0, put = 0;
};

StillState state_at(const FigureRun& run, std::size_t at) {
  StillState state;
  std::map<std::int64_t, std::pair<std::size_t, FigureWrite>> registers;
  for (std::size_t i = 0; i < at; ++i) {
    const FigureFrame& frame = run.frames[i];
    for (const FigureWrite& write : frame.writes) {
      registers[write.register_number] = {i + 1, write};
    }
    if (frame.kind == FigureFrame::Kind::kMeeting)
      state.met.emplace(*frame.place.row, *frame.place.column);
    const std::int64_t half =
        frame.kind == FigureFrame::Kind::kUpdate ? frame.bytes / 2 : frame.bytes;
    if (frame.kind == FigureFrame::Kind::kLoad || frame.kind == FigureFrame::Kind::kUpdate)
      state.loaded += half;
    if (frame.kind == FigureFrame::Kind::kStore || frame.kind == FigureFrame::Kind::kUpdate) {
      state.put += half;
      const auto& index = frame.place.row ? frame.place.row : frame.place.column;
      if (index) state.stored.emplace(frame.array, *index);
    }
  }
  for (const auto& [number, held] : registers) {
    if (held.first == at || held.second.last_read >= at) state.held.push_back(held.second);
  }
  return state;
}

/// The last tile that is loaded while a pair meets, such as one of v: in the frames from `begin` to `end`.
std::optional<std::size_t> last_load(const FigureRun& run, std::size_t begin, std::size_t end) {
  const auto& pair = run.frames[begin - 1].place;
  for (std::size_t at = end; at > begin; --at) {
    const FigureFrame& frame = run.frames[at - 1];
    if (frame.kind != FigureFrame::Kind::kLoad) continue;
    if (frame.place.row == pair.row || frame.place.column == pair.column) return at;
  }
  return std::nullopt;
}

/// The tiles that met last before a frame.
const toy::FigurePlace& pair_before(const FigureRun& run, std::size_t at) {
  while (run.frames[at - 1].kind != FigureFrame::Kind::kMeeting) --at;
  return run.frames[at - 1].place;
}

/// The first pair, the next one with all that it loads, the first one with both tiles new, and the end.
std::vector<std::size_t> moments(const FigureRun& run) {
  const auto place = [&](std::size_t at) { return run.frames[at - 1].place; };
  std::vector<std::size_t> pairs;
  for (std::size_t i = 0; i < run.frames.size(); ++i) {
    if (run.frames[i].kind != FigureFrame::Kind::kMeeting) continue;
    const bool is_new = pairs.empty() || place(pairs.back()).row != run.frames[i].place.row ||
                        place(pairs.back()).column != run.frames[i].place.column;
    if (is_new) pairs.push_back(i + 1);
  }
  std::vector<std::size_t> chosen{pairs.front()};
  if (pairs.size() > 1) {
    const std::size_t end = pairs.size() > 2 ? pairs[2] : run.frames.size();
    chosen.push_back(last_load(run, pairs[1], end).value_or(pairs[1]));
    const bool row_stays = place(pairs[0]).row == place(pairs[1]).row;
    const auto turn = std::find_if(pairs.begin() + 2, pairs.end(), [&](std::size_t at) {
      return row_stays ? place(at).row != place(pairs[0]).row
                       : place(at).column != place(pairs[0]).column;
    });
    if (turn != pairs.end()) {
      chosen.push_back(*turn);
    } else if (pairs.size() > 2) {
      chosen.push_back(pairs.back());
    }
  }
  chosen.push_back(run.frames.size());
  return chosen;
}

class StillDrawing {
 public:
  StillDrawing(picture::Svg& svg, const FigureRun& run, double left, std::size_t at)
      : svg_(svg), run_(run), state_(state_at(run, at)) {
    for (const FigureArray& array : run.arrays) {
      if (array.is_matrix) continue;
      const bool is_input = of(array).role == toy::ArrayRole::kInput;
      if (array.side == FigureSide::kRows) ++(is_input ? left_ : right_);
      if (array.side == FigureSide::kColumns) ++(is_input ? above_ : below_);
    }
    const double room = kStillWidth - 10, strips = std::max(1, left_ + right_);
    thick_ = std::min(12.0, (room - kLeastSide) / strips - kBetween);
    const double side = std::min(kMostSide, room - strips * (thick_ + kBetween));
    cell_ = side / static_cast<double>(std::max(run.rows.extent, run.columns.extent));
    corner_ = {left + 4 + left_ * (thick_ + kBetween), kTop + above_ * (thick_ + kBetween)};
  }

  /// Returns the lower end.
  double draw() {
    draw_matrix();
    double left = corner_.x - kBetween, right = corner_.x + width() + kBetween;
    double above = corner_.y - kBetween, below = corner_.y + height() + kBetween;
    for (const FigureArray& array : run_.arrays) {
      if (array.is_matrix) continue;
      const bool is_input = of(array).role == toy::ArrayRole::kInput;
      if (array.side == FigureSide::kRows) {
        if (is_input) left -= thick_;
        draw_strip(array, {is_input ? left : right, corner_.y});
        is_input ? left -= kBetween : right += thick_ + kBetween;
      } else if (array.side == FigureSide::kColumns) {
        if (is_input) above -= thick_;
        draw_strip(array, {corner_.x, is_input ? above : below});
        is_input ? above -= kBetween : below += thick_ + kBetween;
      }
    }
    return below;
  }

  const StillState& state() const { return state_; }

 private:
  const toy::BoundArray& of(const FigureArray& array) const {
    return run_.program->arrays[array.array];
  }
  double width() const { return cell_ * static_cast<double>(run_.columns.extent); }
  double height() const { return cell_ * static_cast<double>(run_.rows.extent); }

  /// Start and length of a tile along an axis.
  std::pair<double, double> span(std::int64_t extent, std::int64_t tile, std::int64_t index) const {
    const std::int64_t first = index * tile;
    return {cell_ * static_cast<double>(first),
            cell_ * static_cast<double>(std::min(tile, extent - first))};
  }

  void draw_matrix() {
    svg_.rect(corner_, width(), height(), "thin dash c7");
    const auto tile = [&](std::int64_t row, std::int64_t column, std::string_view classes) {
      const auto [y, h] = span(run_.rows.extent, run_.rows.tile, row);
      const auto [x, w] = span(run_.columns.extent, run_.columns.tile, column);
      svg_.rect({corner_.x + x, corner_.y + y}, w, h, classes);
      return Point{corner_.x + x + w / 2, corner_.y + y + h / 2};
    };
    for (const auto& [row, column] : state_.met) {
      const Point middle = tile(row, column, "thin grid");
      svg_.marker(picture::Marker::kCircle, middle, "filled c7", std::min(2.0, cell_));
    }
    for (const FigureWrite& held : state_.held) {
      if (!held.place.row || !held.place.column || held.place.array) continue;
      tile(*held.place.row, *held.place.column, "filled c5");
      tile(*held.place.row, *held.place.column, "ink");
    }
  }

  void draw_strip(const FigureArray& array, Point at) {
    const toy::BoundArray& bound = of(array);
    const bool is_rows = array.side == FigureSide::kRows;
    for (std::int64_t index = 0; index < bound.counts[0]; ++index) {
      const auto [from, length] = span(bound.extents[0], bound.tile[0], index);
      const bool is_held =
          std::any_of(state_.held.begin(), state_.held.end(), [&](const FigureWrite& held) {
            return held.place.array == array.array &&
                   (is_rows ? held.place.row : held.place.column) == index;
          });
      const bool is_there =
          bound.role == toy::ArrayRole::kInput || state_.stored.contains({array.array, index});
      const Point corner = is_rows ? Point{at.x, at.y + from} : Point{at.x + from, at.y};
      const double width = is_rows ? thick_ : length, height = is_rows ? length : thick_;
      if (is_there || is_held) svg_.rect(corner, width, height, is_held ? "filled c5" : "band");
      svg_.rect(corner, width, height, is_held ? "ink" : is_there ? "thin c7" : "thin dash c7");
    }
  }

  picture::Svg& svg_;
  const FigureRun& run_;
  StillState state_;
  int left_ = 0, right_ = 0, above_ = 0, below_ = 0;
  double cell_ = 1, thick_ = 12;
  Point corner_;
};

std::string bytes_sentence(const Figure& figure) {
  const StillState end = state_at(*figure.shown().run, figure.shown().run->frames.size());
  std::string text = figure.loaded.short_name() + ": " + std::to_string(end.loaded) +
                     " bytes loaded, " + std::to_string(end.put) + " stored";
  return text;
}

std::string beside_sentence(const toy::FigureBeside& beside) {
  return beside.program + ": " + std::to_string(beside.loaded) + " bytes loaded, " +
         std::to_string(beside.stored) + " stored";
}

std::string joined_names(const FigureRun& run, FigureSide side, bool is_input) {
  std::string names;
  for (const FigureArray& array : run.arrays) {
    const toy::BoundArray& bound = run.program->arrays[array.array];
    if (array.is_matrix || array.side != side) continue;
    if ((bound.role == toy::ArrayRole::kInput) != is_input) continue;
    names += (names.empty() ? "" : ", ") + bound.name;
  }
  return names;
}

/// What stands beside the matrix, in lines: "left: q; right: o, lse; above: k, v".
std::vector<std::string> place_lines(const FigureRun& run) {
  const auto line = [&](FigureSide side, const std::string& inputs, const std::string& others) {
    const std::string first = joined_names(run, side, true), last = joined_names(run, side, false);
    std::string text = first.empty() ? "" : inputs + " " + first;
    if (!last.empty()) text += (text.empty() ? "" : "; ") + others + " " + last;
    return text;
  };
  std::string beside = line(FigureSide::kRows, "left:", "right:");
  std::string across = line(FigureSide::kColumns, "above:", "below:");
  const std::string both = beside + "; " + across;
  if (picture::text_room(both) <= picture::kPictureWidth - 8) return {both};
  return {std::move(beside), std::move(across)};
}

}  // namespace

std::string figure_stills_svg(const Figure& figure) {
  const FigureRun& run = *figure.shown().run;
  const auto& arrays = run.program->arrays;
  const std::string rows = arrays[run.rows.array].name, columns = arrays[run.columns.array].name;
  picture::Svg svg(picture::kPictureWidth);
  const std::string title =
      figure.loaded.short_name() + ": tiles of " + rows + " meet tiles of " + columns;
  picture::draw_heading(svg, title, "dark: in a register; dot: has met, and is gone");
  std::string description = title + ".";
  for (const std::string& line : place_lines(run)) description += " " + line + ".";
  double bottom = 0;
  std::vector<std::pair<double, std::vector<std::string>>> captions;
  double left = 0;
  for (const std::size_t at : moments(run)) {
    StillDrawing drawing(svg, run, left, at);
    bottom = std::max(bottom, drawing.draw());
    const FigureFrame& frame = run.frames[at - 1];
    const std::string bytes = std::to_string(drawing.state().loaded) + " loaded";
    const bool is_end = at == run.frames.size();
    std::vector<std::string> lines{"the end"};
    std::string words = "at the end";
    if (!is_end && frame.kind == FigureFrame::Kind::kLoad) {
      const auto& pair = pair_before(run, at);
      const bool is_row = frame.place.row.has_value();
      const toy::FigureAxis &axis = is_row ? run.rows : run.columns,
                            &other = is_row ? run.columns : run.rows;
      const std::int64_t index = is_row ? *frame.place.row : *frame.place.column;
      const std::string& name = arrays[frame.array].name;
      lines = {(is_row ? columns : rows) + " " +
                   range_text(other, is_row ? *pair.column : *pair.row, true),
               name + " " + range_text(axis, index, true)};
      words = name + " " + range_text(axis, index, false) + " loaded";
    } else if (!is_end) {
      lines = {rows + " " + range_text(run.rows, *frame.place.row, true),
               columns + " " + range_text(run.columns, *frame.place.column, true)};
      words = rows + " " + range_text(run.rows, *frame.place.row, false) + " meet " + columns +
              " " + range_text(run.columns, *frame.place.column, false);
    }
    lines.push_back(bytes);
    if (is_end) lines.push_back(std::to_string(drawing.state().put) + " stored");
    captions.emplace_back(left + 4, lines);
    description += " Picture " + std::to_string(at) + ", " + words + ": " +
                   std::to_string(drawing.state().loaded) + " bytes loaded so far.";
    left += kStillWidth;
  }
  double y = bottom + picture::kLineHeight;
  for (const auto& [x, lines] : captions) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      svg.text({x, y + static_cast<double>(i) * picture::kLineHeight}, lines[i],
               i == 0 ? "strong" : "");
    }
  }
  y += 3 * picture::kLineHeight + 6;
  for (const std::string& line : place_lines(run)) {
    svg.text({4, y}, line, "soft");
    y += picture::kLineHeight;
  }
  svg.text({4, y}, bytes_sentence(figure), "strong");
  description += " In all, " + bytes_sentence(figure) + ".";
  if (const auto& beside = figure.shown().beside) {
    svg.text({4, y += picture::kLineHeight}, beside_sentence(*beside), "strong");
    description += " " + beside_sentence(*beside) + ".";
  }
  return svg.finish(y + 12, title, description);
}

}  // namespace flashlab::cli
