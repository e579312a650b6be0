// The size of the register file in bytes: what a program's registers may hold together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// A binding for a machine that limits the bytes in all registers together.
struct CapacityBinding : Binding {
  std::optional<std::int64_t> sram_bytes;  // empty: no limit
};

/// Binds a program as for any binding. Further errors: at some instruction the registers hold more
/// bytes than the capacity (the message lists their contents); or the program's registers cannot be
/// distinguished without a run (Fault::kLimit).
Result<BoundProgram> bind(std::shared_ptr<const Program> program, const CapacityBinding& binding);

}  // namespace flashlab::toy
