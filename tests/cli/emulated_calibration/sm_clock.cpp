// An emulated GPU has no clock.
#include "compare/cuda/sm_clock.hpp"

namespace flashlab::compare {

SmClock::SmClock() : num_sms_(0), marks_("clocks", 0) {}

void SmClock::mark(int) {}

std::optional<double> SmClock::ghz() const { return std::nullopt; }

}  // namespace flashlab::compare
