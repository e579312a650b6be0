// The register file in bytes: what a program's registers hold together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// A binding for a machine with a limit on the bytes that its registers hold together.
struct CapacityBinding : Binding {
  std::optional<std::int64_t> sram_bytes;  // nothing: no limit
};

/// As for any binding. Errors besides: the registers hold more bytes than the capacity at some
/// instruction, which the message names with all that they hold; or the program's registers cannot
/// be told apart without a run (Fault::kLimit).
Result<BoundProgram> bind(std::shared_ptr<const Program> program, const CapacityBinding& binding);

}  // namespace flashlab::toy
