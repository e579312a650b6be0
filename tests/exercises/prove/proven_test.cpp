// What was proved about an exercise: the file that says so, and when it is believed.
#include "exercises/grader/exercise/proven.hpp"

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/prove/lint.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;
using namespace flashlab::test;

Proven example() {
  Proven proven;
  proven.command = "flashlab exercises prove 03_full_product";
  proven.task = std::string(64, 'a');
  ProvenSize two;
  two.size = {{"n", 2}, {"d", 1}};
  two.verdict = ProofVerdict::kOptimal;
  two.computation = "2x2x2";
  two.allowed = "sums in any order of their terms";
  two.floor_loads = 8;
  two.floor_cycles = 20;
  two.at_least_cycles = two.at_most_cycles = 25;
  two.loads = 13;
  two.stores = 4;
  two.program = ".isa matmul\nLOAD a[0][0], R0  ; \"quoted\"\n";
  two.programs = "123456789012345678901234567890";
  two.programs_up_to_symmetry = "17";
  two.states = 4711;
  two.seconds = 0.25;
  ProvenSize large;
  large.size = {{"n", 16}, {"d", 1}};
  large.floor_loads = flashlab::toy::Count("123456789012345678901234567890");
  large.floor_cycles = large.at_least_cycles = large.at_most_cycles = large.floor_loads;
  proven.sizes = {two, large};
  return proven;
}

/// What parse_proven says after one stretch of the example's text has been replaced.
std::string proof_error(const std::string& from, const std::string& to) {
  std::string text = to_json(example());
  const std::size_t at = text.find(from);
  INFO(from << " in " << text);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto read = parse_proven(text);
  REQUIRE_FALSE(read);
  REQUIRE(read.diagnostics.size() == 1);
  return format(read.diagnostics.front(), {"proven.json", text});
}

/// A proof that fits the exercise as its files stand.
Proven fitting(const ProgramTask& task) {
  Proven proven;
  proven.command = "by hand";
  proven.task = proven_task(task);
  for (const Size& size : task.sizes) {
    ProvenSize one;
    one.size = size;
    one.at_most_cycles = 1000;
    proven.sizes.push_back(one);
  }
  return proven;
}

Exercise read_copy(const Files& files) {
  ReadResult result = read_exercise("copy", files);
  INFO(format(result.errors, files));
  REQUIRE(result.exercise);
  return std::move(*result.exercise);
}

Files template_with_proof() {
  Files files = template_exercise().files;
  files["proven.json"] = to_json(fitting(read_copy(files).program));
  return files;
}

std::string lint_of_files(const Files& files) {
  std::string all;
  for (const LintProblem& problem : lint({"copy", "", files})) {
    all += problem.file + ": " + problem.what;
  }
  return all;
}

}  // namespace

TEST_CASE("a proof is read as it was written", "[proven]") {
  const std::string text = to_json(example());
  const auto read = parse_proven(text);
  REQUIRE(read);
  CHECK(to_json(*read) == text);
  REQUIRE(read->sizes.size() == 2);
  const ProvenSize& two = read->sizes[0];
  CHECK(two.size == Size{{"n", 2}, {"d", 1}});
  CHECK(two.verdict == ProofVerdict::kOptimal);
  CHECK(two.program == example().sizes[0].program);
  CHECK(two.programs == "123456789012345678901234567890");
  CHECK(two.loads == flashlab::toy::Count(13));
  CHECK(two.seconds == 0.25);
  CHECK(read->sizes[1].floor_loads == flashlab::toy::Count("123456789012345678901234567890"));
  CHECK_FALSE(read->sizes[1].loads);
  CHECK(read->sizes[1].program.empty());
  CHECK(read->at({{"n", 16}, {"d", 1}}) == &read->sizes[1]);
  CHECK(read->at({{"n", 3}}) == nullptr);
}

TEST_CASE("a proof of no size at all is written and read", "[proven]") {
  Proven none = example();
  none.sizes.clear();
  const auto read = parse_proven(to_json(none));
  REQUIRE(read);
  CHECK(read->sizes.empty());
}

TEST_CASE("a size is a line, and so is each line of its program", "[proven]") {
  CHECK_THAT(to_json(example()), contains("\n  \"program\": [\n   \".isa matmul\",\n   \"LOAD a"));
  CHECK_THAT(to_json(example()), contains("\n {\"size\":{\"d\":1,\"n\":16},\"verdict\":"));
}

