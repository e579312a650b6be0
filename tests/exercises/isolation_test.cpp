// A crash costs one student: workers, their sandbox, what they are told and answer, journals.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "exercises/isolation/isolated_grader.hpp"
#include "exercises/isolation/journal.hpp"
#include "exercises/isolation/wire.hpp"
#include "tests/exercises/class_folder.hpp"
#include "text/sha256.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

WorkerProgram worker() {
  setenv("FLASHLAB_TEST_WORKER", "1", 1);
  return {FLASHLAB_WORKER, {}};
}

GraderOptions within(std::int64_t milliseconds) {
  GraderOptions options;
  options.milliseconds = milliseconds;
  return options;
}

/// A right program that does something to its worker first.
std::string attack(const std::string& what) { return dot_solution() + "; # test: " + what + "\n"; }

std::string text_with(const std::string& part, const std::string& instead) {
  std::string text = dot_solution();
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), instead);
}

/// The first sentence about it, behind the outcome's word.
std::string said_of(const Verdict& verdict) {
  return std::string(outcome_key(verdict.outcome)) + ": " +
         (verdict.findings.empty() ? "" : verdict.findings[0].what);
}

ProvenSize full_proof() {
  ProvenSize proof;
  proof.size = {{"n", 4}, {"d", 2}};
  proof.verdict = ProofVerdict::kBounded;
  proof.computation = "2x2x2";
  proof.allowed = "programs that \"store\" once";
  proof.floor_loads = 8;
  proof.floor_cycles = 20;
  proof.at_least_cycles = toy::Count("123456789012345678901234567890");
  proof.at_most_cycles = 25;
  proof.loads = 9;
  proof.stores = 4;
  proof.program = "LOAD x, R0\n";
  proof.programs = "12";
  proof.programs_up_to_symmetry = "3";
  proof.states = 77;
  proof.seconds = 0.1;
  return proof;
}

/// One in which no member has its default, nor the value of another.
Verdict full_verdict() {
  Verdict verdict;
  verdict.outcome = Outcome::kCostly;
  verdict.points = 9.1;
  verdict.max_points = 10.3;
  verdict.checks = {{"results at n = 4", true, 1.5, 2.5, "a message\nof two lines"}};
  verdict.findings = {{"what", {"one", std::string("t\0wo", 4)}, 11, 12, "n = 2", true}};
  verdict.costs = {{"cycles", 30, 25, 24, 50, 0.8}};
  verdict.size = {{"n", 16}};
  verdict.registers = RegisterUse{31, 32};
  verdict.scores.resize(2);
  verdict.scores[0].size = {{"n", 4}};
  verdict.scores[0].cycles = 41;
  verdict.scores[0].loads = 42;
  verdict.scores[0].order = OrderCost{43, 44, 45, 46};
  verdict.scores[0].proof = full_proof();
  verdict.loads = {{7, 51, 52, 53, "kept"}};
  verdict.order_unknown = "too long";
  verdict.ranking = Ranking{{{{"n", 61}}}, {{"flash1", {62, 63}}}, {64}};
  return verdict;
}

}  // namespace

