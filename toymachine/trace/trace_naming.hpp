// Names for the things that a step uses: cells, labels, the instruction itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/run/interpreter.hpp"
#include "toymachine/trace/trace.hpp"

namespace flashlab::toy::detail {

class TraceNaming {
 public:
  /// With `relative`, indices near the end of an axis are written relative to
  /// its parameter: x[n-1].
  TraceNaming(const BoundProgram& program, bool relative);

  /// From now on, the loop's variable is written as a letter ...
  void show_letter(std::uint32_t loop) { letters_[loop] = true; }
  /// ... and names that use it are valid only in the current iteration.
  void begin_generic(std::uint32_t loop);
  void end_generic(std::uint32_t loop);
  bool is_letter(std::uint32_t loop) const { return letters_[loop]; }

  TraceCell cell(const BoundOperand& operand, const std::int64_t* loop_values) const;
  SymbolName label(const BoundLabel& label, const std::int64_t* loop_values) const;
  /// Fills in the row's text and loops.
  void describe(const Step& step, TraceRow& row) const;
  /// Fills in the loops around a place, from outermost to innermost.
  void loops(std::uint32_t innermost, const std::int64_t* loop_values,
             std::vector<TraceLoop>& result) const;

  const AxisNames& axes() const { return axes_; }

 private:
  bool is_general(const Step& step) const;
  std::string instruction(const Step& step) const;
  Subscript subscript(const Affine& index, const std::int64_t* loop_values) const;

  const BoundProgram& program_;
  AxisNames axes_;
  std::vector<char> letters_;  // by loop
  std::uint32_t generic_ = kNoLoop;
  std::vector<std::vector<Affine>> label_axes_;  // by label; empty: not affine, shown as written
};

}  // namespace flashlab::toy::detail
