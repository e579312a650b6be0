// Wrong submissions and the single changes that make them right.
#include "exercises/grader/repair/repair.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "tests/catch_shim.hpp"
#include "toymachine/language/assembler.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

const ProgramTask& template_task() {
  static const Exercise exercise = [] {
    ReadResult read = read_exercise(template_exercise().id, template_exercise().files);
    REQUIRE(read.exercise);
    return std::move(*read.exercise);
  }();
  return exercise.program;
}

/// The repairs of the template's solution with `from` replaced by `to`.
Repairs repairs_of(const std::string& from, const std::string& to,
                   const RepairBudget& budget = {}) {
  const ProgramTask& task = template_task();
  std::string text = task.solution->source->text();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  auto program = toy::assemble(std::make_shared<const toy::SourceText>("mine.toy", text));
  REQUIRE(program);
  static const std::vector<SizedCases> cases = make_cases(task, 1, toy::kLanes);
  static std::vector<LaneCase> lanes;
  std::vector<RepairSize> sizes;
  for (const SizedCases& sized : cases) {
    const auto bound = bind_submission(task, task.solution, sized.size);
    REQUIRE(bound);
    if (lanes.size() < cases.size()) {
      lanes.push_back(std::move(make_lane_cases(sized, *bound, task.tolerance).front()));
    }
  }
  for (std::size_t i = 0; i < cases.size(); ++i) sizes.push_back({&cases[i], &lanes[i]});
  return find_repairs(task, std::make_shared<const toy::Program>(std::move(*program)), sizes, 2, 0,
                      budget);
}

bool proposes(const Repairs& repairs, const std::string& what) {
  return std::any_of(repairs.repairs.begin(), repairs.repairs.end(),
                     [&](const Repair& repair) { return repair.edit.what == what; });
}

/// The verdict on an exercise's solution with `from` replaced by `to`.
Verdict verdict_on(const std::string& id, const std::string& from, const std::string& to) {
  for (const ExerciseSource& source : all_exercises({})) {
    if (source.id != id) continue;
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    const auto exercise = std::make_shared<const Exercise>(std::move(*read.exercise));
    std::string text = exercise->program.solution->source->text();
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    return Grader(exercise).grade("mine.toy", text);
  }
  FAIL("there is no exercise " << id);
  return {};
}

}  // namespace

TEST_CASE("the line of a fault is named on tiles, with indexed registers, and if it is missing",
          "[repair]") {
  struct Fault {
    const char *exercise, *from, *to;
    std::uint32_t line;
  };
  const Fault faults[] = {
      {"31_flash1", "MUL L, A, A ", "MUL L, A, Q ", 58},  // not seen with tiles of one number
      {"31_flash1", "ROWSUM P, X", "ROWMAX P, X", 57},
      {"31_flash1", "LOAD l[i][0], L", "LOAD l[j][0], L", 48},
      {"31_flash1", "FILL 0, L\n", "", 23},  // "STORE O, l[i][0]" would do, too
      {"28_flash2", "DIV O[c], L, O[c]", "MOV L, O[c]", 50},
      {"12_online_variance", "DIV M, COUNT, M", "MOV COUNT, M", 38},
      {"32_split_kv_merge", "STORE O[c], o[i][c]", "STORE O[c], o[0][c]", 44},
      {"32_split_kv_merge", "LOAD m[w][i][0], W", "LOAD m[w][i][0], O[w]", 24},  // no such register
      {"32_split_kv_merge", "MAX M, W, M ", "MAX M, W, O[w] ", 26},              // at some sizes
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.exercise, fault.from);
    const Verdict verdict = verdict_on(fault.exercise, fault.from, fault.to);
    REQUIRE_FALSE(verdict.findings.empty());
    CHECK(verdict.findings.front().line == fault.line);
  }
}

TEST_CASE("where tiles do not fit, the line is named that makes them so, and where it shows",
          "[repair]") {
  struct Fault {
    const char *from, *to;
    std::uint32_t line;
  };
  for (const auto& [from, to, line] : {Fault{"MAC Q, K^T, S, S", "MAC Q, K^T, S, Q", 22},
                                       {"SUB S, M, S", "SUB A, M, S", 28},
                                       {"MUL O, A, O", "MUL O, P, O", 34}}) {
    const Verdict verdict = verdict_on("37_fast_attention", from, to);
    CHECK(verdict.outcome == Outcome::kRejected);
    const Finding& finding = verdict.findings.at(0);
    INFO(finding.what);
    CHECK(finding.line == line);
    CHECK(finding.what.starts_with("at line 35, step 22 (i = 0, j = 0): the tiles do not fit"));
    CHECK(finding.details.back().find(to) != std::string::npos);
  }
}

