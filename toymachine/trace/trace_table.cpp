#include "toymachine/trace/trace_table.hpp"

#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/trace/step_texts.hpp"
#include "toymachine/trace/trace_grid.hpp"

namespace flashlab::toy {
namespace {

using detail::After;
using detail::GridCell;
using detail::GridLine;

constexpr std::size_t kMostLines = 2000;     // with common column widths
constexpr std::string_view kLeftover = "-";  // a formula that has lost its meaning
constexpr std::size_t kNamesInHeading = 8;

bool holds_the_same(const TraceRegister& a, const TraceRegister& b) {
  const bool value = a.value == b.value || (std::isnan(a.value) && std::isnan(b.value));
  return a.origin == b.origin && a.written_at == b.written_at && value &&
         a.symbol.node() == b.symbol.node();
}

std::string code_of_line(std::string_view text) {
  const std::string_view code = text.substr(0, text.find_first_of(";#"));
  const std::size_t first = code.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(code.substr(first, code.find_last_not_of(" \t") - first + 1));
}

class TraceTable : public TraceSink {
 public:
  TraceTable(std::ostream& out, const TraceTableOptions& options)
      : out_(out), options_(options), grid_(options_) {}

  bool begin(const TraceHeader& header) override {
    header_ = &header;
    program_ = header.program;
    last_.assign(static_cast<std::size_t>(program_->num_registers), {});
    texts_.begin(header, true);
    std::vector<std::string> titles;
    for (std::int64_t i = 0; i < program_->num_registers; ++i) {
      titles.push_back(program_->register_name(i));
    }
    grid_.set_titles(std::move(titles));
    const bool has_few = last_.size() <= kFewRegisters;
    shows_changes_ =
        options_.changes || !options_.shown.empty() || (options_.ditto == Ditto::kAuto && !has_few);
    if (shows_changes_) grid_.show_changes(options_.shown);
    return true;
  }

  bool body(const TraceBody& body) override {
    print(After::kMore);
    in_body_ = true;
    body_line_ =
        code_of_line(program_->program->source->line(program_->loops[body.loop].span.line));
    last_.assign(body.registers.begin(), body.registers.end());
    texts_.begin_body(body);
    started_ = false;
    return out_.good();
  }

  bool row(const TraceRow& row) override {
    if (!started_ || row.instruction->pass != pass_) {
      begin_part(row);
    } else if (grid_.num_lines() >= kMostLines) {
      print(After::kMore);
      out_ << '\n';
    }
    GridLine line;
    line.step = std::to_string(row.position);
    line.instruction = row.text;
    texts_.begin_step(row);
    if (shows_changes_) {
      line.makes = texts_.makes(row, {options_.unicode, options_.symbols, options_.values});
    }
    texts_.end_step(row);
    line.changes = std::move(waiting_);
    waiting_.clear();
    update(row.registers, line.changes);
    line.reads = row.register_reads;
    line.written = row.register_written;
    line.stores = row.stored.has_value();
    grid_.add(std::move(line));
    return out_.good();
  }

  void hidden(const TraceRow& row) override {
    texts_.begin_step(row);
    texts_.end_step(row);
  }

  bool label(const TraceLabel& label) override {
    texts_.label(label);
    update(label.registers, waiting_);
    if (!options_.labels || !started_) return true;
    GridLine line;
    line.remark = true;
    line.instruction = program_->register_name(label.register_number) + " = " + text(label.symbol);
    if (label.claim == Claim::kTrue) line.instruction += ", checked";
    if (label.claim == Claim::kFalse) line.instruction += ": wrong";
    grid_.add(std::move(line));
    return true;
  }

  bool gap(const TraceGap& gap) override {
    if (!started_) return true;
    GridLine line;
    line.remark = true;
    const std::uint64_t count = gap.last - gap.first + 1;
    line.step = options_.unicode ? "…" : "...";
    line.instruction = std::to_string(count) + (count == 1 ? " step" : " steps");
    grid_.add(std::move(line));
    return true;
  }

  void end(const TraceSummary& summary) override {
    print(summary.complete ? After::kNothing : After::kMore);
    const std::string& example = grid_.example_of_name();
    if (!example.empty()) {
      const std::size_t at = example.find('@');
      out_ << "\n";
      print_wrapped(example + " is what step " + example.substr(at + 1) + " put into " +
                    example.substr(0, at) + ".");
    }
    if (grid_.has_blanks() || !grid_.without_room().empty()) {
      out_ << (example.empty() ? "\n" : "");
      print_wrapped(what_is_left_out());
    }
    if (summary.complete && summary.claims_checked == 0 && summary.claims_unchecked > 0) {
      out_ << "\n";
      print_wrapped("Claims: " + std::to_string(summary.claims_unchecked) +
                    ", none checked: the machine checks numbers, not tiles.");
    } else if (summary.complete && summary.claims_checked > 0) {
      out_ << "\n Claims checked: " << summary.claims_checked << ", all hold";
      if (summary.claims_unchecked > 0) out_ << "; not checked: " << summary.claims_unchecked;
      out_ << ".\n";
    }
    out_.flush();
  }

 private:
  void print_wrapped(const std::string& text) {
    const std::size_t width = options_.width > 1 ? options_.width - 1 : display_width(text);
    for (const std::string& line : wrap(text, width)) out_ << ' ' << line << '\n';
  }

