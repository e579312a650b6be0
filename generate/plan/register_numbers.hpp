// The register that an operand names at a point of a walk over the nest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// A walk that repeats only loops whose variable selects a register, and represents every other
/// loop by one iteration. Its variable then has no known value.
class RegisterNumbers {
 public:
  explicit RegisterNumbers(const toy::BoundProgram& program);

  /// Returns the registers that the operand may name here; a single one if it is known.
  toy::Interval of(const toy::BoundOperand& operand) const;

  /// Iterations that the walk can repeat one by one.
  struct Iterations {
    std::int64_t first = 0, count = 0, step = 1;
  };
  /// Returns nothing for a loop that selects no register, whose bounds are not known here, or with
  /// more iterations than a machine has registers.
  std::optional<Iterations> iterations(std::uint32_t loop) const;
  bool selects_register(std::uint32_t loop) const { return selects_[loop] != 0; }

  void enter(std::uint32_t loop, std::int64_t value);
  void leave(std::uint32_t loop) { known_[loop] = 0; }

 private:
  bool is_known(const toy::Affine& affine) const;
  bool is_known(const toy::BoundExpression& bound) const;

  const toy::BoundProgram& program_;
  std::vector<char> selects_, known_;  // by loop
  std::vector<std::int64_t> values_;   // by loop
};

}  // namespace flashlab::generate
