// The inputs of a run on a GPU, which draws them itself, and its results, as numbers of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "generate/run/job.hpp"

namespace flashlab::generate {

/// Returns the random stream of an array in one call: call 0 is the warm-up.
std::uint64_t stream_of(const GpuJob& job, int call, std::size_t array);

/// Returns element `element` of a stream, before it is rounded to an element type: in [-1, 1).
float drawn_number(std::uint64_t stream, std::int64_t element);

/// Where an array's numbers are drawn from: middle - half to middle + half.
struct DrawnRange {
  float middle = 0, half = 1;
};
DrawnRange drawn_range(const JobArray& array);

/// Returns the number of the array's range for one in [-1, 1).
float drawn_in_range(const JobArray& array, float number);

/// Returns the inputs of one problem in one call as the machine's DRAM: the arrays one after the
/// other, and NaN in those that are no inputs.
std::vector<double> drawn_dram(const GpuJob& job, int call, std::int64_t problem);

/// Returns the largest relative error of rounding to this type: half the distance from 1 to the next
/// number. A unit in the last place is at most twice that.
double rounding_unit(toy::ElementType type);

/// Returns the numbers of an array in a GPU's memory.
std::vector<double> numbers_of(toy::ElementType type, std::span<const std::byte> bytes);

}  // namespace flashlab::generate
