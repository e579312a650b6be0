#include <algorithm>

#include "cli/picture/pictures.hpp"
#include "cli/terminal/failure.hpp"
#include "text/picture/axes.hpp"
#include "text/picture/svg.hpp"
#include "toymachine/history/meetings.hpp"

namespace flashlab::cli {
namespace {

using picture::Marker;
using picture::Point;
using toy::Meeting;
using toy::TileMoves;

constexpr std::int64_t kMostTiles = 12;  // along an axis
constexpr double kMostMatrixSide = 264, kMostTileSide = 46, kStrip = 26, kStripGap = 6;
constexpr double kTilesTop = 62, kMatrixGap = 10;

/// One matrix of tiles: a program in one of its passes.
struct TilesPanel {
  const PicturedProgram* program = nullptr;
  const toy::Meetings* all = nullptr;
  const toy::PassMeetings* pass = nullptr;
};

class TilesPanelDrawing {
 public:
  TilesPanelDrawing(picture::Svg& svg, const TilesPanel& panel, double top)
      : svg_(svg), panel_(panel), rows_(panel.all->num_rows), columns_(panel.all->num_columns) {
    side_ =
        std::min(kMostTileSide, kMostMatrixSide / static_cast<double>(std::max(rows_, columns_)));
    for (const TileMoves& moves : panel.pass->moves) {
      if (is_stored(moves)) continue;
      if (moves.is_on_rows) {
        left_ += strip_width(moves) + kStripGap;
      } else {
        above_ += kStrip + kStripGap;
        widest_ = std::max(widest_, picture::text_width(name_of(moves)));
      }
    }
    for (const TileMoves& moves : panel.pass->moves) {
      if (is_stored(moves) && !moves.is_on_rows)
        widest_ = std::max(widest_, picture::text_width(name_of(moves)));
    }
    origin_ = {10 + std::max(left_, widest_ + 8) + kMatrixGap, top + 30 + above_ + kMatrixGap};
  }

  /// Returns the lower end of the panel.
  double draw() {
    svg_.text({10, origin_.y - above_ - kMatrixGap - 12}, title(), "strong");
    draw_tiles();
    draw_path();
    return draw_strips();
  }

  std::string title() const {
    const std::string& pass = panel_.program->bound->program->passes.empty()
                                  ? kNoPass
                                  : panel_.program->bound->program->passes[panel_.pass->pass];
    return panel_.program->name +
           (pass.empty() || panel_.all->passes.size() == 1 ? "" : ", pass " + pass);
  }

  std::string description() const {
    const std::vector<int> times = visits();
    const auto num_visited = std::count_if(times.begin(), times.end(), [](int n) { return n > 0; });
    std::string text = title() + ": visits " + std::to_string(num_visited) + " of " +
                       std::to_string(times.size()) + " tiles" + order_text() + ".";
    for (const TileMoves& moves : panel_.pass->moves) {
      const auto [least, most] = std::minmax_element(moves.times.begin(), moves.times.end());
      text += " " + verb(moves) + " each tile of " + array_name(moves) + " " +
              std::to_string(*least) + (*least == *most ? "" : " to " + std::to_string(*most)) +
              (*most == 1 ? " time." : " times.");
    }
    return text;
  }

 private:
  inline static const std::string kNoPass;

  static bool is_stored(const TileMoves& moves) { return moves.kind != TileMoves::Kind::kLoad; }
  static std::string verb(const TileMoves& moves) {
    if (moves.kind == TileMoves::Kind::kLoad) return "Loads";
    return moves.kind == TileMoves::Kind::kStore ? "Stores" : "Adds to";
  }
  std::string array_name(const TileMoves& moves) const {
    return panel_.program->bound->arrays[moves.array].name;
  }
  std::string name_of(const TileMoves& moves) const {
    if (moves.kind == TileMoves::Kind::kLoad) return "load " + array_name(moves);
    return (moves.kind == TileMoves::Kind::kStore ? "store " : "add to ") + array_name(moves);
  }
  double strip_width(const TileMoves& moves) const {
    return std::max(kStrip, picture::text_width(array_name(moves)) + 4);
  }

  std::vector<int> visits() const {
    std::vector<int> visits(static_cast<std::size_t>(rows_ * columns_), 0);
    for (const Meeting& meeting : panel_.pass->path) ++visits[number(meeting)];
    return visits;
  }
  std::size_t number(const Meeting& meeting) const {
    return static_cast<std::size_t>(meeting.row * columns_ + meeting.column);
  }

