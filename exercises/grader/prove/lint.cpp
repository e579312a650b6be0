#include "exercises/grader/prove/lint.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/judge/disagreement.hpp"
#include "exercises/grader/prove/blanket_sheet.hpp"
#include "exercises/grader/prove/red_team.hpp"
#include "exercises/grader/prove/told_counts.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

/// Every k-th strategy of a family is tried, so that `lint` answers at once.
constexpr std::size_t kStrategySample = 12;

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// The verdict's text, indented below a problem.
std::string explanation(const Verdict& verdict) {
  std::string text = "  the grader said: " + std::string(to_string(verdict.outcome)) + ", " +
                     number(verdict.points) + " of " + number(verdict.max_points) + " points\n";
  for (const Finding& finding : verdict.findings) {
    text += "  " + (finding.line > 0 ? "line " + std::to_string(finding.line) + ": " : "") +
            finding.what + (finding.inputs.empty() ? "" : " (" + finding.inputs + ")") + "\n";
    for (const std::string& line : finding.details) text += "    " + line + "\n";
  }
  for (const CostLine& cost : verdict.costs) {
    if (cost.value <= cost.full) continue;
    text += "  " + cost.key + ": " + cost.value.get_str() + ", full marks up to " +
            cost.full.get_str() + " at " + to_string(verdict.size) + "\n";
  }
  return text;
}

bool says(const Verdict& verdict, const std::string& words) {
  const auto has = [&](const std::string& text) { return text.find(words) != std::string::npos; };
  return std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& finding) {
    return has(finding.what) || has(finding.inputs) ||
           std::any_of(finding.details.begin(), finding.details.end(), has);
  });
}

class Linter {
 public:
  Linter(std::shared_ptr<const Exercise> exercise, const GraderOptions& options)
      : exercise_(std::move(exercise)), grader_(exercise_, options), seed_(options.seed) {}

  std::vector<LintProblem> run() {
    if (check_solution()) {
      check_starter();
      for (const WrongSubmission& wrong : exercise_->program.wrong) check_wrong(wrong);
      for (const AvoidingSubmission& one : exercise_->program.avoiding) check_avoiding(one);
      for (const AcceptedSubmission& one : exercise_->program.accepted) check_accepted(one);
      check_strategies();
    }
    check_unavoidable();
    check_guesses();
    check_hints();
    check_afterwards();
    for (LintProblem& problem : lint_told_counts(*exercise_))
      problems_.push_back(std::move(problem));
    check_files();
    check_proven();
    return std::move(problems_);
  }

 private:
  bool is_program() const { return exercise_->kind == Kind::kProgram; }

  void add(const std::string& file, const std::string& what, const std::string& expected,
           const std::string& more = {}) {
    problems_.push_back({file, what + "\n  expected " + expected + "\n" + more});
  }

  /// Returns false if every verdict is wrong, because the reference and the solution disagree.
  bool check_solution() {
    const std::string file = is_program() ? "solution.toy" : "exercise.toml";
    const std::string text =
        is_program() ? exercise_->files.at(file) : model_answers(exercise_->questions);
    const Verdict verdict = grader_.grade(file, text);
    if (verdict.outcome == Outcome::kFull && verdict.points == verdict.max_points) {
      check_naive(verdict);
      return true;
    }
    if (verdict.outcome == Outcome::kWrong && is_program() && disagrees_with_reference()) {
      return false;
    }
    add(file,
        is_program() ? "the solution does not earn full marks"
                     : "the answers in exercise.toml do not earn full marks",
        "all " + number(verdict.max_points) + " points", explanation(verdict));
    return true;
  }

  /// Returns whether the reference and the solution compute different results, and reports it.
  bool disagrees_with_reference() {
    const ProgramTask& task = exercise_->program;
    for (const SizedCases& sized : make_cases(task, seed_, task.inputs.families.size())) {
      for (std::size_t i = 0; i < sized.cases.size(); ++i) {
        const auto found = disagreement(task, sized.size, sized.cases[i]);
        if (!found) continue;
        const std::string reference =
            task.reference == nullptr ? task.builtin_reference : task.reference->source->name();
        add("solution.toy",
            "the reference and the solution disagree (" + inputs_text(sized, i) + ")",
            "the same results of " + reference + " and solution.toy",
            "  " + found->cell + " is " + short_text(found->solution, 7) +
                " in the solution, and " + short_text(found->reference, 7) +
                " in the reference; both are computed in double\n");
        return true;
      }
    }
    return false;
  }

  /// Full marks and no points must be apart in every counter. A counter with a limit may be equal:
  /// more of it is not accepted anyway.
  void check_naive(const Verdict& solution) {
    const Cost& cost = exercise_->program.cost;
    if (!is_program() || cost.naive == nullptr) return;
    for (const CostLine& line : solution.costs) {
      if (line.naive > line.full || cost.most.contains(line.key)) continue;
      add(cost.naive->source->name(),
          "the naive program has " + line.full.get_str() + " " + line.key +
              " or fewer, as many as full marks allow",
          "a program that costs more than full marks in every counter of [cost.full]");
    }
  }

