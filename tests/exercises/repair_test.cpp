// Wrong submissions and the single changes that make them right.
#include "exercises/grader/repair/repair.hpp"

#include <algorithm>
#include <string>
#include <utility>
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

using Replacements = std::vector<std::pair<std::string, std::string>>;

/// The verdict on an exercise's solution with the first text of each pair replaced by the second.
Verdict verdict_on(const std::string& id, const Replacements& replacements) {
  for (const ExerciseSource& source : all_exercises({})) {
    if (source.id != id) continue;
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
#ifdef FLASHLAB_HAS_ADDRESS_SANITIZER
    read.exercise->program.max_milliseconds *=
        10;  // what is looked for is found before the time is up
#endif
    const auto exercise = std::make_shared<const Exercise>(std::move(*read.exercise));
    std::string text = exercise->program.solution->source->text();
    for (const auto& [from, to] : replacements) {
      REQUIRE(text.find(from) != std::string::npos);
      text.replace(text.find(from), from.size(), to);
    }
    return Grader(exercise).grade("mine.toy", text);
  }
  FAIL("there is no exercise " << id);
  return {};
}

Verdict verdict_on(const std::string& id, const std::string& from, const std::string& to) {
  return verdict_on(id, Replacements{{from, to}});
}

/// The sentences of the first finding.
std::string told(const Verdict& verdict) {
  std::string text;
  if (verdict.findings.empty()) return text;
  for (const std::string& detail : verdict.findings.front().details) text += detail + "\n";
  return text;
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

TEST_CASE("a wrong word is told alone where independent lines stand in another order", "[repair]") {
  const std::pair<std::string, std::string> moved{"    ROWSUM P, X\n", ""};
  struct Fault {
    std::string below, says;  // in the place of the line below the moved one; the sentence
  };
  const Fault faults[] = {
      {"    MUL L, A, L\n    ROWSUM S, X\n", "has S where P belongs: this change"},
      {"    MUL A, A, L\n    ROWSUM P, X\n", "has A where L belongs: this change"},
      {"    MUL L, A, A\n    ROWSUM P, X\n", "has A where L belongs: this change"},
      {"    MUL L, A, L\n    ROWMAX P, X\n", "has ROWMAX where ROWSUM belongs: this change"},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.below);
    const std::string text =
        told(verdict_on("28_flash2", {moved, {"    MUL L, A, L\n", fault.below}}));
    CAPTURE(text);
    CHECK(text.find(fault.says) != std::string::npos);
    CHECK(text.find("second mistake") == std::string::npos);
  }
}

TEST_CASE("a sentence does not change the name that is wrong", "[repair]") {
  const std::string text =
      told(verdict_on("13_attention_update", "LOAD v[j][c], X", "LOAD v[c][j], X"));
  CAPTURE(text);
  CHECK(text.find("The operand v[c][j] is wrong.") != std::string::npos);
}

TEST_CASE("a missing line is told alone where other registers are used than in the solution",
          "[repair]") {
  // The new maximum is in X, and M keeps the old one.
  const Replacements own = {{"    MOV M, A", ""},
                            {"    MAX M, X, M", "    MAX M, X, X"},
                            {"    STORE M, m[i][0]\n    SUB A, M, A", "    SUB M, X, A"},
                            {"    SUB S, M, S", "    SUB S, X, S"}};
  struct Fault {
    std::string from, to, says;
  };
  const Fault faults[] = {
      {"    SUB S, X, S\n", "    SUB S, X, S\n", "a STORE that writes m[i][0]"},
      {"    SUB M, X, A", "    STORE X, m[i][0]", "a SUB that writes A"},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.says);
    Replacements all = own;
    all.push_back({fault.from, fault.to});
    const Verdict verdict = verdict_on("31_flash1", all);
    const std::string text = told(verdict);
    CAPTURE(text);
    CHECK(text.find(fault.says) != std::string::npos);
    CHECK(text.find("second mistake") == std::string::npos);
    CHECK(text.find("(line 26) stores it") == std::string::npos);
  }
}

TEST_CASE("a missing store is told in a program that is written in another way than the solution",
          "[repair]") {
  const Replacements other = {{"    ROWMAX S, X", "    ROWMAX S, A"},
                              {"    MOV M, A", ""},
                              {"    MAX M, X, M", "    MAX M, A, A"},
                              {"    STORE M, m[i][0]\n    SUB A, M, A", "    SUB S, A, S"},
                              {"    EXP A, A", "    EXP S, P"},
                              {"    SUB S, M, S", "    SUB M, A, M"},
                              {"    EXP S, P\n    ROWSUM", "    EXP M, M\n    ROWSUM"},
                              {"    MUL L, A, A", "    MUL L, M, L"},
                              {"    ADD A, X, L", "    ADD L, X, X"},
                              {"    STORE L, l[i][0]\n    for", "    STORE X, l[i][0]\n    for"},
                              {"MUL O, A, O", "MUL O, L, O"},
                              {"DIV O, L, O", "DIV O, X, O"}};
  const std::string text = told(verdict_on("31_flash1", other));
  CAPTURE(text);
  CHECK(text.find("a STORE that writes m[i][0] makes the program right") != std::string::npos);
  CHECK(text.find("is the last that stores it") != std::string::npos);
}

TEST_CASE("a missing mask is told as a missing line", "[repair]") {
  const std::string text =
      told(verdict_on("29_flash2_causal", {{"    MASK S, i*B, j*Bk, S", ""},
                                           {"    ROWMAX S, X\n", ""},
                                           {"    MOV M, A ", "    MOV M, A\n    ROWMAX S, X "}}));
  CAPTURE(text);
  CHECK(text.find("a MASK that writes S makes the program right") != std::string::npos);
}

TEST_CASE("a line that was moved into or out of the loop beside it is told as order", "[repair]") {
  const std::string fill = "    FILL 0, S\n", inner = "    for c in 0..tiles(q, 1)\n",
                    outer = "  for j in 0..tiles(k)\n";
  for (const auto& [from, to] :
       Replacements{{fill + inner, inner + fill}, {outer + fill, fill + outer}}) {
    CAPTURE(to);
    const std::string text = told(verdict_on("28_flash2", from, to));
    CAPTURE(text);
    CHECK(text.find("The order is wrong at lines") != std::string::npos);
    CHECK(text.find("second mistake") == std::string::npos);
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
