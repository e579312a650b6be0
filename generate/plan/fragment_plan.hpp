// A launch at level 1 with its tiles in the threads' registers: where each value is, and which
// tiles come while others are multiplied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "generate/plan/plan.hpp"
#include "generate/plan/steps.hpp"
#include "generate/plan/values.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// Where a value is, and how it is called in the device code.
enum class Where : std::uint8_t {
  kNumber,        // Scalar: every thread has it
  kRowValues,     // RowValues: a number for each row beside a fragment
  kSharedColumn,  // SharedColumn: a loaded column
  kFragment,      // Fragment: in the registers of all warps
  kSharedTile,    // SharedTile: a loaded tile, in 16 bits
};

/// A place in the block's shared memory.
struct SharedPlace {
  std::int64_t offset = 0, bytes = 0;  // of one stage
  int stages = 1;
  std::size_t first_step = 0, last_step = 0;  // while it is needed
};

/// At level 2: when a loaded tile's place is filled, by a thread that only copies, and free again.
struct LoadRing {
  std::size_t load = 0;                  // the step
  std::optional<std::size_t> last_read;  // the step after which it is free; nothing: loaded once
  std::int64_t barriers = 0;             // their place in shared memory: two for each stage
};

struct ValuePlace {
  Where where = Where::kNumber;
  bool is_turned = false;           // a fragment: held transposed
  std::int64_t rows = 1, cols = 1;  // as it is held, padded
  /// Of kSharedColumn and kSharedTile. Of kFragment and kRowValues: a copy that products or turned
  /// fragments read.
  std::optional<SharedPlace> shared;
  /// The loop whose every iteration loads the value of the next one.
  std::optional<std::size_t> prefetched_in;
  std::optional<LoadRing> ring;  // level 2, of kSharedTile and kSharedColumn
};

struct FragmentPlan {
  std::vector<Step> steps;
  Values values;
  std::vector<ValuePlace> places;  // by value
  toy::ElementType factors = toy::ElementType::kBf16;
  int warps = 1;                // that compute
  std::int64_t numbers = 0;     // of fragments in each thread at once, at most
  bool has_warpgroups = false;  // level 2: products by wgmma, and a thread that copies
  std::int64_t shared_bytes = 0;
};

/// Of FragmentPlan::numbers, a thread's 255 registers hold this many beside addresses and scratch. With
/// more, the compiler keeps some in memory (docs/results/spilled_tiles.json).
inline constexpr std::int64_t kMostNumbers = 208;

/// Plans a launch that multiplies tiles in 16 bits. Returns nothing, and why in `why_not`, if it does
/// something that fragments cannot do, or if tiles need more than `shared_bytes`.
std::optional<FragmentPlan> fragment_plan(const toy::BoundProgram& program, const Launch& launch,
                                          toy::ElementType factors, std::int64_t shared_bytes,
                                          Reason& why_not);

}  // namespace flashlab::generate