  std::string order_text() const {
    const auto& path = panel_.pass->path;
    if (std::is_sorted(path.begin(), path.end(), [](auto& a, auto& b) { return a.row < b.row; }))
      return ", row by row";
    if (std::is_sorted(path.begin(), path.end(),
                       [](auto& a, auto& b) { return a.column < b.column; })) {
      return ", column by column";
    }
    return "";
  }

  Point corner(std::int64_t row, std::int64_t column) const {
    return {origin_.x + side_ * static_cast<double>(column),
            origin_.y + side_ * static_cast<double>(row)};
  }
  Point centre(const Meeting& meeting) const {
    const Point at = corner(meeting.row, meeting.column);
    return {at.x + side_ / 2, at.y + side_ / 2};
  }

  void draw_tiles() {
    const std::vector<int> visits = this->visits();
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t column = 0; column < columns_; ++column) {
        const int times = visits[static_cast<std::size_t>(row * columns_ + column)];
        if (times > 0) svg_.rect(corner(row, column), side_, side_, "band");
      }
    }
    for (const Meeting& meeting : panel_.pass->path) draw_hidden(meeting);
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t column = 0; column < columns_; ++column) {
        const int times = visits[static_cast<std::size_t>(row * columns_ + column)];
        svg_.rect(corner(row, column), side_, side_, times > 0 ? "ink" : "grid paper");
        if (times > 1 && side_ > 30)
          svg_.text({corner(row, column).x + 3, corner(row, column).y + side_ - 4},
                    std::to_string(times) + "×", "soft");
      }
    }
  }

  /// Leaves the elements that masks have hidden blank, with a line around the visible ones.
  void draw_hidden(const Meeting& meeting) {
    if (meeting.hidden.empty()) return;
    const double width = side_ / static_cast<double>(meeting.hidden_columns);
    const double height = side_ / static_cast<double>(meeting.hidden_rows);
    for (std::int64_t row = 0; row < meeting.hidden_rows; ++row) {
      for (std::int64_t column = 0; column < meeting.hidden_columns; ++column) {
        const Point at = {
            corner(meeting.row, meeting.column).x + width * static_cast<double>(column),
            corner(meeting.row, meeting.column).y + height * static_cast<double>(row)};
        const bool hidden = is_hidden(meeting, row, column);
        if (hidden) svg_.rect(at, width, height, "paper");
        if (column > 0 && hidden != is_hidden(meeting, row, column - 1))
          svg_.line(at, {at.x, at.y + height}, "ink");
        if (row > 0 && hidden != is_hidden(meeting, row - 1, column))
          svg_.line(at, {at.x + width, at.y}, "ink");
      }
    }
  }
  static bool is_hidden(const Meeting& meeting, std::int64_t row, std::int64_t column) {
    return meeting.hidden[static_cast<std::size_t>(row * meeting.hidden_columns + column)];
  }

  /// A solid line between neighbours, a dashed one where the order jumps.
  void draw_path() {
    const auto& path = panel_.pass->path;
    for (std::size_t i = 1; i < path.size(); ++i) {
      const Meeting &from = path[i - 1], &to = path[i];
      const bool is_step = std::abs(from.row - to.row) + std::abs(from.column - to.column) == 1;
      svg_.line(centre(from), centre(to), is_step ? "series c6" : "thin dash c6");
    }
    for (std::size_t i = 1; i < path.size(); ++i) {
      if (i + 1 < path.size() && goes_on(path, i)) continue;
      svg_.marker(arrow(path[i - 1], path[i]), centre(path[i]), "filled c6", 4);
    }
    svg_.marker(Marker::kCircle, centre(path.front()), "filled c6", 4);
  }
  static bool goes_on(const std::vector<Meeting>& path, std::size_t i) {
    return path[i + 1].row - path[i].row == path[i].row - path[i - 1].row &&
           path[i + 1].column - path[i].column == path[i].column - path[i - 1].column;
  }
  static Marker arrow(const Meeting& from, const Meeting& to) {
    if (from.row == to.row && from.column != to.column)
      return from.column < to.column ? Marker::kRight : Marker::kLeft;
    if (from.column == to.column) return from.row < to.row ? Marker::kDown : Marker::kUp;
    return Marker::kCircle;
  }

  void draw_box(Point at, double width, double height, std::int64_t times) {
    svg_.rect(at, width, height, times > 1 ? "band" : "paper");
    svg_.rect(at, width, height, "ink");
    svg_.text({at.x + width / 2, at.y + height / 2 + 5.5}, std::to_string(times),
              times > 1 ? "strong middle" : "middle");
  }

  double draw_strips() {
    const double text_y = origin_.y + height() + 2 * picture::kLineHeight;
    double above = origin_.y - kMatrixGap, below = text_y + kMatrixGap;
    double left = origin_.x - kMatrixGap, right = origin_.x + width() + kMatrixGap;
    bool has_rows[2] = {false, false};
    for (const TileMoves& moves : panel_.pass->moves) {
      const bool stored = is_stored(moves);
      if (moves.is_on_rows) {
        const double strip = strip_width(moves);
        if (!stored) left -= strip;
        draw_row_strip(moves, stored ? right : left, strip);
        stored ? right += strip + kStripGap : left -= kStripGap;
        has_rows[stored ? 1 : 0] = true;
      } else {
        if (!stored) above -= kStrip;
        draw_column_strip(moves, stored ? below : above);
        stored ? below += kStrip + kStripGap : above -= kStripGap;
      }
    }
    if (has_rows[0]) svg_.text({origin_.x - kMatrixGap, text_y}, "loads", "soft end");
    if (has_rows[1]) {
      const double room = picture::kPictureWidth - 4 - picture::text_width(stores_text());
      svg_.text({std::min(origin_.x + width() + kMatrixGap, room), text_y}, stores_text(), "soft");
    }
    return below + 14;
  }

  std::string stores_text() const {
    for (const TileMoves& moves : panel_.pass->moves) {
      if (moves.is_on_rows && moves.kind == TileMoves::Kind::kUpdate) return "atomic additions";
    }
    return "stores";
  }

  void draw_row_strip(const TileMoves& moves, double x, double strip) {
    for (std::int64_t row = 0; row < rows_; ++row)
      draw_box({x, corner(row, 0).y}, strip, side_, moves.times[static_cast<std::size_t>(row)]);
    svg_.text({x + strip / 2, origin_.y + height() + picture::kLineHeight - 3}, array_name(moves),
              "middle");
  }

  void draw_column_strip(const TileMoves& moves, double y) {
    for (std::int64_t column = 0; column < columns_; ++column)
      draw_box({corner(0, column).x, y}, side_, kStrip,
               moves.times[static_cast<std::size_t>(column)]);
    svg_.text({origin_.x - 8, y + kStrip / 2 + 5.5}, name_of(moves), "end");
  }

  double width() const { return side_ * static_cast<double>(columns_); }
  double height() const { return side_ * static_cast<double>(rows_); }

  picture::Svg& svg_;
  const TilesPanel& panel_;
  std::int64_t rows_, columns_;
  double side_ = 0, left_ = 0, above_ = 0, widest_ = 0;
  Point origin_;
};

