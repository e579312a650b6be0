#include "toymachine/bind/elision.hpp"

namespace flashlab::toy {

bool survives_elision(const BoundProgram& program, std::uint32_t innermost,
                      const std::int64_t* values, std::uint32_t within) {
  for (std::uint32_t i = innermost; i != kNoLoop && i != within; i = program.loops[i].parent) {
    const BoundLoop& loop = program.loops[i];
    const std::int64_t since_first = values[i] - loop.lower(values);
    const bool last = loop.upper(values) - values[i] <= loop.step;
    if (since_first > loop.step && !last) return false;
  }
  return true;
}

}  // namespace flashlab::toy