  void check_starter() {
    if (exercise_->demo) return;  // the starter is the solution
    const std::string file = is_program() ? "starter.toy" : "exercise.toml";
    const Verdict verdict = grader_.grade(file, exercise_->starter());
    if (verdict.passed()) {
      add(file, is_program() ? "the starter passes as it is" : "the empty answer sheet passes",
          "something that is left to do (only a demonstration, demo = true, is solved already)");
    } else if (is_program() && verdict.outcome != Outcome::kWrong &&
               verdict.outcome != Outcome::kTooCostly) {
      add(file, "the starter cannot be run",
          "a program that fits the exercise, with a wrong result or too high a cost",
          explanation(verdict));
    }
  }

  void check_wrong(const WrongSubmission& wrong) {
    const Verdict verdict = grader_.grade(wrong.file, exercise_->files.at(wrong.file));
    if (verdict.passed()) {
      add(wrong.file, "this wrong submission is accepted", "a verdict that it is wrong",
          explanation(verdict) +
              "  either it is right, or the inputs and sizes do not show what "
              "is wrong with it\n");
      return;
    }
    if (wrong.line > 0 && !names_line(verdict, wrong.line)) {
      const std::uint32_t named = verdict.findings.empty() ? 0 : verdict.findings.front().line;
      add(wrong.file,
          named > 0 ? "the explanation names line " + std::to_string(named)
                    : std::string("the explanation names no line"),
          "line " + std::to_string(wrong.line) + ", as [[wrong]] says", explanation(verdict));
    }
    if (!wrong.says.empty() && !says(verdict, wrong.says)) {
      add(wrong.file, "the explanation does not say '" + wrong.says + "'",
          "these words, as [[wrong]] says", explanation(verdict));
    }
  }

  void check_avoiding(const AvoidingSubmission& one) {
    const Verdict verdict = grader_.grade(one.file, exercise_->files.at(one.file));
    if (verdict.passed()) {
      add(one.file, "this submission avoids the exercise and is accepted",
          "a verdict that refuses it",
          explanation(verdict) +
              "  change the sizes in [machine] drawn, or the limits in [cost] most\n");
    } else if (!says(verdict, one.says)) {
      add(one.file, "the verdict does not say '" + one.says + "'",
          "these words, as [[avoids]] says", explanation(verdict));
    }
  }

  void check_accepted(const AcceptedSubmission& one) {
    const Verdict verdict = grader_.grade(one.file, exercise_->files.at(one.file));
    if (verdict.outcome == Outcome::kFull) return;
    add(one.file, "this submission does not earn full marks", "full marks, as [[accepted]] says",
        explanation(verdict));
  }

  /// Checks that sizes cannot be guessed, and that submissions try to avoid the idea.
  void check_unavoidable() {
    constexpr std::size_t kFewest = 2;
    const ProgramTask& task = exercise_->program;
    const bool has_sizes = is_program() && !task.sizes.front().empty();
    if (has_sizes && task.drawn.ranges.empty()) {
      add("exercise.toml", "a program that is right at the sizes of [machine] alone would pass",
          "drawn = { n = [20, 40] } in [machine]: ranges from which further sizes are drawn");
    }
    if (task.avoiding.size() >= kFewest || exercise_->demo) return;
    if (!has_sizes && !task.unavoidable.empty()) return;
    add("exercise.toml",
        std::to_string(task.avoiding.size()) +
            " submissions try to pass without the exercise's idea",
        has_sizes ? "at least two [[avoids]], each with file = \"avoids/NAME.toy\" and says = \"…\""
                  : "at least two [[avoids]], or unavoidable = \"why there can be none\"");
  }

  /// Checks that one answer to all questions of a sheet does not earn much.
  void check_guesses() {
    constexpr std::size_t kFewest = 6;  // questions; one of two is half of the points
    constexpr double kMostShare = 0.4;
    const QuestionTask& task = exercise_->questions;
    if (is_program() || task.questions.size() < kFewest) return;
    const BlanketSheet sheet = best_blanket_sheet(task);
    const double all = exercise_->max_points();
    if (sheet.points <= kMostShare * all) return;
    add("exercise.toml",
        "a sheet with '" + sheet.letter + "' for all choices and '" + sheet.formula +
            "' for all other questions gets " + number(sheet.points) + " of " + number(all) +
            " points",
        "at most two fifths: right answers that differ, or more points for those that do");
  }

  /// Tries a part of the strategies of each family; `lint --red-team` tries all.
  void check_strategies() {
    RedTeamOptions options;
    options.first_seed = seed_;
    options.every = kStrategySample;
    const RedTeamReport report = attack(exercise_, options);
    for (const Gain& gain : report.gains) {
      add("exercise.toml",
          std::string(to_string(gain.family)) + ": a program that " + gain.name + " gets " +
              number(gain.points) + " points (" + gain.why + ")",
          "a verdict that takes points, by sizes in [machine] drawn or limits in [cost] most; or "
          "[[excused]] family = \"" +
              std::string(to_string(gain.family)) + "\" and because = \"why it is no fault\"");
    }
    for (const auto& [family, because] : exercise_->program.excused) {
      if (parse_strategy_family(family)) continue;
      std::string known;
      for (std::size_t f = 0; f < kNumStrategyFamilies; ++f) {
        known += (f == 0 ? "" : ", ") + std::string(to_string(static_cast<StrategyFamily>(f)));
      }
      add("exercise.toml", "[[excused]] names no family of strategies: '" + family + "'", known);
    }
  }

