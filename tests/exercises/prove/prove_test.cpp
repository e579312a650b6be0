// What is proved about exercises: the committed files, and what proving says of an exercise.
#include "exercises/grader/prove/prove.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/prove/computation_of.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;  // NOLINT: a test of that namespace
using namespace flashlab::test;
namespace optimal = flashlab::optimal;

std::shared_ptr<const Exercise> course_exercise(const std::string& id) {
  for (const ExerciseSource& source : builtin_exercises()) {
    if (!source.id.starts_with(id)) continue;
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    return std::make_shared<const Exercise>(std::move(*read.exercise));
  }
  FAIL("no exercise " << id);
  return nullptr;
}

/// Safe softmax of five with three registers in 44 cycles: four exponentials wait in out[], which
/// costs less than to make them again.
constexpr const char* kResultsAsScratch = R"(.isa softmax
.registers 3
.param n = 5
.input x[n]
.output out[n]
LOAD x[0], R0
LOAD x[1], R1
MAX R0, R1, R2
LOAD x[2], R1
MAX R1, R2, R2
LOAD x[3], R1
MAX R1, R2, R2
LOAD x[4], R1
MAX R1, R2, R2
SUB R0, R2, R0
EXP R0, R0
STORE R0, out[0]
SUB R1, R2, R1
EXP R1, R1
STORE R1, out[4]
ADD R0, R1, R0
LOAD x[1], R1
SUB R1, R2, R1
EXP R1, R1
STORE R1, out[1]
ADD R0, R1, R0
LOAD x[2], R1
SUB R1, R2, R1
EXP R1, R1
STORE R1, out[2]
ADD R0, R1, R0
LOAD x[3], R1
SUB R1, R2, R1
EXP R1, R1
ADD R0, R1, R0
DIV R1, R0, R1
STORE R1, out[3]
LOAD out[0], R1
DIV R1, R0, R1
STORE R1, out[0]
LOAD out[1], R1
DIV R1, R0, R1
STORE R1, out[1]
LOAD out[2], R1
DIV R1, R0, R1
STORE R1, out[2]
LOAD out[4], R1
DIV R1, R0, R1
STORE R1, out[4]
)";

/// The exercise with one of its sizes alone.
std::shared_ptr<const Exercise> at_size(const Exercise& exercise, const Size& size) {
  Exercise result = exercise;
  result.program.sizes = {size};
  result.program.drawn = {};
  return std::make_shared<const Exercise>(std::move(result));
}

/// The committed proof with one size changed.
template <class Change>
Proven with_size_changed(const Proven& proven, std::size_t size, Change&& change) {
  Proven result = proven;
  change(result.sizes[size]);
  return result;
}

}  // namespace

TEST_CASE("what is committed about an exercise is what is proved now, where that is quick") {
  std::size_t programs = 0, searched = 0;
  for (const ExerciseSource& source : builtin_exercises()) {
    const auto one = course_exercise(source.id);
    if (one->kind != Kind::kProgram) continue;
    if (!one->program.machines.empty()) continue;  // the solver knows one machine
    ++programs;
    INFO(source.id);
    REQUIRE(one->proven != nullptr);
    ProveOptions options;
    options.recorded = one->proven.get();
    options.recorded_below_seconds = 0.1;
    options.count_programs = false;
    options.done = [&](const ProvenSize& size) {
      searched += size.verdict == ProofVerdict::kNotSearched ? 0 : 1;
    };
    const Proven now = prove(one, options);
    for (const std::string& what : contradictions(*one, *one->proven, now)) FAIL_CHECK(what);
    for (const ProvenSize& size : one->proven->sizes) {
      CHECK(size.floor_cycles <= size.at_least_cycles);
      CHECK(size.at_least_cycles <= size.at_most_cycles);
    }
  }
  CHECK(programs == 27);
  CHECK(searched >= 15);
}

TEST_CASE("the cheapest program of an exercise with one size earns full marks") {
  for (const char* id : {"01", "02", "03", "04", "05", "07"}) {
    const auto one = course_exercise(id);
    const Proven proven = prove(one);
    REQUIRE(proven.sizes.size() == 1);
    const ProvenSize& only = proven.sizes[0];
    INFO(one->id << "\n" << only.program);
    CHECK(only.verdict == ProofVerdict::kOptimal);
    const Verdict verdict = Grader(one).grade("best.toy", only.program);
    CHECK(verdict.outcome == Outcome::kFull);
    CHECK(verdict.points == verdict.max_points);
    CHECK(proven.in_step_with(one->program));
  }
}

TEST_CASE("an exercise's computation is in its own arrays, on its own machine") {
  const auto c00 = course_exercise("02");
  const auto posed = computation_of(c00->program, {});
  REQUIRE(posed);
  REQUIRE(posed->computation.product() != nullptr);
  CHECK(posed->computation.product()->inner == 2);
  CHECK(posed->registers == 3);
  CHECK(posed->operands == flashlab::toy::OperandRule::kPinned);

  const auto online = course_exercise("08");
  const auto two = computation_of(online->program, {{"n", 2}});
  REQUIRE(two);
  CHECK(two->computation.name == "softmax:2");
  CHECK(two->most_loads == 4);
  CHECK(two->computation.frame.declarations.front() == ".param n = 2");
  CHECK_FALSE(computation_of(online->program, {{"n", 16}}));
}