TEST_CASE("a verdict comes back as it was sent, every member of it", "[isolation]") {
  const Verdict sent = full_verdict();
  const Verdict got = decode_verdict(encode(sent));
  CHECK(got.outcome == sent.outcome);
  CHECK(got.points == sent.points);
  CHECK(got.max_points == sent.max_points);
  REQUIRE(got.checks.size() == 1);
  CHECK(got.checks[0].name == "results at n = 4");
  CHECK(got.checks[0].passed);
  CHECK(got.checks[0].points == 1.5);
  CHECK(got.checks[0].max_points == 2.5);
  CHECK(got.checks[0].message == "a message\nof two lines");
  REQUIRE(got.findings.size() == 1);
  CHECK(got.findings[0].what == "what");
  CHECK(got.findings[0].details == sent.findings[0].details);
  CHECK(got.findings[0].line == 11);
  CHECK(got.findings[0].step == 12);
  CHECK(got.findings[0].inputs == "n = 2");
  REQUIRE(got.registers);
  CHECK(got.registers->value == 31);
  CHECK(got.registers->solution == 32);
  CHECK(got.findings[0].is_about_cost);
  REQUIRE(got.costs.size() == 1);
  CHECK(got.costs[0].key == "cycles");
  CHECK(got.costs[0].value == 30);
  CHECK(got.costs[0].full == 25);
  CHECK(got.costs[0].solution == 24);
  CHECK(got.costs[0].naive == 50);
  CHECK(got.costs[0].share == 0.8);
  REQUIRE(got.ranking);
  CHECK(got.ranking->sizes == sent.ranking->sizes);
  REQUIRE(got.ranking->programs.size() == 1);
  CHECK(got.ranking->programs[0].name == "flash1");
  CHECK(got.ranking->programs[0].bytes == std::vector<toy::Count>{62, 63});
  CHECK(got.ranking->lower_bound == std::vector<toy::Count>{64});
  CHECK(got.size == sent.size);
  REQUIRE(got.loads.size() == 1);
  CHECK(got.loads[0].line == 7);
  CHECK(got.loads[0].compulsory == 51);
  CHECK(got.loads[0].forced == 52);
  CHECK(got.loads[0].avoidable == 53);
  CHECK(got.loads[0].why == "kept");
  CHECK(got.order_unknown == "too long");
}

TEST_CASE("scores and proofs come back as they were sent", "[isolation]") {
  const Verdict got = decode_verdict(encode(full_verdict()));
  REQUIRE(got.scores.size() == 2);
  const SizeScore& score = got.scores[0];
  CHECK(score.size == Size{{"n", 4}});
  CHECK(score.cycles == 41);
  CHECK(score.loads == 42);
  REQUIRE(score.order);
  CHECK(score.order->cycles == 43);
  CHECK(score.order->loads == 44);
  CHECK(score.order->copy_cycles == 45);
  CHECK(score.order->unused_cycles == 46);
  CHECK_FALSE(got.scores[1].order);
  CHECK_FALSE(got.scores[1].proof);
  REQUIRE(score.proof);
  const ProvenSize wanted = full_proof();
  CHECK(score.proof->size == wanted.size);
  CHECK(score.proof->verdict == wanted.verdict);
  CHECK(score.proof->computation == wanted.computation);
  CHECK(score.proof->allowed == wanted.allowed);
  CHECK(score.proof->floor_loads == wanted.floor_loads);
  CHECK(score.proof->floor_cycles == wanted.floor_cycles);
  CHECK(score.proof->at_least_cycles == wanted.at_least_cycles);
  CHECK(score.proof->at_most_cycles == wanted.at_most_cycles);
  CHECK(score.proof->loads == wanted.loads);
  CHECK(score.proof->stores == wanted.stores);
  CHECK(score.proof->program == wanted.program);
  CHECK(score.proof->programs == wanted.programs);
  CHECK(score.proof->programs_up_to_symmetry == wanted.programs_up_to_symmetry);
  CHECK(score.proof->states == wanted.states);
  CHECK(score.proof->seconds == wanted.seconds);
}

TEST_CASE("bytes that are no verdict are refused, wherever they are cut or changed",
          "[isolation]") {
  const std::string bytes = encode(full_verdict());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_THROWS_AS(decode_verdict(std::string_view(bytes).substr(0, length)), WireError);
  }
  CHECK_THROWS_AS(decode_verdict(bytes + "x"), WireError);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x80);
    try {
      decode_verdict(changed);
    } catch (const WireError&) {
    }
  }
}

TEST_CASE("a worker gives the verdicts that the grader gives", "[isolation]") {
  const auto exercise = dot_product();
  const Grader grader(exercise);
  IsolatedGrader isolated(exercise, {}, worker());
  for (const std::string& text :
       {dot_solution(), dot_costly(), dot_mistake(), std::string("nonsense")}) {
    CHECK(encode(*isolated.grade(text)) == encode(grade_text(grader, text)));
    CHECK(encode(isolated.grade("a.toy", text)) == encode(grader.grade("a.toy", text)));
  }
}

