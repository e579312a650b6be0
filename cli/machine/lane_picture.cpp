#include "cli/machine/lane_picture.hpp"

#include <algorithm>

#include "cli/terminal/text_table.hpp"

namespace flashlab::cli {
namespace {

constexpr std::size_t kLabel = 10;  // columns before a lane
constexpr std::int64_t kTick = 10;  // minimum columns between numbers of the axis

std::size_t num_kinds() { return toy::instruction_set().size() + toy::kNumCauses; }
std::size_t kind_of_cause(toy::Cause cause) {
  return toy::instruction_set().size() + static_cast<std::size_t>(cause);
}

/// Returns the first of 1, 2, 5, 10, 20, … that is at least `wanted`: round steps are
/// easier to read.
std::int64_t round_cycles(std::int64_t wanted) {
  for (std::int64_t decade = 1;; decade *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (decade * factor >= wanted) return decade * factor;
    }
    if (decade > INT64_MAX / 50) return wanted;
  }
}

constexpr char kWaitGlyphs[] = {'?', '.', '-', ' '};  // by Cause; busy: the instruction's letter

}  // namespace

std::int64_t LanePicture::columns(const Terminal& terminal) {
  return static_cast<std::int64_t>(std::max<std::size_t>(terminal.width, kLabel + 10) - kLabel);
}

std::int64_t LanePicture::cycles_of_column(std::int64_t cycles, const Terminal& terminal) {
  return round_cycles((cycles - 1) / columns(terminal) + 1);
}

LanePicture::LanePicture(const toy::BoundProgram& program, std::int64_t from, std::int64_t to,
                         const Terminal& terminal)
    : program_(program),
      from_(from),
      to_(std::max(from + 1, to)),
      scale_(cycles_of_column(to_ - from_, terminal)),
      terminal_(terminal),
      seen_(num_kinds()) {}

std::size_t LanePicture::num_columns() const {
  return static_cast<std::size_t>((to_ - from_ - 1) / scale_ + 1);
}

void LanePicture::add(std::size_t model, const toy::TimelineInterval& interval) {
  const std::size_t lane = model * toy::kNumUnits + static_cast<std::size_t>(interval.unit);
  while (lanes_.size() <= lane) lanes_.emplace_back(num_columns() * num_kinds());
  const bool busy = interval.cause == toy::Cause::kBusy;
  const std::size_t kind =
      busy ? program_.instructions[interval.site].row : kind_of_cause(interval.cause);
  std::int64_t at = std::max(interval.start, from_) - from_;
  const std::int64_t end = std::min(interval.end, to_) - from_;
  while (at < end) {
    const std::int64_t column = at / scale_;
    const std::int64_t next = std::min(end, (column + 1) * scale_);
    lanes_[lane][static_cast<std::size_t>(column) * num_kinds() + kind] += next - at;
    at = next;
  }
  seen_[kind] = 1;
}

char LanePicture::glyph(std::size_t kind) const {
  const std::size_t rows = toy::instruction_set().size();
  return kind < rows ? toy::instruction_letters()[kind] : kWaitGlyphs[kind - rows];
}

/// Returns the most frequent kind in the column; num_kinds() if it is empty.
std::size_t LanePicture::main_kind(const Cycles& cycles, std::size_t column) const {
  const auto first = cycles.begin() + static_cast<std::ptrdiff_t>(column * num_kinds());
  const auto most = std::max_element(first, first + static_cast<std::ptrdiff_t>(num_kinds()));
  return *most == 0 ? num_kinds() : static_cast<std::size_t>(most - first);
}

/// Writes numbers at round cycles, each to the right of a mark in its column.
std::string LanePicture::axis() const {
  const auto digits = static_cast<std::int64_t>(grouped(std::to_string(to_)).size());
  const std::int64_t step = round_cycles(std::max(kTick, digits + 2) * scale_);
  std::string line(num_columns(), ' ');
  const auto mark = [&](std::int64_t cycle) {
    const auto column = static_cast<std::size_t>((cycle - from_) / scale_);
    const std::string text = "|" + grouped(std::to_string(cycle));
    if (column + text.size() <= line.size()) line.replace(column, text.size(), text);
  };
  const std::int64_t first = from_ / step * step;
  if (from_ - first < step / 2) mark(from_);
  for (std::int64_t cycle = first + step; cycle < to_; cycle += step) mark(cycle);
  line.resize(line.find_last_not_of(' ') + 1);
  return std::string(kLabel, ' ') + styled(line, Style::kDim, terminal_) + "\n";
}

std::string LanePicture::lane(const Cycles& cycles, toy::Unit unit) const {
  const std::size_t rows = toy::instruction_set().size();
  const auto style = [&](std::size_t kind) {
    if (kind < rows) {
      return unit == toy::Unit::kMemory ? Style::kBlue
             : unit == toy::Unit::kLink ? Style::kBold
                                        : Style::kGreen;
    }
    return kind == kind_of_cause(toy::Cause::kData) ? Style::kRed : Style::kYellow;
  };
  std::string text = "  " + std::string(toy::to_string(unit));
  text.resize(kLabel, ' ');
  for (std::size_t column = 0; column < num_columns();) {
    const std::size_t kind = main_kind(cycles, column);
    std::size_t end = column + 1;
    while (end < num_columns() && main_kind(cycles, end) == kind) ++end;
    const std::string glyphs(end - column, kind < num_kinds() ? glyph(kind) : ' ');
    text += glyphs[0] == ' ' ? glyphs : styled(glyphs, style(kind), terminal_);
    column = end;
  }
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string LanePicture::legend() const {
  std::vector<std::string> entries;
  const auto entry_of = [&](char letter) -> std::string& {
    for (std::string& entry : entries) {
      if (entry[0] == letter) return entry;
    }
    return entries.emplace_back(1, letter);
  };
  const auto rows = toy::instruction_set();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (seen_[row] == 0) continue;
    std::string& entry = entry_of(toy::instruction_letters()[row]);
    entry += (entry.size() == 1 ? " " : ", ") + std::string(rows[row].mnemonic);
  }
  if (seen_[kind_of_cause(toy::Cause::kData)] != 0) entries.emplace_back(". waits for data");
  if (seen_[kind_of_cause(toy::Cause::kBuffer)] != 0)
    entries.emplace_back(program_.machine ? "- waits for a register, cell or link in use"
                                          : "- waits for a register in use");
  if (seen_[kind_of_cause(toy::Cause::kIdle)] != 0) entries.emplace_back("blank: nothing to do");
  std::string text, line;
  for (const std::string& entry : entries) {
    if (!line.empty() && line.size() + entry.size() + 3 > terminal_.width) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + entry;
  }
  return text + line + "\n";
}

std::string LanePicture::to_string(const std::vector<toy::Timeline>& timelines) const {
  std::string text =
      "Cycles " + grouped(std::to_string(from_)) + " to " + grouped(std::to_string(to_)) + ", " +
      (scale_ == 1 ? "one" : grouped(std::to_string(scale_))) + " per letter\n\n" + axis();
  for (std::size_t model = 0; model < timelines.size(); ++model) {
    text += styled(toy::to_string(timelines[model].model), Style::kBold, terminal_) + "\n";
    for (const toy::Unit unit : toy::units_of(program_)) {
      const std::size_t index = model * toy::kNumUnits + static_cast<std::size_t>(unit);
      text += index < lanes_.size() ? lane(lanes_[index], unit)
                                    : lane(Cycles(num_columns() * num_kinds()), unit);
    }
  }
  return text + "\n" + legend();
}

}  // namespace flashlab::cli
