// Lines of a trace with common column widths, fitted to the width of the terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "toymachine/trace/trace_table.hpp"

namespace flashlab::toy::detail {

/// The text for a register. `ditto`: its next lines may show a ditto mark instead.
struct GridCell {
  std::string text;
  std::string below;  // the number under a formula
  bool ditto = false;
};

/// One line. Registers that are not in `changes` show the same as on the line before.
struct GridLine {
  std::string step;
  std::string instruction;
  std::vector<std::string> makes;  // what the step makes, from the longest text to the shortest
  std::vector<std::pair<std::size_t, GridCell>> changes;
  std::vector<std::int64_t> reads;
  std::int64_t written = -1;  // the register that is marked
  bool stores = false;        // the instruction itself is marked
  bool remark = false;        // a line that is not a step: registers stay blank
};

/// What follows the lines of a grid: other steps, none, or the same ones in the next round of a
/// loop.
enum class After : std::uint8_t { kMore, kNothing, kAgain };

/// Cuts a text, but never inside of a name like S@29, which would become another one.
std::string cut_outside_names(const std::string& text, std::size_t width, bool unicode);

class TraceGrid {
 public:
  explicit TraceGrid(const TraceTableOptions& options) : options_(options) {}

  /// The names of the registers, by number.
  void set_titles(std::vector<std::string> titles) { titles_ = std::move(titles); }
  /// Starts with these registers, as they are before the first line.
  void start(std::vector<GridCell> registers);
  void add(GridLine line) { lines_.push_back(std::move(line)); }
  std::size_t num_lines() const { return lines_.size(); }
  /// Prints the lines and forgets them; the registers stay as they are after the last line.
  void print(std::ostream& out, After after = After::kMore);
  /// A column with what each step makes takes the place of the columns of registers, which get what
  /// room is left.
  void show_changes(std::vector<std::int64_t> shown);
  /// Whether a register that holds a value has an empty cell, because no later line reads it.
  bool has_blanks() const { return has_blanks_; }
  /// The registers that a later line reads and that had no room.
  const std::set<std::size_t>& without_room() const { return without_room_; }
  /// A name like S@9 among those printed, or nothing.
  const std::string& example_of_name() const { return example_; }

 private:
  static constexpr std::string_view kStep = "Step", kInstruction = "Instruction";
  using Columns = std::vector<std::size_t>;  // register numbers
  using Widths = std::vector<std::size_t>;   // by register
  Widths natural_widths() const;
  std::vector<bool> touched() const;
  std::size_t room() const;
  std::vector<Columns> blocks(const Widths& natural, Columns& left_out) const;
  void shrink(const Columns& block, Widths& widths) const;
  void print_block(std::ostream& out, const Columns& block, const Widths& widths);
  struct HeaderCell {
    std::string_view title;
    std::size_t width = 0;
  };
  void print_header(std::ostream& out, const std::vector<HeaderCell>& columns) const;
  void print_line(std::ostream& out, const GridLine& line, const Columns& block,
                  const Widths& widths, const std::vector<GridCell>& cells,
                  const std::vector<bool>& fresh, bool below) const;
  std::string cell(const std::string& text, std::size_t width, bool marked, bool last) const;
  void print_left_out(std::ostream& out, const Columns& left_out) const;

  // trace_changes.cpp
  void measure();
  void print_changes(std::ostream& out, After after);
  std::vector<std::vector<bool>> read_later(After after) const;
  std::string fitting(const GridLine& line, std::size_t most, std::size_t limit) const;
  Columns with_room(const std::vector<std::vector<bool>>& is_read, std::size_t room,
                    Widths& widths);
  void note_example(const std::string& text);

  const TraceTableOptions& options_;
  std::vector<std::string> titles_;
  std::vector<GridCell> start_;
  std::vector<GridLine> lines_;
  std::size_t step_width_ = 0, instruction_width_ = 0;
  bool shows_changes_ = false;
  Columns shown_;  // if they are given
  bool has_blanks_ = false;
  std::set<std::size_t> without_room_;
  std::string example_;
};

}  // namespace flashlab::toy::detail