TEST_CASE("what no program can do without is counted at every size of every exercise") {
  const auto floor = [](const char* id, const Size& size) {
    const optimal::Compulsory needed = compulsory_of(course_exercise(id)->program, size);
    return std::pair(needed.loads, needed.stores);
  };
  CHECK(floor("02", {}) == std::pair<std::int64_t, std::int64_t>(4, 1));
  CHECK(floor("10", {{"n", 90}}) == std::pair<std::int64_t, std::int64_t>(90, 1));
  // One key: the output is v, whatever q and k are.
  CHECK(floor("16", {{"n", 6}, {"nk", 1}, {"d", 1}}) ==
        std::pair<std::int64_t, std::int64_t>(1, 6));
  // 4 x 4 and 6 x 4 elements in tiles of 2 x 2, statistics in columns of 2.
  CHECK(floor("21", {{"n", 4}, {"nk", 6}, {"d", 4}, {"B", 2}, {"Bd", 2}}) ==
        std::pair<std::int64_t, std::int64_t>(4 + 6 + 6 + 4 + 2 + 2, 4 + 6 + 6));
}

TEST_CASE("a committed proof that is wrong is contradicted by a new one") {
  const auto one = course_exercise("03");
  const Proven good = prove(one);
  CHECK(contradictions(*one, good, good).empty());
  const auto says = [&](const Proven& committed, const std::string& words) {
    const auto found = contradictions(*one, committed, good);
    REQUIRE(found.size() == 1);
    CHECK(found[0].find(words) != std::string::npos);
  };
  says(with_size_changed(good, 0,
                         [](ProvenSize& size) { size.at_least_cycles = size.at_most_cycles = 26; }),
       "cycles are 25, not 26");
  says(with_size_changed(good, 0, [](ProvenSize& size) { size.floor_loads += 1; }),
       "the floor is 8 loads");
  says(with_size_changed(good, 0, [](ProvenSize& size) { size.program += "STORE R0, c[0][0]\n"; }),
       "does not accept the program");
  says(with_size_changed(good, 0, [](ProvenSize& size) { size.verdict = ProofVerdict::kBounded; }),
       "it is proved now");
  says(with_size_changed(good, 0, [](ProvenSize& size) { size.size = {{"n", 2}}; }), "is missing");
}

TEST_CASE("a size that is too large to be searched has its floor, and no program") {
  Exercise large = *course_exercise("06");
  large.program.sizes = {{{"n", 16}}};
  const Proven proven = prove(std::make_shared<const Exercise>(std::move(large)));
  const ProvenSize& largest = proven.sizes.back();
  CHECK(largest.verdict == ProofVerdict::kNotSearched);
  CHECK(largest.at_least_cycles == 32);  // 16 loads, 16 stores
  CHECK(largest.at_most_cycles == 175);  // the solution
  CHECK(largest.program.empty());
  CHECK_THROWS_AS(prove(course_exercise("11")), std::runtime_error);  // questions
}

TEST_CASE("no proof lies above a program that keeps other values in its results' cells") {
  const Size five{{"n", 5}};
  for (const char* id : {"06", "09"}) {
    const auto one = course_exercise(id);
    INFO(one->id);
    REQUIRE(Grader(at_size(*one, five)).grade("scratch.toy", kResultsAsScratch).passed());
    REQUIRE(one->proven != nullptr);
    REQUIRE(one->proven->at(five) != nullptr);
    CHECK(one->proven->at(five)->at_least_cycles <= 44);
    CHECK(one->proven->at(five)->at_most_cycles <= 44);
  }
}

TEST_CASE("a known program is shown where the search finds none that is cheaper") {
  ProveOptions options;
  options.most_seconds = 0;
  const auto five = at_size(*course_exercise("06"), {{"n", 5}});
  CHECK(prove(five, options).sizes[0].at_most_cycles > 44);
  options.programs = {"no program", kResultsAsScratch};
  const Proven proven = prove(five, options);
  CHECK(proven.sizes[0].at_most_cycles == 44);
  CHECK(proven.sizes[0].stores == 9);
  CHECK(proven.sizes[0].program == kResultsAsScratch);
  CHECK(proven.sizes[0].verdict == ProofVerdict::kBounded);
}

TEST_CASE(
    "results' cells hold other values first, unless no more stores than results are accepted") {
  Exercise softmax = *course_exercise("06");
  const Size two{{"n", 2}};
  CHECK(computation_of(softmax.program, two)->scratch_cells == 2);
  CHECK(computation_of(course_exercise("03")->program, {})->scratch_cells == 0);  // a product
  softmax.program.cost.most["stores"] = softmax.program.cost.full.at("stores");
  CHECK(computation_of(softmax.program, two)->scratch_cells == 0);
  softmax.program.sizes = {two};
  const Proven proven = prove(std::make_shared<const Exercise>(softmax));
  CHECK_THAT(proven.sizes[0].allowed, contains("only results are stored"));
  CHECK_THAT(prove(at_size(*course_exercise("06"), two)).sizes[0].allowed,
             contains("cells of results may hold other values first"));
}