TEST_CASE("a submission that kills its worker is told how, and the next one is graded",
          "[isolation]") {
  IsolatedGrader grader(dot_product(), within(300), worker());
  const auto outcome = [&](const std::string& what) {
    return said_of(*grader.grade(attack(what)));
  };
  CHECK_THAT(outcome("crash"), contains("crashed") && contains("SIGSEGV") && contains("twice"));
  CHECK_THAT(outcome("abort"), contains("crashed") && contains("SIGABRT"));
  CHECK_THAT(outcome("exit"), contains("crashed") && contains("exited with code 5"));
  CHECK_THAT(outcome("nonsense"), contains("crashed") && contains("not a verdict"));
  CHECK(outcome("hang") == "limit: grading takes more than 300 ms of processor time");
  const auto next = grader.grade(dot_solution());
  CHECK(next->outcome == Outcome::kFull);
  CHECK(next->points == 10);
}

TEST_CASE("a submission that takes all memory is told its limit", "[isolation]") {
  if (has_sanitizer()) FLASHLAB_SKIP("a sanitizer maps more than any limit");
  GraderOptions options = within(2000);
  options.bytes = 64 << 20;
  IsolatedGrader grader(dot_product(), options, worker());
  CHECK(said_of(*grader.grade(attack("memory"))) ==
        "limit: grading takes more than 64 MiB of memory");
  CHECK(grader.grade(dot_solution())->points == 10);
}

TEST_CASE("a worker opens no file, connects to nothing and starts no process", "[isolation]") {
  IsolatedGrader grader(dot_product(), {}, worker());
  CHECK(said_of(*grader.grade(attack("open"))) == "full: it is refused");
  CHECK(said_of(*grader.grade(attack("connect"))) == "full: it is refused");
  if (grader.sandbox().filters_calls) {
    CHECK(said_of(*grader.grade(attack("fork"))) == "full: it is refused");
  }
}

TEST_CASE("what the kernel lacks is said", "[isolation]") {
  CHECK(to_string(Sandbox{true, true}) ==
        "system calls filtered (seccomp), files locked (Landlock)");
  CHECK_THAT(to_string(Sandbox{false, false}), contains("no seccomp") && contains("no Landlock"));
}

TEST_CASE("a text that asks for an attack is an ordinary one outside of tests", "[isolation]") {
  const WorkerProgram program = worker();
  unsetenv("FLASHLAB_TEST_WORKER");
  IsolatedGrader grader(dot_product(), {}, program);
  CHECK(grader.grade(attack("crash"))->outcome == Outcome::kFull);
}

TEST_CASE("a worker that cannot be started, or grade the exercise, says why", "[isolation]") {
  CHECK_THROWS_AS(IsolatedGrader(dot_product(), {}, {"/nowhere/flashlab", {}}), WorkerError);
  CHECK_THROWS_AS(IsolatedGrader(dot_product(), {}, {"/bin/true", {}}), WorkerError);
  Exercise broken = *dot_product();
  broken.files.at("solution.toy") = "nonsense\n";
  CHECK_THROWS_AS(IsolatedGrader(std::make_shared<const Exercise>(broken), {}, worker()),
                  BrokenExercise);
}

TEST_CASE("a class with crashing submissions grades all others", "[isolation]") {
  const ClassFolderOnDisk folder;
  for (int i = 0; i < 12; ++i) folder.write(std::to_string(10 + i) + ".toy", dot_solution());
  folder.write("15.toy", attack("crash"));
  folder.write("17.toy", attack("hang"));
  folder.write("19.toy", attack("exit"));
  const auto exercise = dot_product();
  ClassOptions options;
  options.jobs = 3;
  options.make_grader = [&] {
    return std::make_unique<IsolatedGrader>(exercise, within(300), worker());
  };
  const auto results = grade_class(*exercise, list_class(folder.path()).students, options);
  REQUIRE(results.size() == 12);
  for (const StudentResult& result : results) {
    CAPTURE(result.name);
    const bool attacks = result.name == "15" || result.name == "17" || result.name == "19";
    CHECK(result.verdict->points == (attacks ? 0 : 10));
  }
}

