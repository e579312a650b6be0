#include "toymachine/trace/register_symbols.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {
namespace {

/// Keeps the registers after the last row, with the labels that follow it.
class LastRegisters final : public TraceSink {
 public:
  LastRegisters(std::vector<std::string>& texts, bool unicode) : texts_(texts), unicode_(unicode) {}
  bool begin(const TraceHeader&) override { return true; }
  bool row(const TraceRow& row) override {
    keep(row.registers);
    return true;
  }
  bool label(const TraceLabel& label) override {
    keep(label.registers);
    return true;
  }

 private:
  void keep(std::span<const TraceRegister> registers) {
    std::transform(
        registers.begin(), registers.end(), texts_.begin(), [&](const TraceRegister& one) {
          return one.origin == Origin::kUnwritten ? std::string()
                                                  : to_string(one.symbol, {unicode_, nullptr});
        });
  }

  std::vector<std::string>& texts_;
  bool unicode_;
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
  std::vector<double> cells(static_cast<std::size_t>(program_->dram_elements),
                            std::numeric_limits<double>::quiet_NaN());
  for (std::size_t array = 0; array < program_->arrays.size(); ++array) {
    const BoundArray& one = program_->arrays[array];
    dram_.fill(array, 0,
               std::span(cells).subspan(static_cast<std::size_t>(one.offset),
                                        static_cast<std::size_t>(one.size)));
  }
  TraceOptions options;
  options.from = options.to = step;
  options.max_claim_work = 0;  // claims are the trace's business
  LastRegisters sink(texts_, unicode_);
  // A run that fails later has failed in the debugger too, which says so.
  static_cast<void>(trace(*program_, std::span<double>(cells), options, sink));
  return texts_;
}

}  // namespace flashlab::toy