  /// Says which registers do not stand beside the steps, and how to see them.
  std::string what_is_left_out() const {
    std::string text = "A register stands beside a step while a later step reads it";
    std::string names;
    const auto& all = grid_.without_room();
    std::size_t count = 0;
    for (const std::size_t number : all) {
      if (++count > kNamesInHeading) break;
      names +=
          (names.empty() ? "" : ",") + program_->register_name(static_cast<std::int64_t>(number));
    }
    if (all.empty()) return text + ".";
    if (all.size() > kNamesInHeading) {
      return text + "; " + std::to_string(all.size()) + " have no room (--show, --width).";
    }
    return text + "; --show " + names + " shows " +
           (all.size() == 1 ? "one that has" : "those that have") + " no room.";
  }

  void print(After after) { grid_.print(out_, in_body_ ? After::kAgain : after); }

  /// Starts a new pass or a generic iteration with a heading and a separate table.
  void begin_part(const TraceRow& row) {
    print(After::kMore);
    const bool from_the_middle = !in_body_ && !started_ && row.step > 1;
    if (from_the_middle) {
      last_.assign(row.registers.begin(), row.registers.end());
      if (row.register_written >= 0) last_[static_cast<std::size_t>(row.register_written)] = {};
    }
    pass_ = row.instruction->pass;
    started_ = true;
    heading();
    std::vector<GridCell> cells;
    for (std::size_t i = 0; i < last_.size(); ++i) cells.push_back(cell(i));
    grid_.start(std::move(cells));
    waiting_.clear();
  }

  void heading() {
    std::string text;
    const std::string title = printable(program_->program->passes[pass_]);
    if (pass_ > 0) text = "Pass " + std::to_string(pass_) + (title.empty() ? "" : ". " + title);
    if (in_body_) text += (text.empty() ? "Each" : ", each") + (" round of " + body_line_);
    const std::string carried = pass_ > 0 || in_body_ ? named() : std::string();
    if (any_heading_ && !text.empty()) out_ << '\n';
    if (!text.empty()) {
      any_heading_ = true;
      const bool fits = options_.width == 0 || display_width(text + carried) + 3 <= options_.width;
      const char* between = carried.empty() ? "" : fits ? "  " : "\n ";
      if (options_.color) text = "\033[1m" + text + "\033[0m";
      out_ << ' ' << text << between << carried << "\n\n";
    }
    any_heading_ = true;
  }

  /// Returns "(R1 = m, R2 = S)": the values finished in earlier parts.
  std::string named() const {
    std::string list;
    std::size_t count = 0;
    for (std::size_t i = 0; i < last_.size(); ++i) {
      if (last_[i].origin != Origin::kNamed || !last_[i].symbol.as_name()) continue;
      const std::string name = text(last_[i].symbol);
      const std::string called = program_->register_name(static_cast<std::int64_t>(i));
      if (name == called || ++count > kNamesInHeading) continue;
      list += (list.empty() ? "" : ", ") + called + " = " + name;
    }
    if (count > kNamesInHeading) list += options_.unicode ? ", …" : ", ...";
    return list.empty() ? list : "(" + list + ")";
  }

  std::string text(const Symbol& symbol) const {
    return to_string(symbol, SymbolStyle{options_.unicode, &header_->axes});
  }

  /// Writes a tile as its shape.
  std::string value_text(const TraceRegister& reg) const {
    return reg.rows * reg.cols == 1 ? short_text(reg.value)
                                    : StepTexts::tile_text(reg.rows, reg.cols, options_.unicode);
  }

  /// A register beside what the steps make: a short value, or its name.
  GridCell short_cell(const TraceRegister& reg) const {
    if (!options_.symbols) return {value_text(reg), {}, false};
    return {texts_.short_text(reg, options_.unicode), {}, false};
  }

  /// The cell of a register, as it is on the last line.
  GridCell cell(std::size_t number) const {
    const TraceRegister& reg = last_[number];
    GridCell result;
    if (reg.origin == Origin::kUnwritten) return result;
    if (shows_changes_) {
      result = short_cell(reg);
      const std::string own = program_->register_name(static_cast<std::int64_t>(number));
      if (in_body_ && result.text == own) result.text.clear();  // what came into the round
      return result;
    }
    const std::string value = options_.values ? value_text(reg) : std::string();
    const bool leftover = reg.origin == Origin::kLeftover;
    result.text = !options_.symbols ? value : leftover ? std::string(kLeftover) : text(reg.symbol);
    if (options_.symbols) result.below = value;
    result.ditto = options_.ditto == Ditto::kAlways;
    return result;
  }

  void update(std::span<const TraceRegister> registers,
              std::vector<std::pair<std::size_t, GridCell>>& changes) {
    for (std::size_t i = 0; i < registers.size(); ++i) {
      if (holds_the_same(last_[i], registers[i])) continue;
      last_[i] = registers[i];
      changes.emplace_back(i, cell(i));
    }
  }

  std::ostream& out_;
  TraceTableOptions options_;
  detail::TraceGrid grid_;
  const TraceHeader* header_ = nullptr;
  const BoundProgram* program_ = nullptr;
  std::vector<TraceRegister> last_;                        // as on the last line
  std::vector<std::pair<std::size_t, GridCell>> waiting_;  // changes since
  std::uint32_t pass_ = 0;
  bool started_ = false;
  bool in_body_ = false;
  bool any_heading_ = false;
  std::string body_line_;
  bool shows_changes_ = false;
  StepTexts texts_;
};

}  // namespace

std::unique_ptr<TraceSink> make_trace_table(std::ostream& out, const TraceTableOptions& options) {
  return std::make_unique<TraceTable>(out, options);
}

}  // namespace flashlab::toy