toy::Meetings meetings_of(const PicturedProgram& program) {
  auto meetings = toy::meetings(program.run);
  if (!meetings) {
    throw request_failure(program.name + " multiplies no two loaded tiles",
                          "a program with a product of two arrays, such as q and k");
  }
  if (std::max(meetings->num_rows, meetings->num_columns) > kMostTiles) {
    throw request_failure(program.name + " has " + std::to_string(meetings->num_rows) + " x " +
                              std::to_string(meetings->num_columns) + " tiles",
                          "at most " + std::to_string(kMostTiles) +
                              " along each side: smaller n or larger B with -D");
  }
  return std::move(*meetings);
}

}  // namespace

std::string tiles_svg(const std::vector<PicturedProgram>& programs) {
  std::vector<toy::Meetings> all;
  for (const PicturedProgram& program : programs) all.push_back(meetings_of(program));
  picture::Svg svg(picture::kPictureWidth);
  const auto& arrays = programs.front().bound->arrays;
  const std::string title = "Tiles of " + arrays[all.front().row_array].name + " and " +
                            arrays[all.front().column_array].name +
                            " in the order of their products";
  picture::draw_heading(svg, title, "numbers: how often each tile is loaded or stored");
  double y = kTilesTop;
  std::string description;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    for (const toy::PassMeetings& pass : all[i].passes) {
      const TilesPanel panel{&programs[i], &all[i], &pass};
      TilesPanelDrawing drawing(svg, panel, y);
      y = drawing.draw();
      description += (description.empty() ? "" : " ") + drawing.description();
    }
  }
  return svg.finish(y, title, description);
}

}  // namespace flashlab::cli
