// The nest of a launch as one list of steps, in which every register has a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/operations.hpp"

namespace flashlab::generate {

/// What an instruction does, as far as places of tiles matter.
enum class Action : std::uint8_t {
  kLoad,
  kFill,
  kMove,
  kOperation,
  kProductAndSum,
  kStore,
  kUpdate,
};

struct Step {
  enum class Kind : std::uint8_t {
    kInstruction,
    kLoopBegin,
    kLoopEnd,
    kValueBegin,  // an iteration of a loop that is written out: `loop` has `value` until kValueEnd
    kValueEnd,
  };
  Kind kind = Kind::kInstruction;
  std::uint32_t loop = 0;
  std::int64_t value = 0;
  std::size_t partner = 0;  // kLoopBegin, kLoopEnd: the other end
  // Of an instruction:
  std::uint32_t site = 0;
  Action action = Action::kMove;
  toy::Operation operation{};                  // of kOperation
  std::vector<std::int64_t> registers;         // by operand; -1: no register
  std::vector<std::vector<toy::Affine>> axes;  // by operand: a cell's indices, with `value`s
  std::vector<std::size_t> loops;              // the kLoopBegin steps around it

  bool does(toy::Operation one) const { return action == Action::kOperation && operation == one; }
  bool does(toy::ShapeRule rule) const {
    return action == Action::kOperation && toy::spec_of(operation).shape == rule;
  }
  bool is_product() const {
    return action == Action::kProductAndSum || does(toy::ShapeRule::kProduct);
  }
  bool reduces() const { return does(toy::ShapeRule::kColumn); }
  bool masks() const { return does(toy::ShapeRule::kMask); }
  /// Whether each element of the result is made of those at its place.
  bool is_elementwise() const {
    return action == Action::kMove || does(toy::ShapeRule::kElementwise) || masks();
  }
};

/// Writes out the loops that select registers. Returns why that is not possible in `why_not`.
std::optional<std::vector<Step>> steps_of(const toy::BoundProgram& program, const Launch& launch,
                                          Reason& why_not);

/// Returns what an instruction does, without registers and loops.
Step action_of(const toy::BoundInstruction& instruction);

/// Returns the position of the operand that is written.
std::size_t written_operand(const toy::BoundInstruction& instruction);

}  // namespace flashlab::generate
