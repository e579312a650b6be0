// The registers after a step as formulas, and what steps made, for debuggers.
#pragma once

#include <cstdint>
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
  /// Returns the formulas by register, "e^(x[1] - m)", or "S@9 = Q*k00" where others call the value
  /// S@9; empty texts for those that were never written. Returns nothing if they are not known.
  const std::vector<std::string>& after(std::uint64_t step);
  /// Returns what a step made, from what: "M = max(M@12, X@26)"; empty if it is not known.
  const std::string& made_by(std::uint64_t step);

 private:
  struct Texts {
    std::vector<std::string> registers;
    std::string made;
  };
  struct Block {
    std::uint64_t number = 0;
    std::vector<Texts> after;  // by step of the block
  };
  const Texts& texts_after(std::uint64_t step);
  Block trace_block(std::uint64_t number);

  const BoundProgram* program_;
  InitialDram dram_;
  bool unicode_;
  Texts before_;  // the first step; empty texts
  // A trace begins with the first step. So it keeps the texts of several steps, and those after the
  // next or the previous step are usually there. Two blocks, as the last steps may be in the one
  // before.
  std::vector<Block> blocks_;  // the last one that was asked for first
};

}  // namespace flashlab::toy
