#include "toymachine/history/recorded_run.hpp"

namespace flashlab::toy {

bool RunRecorder::begin(const TraceHeader& header) {
  run_.program = header.program;
  return true;
}

bool RunRecorder::row(const TraceRow& row) {
  run_.steps.push_back({row.instruction, row.register_reads, row.register_written, row.read,
                        row.stored, row.value, row.symbol, row.expression});
  return true;
}

}  // namespace flashlab::toy
