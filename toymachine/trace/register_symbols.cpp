#include "toymachine/trace/register_symbols.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "toymachine/trace/step_texts.hpp"
#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {
namespace {

constexpr std::uint64_t kStepsOfBlock = 512;
constexpr std::uint64_t kSymbolsOfBlock = 1 << 16;

std::uint64_t steps_of_block(const BoundProgram& program) {
  const auto registers =
      static_cast<std::uint64_t>(std::max<std::int64_t>(program.num_registers, 1));
  return std::clamp<std::uint64_t>(kSymbolsOfBlock / registers, 1, kStepsOfBlock);
}

/// Keeps the texts of the registers after each step, with the labels that follow it, and what it
/// made.
template <class Texts>
class KeptTexts final : public TraceSink {
 public:
  KeptTexts(std::vector<Texts>& after, std::uint64_t first, bool unicode)
      : after_(after), first_(first), unicode_(unicode) {}
  bool begin(const TraceHeader& header) override {
    program_ = header.program;
    texts_.begin(header, false);
    registers_.resize(static_cast<std::size_t>(program_->num_registers));
    formulas_.resize(registers_.size());
    return true;
  }
  void hidden(const TraceRow& row) override { follow(row); }
  bool row(const TraceRow& row) override {
    follow(row);
    keep(row.step);
    return true;
  }
  bool label(const TraceLabel& label) override {
    texts_.label(label);
    rename(label.register_number, label.registers);
    for (const std::int64_t number : label.renamed) rename(number, label.registers);
    keep(label.after_step);
    return true;
  }

 private:
  void follow(const TraceRow& row) {
    texts_.begin_step(row);
    made_ = texts_.chosen(row, {unicode_});
    texts_.end_step(row);
    for (const std::int64_t number : row.renamed) rename(number, row.registers);
    if (row.register_written < 0) return;
    const std::string target = program_->register_name(row.register_written) + " = ";
    const bool is_formula = made_.compare(0, target.size(), target) == 0;
    formulas_[static_cast<std::size_t>(row.register_written)] =
        is_formula ? made_.substr(target.size()) : std::string();
    update(row.register_written, row.registers);
  }

  /// What made the value may have used names that mean something else now.
  void rename(std::int64_t number, std::span<const TraceRegister> registers) {
    formulas_[static_cast<std::size_t>(number)].clear();
    update(number, registers);
  }

  void update(std::int64_t number, std::span<const TraceRegister> registers) {
    const TraceRegister& reg = registers[static_cast<std::size_t>(number)];
    std::string text = texts_.held(reg, unicode_);
    if (text.empty()) text = to_string(reg.symbol, {unicode_, nullptr});
    const std::string& formula = formulas_[static_cast<std::size_t>(number)];
    const bool is_name = text == texts_.value_name(number, reg.written_at);
    if (is_name && !formula.empty() && formula != text) text += " = " + formula;
    registers_[static_cast<std::size_t>(number)] = std::move(text);
  }

  void keep(std::uint64_t step) {
    if (step < first_ || step - first_ >= after_.size()) return;
    after_[static_cast<std::size_t>(step - first_)] = {registers_, made_};
  }

  std::vector<Texts>& after_;
  std::uint64_t first_;
  bool unicode_;
  const BoundProgram* program_ = nullptr;
  StepTexts texts_;
  std::vector<std::string> registers_, formulas_;  // by register; the second: what made it
  std::string made_;
};

}  // namespace

RegisterSymbols::RegisterSymbols(const BoundProgram& program, InitialDram dram, bool unicode)
    : program_(&program), dram_(std::move(dram)), unicode_(unicode) {}

const std::vector<std::string>& RegisterSymbols::after(std::uint64_t step) {
  static const std::vector<std::string> unknown;
  return are_known_after(step) ? texts_after(step).registers : unknown;
}

const std::string& RegisterSymbols::made_by(std::uint64_t step) {
  return are_known_after(step) ? texts_after(step).made : before_.made;
}

const RegisterSymbols::Texts& RegisterSymbols::texts_after(std::uint64_t step) {
  if (step == 0) {
    before_.registers.resize(static_cast<std::size_t>(program_->num_registers));
    return before_;
  }
  const std::uint64_t length = steps_of_block(*program_), number = (step - 1) / length;
  const auto is_it = [&](const Block& block) { return block.number == number; };
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), is_it);
  if (found == blocks_.end()) {
    blocks_.insert(blocks_.begin(), trace_block(number));
    blocks_.resize(std::min<std::size_t>(blocks_.size(), 2));
  } else {
    std::rotate(blocks_.begin(), found, found + 1);
  }
  return blocks_.front().after[static_cast<std::size_t>((step - 1) % length)];
}

RegisterSymbols::Block RegisterSymbols::trace_block(std::uint64_t number) {
  const std::uint64_t length = steps_of_block(*program_);
  Block block{number, std::vector<Texts>(static_cast<std::size_t>(length))};
  for (Texts& texts : block.after) {
    texts.registers.resize(static_cast<std::size_t>(program_->num_registers));
  }
  std::vector<double> cells(static_cast<std::size_t>(program_->dram_elements),
                            std::numeric_limits<double>::quiet_NaN());
  for (std::size_t array = 0; array < program_->arrays.size(); ++array) {
    const BoundArray& one = program_->arrays[array];
    dram_.fill(array, 0,
               std::span(cells).subspan(static_cast<std::size_t>(one.offset),
                                        static_cast<std::size_t>(one.size)));
  }
  TraceOptions options;
  options.from = number * length + 1;
  options.to = std::min((number + 1) * length, kMostSteps);
  options.max_claim_work = 0;  // claims are the trace's business
  KeptTexts<Texts> sink(block.after, options.from, unicode_);
  // A run that fails later has failed in the debugger too, which says so.
  static_cast<void>(trace(*program_, std::span<double>(cells), options, sink));
  return block;
}

}  // namespace flashlab::toy
