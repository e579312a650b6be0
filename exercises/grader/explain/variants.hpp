// A bound program's one-edit variants as unrolled programs, without binding each again: binding
// costs fifty times what unrolling a small program does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "exercises/grader/explain/edits.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/unrolled.hpp"

namespace flashlab::exercises {

/// Binds an edited program as the given one was bound.
using Bind =
    std::function<toy::Result<toy::BoundProgram>(const std::shared_ptr<const toy::Program>&)>;

class Variants {
 public:
  /// `bound` stays as it is; `bind` is for the edits that change the nest.
  Variants(const toy::BoundProgram& bound, Bind bind, std::uint64_t max_steps);

  /// The steps of the program itself; null when it cannot be unrolled.
  const toy::UnrolledProgram* original() const { return original_ ? &*original_ : nullptr; }
  /// The steps after the edit: those of the applied, bound and unrolled program (`site` aside).
  /// Null when one of these refuses. Valid until the next call.
  const toy::UnrolledProgram* make(const Edit& edit);
  /// Applied and bound in full.
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

  toy::BoundProgram bound_;  // changed for a moment while a variant is made
  Bind bind_;
  std::uint64_t max_steps_;
  std::optional<toy::UnrolledProgram> original_, variant_;
};

}  // namespace flashlab::exercises