TEST_CASE("a class ends with the error of a worker that cannot be started", "[isolation]") {
  const ClassFolderOnDisk folder;
  folder.write("anna.toy", dot_solution());
  const auto exercise = dot_product();
  ClassOptions options;
  options.jobs = 2;
  options.make_grader = [&] {
    return std::make_unique<IsolatedGrader>(exercise, GraderOptions(),
                                            WorkerProgram{"/nowhere/flashlab", {}});
  };
  CHECK_THROWS_AS(grade_class(*exercise, list_class(folder.path()).students, options), WorkerError);
}

TEST_CASE("a journal gives back what was written, up to where it was cut off", "[isolation]") {
  const ClassFolderOnDisk folder;
  const JournalPlace place{{folder.path()}, "class", sha256("key")};
  const Verdict verdict = full_verdict();
  std::string path;
  {
    Journal journal(place);
    for (const char* text : {"one", "two", "three"}) journal.add(sha256(text), verdict);
    REQUIRE(journal.paths().size() == 1);
    path = journal.paths()[0];
    CHECK(find_journals(place).abandoned.empty());  // its writer is alive
    CHECK(journal.problem().empty());
  }
  const JournalFindings found = find_journals(place);
  CHECK(found.abandoned == std::vector<std::string>{path});
  REQUIRE(found.verdicts.size() == 3);
  CHECK(encode(*found.verdicts.at(sha256("two"))) == encode(verdict));

  const auto whole = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, whole - 1);
  CHECK(find_journals(place).verdicts.size() == 2);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(whole / 2));
  file << "#";
  file.close();
  CHECK(find_journals(place).verdicts.size() == 1);
}

TEST_CASE("a journal of another exercise, seed or build is none", "[isolation]") {
  const auto exercise = dot_product();
  GraderOptions seeded;
  seeded.seed = 7;
  const Digest key = journal_key(*exercise, {}, "flashlab 1");
  CHECK(journal_key(*exercise, {}, "flashlab 1") == key);
  CHECK(journal_key(*exercise, seeded, "flashlab 1") != key);
  CHECK(journal_key(*exercise, within(5), "flashlab 1") != key);
  CHECK(journal_key(*exercise, {}, "flashlab 2") != key);
  CHECK(journal_key(*dot_product({{"starter.toy", dot_mistake()}}), {}, "flashlab 1") != key);
}

TEST_CASE("a journal goes where there is room, and says when there is none", "[isolation]") {
  const ClassFolderOnDisk folder;
  folder.write("file", "in the way");
  const std::string nowhere = folder.path("file") + "/folder";
  Journal second({{nowhere, folder.path()}, "class", {}});
  second.add(sha256("one"), full_verdict());
  CHECK(second.problem().empty());
  CHECK(find_journals({{nowhere, folder.path()}, "class", {}}).verdicts.size() == 1);
  second.remove();
  CHECK(find_journals({{folder.path()}, "class", {}}).verdicts.empty());
  Journal lost({{nowhere}, "class", {}});
  lost.add(sha256("one"), full_verdict());
  CHECK_THAT(lost.problem(), contains("directory"));
}

TEST_CASE("a budget that ends at any moment leaves the grader as it was", "[isolation]") {
  const auto exercise = dot_product();
  const Grader grader(exercise);
  const std::string out_of_range = text_with("x[i], R0", "x[i + 1], R0");
  for (const std::string& text : {dot_mistake(), out_of_range, dot_costly()}) {
    const std::string wanted = encode(grade_text(grader, text));
    for (std::int64_t bytes = 1 << 12; bytes < 1 << 22; bytes += bytes / 8) {
      GraderOptions options;
      options.bytes = bytes;
      const Grader small(exercise, options);
      const Verdict verdict = grade_text(small, text);
      CHECK_FALSE(verdict.outcome == Outcome::kFull);
      CHECK_FALSE(verdict.outcome == Outcome::kCrashed);
      if (!verdict.passed()) CHECK_FALSE(verdict.findings.empty());
      CHECK(encode(grade_text(grader, text)) == wanted);
    }
  }
}

}  // namespace flashlab::test
