#include "exercises/grader/repair/departures.hpp"

#include <algorithm>
#include <utility>

#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/repair/nearest_text.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {
namespace {

/// More places are another program rather than mistakes.
constexpr std::size_t kMostDepartures = 5;
/// Of the search for the right text that is nearest.
constexpr int kMostTrials = 80;
/// The cost of a trial beside its run, in steps on lanes.
constexpr std::uint64_t kTrialSteps = 3000;

class DepartureSearch {
 public:
  DepartureSearch(const ProgramTask& task, const std::vector<RepairSize>& sizes,
                  std::size_t failing, std::uint64_t& steps)
      : task_(task), sizes_(sizes), failing_(failing), steps_(steps) {}

  /// Whether the text is right at all sizes; the failing one is tried first.
  bool is_right(const std::string& text) {
    auto assembled = toy::assemble(std::make_shared<const toy::SourceText>("repaired", text));
    if (!assembled) return false;
    const auto program = std::make_shared<const toy::Program>(std::move(*assembled));
    if (!is_right_at(program, sizes_[failing_])) return false;
    return std::all_of(sizes_.begin(), sizes_.end(), [&](const RepairSize& size) {
      return &size == &sizes_[failing_] || is_right_at(program, size);
    });
  }

 private:
  bool is_right_at(const std::shared_ptr<const toy::Program>& program, const RepairSize& size) {
    const Attempt there = attempt(task_, program, *size.sized, size.lanes);
    steps_ += kTrialSteps + there.counters.steps.get_ui();
    return there.passed();
  }

  const ProgramTask& task_;
  const std::vector<RepairSize>& sizes_;
  const std::size_t failing_;
  std::uint64_t& steps_;
};

using Words = std::vector<std::string>;

std::vector<Words> words_of(const std::vector<std::uint32_t>& lines, const toy::Program& program) {
  std::vector<Words> all;
  for (const std::uint32_t line : lines) all.push_back(words(program.source->line(line)));
  return all;
}

bool is_instruction_line(const toy::Program& program, std::uint32_t line) {
  const Words here = line == 0 ? Words{} : words(program.source->line(line));
  return !here.empty() && here[0][0] != '.' && here[0] != "for" && here[0] != "end";
}

/// The line's text without its comment and without spaces at both ends.
std::string code_in_line(const toy::Program& program, std::uint32_t line) {
  const std::string_view whole = program.source->line(line);
  const std::string_view code = whole.substr(0, whole.find_first_of(";#"));
  const std::size_t first = code.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(code.substr(first, code.find_last_not_of(" \t") + 1 - first));
}

Edit replacement_of(const LineDifference& one, const ProgramTask& task, const toy::Program& model,
                    const toy::Program& program, std::int64_t num_registers) {
  Edit edit;
  edit.kind = EditKind::kReplace;
  edit.line = one.mine.front();
  edit.text = code_in_line(model, one.other.front());
  const Words right = words(edit.text);
  for (Edit& known : enumerate_edits(program, edit_options(task, num_registers))) {
    if (known.line == edit.line && words(known.text) == right) return std::move(known);
  }
  return edit;
}

Edit insertion_of(const LineDifference& one, const toy::Program& model,
                  const toy::Program& program) {
  Edit edit;
  edit.kind = EditKind::kInsert;
  edit.behind = !is_instruction_line(program, one.below) &&
                (is_instruction_line(program, one.above) || one.below == 0);
  edit.line = edit.behind ? one.above : one.below;
  edit.text = code_in_line(model, one.other.front());
  return edit;
}

Edit exchange_of(std::uint32_t upper, std::uint32_t lower) {
  Edit edit;
  edit.kind = EditKind::kSwap;
  edit.line = upper;
  edit.other_line = lower;
  return edit;
}

/// Differences of one line each, where lines that begin with the same word stand in the place of each other.
std::vector<LineDifference> line_by_line(const std::vector<LineDifference>& all,
                                         const toy::Program& program, const toy::Program& model) {
  std::vector<LineDifference> found;
  for (const LineDifference& one : all) {
    bool is_alike = one.mine.size() > 1 && one.mine.size() == one.other.size();
    for (std::size_t i = 0; is_alike && i < one.mine.size(); ++i) {
      is_alike = words(program.source->line(one.mine[i])).front() ==
                 words(model.source->line(one.other[i])).front();
    }
    if (!is_alike) {
      found.push_back(one);
      continue;
    }
    for (std::size_t i = 0; i < one.mine.size(); ++i) {
      found.push_back({{one.mine[i]},
                       {one.other[i]},
                       i > 0 ? one.mine[i - 1] : one.above,
                       i + 1 < one.mine.size() ? one.mine[i + 1] : one.below});
    }
  }
  return found;
}

/// Whether lines that are missing end a loop that began before them: to a reader, lines above them are
/// in the wrong loop.
bool ends_other_loop(const LineDifference& one, const toy::Program& model) {
  int open = 0;
  for (const std::uint32_t line : one.other) {
    const std::string first = words(model.source->line(line)).front();
    open += first == "for" ? 1 : first == "end" ? -1 : 0;
    if (open < 0) return one.mine.empty() && one.other.size() > 1;
  }
  return false;
}

/// The departures from the right program that is nearest.
std::optional<Departures> nearest_departures(const toy::Program& program,
                                             const std::string& right_text,
                                             DepartureSearch& search) {
  const toy::SourceText right("repaired", right_text);
  std::string text = nearest_text(
      *program.source, right, [&](const std::string& tried) { return search.is_right(tried); },
      kMostTrials);
  return departures_from(program, std::move(text));
}

}  // namespace

