// Expressions over the state of a run, for watches, hovers, conditions and log messages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"
#include "toymachine/replay/breakpoint.hpp"
#include "toymachine/replay/nest_steps.hpp"

namespace flashlab::toy {

class Replay;

/// Why there is no assignment.
inline constexpr const char* kNothingIsSet =
    "the values of a run follow from its program and its inputs";

/// What an expression is worth at a point of a run.
struct WatchValue {
  enum class Kind : std::uint8_t {
    kWhole,      // a loop variable, a parameter, and what is computed of them
    kNumber,     // of a register or cell
    kTile,       // `elements`, row by row
    kUnwritten,  // a register or cell without a value
    kTruth,      // of a comparison: `whole` is 0 or 1
  };
  Kind kind = Kind::kNumber;
  std::int64_t whole = 0;
  double number = 0;
  std::int64_t rows = 0, cols = 0;
  std::vector<double> elements{};

  /// Whether it is a test that holds. An unwritten value passes no test.
  bool holds() const { return kind == Kind::kTruth && whole != 0; }
};

/// "R1", "x[i + 1]", "n", "R1 > R2 && i % 2 == 0": numbers, registers, elements of their tiles
/// (R1[0][3], row and column), cells, loop variables and parameters with + - * / %, comparisons,
/// && || ! (or and, or, not), brackets. A comparison of a tile holds if it holds for some element.
class WatchExpression {
 public:
  /// `site`: the instruction whose loops are meant; nothing: those around the run's next instruction.
  /// Errors: Fault::kRequest for a name that the program does not have, or a text that is no expression.
  /// The program must outlive the expression.
  static Result<WatchExpression> parse(const BoundProgram& program, std::string_view text,
                                       std::optional<std::uint32_t> site = std::nullopt);

  /// Returns the value where the run stands. Errors: a loop that does not run there, an index outside
  /// of its array, a tile in arithmetic, a remainder by zero.
  Result<WatchValue> value(Replay& run) const;
  /// The same with the loop values of another point: of the step that wrote what is watched.
  Result<WatchValue> value(Replay& run, const RunPoint& loops) const;
  /// Returns the register or cell that it names there: "x[i]" is x[3]. Errors: as above, or if it names
  /// none.
  Result<Place> place(Replay& run) const;
  /// Whether it compares, so that it can be a condition.
  bool is_test() const;
  /// Returns why it has no value at any point of any run: `R0 % 2`, `x[R0]`, `R0 && i == 2`.
  std::optional<Diagnostic> why_never() const;

  /// Returns what the test demands of indices, so that executions are found without running: `i > 3` of
  /// `i > 3 && R1 > 0`. `is_all`: it demands nothing else. Needs a site.
  std::vector<IndexRange> index_ranges(bool& is_all) const;

  struct Node;

 private:
  WatchExpression(const BoundProgram& program, std::shared_ptr<const Node> root)
      : program_(&program), root_(std::move(root)) {}

  const BoundProgram* program_;
  std::shared_ptr<const Node> root_;
};

}  // namespace flashlab::toy
