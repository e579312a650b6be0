// Connects the interpreter, which makes steps, with the sink, which shows them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "toymachine/run/interpreter.hpp"
#include "toymachine/trace/claim.hpp"
#include "toymachine/trace/trace.hpp"
#include "toymachine/trace/trace_filter.hpp"
#include "toymachine/trace/trace_state.hpp"

namespace flashlab::toy::detail {

/// By loop: the registers that its generic iteration reads before writing them.
using Carried = std::map<std::uint32_t, std::set<std::int64_t>>;

/// The precision to which numbers are rounded.
struct Precision {
  double epsilon = 0;
  double smallest = 0;
};

/// A row is held back until the next step or the end, because labels that follow a step
/// belong to it.
class Tracer {
 public:
  Tracer(const BoundProgram& program, const TraceOptions& options, Precision precision,
         ClaimChecker* claims, const Carried& carried, TraceSink& sink);

  const AxisNames& axes() { return state_.naming().axes(); }
  /// Returns false if the run should end. `value` is the value that the step wrote.
  bool after(const Step& step, const TraceValue& value);
  void label(const BoundLabel& label, std::int64_t register_number,
             const std::int64_t* loop_values);
  /// Call this when the run has ended, with or without an error.
  Result<Execution> finish(Result<Execution> result);

 private:
  void arrive(const LoopPoint& point, std::uint64_t next_step, std::vector<std::int64_t>& renamed);
  bool shows(const Step& step, const LoopPoint& point) const;
  void keep(const Step& step);
  void pass_over(std::uint64_t step);
  void close_gap();
  void flush();
  void deliver(const TraceLabel& label);
  Claim check(const BoundLabel& label, std::int64_t register_number,
              const std::int64_t* loop_values, const SymbolName& name);
  void fail(Diagnostic diagnostic);

  const BoundProgram& program_;
  const TraceOptions& options_;
  Precision precision_;
  ClaimChecker* claims_;  // null: there are no claims
  const Carried& carried_;
  TraceSink& sink_;
  TraceState state_;
  BodyFinder bodies_;

  TraceRow row_;
  bool pending_ = false;            // row_ is to be passed on
  bool shown_ = false;              // the last step is or will be shown
  std::vector<TraceLabel> labels_;  // those after the pending row
  TraceGap gap_;
  std::uint64_t steps_ = 0;
  std::uint64_t body_position_ = 0;
  TraceSummary summary_;
  std::optional<std::uint32_t> surplus_;  // an instruction executed after the last shown step
  std::optional<Diagnostic> failure_;
  bool stopped_ = false;  // by the sink
};

}  // namespace flashlab::toy::detail
