// Which unit binds: the one without which the predicted time would be shortest. Tables, bars,
// sentences and pages ask here, so they cannot name different units.
//
// A prediction has the time of each unit (products_ms, ...), and how they combine:
//
//   described    the warps of a multiprocessor share tensor cores, shared memory, issue slots,
//                exponentials and additions (shared_units_cycles); loads and stores run beside.
//                Blocks that take a row each (they have no shared memory of tiles) share their
//                part of DRAM, too
//   otherwise    loads and stores run beside computing; products, elementwise work and exponentials
//                come one after the other, on the multiprocessors that have a block
//   launches     come on top
//
// Waves that are not full and what starts a block stretch the computing as a whole. wgmma reads
// operands while it multiplies, and a prediction does not say how much of shared memory's time that
// is: it counts as if warps came for them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "results/comparison.hpp"

namespace flashlab::compare {

/// Returns the name of a unit in tables, bars and sentences: "products", "exponentials", "L2 to
/// SM".
std::string_view unit_name(Bound unit);

/// All units. Of equal ones, the first is named.
inline constexpr std::array kUnits = {Bound::kProducts,    Bound::kShared, Bound::kIssue,
                                      Bound::kExp,         Bound::kSums,   Bound::kDram,
                                      Bound::kElementwise, Bound::kSm,     Bound::kLaunch};

/// Returns the time that a step's unit would take if it did nothing else. 0: the step has no such
/// unit, as elementwise work where instructions are counted.
double unit_ms(const Step& step, Bound unit);

/// Returns the predicted time of a step if `unit` took this share of its time: 0 without it.
double ms_with(const Step& step, Bound unit, double share);

/// Returns the unit that binds a step: without it, the predicted time would be shortest. Of units
/// without which it would be the same, the busiest. Nothing: no unit takes any time.
std::optional<Bound> binding_unit(const Step& step);

/// Which unit binds instead if the first one takes less time, but for launches.
struct NextBinding {
  Bound unit = Bound::kDram;
  double share = 0;      // of the first unit's time that is left then
  double time_left = 1;  // share of the predicted time
};
/// Nothing: none, however little the first one takes.
std::optional<NextBinding> next_binding(const Step& step);

/// The unit that binds a call, whose kernels run one after the other.
struct CallBinding {
  Bound unit = Bound::kDram;
  double time_left = 1;          // share of the predicted time, without that unit
  const Step* kernel = nullptr;  // of those that this unit binds, the longest; null: none
  double kernel_share = 1;       // of the predicted time
};
/// Nothing: no kernels, or none with a unit that takes any time.
std::optional<CallBinding> binding_unit(const Row& row);

/// Returns the time that the warps of a multiprocessor need if its units take this long, without
/// waves that are not full, loads and launches.
double shared_ms_of(const Prediction& units);

}  // namespace flashlab::compare
