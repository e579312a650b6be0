// The terms of a sum that a run corrects by factors, as online softmax does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/history/recorded_run.hpp"

namespace flashlab::toy {

/// The sum after one more term.
struct RescaledRow {
  double factor = 1;          // what the earlier terms were multiplied by before the new one came
  std::vector<double> terms;  // as they are now, the newest last
  double sum = 0;             // what the register holds
  std::optional<TraceCell> input;  // the cell that was loaded last, and its value
  double input_value = 0;
};

struct RescaledSum {
  std::int64_t register_number = -1;
  std::string name;  // the program's name for the value, without primes; empty if it has none
  std::vector<RescaledRow> rows;
};

/// Follows the first register of scalars that is multiplied in place and added to in place, until
/// it is used for something else. Returns nothing if there is none.
std::optional<RescaledSum> rescaled_sum(const RecordedRun& run);

}  // namespace flashlab::toy
