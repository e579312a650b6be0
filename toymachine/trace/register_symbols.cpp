#include "toymachine/trace/register_symbols.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

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

/// Keeps the registers after each step, with the labels that follow it.
class KeptRegisters final : public TraceSink {
 public:
  KeptRegisters(std::vector<std::vector<Symbol>>& after, std::uint64_t first)
      : after_(after), first_(first) {}
  bool begin(const TraceHeader&) override { return true; }
  bool row(const TraceRow& row) override {
    keep(row.step, row.registers);
    return true;
  }
  bool label(const TraceLabel& label) override {
    keep(label.after_step, label.registers);
    return true;
  }

 private:
  void keep(std::uint64_t step, std::span<const TraceRegister> registers) {
    if (step < first_ || step - first_ >= after_.size()) return;
    std::vector<Symbol>& kept = after_[static_cast<std::size_t>(step - first_)];
    kept.assign(registers.size(), Symbol());
    for (std::size_t i = 0; i < registers.size(); ++i) {
      if (registers[i].origin != Origin::kUnwritten) kept[i] = registers[i].symbol;
    }
  }

  std::vector<std::vector<Symbol>>& after_;
  std::uint64_t first_;
};

}  // namespace

RegisterSymbols::RegisterSymbols(const BoundProgram& program, InitialDram dram, bool unicode)
    : program_(&program), dram_(std::move(dram)), unicode_(unicode) {}

const std::vector<std::string>& RegisterSymbols::after(std::uint64_t step) {
  if (step_ == step) return texts_;
  step_ = step;
  texts_.clear();
  if (!are_known_after(step)) return texts_;
  texts_.resize(static_cast<std::size_t>(program_->num_registers));
  if (step == 0) return texts_;
  const std::uint64_t length = steps_of_block(*program_), block = (step - 1) / length;
  if (block_ != block) trace_block(block);
  const Registers& registers = after_[static_cast<std::size_t>((step - 1) % length)];
  for (std::size_t i = 0; i < registers.size(); ++i) {
    if (registers[i].is_written()) texts_[i] = to_string(registers[i], {unicode_, nullptr});
  }
  return texts_;
}

void RegisterSymbols::trace_block(std::uint64_t block) {
  const std::uint64_t length = steps_of_block(*program_);
  block_ = block;
  after_.assign(static_cast<std::size_t>(length), {});
  std::vector<double> cells(static_cast<std::size_t>(program_->dram_elements),
                            std::numeric_limits<double>::quiet_NaN());
  for (std::size_t array = 0; array < program_->arrays.size(); ++array) {
    const BoundArray& one = program_->arrays[array];
    dram_.fill(array, 0,
               std::span(cells).subspan(static_cast<std::size_t>(one.offset),
                                        static_cast<std::size_t>(one.size)));
  }
  TraceOptions options;
  options.from = block * length + 1;
  options.to = std::min((block + 1) * length, kMostSteps);
  options.max_claim_work = 0;  // claims are the trace's business
  KeptRegisters sink(after_, options.from);
  // A run that fails later has failed in the debugger too, which says so.
  static_cast<void>(trace(*program_, std::span<double>(cells), options, sink));
}

}  // namespace flashlab::toy
