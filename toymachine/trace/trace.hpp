// Watches a run: every step with its registers, as numbers and as formulas.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/language/source.hpp"
#include "toymachine/run/interpreter.hpp"
#include "toymachine/trace/symbol.hpp"

namespace flashlab::toy {

/// The steps to show, and their contents. Every step up to the last one shown is executed.
struct TraceOptions {
  std::uint64_t from = 1;
  std::uint64_t to = UINT64_MAX;
  /// Shows the first, second and last iteration of each loop; names near the end of an
  /// axis read x[n-1].
  bool elide = false;
  /// Shows only one generic iteration of each loop over this variable (x[i], carried names).
  std::optional<std::string> body;
  bool symbols = true;
  std::uint64_t max_rows = UINT64_MAX;  // Fault::kLimit beyond
  /// Cells and operations for all claims together; later claims remain unchecked.
  std::uint64_t max_claim_work = 50'000'000;
};

/// The value that a step wrote: a number, or the elements of a tile.
struct TraceValue {
  double number = 0;  // of a tile: the sum of its elements
  std::int64_t rows = 1, cols = 1;
  std::vector<double> elements;  // of a tile, row by row
  bool is_tile() const { return rows * cols != 1; }
};

/// How a register got its value. A leftover is a formula whose names now mean something else. Its
/// symbol is R3@17, or M@17: the value that the register got at step 17.
enum class Origin : std::uint8_t { kUnwritten, kLoaded, kComputed, kNamed, kLeftover };

struct TraceRegister {
  Origin origin = Origin::kUnwritten;
  double value = 0;  // TraceValue::number
  std::int64_t rows = 1, cols = 1;
  Symbol symbol;
  std::uint64_t written_at = 0;  // step
};

/// A cell of an array, with its indices as numbers and as shown ("n-1", "i").
struct TraceCell {
  std::uint32_t array = 0;
  std::vector<std::int64_t> indices;
  SymbolName name;
};

struct TraceLoop {
  std::uint32_t loop = 0;  // into BoundProgram::loops
  std::int64_t value = 0;
  bool generic = false;  // represents every iteration
};

/// One step. Valid only during the call. Labels that follow the step are already in effect.
struct TraceRow {
  std::uint64_t step = 0;      // from 1
  std::uint64_t position = 0;  // row number in the table; from 1 in a generic iteration
  const BoundInstruction* instruction = nullptr;
  std::int64_t work = 1;         // Step::work
  std::string text;              // as in the program, but with the cell's actual indices
  std::vector<TraceLoop> loops;  // from outermost to innermost
  std::vector<std::int64_t> register_reads;
  std::optional<TraceCell> read, stored;  // a cell that was loaded; one that was written
  std::int64_t register_written = -1;
  TraceValue value;   // the value written, to a register or a cell
  Symbol symbol;      // its formula, or its label if it got one
  Symbol expression;  // its formula as it was computed
  /// Registers that this step did not write but whose symbol changed: a prime was removed, a label
  /// was added, or a name in the formula lost its meaning.
  std::vector<std::int64_t> renamed;
  std::span<const TraceRegister> registers;  // after the step
};

enum class Claim : std::uint8_t { kNone, kTrue, kFalse, kUnchecked };

/// A `.name` line that was reached.
struct TraceLabel {
  std::uint64_t after_step = 0;
  std::uint32_t line = 0;
  std::int64_t register_number = 0;
  Symbol symbol;
  Claim claim = Claim::kNone;
  std::vector<std::int64_t> renamed;  // as in TraceRow, besides register_number
  std::span<const TraceRegister> registers;
};

/// Steps that were executed but not shown.
struct TraceGap {
  std::uint64_t first = 0, last = 0;  // steps
};

/// The start of a generic iteration, with the registers that are carried into it.
struct TraceBody {
  std::uint32_t loop = 0;
  std::span<const TraceRegister> registers;
};

/// The data available to a sink before the first step. Valid during the whole trace.
struct TraceHeader {
  const BoundProgram* program = nullptr;
  const TraceOptions* options = nullptr;
  bool double_precision = false;
  AxisNames axes;  // for SymbolStyle; empty without elide
  std::function<std::optional<double>(std::size_t)> initial;  // DRAM values; none: unwritten
};

struct TraceSummary {
  const Execution* execution = nullptr;  // null if the run ended in an error
  const Diagnostic* error = nullptr;     // null if there is none
  bool complete = false;                 // the program ran to its end
  std::uint64_t rows = 0;
  std::uint64_t claims_checked = 0, claims_unchecked = 0;
};

/// The destination of a trace. A member that returns false ends the run.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual bool begin(const TraceHeader& header) = 0;
  virtual bool body(const TraceBody&) { return true; }
  virtual bool row(const TraceRow& row) = 0;
  /// A step that was executed but is not shown: without text and loops.
  virtual void hidden(const TraceRow&) {}
  virtual bool label(const TraceLabel&) { return true; }
  virtual bool gap(const TraceGap&) { return true; }
  virtual void end(const TraceSummary&) {}
};

/// Runs the program on `dram` and passes its steps to the sink. Errors: those of run(); a claim
/// that does not hold (Fault::kProgram; names label, step and loop indices); no loop over
/// options.body (Fault::kRequest); too many rows (Fault::kLimit). After an error, the sink has
/// received everything before it, and end(). Memory: O(arrays + registers + program text),
/// independent of the number of steps.
Result<Execution> trace(const BoundProgram& program, std::span<float> dram,
                        const TraceOptions& options, TraceSink& sink);
Result<Execution> trace(const BoundProgram& program, std::span<double> dram,
                        const TraceOptions& options, TraceSink& sink);

}  // namespace flashlab::toy
