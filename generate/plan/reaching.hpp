// Which writes to a register reach which reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "generate/plan/steps.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// One step writes a register.
struct Definition {
  std::size_t step = 0;
  std::int64_t number = 0;  // the register
  std::size_t value = 0;    // into Values::values
};

using DefinitionSet = std::set<std::size_t>;  // into Reaching::definitions

struct Reaching {
  std::vector<Definition> definitions;
  std::vector<std::vector<DefinitionSet>> reads;  // by step and operand
  std::vector<std::size_t> written;               // by step: its definition, or SIZE_MAX
};

/// A loop may run any number of times, and none if its bounds allow that.
Reaching reaching_definitions(const toy::BoundProgram& program, const std::vector<Step>& steps);

}  // namespace flashlab::generate
