// The steps of a short run, kept for pictures of what happened in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {

/// A step as in TraceRow, which is valid only during the trace.
struct RecordedStep {
  const BoundInstruction* instruction = nullptr;
  std::vector<std::int64_t> register_reads;  // in the order of the operands
  std::int64_t register_written = -1;
  std::optional<TraceCell> read, stored;
  TraceValue value;
  Symbol symbol, expression;

  const InstructionSpec& spec() const { return instruction_set()[instruction->row]; }
};

struct RecordedRun {
  const BoundProgram* program = nullptr;
  std::vector<RecordedStep> steps;
};

/// Receives a trace and keeps its steps. The run that it returns refers to the traced program.
class RunRecorder : public TraceSink {
 public:
  bool begin(const TraceHeader& header) override;
  bool row(const TraceRow& row) override;

  const RecordedRun& run() const { return run_; }

 private:
  RecordedRun run_;
};

}  // namespace flashlab::toy
