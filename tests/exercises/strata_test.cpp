// Drawn sizes share out the ranges, so that no half of a range is left out.
#include <algorithm>
#include <random>
#include <set>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/judge/cost_score.hpp"
#include "tests/exercises/class_folder.hpp"
#include "tests/seed.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

constexpr std::uint64_t kSeeds = 300;

/// The exercises of the course with sizes that are drawn.
std::vector<Exercise> exercises_with_draws() {
  std::vector<Exercise> all;
  for (const ExerciseSource& source : builtin_exercises()) {
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    if (!read.exercise->program.drawn.ranges.empty()) all.push_back(std::move(*read.exercise));
  }
  REQUIRE(all.size() > 10);
  return all;
}

/// Whether the exercise's tiles have given sizes, B by Bd and so on.
bool has_given_tiles(const ProgramTask& task) {
  return task.drawn.ranges.contains("B") && !task.free_tiles;
}

/// In the course sizes of tiles have capital letters: B, Bk, D.
bool is_tile(const std::string& parameter) { return parameter[0] >= 'A' && parameter[0] <= 'Z'; }

/// For how many seeds every drawn size is in the set.
template <class IsIn>
std::uint64_t seeds_within(const ProgramTask& task, const IsIn& is_in) {
  std::uint64_t seeds = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<Size> sizes = drawn_sizes(task, seed);
    seeds += std::all_of(sizes.begin(), sizes.end(), is_in) ? 1 : 0;
  }
  return seeds;
}

}  // namespace

TEST_CASE("both halves of every range are drawn with every seed, and even and odd values",
          "[drawn]") {
  for (const Exercise& exercise : exercises_with_draws()) {
    const ProgramTask& task = exercise.program;
    for (const auto& [name, range] : task.drawn.ranges) {
      std::set<std::int64_t> hidden;
      for (std::int64_t value = range.first; value <= range.second; ++value) hidden.insert(value);
      for (const Size& size : task.sizes) hidden.erase(size.at(name));
      const std::int64_t middle = (range.first + range.second) / 2;
      const auto never_leaves = [&](const char* half, const auto& is_in) {
        INFO(exercise.id << ", " << name << " " << half);
        if (std::all_of(hidden.begin(), hidden.end(), is_in)) return;
        // A submission may know the displayed values.
        CHECK(seeds_within(task, [&](const Size& size) {
                return is_in(size.at(name)) || !hidden.contains(size.at(name));
              }) == 0);
      };
      never_leaves("in the lower half", [&](std::int64_t value) { return value <= middle; });
      never_leaves("in the upper half", [&](std::int64_t value) { return value > middle; });
      never_leaves("even", [](std::int64_t value) { return value % 2 == 0; });
      never_leaves("odd", [](std::int64_t value) { return value % 2 != 0; });
    }
  }
}

namespace {

/// What a program may ask of one parameter: the half of its range, and whether it is odd.
using Property = bool (*)(std::int64_t value, std::int64_t middle);
constexpr Property kProperties[] = {
    [](std::int64_t value, std::int64_t middle) { return value > middle; },
    [](std::int64_t value, std::int64_t) { return value % 2 != 0; }};

/// The pairs of answers that the drawn sizes give to two questions, and those that the ranges have.
struct Pairs {
  std::set<std::pair<bool, bool>> drawn, possible;
};
Pairs pairs_of(const DrawnSizes& rule, const std::vector<Size>& sizes, const std::string& a,
               Property of_a, const std::string& b, Property of_b) {
  Pairs pairs;
  const auto answers = [&](const std::string& name, Property property) {
    const auto& [first, last] = rule.ranges.at(name);
    std::set<bool> all;
    for (std::int64_t value = first; value <= last; ++value) {
      all.insert(property(value, (first + last) / 2));
    }
    return all;
  };
  const auto middle = [&](const std::string& name) {
    return (rule.ranges.at(name).first + rule.ranges.at(name).second) / 2;
  };
  for (const bool x : answers(a, of_a)) {
    for (const bool y : answers(b, of_b)) pairs.possible.emplace(x, y);
  }
  for (const Size& size : sizes) {
    pairs.drawn.emplace(of_a(size.at(a), middle(a)), of_b(size.at(b), middle(b)));
  }
  return pairs;
}

/// Calls it with each two parameters of the exercise.
template <class Visit>
void for_two_parameters(const DrawnSizes& rule, const Visit& visit) {
  for (auto a = rule.ranges.begin(); a != rule.ranges.end(); ++a) {
    for (auto b = std::next(a); b != rule.ranges.end(); ++b) visit(a->first, b->first);
  }
}

}  // namespace

