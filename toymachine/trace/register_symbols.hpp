// The registers after a step as formulas, for debuggers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/trace/symbol.hpp"

namespace flashlab::toy {

/// Traces the run up to the wanted step, so that it knows only the first steps of small runs.
class RegisterSymbols {
 public:
  static constexpr std::uint64_t kMostSteps = 20'000;
  static constexpr std::int64_t kMostCells = 1'000'000;  // of all arrays

  /// The program must outlive the object. `unicode`: as SymbolStyle::unicode.
  RegisterSymbols(const BoundProgram& program, InitialDram dram, bool unicode);

  bool are_known_after(std::uint64_t step) const {
    return step <= kMostSteps && program_->dram_elements <= kMostCells;
  }
  /// Returns the formulas by register, "e^(x[1] - m)"; empty texts for those that were never written.
  /// Returns nothing if they are not known.
  const std::vector<std::string>& after(std::uint64_t step);

 private:
  using Registers = std::vector<Symbol>;
  void trace_block(std::uint64_t block);

  const BoundProgram* program_;
  InitialDram dram_;
  bool unicode_;
  std::optional<std::uint64_t> step_;  // of texts_
  std::vector<std::string> texts_;
  // A trace begins with the first step. So it keeps the formulas of several steps, and those after the next
  // or the previous step are usually there.
  std::optional<std::uint64_t> block_;
  std::vector<Registers> after_;  // by step of the block
};

}  // namespace flashlab::toy
