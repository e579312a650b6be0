// Makes a bound program's one-edit variants as unrolled programs, without binding each again:
// binding costs fifty times as much as unrolling a small program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "exercises/grader/repair/edits.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/unrolled.hpp"

namespace flashlab::exercises {

/// Binds an edited program with the settings of the given one.
using Bind =
    std::function<toy::Result<toy::BoundProgram>(const std::shared_ptr<const toy::Program>&)>;

class Variants {
 public:
  /// Does not change `bound`. Uses `bind` for edits that change the loop nest.
  Variants(const toy::BoundProgram& bound, Bind bind, std::uint64_t max_steps);

  /// Returns the steps of the original program, or null if it cannot be unrolled.
  const toy::UnrolledProgram* original() const { return original_ ? &*original_ : nullptr; }
  /// Returns the steps of the edited program as if it had been applied, bound and unrolled (except
  /// `site`). Null if one of these fails. Valid until the next call.
  const toy::UnrolledProgram* make(const Edit& edit);
  /// Returns whether this edit needs a full apply and bind.
  bool is_slow(const Edit& edit) const;

 private:
  const toy::UnrolledProgram* unrolled();
  const toy::UnrolledProgram* rebound(const Edit& edit);
  const toy::UnrolledProgram* replaced(const Edit& edit);
  const toy::UnrolledProgram* inserted(const Edit& edit);
  const toy::UnrolledProgram* without(std::uint32_t site);
  const toy::UnrolledProgram* exchanged(std::uint32_t site);
  const toy::UnrolledProgram* with_loop(const Edit& edit);
  std::optional<toy::BoundInstruction> bind(const Edit& edit, std::uint32_t loop);

  toy::BoundProgram bound_;  // modified temporarily while a variant is made
  Bind bind_;
  std::uint64_t max_steps_;
  std::optional<toy::UnrolledProgram> original_, variant_;
};

}  // namespace flashlab::exercises
