// The bytes of one step, from the counts of its part of a toy program: the elements of one head
// times the number of heads, in the types that the kernel loads and stores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"
#include "attention_cuda/tiles.hpp"
#include "compare/model/toy_counts.hpp"
#include "results/comparison.hpp"

namespace flashlab::compare {

/// Arrays are in fp32, except those that the launch has in the tensors' type.
inline constexpr std::int64_t kFloatBytes = 4;

class StepTraffic {
 public:
  /// The arguments must outlive this object.
  StepTraffic(const AttentionProblem& problem, const cuda::LaunchTiles& launch,
              const ToyCounts& counts)
      : problem_(problem), launch_(launch), counts_(counts) {}

  /// Query heads of all batch entries.
  std::int64_t heads() const { return problem_.batch * problem_.num_heads; }

  /// Returns the program's loads and stores: traffic between L2 and the multiprocessors.
  Traffic sm() const;
  /// Returns each array once. If the arrays of a launch exceed L2, counts them once for each
  /// launch, except keys and values, of which each launch has its own part. Arrays in `in_l2` need
  /// not be read.
  Traffic dram(std::int64_t l2_bytes, const std::vector<std::string>& in_l2) const;

  /// Bytes of the arrays that one launch touches.
  std::int64_t footprint() const;
  std::vector<std::string> touched() const;
  /// Bytes of temporary arrays that have to be in memory at once: those that a launch loads, or those that
  /// it stores, where it may store over what it loaded.
  std::int64_t temporaries() const;

 private:
  using Names = std::vector<std::string_view>;
  std::int64_t bytes_of(std::string_view array, const Names& elements) const;
  std::int64_t bytes_loaded(std::string_view array) const {
    return bytes_of(array, launch_.elements_loaded);
  }
  std::int64_t bytes_stored(std::string_view array) const {
    return bytes_of(array, launch_.elements_stored);
  }
  std::int64_t kv_heads() const { return problem_.batch * problem_.num_kv_heads; }
  std::int64_t heads_of(const ArrayCount& array) const;
  std::int64_t size_of(const ArrayCount& array) const;

  const AttentionProblem& problem_;
  const cuda::LaunchTiles& launch_;
  const ToyCounts& counts_;
};

}  // namespace flashlab::compare
