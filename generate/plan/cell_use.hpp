// Whether iterations of a loop touch the same cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// Two accesses, of which at least one writes, that may reach one cell from different iterations.
/// Additions in one step do not disturb each other, so two of them are no conflict.
struct CellConflict {
  std::uint32_t site = 0, other_site = 0;  // `site` writes
  bool too_many = false;                   // the loop has more accesses than are compared
};

/// Compares the accesses of the loop's body, nodes [first, last). Returns nothing if it is proved
/// that there is no conflict.
std::optional<CellConflict> conflict_of_iterations(const toy::BoundProgram& program,
                                                   std::uint32_t loop, std::size_t first,
                                                   std::size_t last);

/// Returns the load among the nodes [first, last) whose array the nodes [body_first, body_last)
/// write, and that write.
std::optional<CellConflict> load_before_write(const toy::BoundProgram& program, std::size_t first,
                                              std::size_t last, std::size_t body_first,
                                              std::size_t body_last);

}  // namespace flashlab::generate
