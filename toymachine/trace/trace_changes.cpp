// What each step makes, with the registers that are read later: the lines of a trace of many registers.
#include <algorithm>
#include <numeric>
#include <ostream>
#include <string_view>
#include <utility>

#include "text/width.hpp"
#include "toymachine/trace/step_texts.hpp"
#include "toymachine/trace/trace_grid.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::size_t kMostForLongOne = 44;  // for a text that has no shorter form
constexpr std::size_t kWidest = 14;          // columns for a register
constexpr std::string_view kMakes = "Makes";

}  // namespace

std::string cut_outside_names(const std::string& text, std::size_t width, bool unicode) {
  if (display_width(text) <= width) return text;
  const std::size_t dots = unicode ? 1 : 3;
  std::string kept = fitted(text, width, unicode);
  kept.resize(kept.size() - std::min(kept.size(), std::string_view(unicode ? "…" : "...").size()));
  const std::size_t at = kept.find_last_of('@');
  const bool in_name =
      at != std::string::npos && kept.find_first_not_of("0123456789", at + 1) == std::string::npos;
  if (in_name) kept.resize(kept.find_last_of(" (*·+-−/^", at) + 1);
  return width > dots ? kept + (unicode ? "…" : "...") : kept;
}

void TraceGrid::show_changes(std::vector<std::int64_t> shown) {
  shows_changes_ = true;
  shown_.assign(shown.begin(), shown.end());
}

/// By line and register: whether a later line reads what the register holds after this one.
std::vector<std::vector<bool>> TraceGrid::read_later(After after) const {
  std::vector<std::vector<bool>> result(lines_.size());
  std::vector<bool> is_read(start_.size(), after == After::kMore);
  const auto go_back = [&](const GridLine& line) {
    if (line.written >= 0) is_read[static_cast<std::size_t>(line.written)] = false;
    for (const std::int64_t number : line.reads) is_read[static_cast<std::size_t>(number)] = true;
  };
  if (after == After::kAgain) std::for_each(lines_.rbegin(), lines_.rend(), go_back);
  for (std::size_t i = lines_.size(); i-- > 0;) {
    result[i] = is_read;
    go_back(lines_[i]);
  }
  return result;
}

/// The longest text that fits, or the shortest one, cut if it needs more than `limit`.
std::string TraceGrid::fitting(const GridLine& line, std::size_t most, std::size_t limit) const {
  for (const std::string& text : line.makes) {
    if (display_width(text) <= most) return text;
  }
  return line.makes.empty() ? std::string()
                            : cut_outside_names(line.makes.back(), limit, options_.unicode);
}

/// The registers for which there is room, those first that are read later on most lines. One of several that share a
/// name, O[0], holds a part of a value, and comes after those that hold all of theirs. Sets their widths.
TraceGrid::Columns TraceGrid::with_room(const std::vector<std::vector<bool>>& is_read,
                                        std::size_t room, Widths& widths) {
  // Registers that these lines neither read nor write come last.
  const std::vector<bool> is_touched = touched();
  std::vector<std::pair<std::size_t, std::size_t>> lines_of(start_.size());
  widths.assign(start_.size(), 0);
  for (std::size_t i = 0; i < start_.size(); ++i) widths[i] = display_width(titles_[i]);
  std::vector<GridCell> cells = start_;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    for (const auto& [number, cell] : lines_[i].changes) cells[number] = cell;
    for (std::size_t number = 0; number < cells.size(); ++number) {
      if (!is_read[i][number] || cells[number].text.empty() || lines_[i].remark) continue;
      lines_of[number].first += is_touched[number] ? 1 : 0;
      ++lines_of[number].second;
      widths[number] = std::max(widths[number], display_width(cells[number].text));
    }
  }
  Columns order = shown_;
  if (order.empty()) {
    order.resize(start_.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](std::size_t number) { return lines_of[number].second == 0; });
    const auto is_whole = [&](std::size_t number) {
      return lines_of[number].first > 0 && titles_[number].find('[') == std::string::npos;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(is_whole(a), lines_of[a]) > std::pair(is_whole(b), lines_of[b]);
    });
  }
  Columns result;
  for (const std::size_t number : order) {
    widths[number] = std::min(widths[number], kWidest);
    if (widths[number] + 3 > room) {
      if (lines_of[number].first > 0) without_room_.insert(number);
      continue;
    }
    room -= widths[number] + 3;
    result.push_back(number);
  }
  if (shown_.empty()) std::sort(result.begin(), result.end());
  return result;
}

void TraceGrid::print_changes(std::ostream& out, After after) {
  const std::size_t fixed = 1 + step_width_ + 3 + instruction_width_ + 3 + 1;
  const std::size_t room = options_.width == 0      ? SIZE_MAX
                           : options_.width > fixed ? options_.width - fixed
                                                    : 0;
  const std::size_t most = std::min(room, kMostForChange);
  std::size_t makes_width = kMakes.size();
  std::vector<std::string> makes;
  for (const GridLine& line : lines_) {
    makes.push_back(fitting(line, most, std::min(room, kMostForLongOne)));
    note_example(makes.back());
    makes_width = std::max(makes_width, display_width(makes.back()));
  }
  const auto is_read = read_later(after);
  Widths widths;
  const Columns columns =
      with_room(is_read, room == SIZE_MAX ? room : room - std::min(room, makes_width), widths);

  const char* bar = options_.unicode ? "│" : "|";
  std::vector<HeaderCell> header{{kMakes, makes_width}};
  for (const std::size_t number : columns) header.push_back({titles_[number], widths[number]});
  print_header(out, header);

  for (std::size_t i = 0; i < lines_.size(); ++i) {
    GridLine& line = lines_[i];
    for (auto& [number, cell] : line.changes) start_[number] = std::move(cell);
    // Nothing is printed behind the last text of a line.
    std::vector<std::string> texts(columns.size());
    std::size_t num_texts = 0;
    for (std::size_t c = 0; c < columns.size() && !line.remark; ++c) {
      const bool is_new = line.written == static_cast<std::int64_t>(columns[c]);
      if (is_read[i][columns[c]] || is_new || !shown_.empty()) {
        texts[c] = start_[columns[c]].text;
      } else if (!start_[columns[c]].text.empty()) {
        has_blanks_ = true;
      }
      if (!texts[c].empty()) num_texts = c + 1;
      note_example(texts[c]);
    }
    const bool ends_early = num_texts == 0;
    out << ' ' << std::string(step_width_ - display_width(line.step), ' ') << line.step << ' '
        << bar
        << cell(line.instruction, instruction_width_, line.stores, ends_early && makes[i].empty());
    if (!ends_early || !makes[i].empty()) {
      out << bar << cell(makes[i], makes_width, false, ends_early);
    }
    for (std::size_t c = 0; c < num_texts; ++c) {
      const bool is_new = line.written == static_cast<std::int64_t>(columns[c]);
      out << bar << cell(texts[c], widths[columns[c]], is_new, c + 1 == num_texts);
    }
    out << '\n';
  }
  lines_.clear();
}

}  // namespace flashlab::toy::detail