  /// A program's fault must be in the first finding. A wrong answer may be in any.
  bool names_line(const Verdict& verdict, std::uint32_t line) const {
    const auto is_there = [&](const Finding& finding) { return finding.line == line; };
    if (!is_program()) {
      return std::any_of(verdict.findings.begin(), verdict.findings.end(), is_there);
    }
    return !verdict.findings.empty() && is_there(verdict.findings.front());
  }

  void check_hints() {
    static constexpr const char* kTitles[] = {"Concept", "Place", "Operand", "Solution"};
    for (std::size_t i = 0; i < exercise_->hints.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (on_one_line(exercise_->hints[i]) != on_one_line(exercise_->hints[j])) continue;
        add("hints.md",
            "the hint '" + std::string(kTitles[i]) + "' repeats '" + std::string(kTitles[j]) + "'",
            "a further step");
      }
      if (is_of_the_template(i)) {
        add("hints.md", "the hint '" + std::string(kTitles[i]) + "' is still the template's",
            "a hint about this exercise's problem");
      }
    }
  }

  /// Whether the problem is a new one but this hint is still the template's.
  bool is_of_the_template(std::size_t hint) const {
    static const ReadResult kRead =
        read_exercise(template_exercise().id, template_exercise().files);
    return kRead.exercise && exercise_->problem != kRead.exercise->problem &&
           on_one_line(exercise_->hints[hint]) == on_one_line(kRead.exercise->hints[hint]);
  }

  /// Checks that the questions after a solved problem have answers.
  void check_afterwards() {
    const std::string& problem = exercise_->problem;
    const std::size_t start = problem.rfind("Afterwards");
    const bool asks = start != std::string::npos && problem.find('?', start) != std::string::npos;
    if (asks == !exercise_->afterwards.empty()) return;
    if (asks) {
      add("problem.md", "nothing answers the questions after 'Afterwards'",
          "an afterwards.md with the answers, which `flashlab exercises summary` shows");
    } else {
      add("afterwards.md", "it answers no question",
          "a question after 'Afterwards' in problem.md, or no such file");
    }
  }

  void check_files() {
    std::set<std::string> known = {"exercise.toml", "problem.md", "hints.md"};
    if (!exercise_->afterwards.empty()) known.insert("afterwards.md");
    const ProgramTask& task = exercise_->program;
    for (const WrongSubmission& wrong : task.wrong) known.insert(wrong.file);
    for (const AvoidingSubmission& one : task.avoiding) known.insert(one.file);
    for (const AcceptedSubmission& one : task.accepted) known.insert(one.file);
    if (is_program()) known.insert({"solution.toy", "starter.toy", "proven.json"});
    if (task.cost.naive != nullptr) known.insert(task.cost.naive->source->name());
    if (task.speed) known.insert(task.speed->given->source->name());
    for (const RankedProgram& one : task.beside) known.insert(one.program->source->name());
    for (const auto& program : {task.reference, task.inputs.derive}) {
      if (program != nullptr) known.insert(program->source->name());
    }
    for (const auto& entry : exercise_->files) {
      if (known.contains(entry.first)) continue;
      std::string table;
      if (entry.first.starts_with("wrong/")) table = "[[wrong]]";
      if (entry.first.starts_with("avoids/")) table = "[[avoids]]";
      if (entry.first.starts_with("accepted/")) table = "[[accepted]]";
      add(printable(entry.first), "nothing refers to this file",
          table.empty()
              ? "no such file, or its name as reference, derive or [[wrong]] file"
              : "a " + table + " with file = \"" + printable(entry.first) + "\", or no such file");
    }
  }

  void check_proven() {
    if (!is_program() || !exercise_->files.contains("proven.json")) return;
    if (exercise_->proven != nullptr) return;
    add("proven.json", "the proof is out of step with the exercise",
        "a proof about the exercise as it is: run `flashlab exercises prove " + exercise_->id +
            "`");
  }

  std::shared_ptr<const Exercise> exercise_;
  Grader grader_;
  std::uint64_t seed_;
  std::vector<LintProblem> problems_;
};

}  // namespace

std::vector<LintProblem> lint(const ExerciseSource& source, const GraderOptions& options,
                              const Files& measurements) {
  std::vector<LintProblem> problems;
  ReadResult read = read_exercise(source.id, source.files, source.folder, measurements);
  for (const ReadError& error : read.errors) {
    problems.push_back({printable(error.file), printable(format({error}, source.files))});
  }
  if (!read.exercise) return problems;
  try {
    return Linter(std::make_shared<const Exercise>(std::move(*read.exercise)), options).run();
  } catch (const std::runtime_error& error) {
    problems.push_back({"exercise.toml", "the exercise cannot be run\n" + printable(error.what())});
  }
  return problems;
}

}  // namespace flashlab::exercises
