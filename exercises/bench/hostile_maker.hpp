// Makes submissions that attack a grader: its time, its memory, its reports, its process.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace flashlab::bench {

/// Makes different texts for an exercise with an input x[n] and an output out[n]. The same seed
/// gives the same texts.
class HostileMaker {
 public:
  explicit HostileMaker(std::uint64_t seed) : generator_(seed) {}
  std::string next();
  /// Returns a text that makes the worker crash, if tests enable it
  /// (exercises/isolation/serve.hpp).
  std::string crash(const std::string& how);

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(generator_() % limit); }
  std::string head(const std::string& more = {});

  std::mt19937_64 generator_;
  std::size_t num_made_ = 0;
};

}  // namespace flashlab::bench