TEST_CASE("each two parameters have all pairs of halves and parities with every seed", "[drawn]") {
  std::size_t several = 0;
  for (const Exercise& exercise : exercises_with_draws()) {
    const DrawnSizes& rule = exercise.program.drawn;
    if (rule.ranges.size() < 2) continue;
    ++several;
    // Three parameters and four draws: the halves alone.
    const std::size_t properties = rule.count >= kUsualDrawsOfSeveral ? 2 : 1;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const std::vector<Size> sizes = drawn_sizes(exercise.program, seed);
      for_two_parameters(rule, [&](const std::string& a, const std::string& b) {
        for (std::size_t i = 0; i < properties; ++i) {
          for (std::size_t j = 0; j < properties; ++j) {
            const Pairs pairs = pairs_of(rule, sizes, a, kProperties[i], b, kProperties[j]);
            INFO(exercise.id << ", seed " << seed << ": " << (i == 0 ? "half" : "parity") << " of "
                             << a << ", " << (j == 0 ? "half" : "parity") << " of " << b);
            CHECK(pairs.drawn == pairs.possible);
          }
        }
      });
    }
  }
  CHECK(several > 12);
}

TEST_CASE("each pair of values of two ranges of up to four is drawn with every seed", "[drawn]") {
  std::size_t checked = 0;
  for (const Exercise& exercise : exercises_with_draws()) {
    const DrawnSizes& rule = exercise.program.drawn;
    if (rule.count < kUsualDrawsOfSeveral) continue;
    const auto width = [&](const std::string& name) {
      return static_cast<std::size_t>(rule.ranges.at(name).second - rule.ranges.at(name).first + 1);
    };
    for_two_parameters(rule, [&](const std::string& a, const std::string& b) {
      if (width(a) > 4 || width(b) > 4) return;
      ++checked;
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        std::set<std::pair<std::int64_t, std::int64_t>> pairs;
        for (const Size& size : drawn_sizes(exercise.program, seed)) {
          pairs.emplace(size.at(a), size.at(b));
        }
        INFO(exercise.id << ", seed " << seed << ": " << a << ", " << b);
        CHECK(pairs.size() == width(a) * width(b));
      }
    });
  }
  CHECK(checked > 20);
}

TEST_CASE(
    "the size with the largest arrays is drawn with every seed if there are several parameters",
    "[drawn]") {
  for (const Exercise& exercise : exercises_with_draws()) {
    const ProgramTask& task = exercise.program;
    if (task.drawn.ranges.size() < 2 || task.drawn.ranges.contains("B") ||
        task.most_register_bytes) {
      continue;
    }
    INFO(exercise.id);
    Size largest;
    for (const auto& [name, range] : task.drawn.ranges) largest[name] = range.second;
    CHECK(seeds_within(task, [&](const Size& size) { return size != largest; }) == 0);
  }
}

TEST_CASE("a single parameter has a draw in the last eighth of its range with every seed",
          "[drawn]") {
  for (const Exercise& exercise : exercises_with_draws()) {
    const ProgramTask& task = exercise.program;
    if (task.drawn.ranges.size() != 1) continue;
    const auto& [name, range] = *task.drawn.ranges.begin();
    const std::int64_t eighth = range.second - (range.second - range.first + 1) / 8;
    INFO(exercise.id << ", " << eighth);
    CHECK(seeds_within(task, [&, &key = name](const Size& size) {
            return size.at(key) <= eighth - 1;
          }) == 0);
  }
}

TEST_CASE("the ends of two long ranges come together with some seeds and apart with others",
          "[drawn]") {
  const auto exercises = exercises_with_draws();
  const auto is_it = [](const Exercise& one) { return one.id == "13_attention_update"; };
  const auto found = std::find_if(exercises.begin(), exercises.end(), is_it);
  REQUIRE(found != exercises.end());
  std::set<std::pair<std::int64_t, std::int64_t>> ends;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const Size& size : drawn_sizes(found->program, seed)) {
      if (size.at("n") == 24) ends.emplace(size.at("n"), size.at("d"));
    }
  }
  CHECK(ends.size() == 4);  // d = 5 to 8
}

TEST_CASE("with every seed one size has the most tiles that the ranges allow", "[drawn]") {
  for (const Exercise& exercise : exercises_with_draws()) {
    const ProgramTask& task = exercise.program;
    if (task.drawn.count < kUsualDraws || !has_given_tiles(task)) continue;
    INFO(exercise.id);
    Size most;
    for (const auto& [name, range] : task.drawn.ranges) {
      most[name] = is_tile(name) ? range.first : range.second;
    }
    std::uint64_t seeds = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const std::vector<Size> sizes = drawn_sizes(task, seed);
      seeds += std::find(sizes.begin(), sizes.end(), most) != sizes.end() ? 1 : 0;
    }
    CHECK(seeds == kSeeds);
  }
}