TEST_CASE("what is wrong with a proof is said with its place", "[proven]") {
  CHECK_THAT(proof_error("\"version\"", "version"),
             contains("proven.json:1:31: error: it is not JSON"));
  CHECK_THAT(proof_error("flashlab-proven", "flashlab-best"),
             contains("format: it is \"flashlab-best\""));
  CHECK_THAT(proof_error("\"version\": 1", "\"version\": 2"), contains("version: it is 2"));
  CHECK_THAT(proof_error("\"task\"", "\"tusk\""), contains("unknown key 'tusk'"));
  CHECK_THAT(proof_error("\"at_least_cycles\":25,", ""),
             contains("sizes[0]: 'at_least_cycles' is missing"));
  CHECK_THAT(proof_error("\"states\":4711", "\"status\":4711"),
             contains("sizes[0]: unknown key 'status'"));
  CHECK_THAT(proof_error("\"states\":4711", "\"states\":-1"),
             contains("sizes[0].states: it is -1"));
  CHECK_THAT(proof_error("\"loads\":13", "\"loads\":13.5"), contains("sizes[0].loads: it is 13.5"));
  CHECK_THAT(proof_error("\"loads\":13", "\"loads\":\"1x\""),
             contains("sizes[0].loads: it is \"1x\""));
  CHECK_THAT(proof_error("\"17\"", "17"), contains("sizes[0].programs_up_to_symmetry: it is 17"));
  CHECK_THAT(proof_error("\"optimal\"", "\"best\""), contains("sizes[0].verdict: it is \"best\""));
  CHECK_THAT(
      proof_error("\"verdict\":\"optimal\"", "\"verdict\":\"bounded\",\"verdict\":\"optimal\""),
      contains("the key 'verdict' occurs twice"));
  CHECK_THAT(proof_error("\"at_most_cycles\":25", "\"at_most_cycles\":24"),
             contains("sizes[0].at_most_cycles: the bounds cross"));
  CHECK_THAT(proof_error("\"at_most_cycles\":25", "\"at_most_cycles\":26"),
             contains("sizes[0].verdict: it says optimal, and the bounds are 25 and 26"));
  CHECK_THAT(proof_error("\"floor_cycles\":20", "\"floor_cycles\":26"),
             contains("sizes[0].at_least_cycles: it is less than the floor"));
  CHECK_THAT(proof_error("\"n\":16", "\"n\":2"),
             contains("sizes[1].size: sizes[0] has the same size"));
  CHECK_THAT(proof_error("\"n\":16", "\"n\":true"), contains("sizes[1].size: it is an object"));
  CHECK_THAT(proof_error("\".isa matmul\"", "7"), contains("sizes[0].program[0]: it is 7"));
  CHECK_THAT(proof_error("\".isa matmul\"", "\"a\\u001bb\""),
             contains("sizes[0].program[0]: it has a character that is not visible"));
  CHECK_THAT(proof_error("\"seconds\":0.25", "\"seconds\":-0.25"),
             contains("sizes[0].seconds: it is"));
  CHECK_THAT(
      proof_error("\"n\":16", "\"n\":" + std::string(100'000, '[') + std::string(100'000, ']')),
      contains("it is nested too deeply"));
  CHECK_THAT(proof_error("\"seconds\":0.25", "\"seconds\":1e999"), contains("error:"));
}

TEST_CASE("no text makes the reader of proofs do more than complain", "[proven]") {
  for (const char* text :
       {"", "[]", "null", "{}", "{\"format\": \"flashlab-proven\"}", "{\"a\":"}) {
    INFO(text);
    CHECK_FALSE(parse_proven(text));
  }
  CHECK_FALSE(parse_proven(std::string(200'000, '[')));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  CHECK_FALSE(parse_proven(deep));
  const std::string good = to_json(example());
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    CHECK_FALSE(parse_proven(good.substr(0, length)));
  }
}

TEST_CASE("an exercise has the proof that lies beside it", "[proven]") {
  const Exercise exercise = read_copy(template_with_proof());
  REQUIRE(exercise.proven != nullptr);
  CHECK(exercise.proven->sizes.size() == exercise.program.sizes.size());
  CHECK(lint_of_files(template_with_proof()) == "");
  CHECK(read_copy(template_exercise().files).proven == nullptr);
}

TEST_CASE("a broken proof breaks the exercise, with its place", "[proven]") {
  Files files = template_with_proof();
  files["proven.json"].replace(0, 1, "");
  const ReadResult result = read_exercise("copy", files);
  CHECK_FALSE(result.exercise);
  CHECK_THAT(format(result.errors, files), contains("proven.json:1:"));
}

TEST_CASE("a proof that is out of step is left out, and lint says so", "[proven]") {
  Files files = template_with_proof();
  files["solution.toy"] += "; edited\n";
  CHECK(read_copy(files).proven == nullptr);
  CHECK_THAT(lint_of_files(files), contains("proven.json: the proof is out of step"));
  CHECK_THAT(lint_of_files(files), contains("flashlab exercises prove copy"));
}

TEST_CASE("a proof about other sizes is out of step", "[proven]") {
  Files files = template_with_proof();
  Proven proven = *read_copy(files).proven;
  proven.sizes.pop_back();
  files["proven.json"] = to_json(proven);
  CHECK(read_copy(files).proven == nullptr);
}

TEST_CASE("whatever a proof depends on changes the task's digest", "[proven]") {
  const ProgramTask task = read_copy(template_exercise().files).program;
  const std::string digest = proven_task(task);
  CHECK(digest.size() == 64);
  const auto changed = [&](auto change) {
    ProgramTask other = task;
    change(other);
    return proven_task(other) != digest;
  };
  CHECK(changed([](ProgramTask& t) { t.registers = "4"; }));
  CHECK(changed([](ProgramTask& t) { t.level = flashlab::toy::Level::kAttention; }));
  CHECK(changed([](ProgramTask& t) { t.extra_instructions = {4}; }));
  CHECK(changed([](ProgramTask& t) { t.operands = flashlab::toy::OperandRule::kPinned; }));
  CHECK(changed([](ProgramTask& t) { t.temporaries = !t.temporaries; }));
  CHECK(changed([](ProgramTask& t) { t.arrays.push_back(".input z[n]"); }));
  CHECK(changed([](ProgramTask& t) { t.sizes.pop_back(); }));
  CHECK(changed([](ProgramTask& t) { t.check.push_back("z"); }));
  CHECK(changed([](ProgramTask& t) { t.builtin_reference = "sum"; }));
  CHECK(changed([](ProgramTask& t) { t.cost.most["loads"] = flashlab::toy::Polynomial(3); }));
  CHECK(changed([](ProgramTask& t) { t.numerics.range_safe = !t.numerics.range_safe; }));
  CHECK(changed([](ProgramTask& t) { t.solution = t.reference; }));
  CHECK_FALSE(changed([](ProgramTask& t) { t.points.cost = 3; }));
}
