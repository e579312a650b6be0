// When each value came into a register, when it was last used, and when another one replaced it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/history/recorded_run.hpp"

namespace flashlab::toy {

/// One value in one register. A sum that an instruction reads and writes in place is one value.
/// Positions are those of RecordedRun::steps.
struct RegisterLife {
  std::int64_t register_number = 0;
  std::size_t written = 0;    // the step that wrote it first
  std::size_t last_used = 0;  // the last step that read it; `written` if none did
  std::size_t replaced = 0;   // the step that wrote the next value; the number of steps if none
  bool is_loaded = false;
  bool is_loaded_again = false;  // the same cell was loaded before
  bool is_used = false;
  Symbol content;  // the last formula or name of the value
};

/// Returns the lives in the order of their first step.
std::vector<RegisterLife> register_lives(const RecordedRun& run);

}  // namespace flashlab::toy