std::optional<Departures> departures_from(const toy::Program& program, std::string right_text) {
  auto model = toy::assemble(std::make_shared<const toy::SourceText>("repaired", right_text));
  if (!model) return std::nullopt;
  const auto all = line_differences(*program.source, *model->source);
  if (!all || all->empty()) return std::nullopt;
  const auto shared = std::make_shared<const toy::Program>(std::move(*model));
  for (const LineDifference& one : *all) {
    if (ends_other_loop(one, *shared)) return std::nullopt;
  }
  return Departures{line_by_line(*all, program, *shared), std::move(right_text), shared};
}

std::optional<Departures> find_departures(const ProgramTask& task, const toy::Program& solution,
                                          const toy::Program& program,
                                          const std::vector<RepairSize>& sizes, std::size_t failing,
                                          std::uint64_t& steps) {
  const toy::SourceText &mine = *program.source, &right = *solution.source;
  auto all = line_differences(mine, right);
  if (!all || all->empty() || all->size() > kMostDepartures) return std::nullopt;
  DepartureSearch search(task, sizes, failing, steps);
  // Another name or another order of lines is no mistake: the program is right with it. Lines that
  // were moved are one mistake, even if it does no harm to have them at both places.
  for (std::size_t i = 0; i < all->size();) {
    std::vector<LineDifference> without;
    for (std::size_t k = 0; k < all->size(); ++k) {
      const bool is_same = is_moved((*all)[i], (*all)[k], program, solution) ||
                           is_moved((*all)[k], (*all)[i], program, solution);
      if (k != i && !is_same) without.push_back((*all)[k]);
    }
    if (!without.empty() && search.is_right(replaced_text(mine, right, without))) {
      all = std::move(without);
      i = 0;
    } else {
      ++i;
    }
  }
  const std::string like_solution = replaced_text(mine, right, *all);
  if (!search.is_right(like_solution)) return std::nullopt;
  return nearest_departures(program, like_solution, search);
}

bool is_moved(const LineDifference& missing, const LineDifference& there,
              const toy::Program& program, const toy::Program& solution) {
  return missing.mine.empty() && there.other.empty() &&
         words_of(missing.other, solution) == words_of(there.mine, program);
}

std::optional<Edit> edit_of(const Departures& departures, const ProgramTask& task,
                            const toy::Program& program, std::int64_t num_registers) {
  const std::vector<LineDifference>& all = departures.all;
  if (all.size() == 1) {
    const LineDifference& one = all.front();
    if (std::max(one.mine.size(), one.other.size()) > 1) return std::nullopt;
    if (one.mine.empty()) return insertion_of(one, *departures.model, program);
    if (!one.other.empty()) {
      return replacement_of(one, task, *departures.model, program, num_registers);
    }
    Edit edit;
    edit.kind = EditKind::kDrop;
    edit.line = one.mine.front();
    return edit;
  }
  if (all.size() != 2) return std::nullopt;
  const LineDifference &first = all[0], &second = all[1];
  const bool is_down = is_moved(second, first, program, *departures.model);
  if (!is_down && !is_moved(first, second, program, *departures.model)) return std::nullopt;
  const LineDifference& there = is_down ? first : second;
  if (there.mine.size() != 1) return std::nullopt;
  if (is_down && first.below == second.above) return exchange_of(first.mine.front(), first.below);
  if (!is_down && first.below == second.above) return exchange_of(first.below, second.mine.front());
  return std::nullopt;
}

}  // namespace flashlab::exercises
