// Programs that want points without the idea of an exercise, made from its solution: what a red team
// found, as families that are generated for every exercise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

enum class StrategyFamily : std::uint8_t {
  kLessWork,    // right at some sizes or tiles; at the others, loops leave work out
  kFewRounds,   // loops of at most k rounds
  kDramSums,    // sums in DRAM, by each instruction that can write
  kKept,        // results kept in temporaries
  kSecondPass,  // more passes: the work twice, or loops that might count below 0
  kUnpriced,    // accesses by instructions that a limit might not count
  kTrick,       // results from elsewhere, another task, results that defeat a comparison
};
inline constexpr std::size_t kNumStrategyFamilies = 7;
std::string_view to_string(StrategyFamily family);  // "less_work"
std::optional<StrategyFamily> parse_strategy_family(std::string_view name);

/// What the verdict on a strategy must be.
enum class StrategyRule : std::uint8_t {
  kNoPoints,     // it is wrong at some size that the exercise may draw
  kLosesPoints,  // it is right and costs more
  kNotCheaper,   // it is right, and none of its counters is below the solution's
};

struct Strategy {
  StrategyFamily family = StrategyFamily::kLessWork;
  StrategyRule rule = StrategyRule::kNoPoints;
  std::string name;  // "i leaves out the last round unless n <= 16"
  std::string text;  // of the program
};

/// Returns all strategies against an exercise with a program to write; the same ones in each call.
std::vector<Strategy> strategies(const ProgramTask& task);

}  // namespace flashlab::exercises
