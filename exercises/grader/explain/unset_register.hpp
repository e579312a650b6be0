// A register that is read before anything was written there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exercises/grader/explain/explain.hpp"

namespace flashlab::exercises {

/// A loop that changes a register which nothing sets before it, as a sum that no line begins.
struct UnsetRegister {
  std::uint32_t loop_line = 0;
  std::string text;  // "something is missing before line 17: nothing sets R2 before this loop"
};

/// Returns the innermost such loop around the line that failed.
std::optional<UnsetRegister> unset_register(const FailedAttempt& failed);

}  // namespace flashlab::exercises
