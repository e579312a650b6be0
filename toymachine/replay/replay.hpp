// A run that goes forwards and backwards. The machine is deterministic: a step back restores a
// checkpoint and executes the steps up to the wanted one again. Lines and writes are found in the
// loop nest, without running (nest_steps.hpp); only tests of values run the program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/source.hpp"
#include "toymachine/replay/breakpoint.hpp"
#include "toymachine/replay/nest_steps.hpp"

namespace flashlab::toy {

/// Why a run stands where it does.
struct Stop {
  enum class Reason : std::uint8_t {
    kStep,        // the wanted step was reached
    kBreakpoint,  // `breakpoint`
    kStart,       // before the first step
    kEnd,
    kError,      // Replay::error() says which
    kCancelled,  // Progress returned false
  };
  Reason reason = Reason::kStep;
  std::size_t breakpoint = 0;  // into the list that was given
};

/// Called a few times per second of a long search, with the current step. Returns false to cancel.
using Progress = std::function<bool(std::uint64_t step)>;

struct ReplayOptions {
  bool double_precision = false;
  /// Of checkpoints, besides the program's own arrays and registers.
  std::int64_t max_checkpoint_bytes = std::int64_t{256} << 20;
  /// Of processor time; more if a checkpoint takes long. A search backwards runs this long again.
  double seconds_between_checkpoints = 0.015;
};

/// The contents of a register: a number, or the elements of a tile, row by row.
struct RegisterContents {
  std::int64_t rows = 0, cols = 0;  // 0: never written
  std::vector<double> elements;
  bool is_written() const { return rows > 0; }
};

/// One step of the past.
struct PastStep {
  std::uint64_t number = 0;  // from 1
  RunPoint point;
  RegisterContents value;  // what it wrote; of a cell that is a tile: its first element
};

class Replay {
 public:
  /// Draws the random inputs when a step or cell() needs them. The program must outlive the replay.
  /// Errors: more steps than Limits::max_steps, or too many iterations to count
  /// (NestSteps::kMostSummed).
  static Result<std::unique_ptr<Replay>> start(const BoundProgram& program, InitialDram dram,
                                               const ReplayOptions& options = {});
  virtual ~Replay() = default;

  const BoundProgram& program() const { return program_; }
  const NestSteps& nest() const { return nest_; }
  /// Whether registers and cells hold double.
  bool is_double() const { return is_double_; }

  // State ---------------------------------------------------------------------------------------

  /// Returns the number of steps executed; the failing step does not count.
  virtual std::uint64_t step() const = 0;
  /// Returns the number of steps of the whole run, or more if the run fails before its end.
  std::uint64_t total_steps() const { return total_; }
  /// Returns the instruction that is executed next, or that failed.
  virtual RunPoint point() const = 0;
  bool at_end() const { return point().site >= program_.instructions.size(); }
  /// Returns the error of the next instruction, if the run got there; null otherwise.
  virtual const Diagnostic* error() const = 0;
  virtual RegisterContents register_contents(std::int64_t number) const = 0;
  /// Returns NaN for a cell that was never written.
  virtual double cell(std::int64_t element) = 0;
  /// Returns how often each instruction was executed so far.
  virtual Execution execution() const = 0;
  virtual std::int64_t checkpoint_bytes() const = 0;

  // Moves ---------------------------------------------------------------------------------------

  /// Goes to the step, or to an earlier end or error.
  virtual Stop go_to(std::uint64_t step, const Progress& progress = {}) = 0;
  /// Goes on to the next stop at one of the breakpoints, or to the end or an error. `includes_here`: a
  /// breakpoint at the next instruction stops there, because a search that was interrupted goes on.
  Stop forward(std::span<const Breakpoint> breakpoints, const Progress& progress = {},
               bool includes_here = false);
  /// Returns those breakpoints of lines that stop at the next instruction, and of writes that stop after
  /// the last step.
  std::vector<std::size_t> stops_here(std::span<const Breakpoint> breakpoints);
  /// Returns where the breakpoint was met: of a write, the step that has just written; otherwise the next
  /// instruction. Its loop values are those that a condition means.
  RunPoint point_of(const Breakpoint& breakpoint) const;
  /// Goes back to the last stop before this step, or to the start.
  Stop backward(std::span<const Breakpoint> breakpoints, const Progress& progress = {});

  // Searches ------------------------------------------------------------------------------------

  /// Returns a breakpoint at the first instruction behind the innermost loop that runs now; nothing outside
  /// of loops, and if no instruction follows.
  std::optional<Breakpoint> behind_loop() const;

  /// Returns the step before which the last one of these executions before the current step, or the
  /// next one after the next instruction, takes place.
  std::optional<std::uint64_t> last_execution(std::span<const WantedExecutions> executions) const;
  std::optional<std::uint64_t> next_execution(std::span<const WantedExecutions> executions) const;
  /// Returns the step after which the place got its present value; nothing if it never was written.
  std::optional<std::uint64_t> writer_of(const Place& place) const;
  /// Returns up to `count` last steps, the oldest first. Executes them again.
  std::vector<PastStep> last_steps(std::size_t count);

 protected:
  struct ValueStop {
    std::uint64_t step = 0;
    std::size_t breakpoint = 0;
  };
  Replay(const BoundProgram& program, std::uint64_t total, bool is_double)
      : program_(program), nest_(program), total_(total), is_double_(is_double) {}
  /// Goes to the step, or to an earlier stop at a breakpoint that only running finds (kBecomes,
  /// kLine with a test). `skips`: a test of the next instruction's line does not stop.
  virtual Stop run_watching(std::uint64_t step, std::span<const Breakpoint> breakpoints, bool skips,
                            const Progress& progress) = 0;
  /// Returns the last such stop after `floor` and before the current step. The run is then anywhere.
  /// `cancelled` is set if Progress wished it.
  virtual std::optional<ValueStop> last_watched(std::uint64_t floor,
                                                std::span<const Breakpoint> breakpoints,
                                                const Progress& progress, bool& cancelled) = 0;

  const BoundProgram& program_;

 private:
  bool passes(const Breakpoint& breakpoint);
  std::vector<std::size_t> line_stops_here(std::span<const Breakpoint> breakpoints);
  /// Returns the step before this one if it wrote the place.
  std::optional<RunPoint> write_before(const Place& place) const;
  /// A step, and the breakpoints that may stop there.
  struct ForeseenStop {
    std::uint64_t step = 0;
    std::vector<std::size_t> breakpoints;
  };
  std::optional<ForeseenStop> next_foreseen(std::span<const Breakpoint> breakpoints) const;
  std::optional<ForeseenStop> last_foreseen(std::span<const Breakpoint> breakpoints) const;

  NestSteps nest_;
  std::uint64_t total_ = 0;
  bool is_double_ = false;
};

}  // namespace flashlab::toy