TEST_CASE("a wrong index is found and named", "[repair]") {
  const Repairs repairs = repairs_of("LOAD y[i], R1", "LOAD y[i - 1], R1");
  CHECK(repairs.line == 14);
  CHECK(proposes(repairs, "y[i] instead of y[i - 1] as src"));
  CHECK(repairs.complete);
}

TEST_CASE("a loop that ends early is found and named", "[repair]") {
  const Repairs repairs = repairs_of("1..n", "1..n - 1");
  CHECK(repairs.line == 12);
  CHECK(proposes(repairs, "the loop ends before n instead of n - 1"));
}

TEST_CASE("a wrong register is found and named", "[repair]") {
  const Repairs repairs = repairs_of("MAC R0, R1, R2, R2", "MAC R0, R1, R1, R2");
  CHECK(repairs.line == 15);
  CHECK(proposes(repairs, "R2 instead of R1 as Rc"));
}

TEST_CASE("a forgotten line is put back beside its neighbours", "[repair]") {
  const Repairs repairs = repairs_of("  LOAD y[i], R1\n", "");
  REQUIRE_FALSE(repairs.repairs.empty());
  CHECK(repairs.repairs[0].edit.kind == EditKind::kInsert);
  CHECK(repairs.repairs[0].edit.text == "LOAD y[i], R1");
  CHECK(repairs.line == 14);
}

TEST_CASE("a store inside the loop is moved out of it", "[repair]") {
  const Repairs repairs = repairs_of("end\nSTORE R2, s[0]\n", "STORE R2, s[0]\nend\n");
  CHECK(proposes(repairs, "lines 16 and 17 swapped"));
}

TEST_CASE("two faults have no single repair", "[repair]") {
  const Repairs repairs =
      repairs_of("LOAD x[i], R0\n  LOAD y[i], R1", "LOAD x[i - 1], R0\n  LOAD y[i - 1], R2");
  CHECK(repairs.repairs.empty());
  CHECK(repairs.line == 0);
}

TEST_CASE("a spent budget ends the search and says so", "[repair]") {
  RepairBudget budget;
  budget.max_candidates = 5;
  const Repairs repairs = repairs_of("LOAD y[i], R1", "LOAD y[i - 1], R1", budget);
  CHECK_FALSE(repairs.complete);
  CHECK(repairs.candidates == 5);
}

TEST_CASE("of two lines that could be changed alike the one that the solution has is named",
          "[repair]") {
  // Either load may go to R0: a product's factors may be exchanged.
  const Repairs repairs = repairs_of("LOAD x[0], R0", "LOAD x[0], R1");
  REQUIRE(repairs.repairs.size() == 2);
  CHECK(repairs.line == 9);
  CHECK(repairs.repairs[0].edit.line == 9);
  CHECK(repairs.repairs[1].edit.line == 10);
  CHECK(proposes(repairs, "R0 instead of R1 as Rd"));
}

TEST_CASE("a budget of exactly the work is enough, and one candidate less is not", "[repair]") {
  const std::string from = "LOAD y[i], R1", to = "LOAD y[i - 1], R1";
  const Repairs all = repairs_of(from, to);
  REQUIRE(all.complete);
  RepairBudget exact;
  exact.max_candidates = all.candidates;
  exact.max_steps = all.steps + 1;
  const Repairs again = repairs_of(from, to, exact);
  CHECK(again.complete);
  CHECK(again.candidates == all.candidates);
  CHECK(again.steps == all.steps);
  --exact.max_candidates;
  const Repairs fewer = repairs_of(from, to, exact);
  CHECK_FALSE(fewer.complete);
  CHECK(fewer.candidates == all.candidates - 1);
  RepairBudget none;
  none.max_steps = 0;
  const Repairs untried = repairs_of(from, to, none);
  CHECK_FALSE(untried.complete);
  CHECK(untried.candidates == 0);
  CHECK(untried.line == 0);
}

TEST_CASE("the choices of an edit are the exercise's machine", "[repair]") {
  const EditOptions options = edit_options(template_task(), 5);
  CHECK(options.num_registers == 5);
  CHECK_FALSE(options.pinned);
  std::vector<std::string> mnemonics;
  for (const std::size_t row : options.rows) {
    mnemonics.emplace_back(toy::instruction_set()[row].mnemonic);
  }
  CHECK(mnemonics == std::vector<std::string>{"LOAD", "STORE", "MAC_Z", "MAC"});
  ProgramTask task = template_task();
  task.operands = toy::OperandRule::kPinned;
  task.extra_instructions = {*toy::find_instruction("EXP"), *toy::find_instruction("MAC")};
  CHECK(edit_options(task, 5).pinned);
  CHECK(edit_options(task, 5).rows.size() == 5);  // MAC is there already
}
