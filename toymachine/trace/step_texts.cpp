#include "toymachine/trace/step_texts.hpp"

#include <algorithm>
#include <utility>

#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/width.hpp"

namespace flashlab::toy {
namespace {

constexpr std::size_t kMostNames = 8192;  // then those that no register holds are forgotten
constexpr std::size_t kAllWrittenOut = kMaxSymbolSize;  // named values inside of each other
constexpr std::size_t kShortCell = 10;  // columns; a longer value is shown by its name

}  // namespace

void StepTexts::begin(const TraceHeader& header, bool by_position) {
  header_ = &header;
  program_ = header.program;
  by_position_ = by_position;
  names_ = ValueNames();
  last_.assign(static_cast<std::size_t>(program_->num_registers), {});
  holders_.clear();
}

std::string StepTexts::value_name(std::int64_t number, std::uint64_t position) const {
  return program_->register_name(number) + "@" + std::to_string(position);
}

SymbolStyle StepTexts::style(bool unicode, std::size_t written_out) const {
  return {unicode, &header_->axes, &names_, written_out};
}

void StepTexts::update(std::int64_t number, std::span<const TraceRegister> registers) {
  const TraceRegister& reg = registers[static_cast<std::size_t>(number)];
  Last& last = last_[static_cast<std::size_t>(number)];
  last.symbol = reg.symbol;
  last.written_at = reg.written_at;
}

/// Steps of a round have numbers of their own: what came into it is called by its register.
void StepTexts::begin_body(const TraceBody& body) {
  names_ = ValueNames();
  holders_.clear();
  for (std::int64_t i = 0; i < program_->num_registers; ++i) {
    update(i, body.registers);
    names_.rename(value_name(i, last_[static_cast<std::size_t>(i)].written_at),
                  program_->register_name(i));
  }
}

/// If a value is called after the register that the step overwrites, and another one holds it, too,
/// it is called after that from now on.
void StepTexts::begin_step(const TraceRow& row) {
  for (const std::int64_t number : row.renamed) {
    if (number != row.register_written) update(number, row.registers);
  }
  if (row.register_written < 0) return;
  const Last& before = last_[static_cast<std::size_t>(row.register_written)];
  const std::string* const name = names_.find(before.symbol);
  if (name == nullptr ||
      *name != names_.renamed(value_name(row.register_written, before.written_at))) {
    return;
  }
  const auto holders = holders_.find(before.symbol.node());
  if (holders == holders_.end()) return;
  std::sort(holders->second.begin(), holders->second.end());
  for (const std::size_t i : holders->second) {
    const Last& other = last_[i];
    if (static_cast<std::int64_t>(i) == row.register_written || other.is_copy ||
        other.symbol.node() != before.symbol.node()) {
      continue;
    }
    const auto number = static_cast<std::int64_t>(i);
    names_.add(before.symbol, names_.renamed(value_name(number, other.written_at)));
    return;
  }
}

/// A value keeps the name that it has.
void StepTexts::end_step(const TraceRow& row) {
  if (row.register_written < 0) return;
  const auto written = static_cast<std::size_t>(row.register_written);
  const bool has_name = names_.find(row.expression) != nullptr;
  const std::uint64_t position = by_position_ ? row.position : row.step;
  const std::string name = value_name(row.register_written, position);
  if (!has_name) names_.add(row.symbol, name);
  last_[written].is_copy = has_name && row.register_reads.size() == 1 && !row.read;
  if (has_name && !last_[written].is_copy) {
    holders_[row.expression.node()].push_back(written);
  }
  if (position != row.step) {  // in a generic iteration
    names_.rename(value_name(row.register_written, row.step), name);
  }
  update(row.register_written, row.registers);
  if (names_.size() > kMostNames) forget_some();
}

void StepTexts::label(const TraceLabel& label) {
  update(label.register_number, label.registers);
  for (const std::int64_t number : label.renamed) update(number, label.registers);
}

void StepTexts::forget_some() {
  std::vector<Symbol> held;
  for (const Last& last : last_) held.push_back(last.symbol);
  names_.keep_only(held);
  std::erase_if(holders_, [&](const auto& entry) {
    return std::none_of(held.begin(), held.end(),
                        [&](const Symbol& symbol) { return symbol.node() == entry.first; });
  });
}

std::string StepTexts::tile_text(std::int64_t rows, std::int64_t cols, bool unicode) {
  return std::to_string(rows) + (unicode ? "×" : "x") + std::to_string(cols);
}

namespace {

/// "[1, 3]", "[[1], [3]]": the numbers of a tile, as inputs are written. Empty if they have no room anyway.
std::string numbers_text(const TraceValue& value) {
  constexpr std::size_t kMostNumbers = 8;
  constexpr int kDigits = 4;
  if (value.elements.size() > kMostNumbers) return {};
  std::vector<std::string> rows;
  for (std::int64_t row = 0; row < value.rows; ++row) {
    const auto first = value.elements.begin() + row * value.cols;
    const std::vector<double> numbers(first, first + value.cols);
    rows.push_back(
        "[" +
        joined(numbers, ", ", [](double number) { return flashlab::short_text(number, kDigits); }) +
        "]");
  }
  return value.rows == 1 ? rows.front() : "[" + joined(rows) + "]";
}

}  // namespace

std::vector<std::string> StepTexts::makes(const TraceRow& row, const StepTextOptions& options,
                                          std::size_t enough) const {
  const bool unicode = options.unicode;
  std::string target;
  if (row.register_written >= 0) {
    target = program_->register_name(row.register_written);
  } else if (row.stored) {
    target = to_string(row.stored->name, style(unicode, 0));
  }
  if (target.empty()) return {};
  std::string number;
  if (options.values) {
    number = " = " + (row.value.is_tile() ? tile_text(row.value.rows, row.value.cols, unicode)
                                          : flashlab::short_text(row.value.number));
  }
  if (!options.symbols && options.values && row.value.is_tile()) {
    const std::string numbers = numbers_text(row.value);
    if (!numbers.empty()) return {target + " = " + numbers, target + number};
  }
  if (!options.symbols) return {target + number};
  const Symbol& value = row.expression;
  const bool is_label = row.symbol.as_name() != nullptr && !(row.symbol == value);
  const std::string label = is_label ? to_string(row.symbol, style(unicode, 0)) : std::string();
  if (is_label && label != target) target += " = " + label;
  const std::string shortest = to_string(value, style(unicode, 0));
  if (row.value.is_tile() || number == " = " + shortest) number.clear();  // a shape says little
  if (shortest == target) return {target + number};
  if (const std::string* const held = names_.find(value)) {
    return {target + " = " + *held + number};
  }
  std::vector<std::string> texts;
  for (const std::size_t written_out : {kAllWrittenOut, std::size_t{1}, std::size_t{0}}) {
    texts.push_back(target + " = " + to_string(value, style(unicode, written_out)) + number);
    if (display_width(texts.back()) <= enough) return texts;
  }
  SymbolStyle by_names = style(unicode, 0);
  by_names.names_differences = true;
  texts.push_back(target + " = " + to_string(value, by_names) + number);
  return texts;
}

std::string StepTexts::chosen(const TraceRow& row, const StepTextOptions& options) const {
  std::vector<std::string> texts = makes(row, options, kMostForChange);
  return texts.empty() ? std::string() : std::move(texts.back());
}

std::string StepTexts::short_text(const TraceRegister& reg, bool unicode) const {
  const std::string* const name = names_.find(reg.symbol);
  std::string text = to_string(reg.symbol, style(unicode, kAllWrittenOut));
  if (name != nullptr && display_width(text) > kShortCell) text = *name;
  return text;
}

std::string StepTexts::held(const TraceRegister& reg, bool unicode) const {
  if (last_.size() > kFewRegisters) return short_text(reg, unicode);
  return reg.origin == Origin::kLeftover ? std::string()
                                         : to_string(reg.symbol, {unicode, &header_->axes});
}

}  // namespace flashlab::toy
