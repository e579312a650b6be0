// The errors of several machines together.
#pragma once

#include <cstdint>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

/// A machine that waits for another one.
struct WaitingMachine {
  std::int64_t rank = 0, other = 0;
  bool sends = false;            // it waits to send; otherwise for a message
  bool other_has_ended = false;  // so nothing will come
  SourceSpan span;               // of the instruction that waits
};
/// No machine can go on. Names each machine's line, of at most eight machines.
Diagnostic deadlock_error(const std::vector<WaitingMachine>& waiting);

/// A message that the instruction `site` sent is still in its link at the end.
Diagnostic message_left_error(const BoundProgram& sender, std::int64_t to, std::uint32_t site);

}  // namespace flashlab::toy::detail