TEST_CASE("each draw has its own part of every range, and a short range is drawn whole",
          "[drawn]") {
  for (const Exercise& exercise : exercises_with_draws()) {
    const DrawnSizes& rule = exercise.program.drawn;
    if (rule.count < kUsualDraws) continue;
    INFO(exercise.id);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const std::vector<Size> sizes = drawn_sizes(exercise.program, seed);
      for (const auto& [name, range] : rule.ranges) {
        std::set<std::int64_t> values;
        for (const Size& size : sizes) values.insert(size.at(name));
        const std::int64_t width = range.second - range.first + 1;
        CHECK(values.size() + 1 >= static_cast<std::size_t>(std::min(width, kUsualDraws)));
      }
    }
  }
}

TEST_CASE("at most one seed in fifty draws from one half of the values alone, whichever half",
          "[drawn]") {
  std::mt19937_64 generator(test::seeded(7));
  for (const Exercise& exercise : exercises_with_draws()) {
    const ProgramTask& task = exercise.program;
    if (task.drawn.count < kUsualDraws) continue;
    for (const auto& [name, range] : task.drawn.ranges) {
      if (range.first == range.second) continue;
      for (int half = 0; half < 3; ++half) {
        std::vector<std::int64_t> values;
        for (std::int64_t value = range.first; value <= range.second; ++value) {
          values.push_back(value);
        }
        std::shuffle(values.begin(), values.end(), generator);
        values.resize(values.size() / 2);
        INFO(exercise.id << ", half " << half << " of the values of " << name);
        CHECK(seeds_within(task, [&](const Size& size) {
                return std::find(values.begin(), values.end(), size.at(name)) != values.end();
              }) <= kSeeds / 50);
      }
    }
  }
}

TEST_CASE("a program that is right at one hidden size alone meets another one with every seed",
          "[drawn]") {
  for (const Exercise& exercise : exercises_with_draws()) {
    INFO(exercise.id);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const std::vector<Size> sizes = drawn_sizes(exercise.program, seed);
      const std::set<Size> different(sizes.begin(), sizes.end());
      CHECK(different.size() == sizes.size());
      CHECK(sizes.size() >= 2);
    }
  }
}

TEST_CASE("every seed draws large tiles, small ones, and ragged ends of both kinds of rows",
          "[drawn]") {
  std::size_t with_tiles = 0;
  for (const Exercise& exercise : exercises_with_draws()) {
    const ProgramTask& task = exercise.program;
    if (!has_given_tiles(task)) continue;
    INFO(exercise.id);
    ++with_tiles;
    const auto tiles = [](const Size& size) {
      std::vector<std::int64_t> all;
      for (const auto& [name, value] : size) {
        if (is_tile(name)) all.push_back(value);
      }
      return all;
    };
    // Wrong where all tiles are larger than one number, or any of them.
    CHECK(seeds_within(task, [&](const Size& size) {
            const auto all = tiles(size);
            return std::any_of(all.begin(), all.end(), [](std::int64_t b) { return b == 1; });
          }) == 0);
    CHECK(seeds_within(task, [&](const Size& size) { return size.at("n") % size.at("B") == 0; }) <=
          kSeeds / 50);
  }
  CHECK(with_tiles == 9);
}

TEST_CASE("solutions cost what the formulas say at fifty drawn sizes of tiles", "[drawn]") {
  constexpr std::uint64_t kSeed = 45;
  constexpr int kDraws = 50;
  INFO("seed " << kSeed);
  std::mt19937_64 generator(test::seeded(kSeed));
  // Full marks leave room for LOAD, MAC, STORE in 21, for scale filled in twice in 22, and the formula of 29 is a
  // bound.
  const std::set<std::string> with_room = {"21_backward_onepass", "22_backward_twopass",
                                           "29_flash2_causal"};
  std::size_t counted = 0;
  for (const Exercise& exercise : exercises_with_draws()) {
    const ProgramTask& task = exercise.program;
    if (!has_given_tiles(task)) continue;
    for (int draw = 0; draw < kDraws; ++draw) {
      SizedCases sized;
      for (const auto& [name, range] : task.drawn.ranges) {
        const std::uint64_t most = is_tile(name) ? 7 : 40;
        sized.size[name] = 1 + static_cast<std::int64_t>(generator() % most);
      }
      INFO(exercise.id << " at " << to_string(sized.size));
      const Attempt attempt = count_attempt(task, task.solution, sized);
      if (std::any_of(attempt.refusal.begin(), attempt.refusal.end(),
                      [](const auto& refusal) { return refusal.fault == toy::Fault::kLimit; })) {
        continue;  // more steps than the exercise allows
      }
      REQUIRE(attempt.refusal.empty());
      const CostScore score = score_cost(task, attempt);
      CHECK(score.accepted());
      for (const CostLine& line : score.lines) {
        INFO(line.key << ": " << line.value << ", full marks up to " << line.full);
        CHECK(line.value <= line.full);
        if (!with_room.contains(exercise.id)) CHECK(line.value == line.full);
        ++counted;
      }
    }
  }
  CHECK(counted >= std::size_t{8} * kDraws);
}

}  // namespace flashlab::test
