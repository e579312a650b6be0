// Which registers a stretch of the nest takes over from what ran before, and which it writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

inline constexpr std::uint32_t kNoSite = UINT32_MAX;

struct RegisterUse {
  /// By register: the first instruction that may read a value from before the stretch; kNoSite if
  /// there is none.
  std::vector<std::uint32_t> taken_over;
  /// By register: the last instruction that may write it; kNoSite if there is none.
  std::vector<std::uint32_t> written;
};

/// Looks at the nodes [first, last). If the stretch is a loop's body, one iteration is meant. A
/// loop that may not run writes nothing for certain. Returns nothing if the walk takes too long.
std::optional<RegisterUse> register_use(const toy::BoundProgram& program, std::size_t first,
                                        std::size_t last);

}  // namespace flashlab::generate
