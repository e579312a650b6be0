#include "exercises/grader/repair/repair.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/cost_score.hpp"
#include "exercises/grader/repair/departures.hpp"
#include "exercises/grader/repair/edit_parts.hpp"
#include "exercises/grader/repair/line_order.hpp"
#include "exercises/grader/repair/loop_names.hpp"
#include "exercises/grader/repair/missing_lines.hpp"
#include "exercises/grader/repair/one_line.hpp"
#include "exercises/grader/repair/rearranged.hpp"
#include "exercises/grader/repair/trial.hpp"
#include "exercises/grader/repair/two_stores.hpp"
#include "exercises/grader/repair/unused_lines.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {
namespace {

/// The maximum number of words, place by place, that another line shares with this one.
int likeness(const toy::SourceText& source, const StatementLines& lines,
             const std::vector<std::string>& line, std::uint32_t except) {
  int best = 0;
  for (std::uint32_t other = 1; other <= source.num_lines(); ++other) {
    if (other == except) continue;
    const std::vector<std::string>& there = lines.words(other);
    if (there.size() != line.size() || line.empty() || there[0] != line[0]) continue;
    int same = 0;
    for (std::size_t i = 0; i < line.size(); ++i) same += there[i] == line[i] ? 1 : 0;
    best = std::max(best, same);
  }
  return best;
}

/// The lines that are those of the starter and stand in its order: a given line that the learner moved is the learner's.
std::set<std::uint32_t> given_lines(const ProgramTask& task, const toy::SourceText& mine) {
  const auto own = line_differences(mine, toy::SourceText("starter", task.starter), SIZE_MAX);
  std::set<std::uint32_t> lines;
  if (!own) return lines;
  for (std::uint32_t line = 1; line <= mine.num_lines(); ++line) {
    if (!words(mine.line(line)).empty()) lines.insert(line);
  }
  for (const LineDifference& one : *own) {
    for (const std::uint32_t line : one.mine) lines.erase(line);
  }
  return lines;
}

/// How many times the budget of the other searches that among all lines that may be missing has.
constexpr std::uint64_t kOwnLines = 2;

class Search {
 public:
  Search(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
         const std::vector<RepairSize>& sizes, std::size_t failing, std::uint32_t suspect,
         const RepairBudget& budget, const std::vector<RepairSize>& everywhere)
      : task_(task),
        program_(program),
        sizes_(sizes),
        failing_(failing),
        suspect_(suspect),
        budget_(budget),
        everywhere_(everywhere),
        mine_(*program->source),
        solution_(with_line_order(with_loop_names(task.solution, *program), *program)),
        model_(*solution_->source),
        given_(given_lines(task, *program->source)) {
    trials_.resize(sizes.size());
  }

  Repairs run() {
    const auto all = bind_machines(task_, program_, sizes_[failing_].sized->size);
    const bool is_costly = !all || is_tiled(*program_) || !task_.machines.empty();
    if (is_costly && !is_nested_ && try_departures(all ? all->one().num_registers : 0)) {
      if (all && result_.departures) try_one_line(all->one().num_registers);
      return finished();
    }
    if (!all) return finished();
    trials_[failing_] = make_trial(task_, program_, sizes_[failing_]);
    const std::vector<Edit> edits =
        enumerate_edits(*program_, edit_options(task_, all->one().num_registers));
    num_registers_ = all->one().num_registers;
    all->bound.tiled || all->machines ? try_on_tiles(edits) : try_on_scalars(edits);
    if (!is_costly && !is_nested_ && !found() && !result_.departures) {
      try_departures(all->one().num_registers);
    }
    return finished();
  }

 private:
  void try_on_scalars(const std::vector<Edit>& edits) {
    try_known_lines(edits);
    if (found() || result_.departures || is_nested_) return;
    consider_own_lines(false);
    if (!found()) try_with_exchange(edits);
  }

  /// Changes of single lines of the program, and lines as the solution has them.
  void try_known_lines(const std::vector<Edit>& edits) {
    if (!consider_all(edits)) return;
    const bool has_model =
        std::any_of(result_.repairs.begin(), result_.repairs.end(),
                    [&](const Repair& repair) { return is_likely(repair.edit); });
    if (has_model) return;
    std::vector<Edit> insertions = enumerate_insertions(*program_, solution_.get());
    const auto others = std::stable_partition(insertions.begin(), insertions.end(),
                                              [&](const Edit& edit) { return is_gap(edit); });
    if (!consider_all({insertions.begin(), others})) return;
    if (has_accepted()) return;  // a wrong line is likelier than a missing one
    if (!consider_all({others, insertions.end()})) return;
    if (!found() && !consider_all(replacements())) return;
    if (!found() && !consider_all(enumerate_copies(*program_))) return;
    if (!found() && !consider_missing_stores()) return;
    if (result_.departures) return;
    if (!has_accepted() && !consider_missing_lines()) return;
    if (!found()) try_moves();
  }

  /// A trial on tiles, or on several machines, is so expensive that the budget pays for few of them: the likeliest come first.
  void try_on_tiles(const std::vector<Edit>& edits) {
    std::vector<Edit> for_tiles, to_model, others, gaps, insertions;
    for (const Edit& edit : edits) {
      (is_for_tiles(edit.kind) ? for_tiles : is_likely(edit) ? to_model : others).push_back(edit);
    }
    if (!consider_all(for_tiles) || found()) return;
    if (try_transpositions(edits)) return;
    if (!consider_all(to_model) || found()) return;
    try_moves(true);
    if (!found()) consider_own_lines(true);
    if (found() || !consider_all(replacements()) || found()) return;
    for (Edit& edit : enumerate_insertions(*program_, solution_.get())) {
      (is_gap(edit) ? gaps : insertions).push_back(std::move(edit));
    }
    if (!consider_all(gaps) || found()) return;
    if (!consider_missing_stores() || found() || result_.departures) return;
    try_moves();
    for (const std::vector<Edit>* list : {&others, &insertions}) {
      if (found() || !consider_all(*list)) return;
    }
  }

  /// Returns whether the program is written like the solution, but for a few lines.
  bool try_departures(std::int64_t num_registers) {
    if (is_spent()) return false;
    auto found = find_departures(task_, *solution_, *program_, sizes_, failing_, result_.steps);
    if (!found) return false;
    if (auto edit = edit_of(*found, task_, *program_, num_registers)) {
      result_.repairs.push_back({std::move(*edit), {}});
    } else {
      result_.departures = std::move(found);
    }
    return true;
  }

  /// One other word, or one missing line, is a likelier mistake than several departures from the solution, of
  /// which some may be no mistakes: they only go with the others.
  void try_one_line(std::int64_t num_registers) {
    const std::vector<LineDifference>& all = result_.departures->all;
    const toy::Program& model = *result_.departures->model;
    const bool is_move = all.size() == 2 && (is_moved(all[0], all[1], *program_, model) ||
                                             is_moved(all[1], all[0], *program_, model));
    if (is_move && !moves_loop(all)) return;
    std::set<std::uint32_t> lines{suspect_};
    for (const LineDifference& one : all) {
      lines.insert(one.mine.begin(), one.mine.end());
      lines.insert({one.above, one.below});
    }
    trials_[failing_] = make_trial(task_, program_, sizes_[failing_]);
    for (Edit& edit : enumerate_edits(*program_, edit_options(task_, num_registers))) {
      const bool is_near = lines.contains(edit.line) && edit.kind != EditKind::kDrop;
      if (is_near && !consider(std::move(edit))) break;
    }
    if (!found()) consider_all(insertions_with_registers(*result_.departures));
    if (!found()) try_on_own_text(lines, num_registers);
    if (found()) result_.departures.reset();
  }

  /// Whether a trial at the failing size runs all inputs at once.
  bool is_on_lanes() const {
    const auto all = bind_machines(task_, program_, sizes_[failing_].sized->size);
    return all && !all->machines && !all->bound.tiled && sizes_[failing_].lanes != nullptr;
  }

  /// Before two mistakes are told, every single change of the learner's own text: those departures are a matter of the
  /// solution that the text is compared with.
  void try_on_own_text(const std::set<std::uint32_t>& lines, std::int64_t num_registers) {
    if (result_.departures->all.size() == 1 && !result_.departures->all.front().other.empty() &&
        result_.departures->all.front().mine.empty()) {
      return;  // lines that are missing at one place
    }
    if (!is_on_lanes()) return try_moves();
    if (!consider_all(enumerate_edits(*program_, edit_options(task_, num_registers)))) return;
    if (!found()) try_moves();
    const bool is_one = result_.departures->all.size() == 1;
    if (found() || (!is_one && rearrange(lines))) return;
    consider_own_lines(false);
  }

  /// Lines that were moved together, that have each other's operands, or a loop that is missing.
  bool rearrange(const std::set<std::uint32_t>& lines) {
    constexpr std::uint64_t kRearrangedSteps = 3000;
    for (Rearranged& one : rearranged_programs(*program_, *solution_, lines)) {
      if (is_spent()) return false;
      result_.steps += kRearrangedSteps;
      auto assembled =
          toy::assemble(std::make_shared<const toy::SourceText>("rearranged", one.text));
      if (!assembled) continue;
      const auto program = std::make_shared<const toy::Program>(std::move(*assembled));
      if (!is_right_at(task_, program, sizes_[failing_])) continue;
      const auto is_right = [&](const RepairSize& size) {
        return is_right_at(task_, program, size);
      };
      if (!std::all_of(sizes_.begin(), sizes_.end(), is_right) ||
          !std::all_of(everywhere_.begin(), everywhere_.end(), is_right)) {
        continue;
      }
      if (!one.moved.empty()) {
        result_.departures = Departures{std::move(one.moved), std::move(one.text), program};
        return true;
      }
      if (auto departures = departures_from(*program_, std::move(one.text))) {
        result_.departures = std::move(departures);
        return true;
      }
    }
    return false;
  }

  /// Tries the solution's instructions with the learner's registers wherever they can make a difference: lines that are
  /// missing, then other lines in the place of the learner's. On tiles, where a trial is expensive, masks alone.
  void consider_own_lines(bool is_costly) {
    const RepairBudget whole = budget_;
    const bool is_small = whole.max_steps < RepairBudget{}.max_steps ||
                          whole.max_candidates < RepairBudget{}.max_candidates;
    if (is_nested_ || (is_small && is_spent())) return;
    budget_.max_candidates = result_.candidates + kOwnLines * whole.max_candidates;
    budget_.max_steps = result_.steps + kOwnLines * whole.max_steps;
    const std::uint64_t candidates = result_.candidates, steps = result_.steps;
    const OneLine lines(*program_, *solution_);
    for (const bool replaces : {false, true}) {
      for (const std::size_t row : lines.rows()) {
        if (is_costly && (replaces || !toy::instruction_set()[row].is_mask())) continue;
        if (found()) continue;
        consider_own(replaces ? lines.replacements(row) : lines.insertions(row), is_costly);
      }
    }
    // The other searches have what they would have had without this one.
    budget_.max_candidates = whole.max_candidates + (result_.candidates - candidates);
    budget_.max_steps = whole.max_steps + (result_.steps - steps);
  }

  void consider_own(const std::vector<Edit>& edits, bool is_first_enough) {
    for (const Edit& edit : edits) {
      const bool is_given = edit.kind == EditKind::kReplace && given_.contains(edit.line);
      if (!is_given && !consider(edit)) return;
      if (is_first_enough && found()) return;
    }
  }

  /// Whether `for` or `end` is among the lines that were moved: to a reader, those on its other side were.
  bool moves_loop(const std::vector<LineDifference>& all) const {
    return std::any_of(all.begin(), all.end(), [&](const LineDifference& one) {
      return std::any_of(one.mine.begin(), one.mine.end(), [&](std::uint32_t line) {
        return mine_.words(line).front() == "for" || mine_.words(line).front() == "end";
      });
    });
  }

  /// The lines that are missing, with the learner's registers in the place of the solution's.
  std::vector<Edit> insertions_with_registers(const Departures& departures) const {
    std::vector<Edit> found;
    for (const LineDifference& one : departures.all) {
      if (!one.mine.empty()) continue;
      const auto lines = lines_with_registers(*departures.model, one.other, *program_);
      if (lines == nullptr) continue;
      for (Edit& edit : enumerate_insertions(*program_, nullptr, lines.get())) {
        if (edit.line == (edit.behind ? one.above : one.below)) found.push_back(std::move(edit));
      }
    }
    return found;
  }

  /// Whether there is a repair after which the program costs no more than the exercise accepts.
  bool has_accepted() { return found() && is_accepted(result_.repairs.front()); }

  /// Finds the first place of several. Returns false if the budget is spent.
  bool consider_missing_stores() {
    if (is_nested_) return true;
    const auto lines = missing_stores(*solution_, *program_);
    if (lines == nullptr) return true;
    for (const Edit& edit : enumerate_insertions(*program_, nullptr, lines.get())) {
      if (!consider(edit)) return false;
      if (found()) return true;
    }
    result_.departures =
        two_missing_stores(task_, *solution_, *program_, sizes_, failing_, result_.steps);
    return true;
  }

  /// Returns false if the budget is spent.
  bool consider_missing_lines() {
    if (is_nested_) return true;
    const auto lines = missing_lines(*solution_, *program_, num_registers_);
    return lines == nullptr || consider_all(enumerate_insertions(*program_, nullptr, lines.get()));
  }

  std::vector<Edit> replacements() const { return enumerate_replacements(*program_, *solution_); }

  /// Returns false if the budget is spent.
  bool consider_all(const std::vector<Edit>& edits) {
    return std::all_of(edits.begin(), edits.end(),
                       [&](const Edit& edit) { return consider(edit); });
  }

  /// Whether the edit makes a line of the solution, or exchanges two lines.
  bool is_likely(const Edit& edit) const {
    return edit.kind == EditKind::kSwap || becomes_model(edit);
  }

  /// Whether the line is inserted where the solution has it, between the same two lines.
  bool is_gap(const Edit& edit) const { return neighbours(edit) == 2; }

  /// Whether more outputs are right after it, but perhaps not all.
  static bool is_part(const Repair& repair) {
    return !repair.further.empty() && repair.edit.kind == EditKind::kTransposition;
  }

  /// Whether a wrong line of this kind can be right on scalars.
  static bool is_for_tiles(EditKind kind) {
    return kind == EditKind::kTransposition || kind == EditKind::kOperands;
  }

  /// Looks for two products that both lack a ^T. Returns whether more outputs are right with both,
  /// even if others are still missing.
  bool try_transpositions(const std::vector<Edit>& edits) {
    std::vector<Edit> missing;
    for (const Edit& edit : edits) {
      const bool has_one = program_->source->line(edit.line).find('^') != std::string_view::npos;
      if (edit.kind == EditKind::kTransposition && !has_one) missing.push_back(edit);
    }
    Trial& trial = *trials_[failing_];
    std::size_t best = trial.right_outputs({}, result_.steps);
    std::vector<Edit> found;
    for (std::size_t i = 0; i < missing.size(); ++i) {
      for (std::size_t j = i + 1; j < missing.size(); ++j) {
        if (is_spent()) return false;
        if (missing[i].line == missing[j].line) continue;
        const std::size_t right = trial.right_outputs({missing[i], missing[j]}, result_.steps);
        if (right <= best) continue;
        best = right;
        found = {missing[i], missing[j]};
      }
    }
    if (found.empty()) return false;
    result_.repairs.push_back({found[0], {found[1]}});
    return true;
  }

  /// The search for a second edit, in the program with this one; null if that is no program.
  std::unique_ptr<Search> after(const Edit& edit) const {
    auto applied = apply(*program_, edit);
    if (!applied) return nullptr;
    const auto program = std::make_shared<const toy::Program>(std::move(*applied));
    RepairBudget left = budget_;
    left.max_steps -= result_.steps;
    auto search =
        std::make_unique<Search>(task_, program, sizes_, failing_, suspect_, left, everywhere_);
    search->is_nested_ = true;
    return search;
  }

  /// A line of the learner that stands in the wrong place. Where it belongs, it may be the solution's line with the
  /// same instruction: "MASK S, …" for "MASK P, …".
  void try_moves(bool are_masks = false) {
    if (is_nested_) return;
    for (const auto& [line, edit] : drops()) {
      if (given_.contains(line) || is_spent()) continue;
      if (are_masks && !is_mask(line)) continue;
      const auto search = after(edit);
      if (search == nullptr) continue;
      auto place = search->place_for(mine_.words(line), *program_);
      result_.steps += search->result_.steps;
      if (!place) continue;
      result_.repairs.push_back({edit, {std::move(*place)}});
      if (found()) return;
    }
  }

  bool is_mask(std::uint32_t line) const { return is_mask(mine_.words(line)); }
  static bool is_mask(const std::vector<std::string>& line) {
    const auto row = toy::find_instruction(line.front());
    return row && toy::instruction_set()[*row].is_mask();
  }

  /// The edits that leave out one line, by line.
  std::map<std::uint32_t, Edit> drops() const {
    std::map<std::uint32_t, Edit> found;
    for (Edit& edit : enumerate_edits(*program_, edit_options(task_, 0))) {
      if (edit.kind == EditKind::kDrop) found.emplace(edit.line, std::move(edit));
    }
    return found;
  }

  /// Where a line that was left out makes the program right, or the solution's line with its instruction that the
  /// program lacks. On tiles, where a trial is expensive, between the same lines as in the solution only.
  std::optional<Edit> place_for(const std::vector<std::string>& line, const toy::Program& whole) {
    const auto all = bind_machines(task_, program_, sizes_[failing_].sized->size);
    const bool is_costly = !all || all->bound.tiled || all->machines;
    std::vector<Edit> places;
    for (Edit& edit : insertions_like(line, whole)) {
      if (!is_costly || is_mask(line) || is_gap(edit)) places.push_back(std::move(edit));
    }
    if (places.empty()) return std::nullopt;
    trials_[failing_] = make_trial(task_, program_, sizes_[failing_]);
    std::stable_sort(places.begin(), places.end(),
                     [&](const Edit& a, const Edit& b) { return neighbours(a) > neighbours(b); });
    for (Edit& edit : places) {
      if (is_spent()) return std::nullopt;
      ++result_.candidates;
      if (trials_[failing_]->is_right(edit, result_.steps) && is_right_elsewhere(edit)) {
        return std::move(edit);
      }
    }
    return std::nullopt;
  }

  std::vector<Edit> insertions_like(const std::vector<std::string>& line,
                                    const toy::Program& whole) const {
    std::vector<Edit> found;
    for (Edit& edit : enumerate_insertions(*program_, solution_.get(), &whole)) {
      const std::vector<std::string> other = words(edit.text);
      const bool is_lacking = other == line || mine_.with(other).empty();
      if (other.front() == line.front() && is_lacking) found.push_back(std::move(edit));
    }
    return found;
  }

  /// Two mistakes, one of which is an exchange of operands.
  void try_with_exchange(const std::vector<Edit>& edits) {
    for (const Edit& edit : edits) {
      if (edit.kind != EditKind::kOperands || is_spent()) continue;
      const auto search = after(edit);
      if (search == nullptr) continue;
      Repairs both = search->run();
      result_.steps += both.steps;
      if (both.repairs.empty()) continue;
      result_.repairs.push_back({edit, {both.repairs.front().edit}});
      return;
    }
  }

  bool is_spent() {
    if (result_.candidates < budget_.max_candidates && result_.steps < budget_.max_steps) {
      return false;
    }
    result_.complete = false;
    return true;
  }

  /// Returns false if the budget is spent.
  bool consider(Edit edit) {
    if (is_spent()) return false;
    ++result_.candidates;
    if (trials_[failing_]->is_right(edit, result_.steps) && is_right_elsewhere(edit)) {
      result_.repairs.push_back({std::move(edit), {}});
    }
    return true;
  }

  bool is_right_elsewhere(const Edit& edit) {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (i == failing_) continue;
      if (trials_[i] == nullptr) trials_[i] = make_trial(task_, program_, sizes_[i]);
      if (trials_[i] == nullptr || !trials_[i]->is_right(edit, result_.steps)) return false;
    }
    return true;
  }

  /// What speaks for a line, the weightiest first.
  struct Vote {
    bool is_accepted =
        false;               // a program with such a repair costs no more than the exercise accepts
    bool is_own = false;     // the learner wrote the line: it is not that of the starter
    bool is_useful = false;  // no other line loses its use by a repair
    bool is_model = false;   // the solution has the line after the repair, and not before
    int updates = -100;      // instructions that update a register in place, after less before
    std::size_t count = 0;   // repairs in this line
    int likeness = -100;     // to other lines after the repair
    bool is_suspect = false;  // the first wrong step is here
    bool is_simple = false;   // some repairs are not an exchange of operands
    auto operator<=>(const Vote&) const = default;
  };

  /// What is said of the likeliest repair must be true: drops repairs until one is right everywhere.
  bool found() {
    while (!result_.repairs.empty()) {
      choose();
      if (!is_nested_) drop_what_it_needs(result_.repairs.front());
      if (is_nested_ || is_right_everywhere(result_.repairs.front())) return true;
      result_.repairs.erase(result_.repairs.begin());
      result_.line = 0;
    }
    return false;
  }

  Repairs finished() {
    if (found() && !is_nested_) {
      Repair& first = result_.repairs.front();
      move_what_it_inserts(first);
      first.is_accepted = is_part(first) || is_accepted(first);
    }
    return std::move(result_);
  }

  /// Also at the sizes where it was not tried.
  bool is_right_everywhere(const Repair& repair) {
    if (is_part(repair)) return true;
    auto applied = repaired_program(*program_, repair);
    if (!applied) return false;
    const std::string text = applied->source->text();
    if (const auto known = is_right_text_.find(text); known != is_right_text_.end()) {
      return known->second;
    }
    const auto program = std::make_shared<const toy::Program>(std::move(*applied));
    return is_right_text_[text] =
               std::all_of(everywhere_.begin(), everywhere_.end(), [&](const RepairSize& size) {
                 return is_tried_at(size) || is_right_at(task_, program, size);
               });
  }

  bool is_tried_at(const RepairSize& there) const {
    return std::any_of(sizes_.begin(), sizes_.end(),
                       [&](const RepairSize& size) { return size.sized == there.sized; });
  }

  /// Chooses the line for which most speaks; the later of equal ones.
  void choose() {
    std::map<std::uint32_t, Vote> votes;
    for (const Repair& repair : result_.repairs) {
      const bool inserts = repair.edit.kind == EditKind::kInsert;
      Vote& vote = votes[repair.edit.line];
      vote.is_accepted = vote.is_accepted || is_accepted(repair);
      vote.is_own |= is_own(repair.edit);
      vote.is_useful |= leaves_uses(repair.edit);
      vote.is_model |= inserts ? is_gap(repair.edit) : becomes_model(repair.edit);
      vote.is_suspect = repair.edit.line == suspect_;
      vote.count += inserts ? 0 : 1;  // a line that helps in many places does not show where
      vote.updates = std::max(vote.updates, inserts ? 0 : more_updates(repair.edit));
      vote.is_simple |= repair.edit.kind != EditKind::kOperands;
      vote.likeness =
          std::max(vote.likeness, inserts ? neighbours(repair.edit) : gain(repair.edit));
    }
    Vote most;
    for (const auto& [line, vote] : votes) {
      if (vote >= most) {
        result_.line = line;
        most = vote;
      }
    }
    // Among those of the line, one that makes no right value useless comes first.
    std::stable_sort(result_.repairs.begin(), result_.repairs.end(),
                     [&](const Repair& a, const Repair& b) { return rank(a) > rank(b); });
  }

  int rank(const Repair& repair) {
    if (repair.edit.line != result_.line) return 0;
    return (leaves_uses(repair.edit) ? 2 : 1) + (becomes_model(repair.edit) ? 2 : 0);
  }

  /// Whether the learner wrote the line, or one of two lines that are exchanged.
  bool is_own(const Edit& edit) const {
    if (edit.kind == EditKind::kInsert) return true;
    if (edit.kind == EditKind::kSwap && !given_.contains(edit.other_line)) return true;
    return !given_.contains(edit.line);
  }

  /// Whether all values that reached a result still do so. A change that makes right values useless hides the mistake.
  bool leaves_uses(const Edit& edit) {
    if (edit.kind == EditKind::kInsert || edit.kind == EditKind::kDrop) return true;
    if (edit.kind == EditKind::kSwap) return true;
    const auto [known, is_new] = leaves_uses_.try_emplace({edit.line, edit.text}, true);
    if (!is_new) return known->second;
    auto applied = apply(*program_, edit);
    if (!applied) return true;
    const auto program = std::make_shared<const toy::Program>(std::move(*applied));
    const std::set<std::uint32_t> after = unused_in(program);
    const std::set<std::uint32_t> before = unused_in(program_);
    return known->second = std::includes(before.begin(), before.end(), after.begin(), after.end());
  }

  std::set<std::uint32_t> unused_in(const std::shared_ptr<const toy::Program>& program) const {
    return unused_lines(task_, program, *sizes_[failing_].sized);
  }

  /// A line that is not needed has operands that nothing else needs: "FILL scale, X" and "MUL S, X, S".
  void drop_what_it_needs(Repair& repair) {
    if (repair.edit.kind != EditKind::kDrop || !repair.further.empty()) return;
    auto applied = apply(*program_, repair.edit);
    if (!applied) return;
    const auto program = std::make_shared<const toy::Program>(std::move(*applied));
    const std::set<std::uint32_t> before = unused_in(program_);
    Repair more = repair;
    for (const std::uint32_t line : unused_in(program)) {
      if (before.contains(line) || line == repair.edit.line || given_.contains(line)) continue;
      Edit edit;
      edit.kind = EditKind::kDrop;
      edit.line = line;
      edit.what = "without this line";
      more.further.push_back(std::move(edit));
    }
    if (!more.further.empty() && is_right_at_all(more)) repair = std::move(more);
  }

  /// A line that is missing here and stands elsewhere, where nothing needs it, is one that was moved.
  void move_what_it_inserts(Repair& repair) {
    if (repair.edit.kind != EditKind::kInsert || !repair.further.empty()) return;
    const std::vector<std::uint32_t> same = mine_.with(words(repair.edit.text));
    for (const auto& [line, edit] : same.empty() ? std::map<std::uint32_t, Edit>{} : drops()) {
      if (given_.contains(line) || std::find(same.begin(), same.end(), line) == same.end())
        continue;
      Repair moved{edit, {repair.edit}};
      if (!is_right_at_all(moved)) continue;
      repair = std::move(moved);
      result_.line = line;
      return;
    }
  }

  bool is_right_at_all(const Repair& repair) const {
    auto applied = repaired_program(*program_, repair);
    if (!applied) return false;
    const auto program = std::make_shared<const toy::Program>(std::move(*applied));
    return std::all_of(sizes_.begin(), sizes_.end(),
                       [&](const RepairSize& size) { return is_right_at(task_, program, size); });
  }

  bool is_accepted(const Repair& repair) const {
    if (task_.cost.most.empty() && task_.cost.most_of_solution.empty()) return true;
    auto applied = repaired_program(*program_, repair);
    if (!applied) return true;
    const auto program = std::make_shared<const toy::Program>(std::move(*applied));
    const Attempt counted = count_attempt(task_, program, *sizes_[failing_].sized);
    return !counted.bound || !counted.refusal.empty() || score_cost(task_, counted).accepted();
  }

  /// How many of the two lines beside the inserted one are also beside it in the solution.
  int neighbours(const Edit& edit) const {
    const std::uint32_t above = edit.behind ? edit.line : mine_.next(edit.line, -1);
    const std::uint32_t below = edit.behind ? mine_.next(edit.line, 1) : edit.line;
    int best = 0;
    for (const std::uint32_t line : model_.with(words(edit.text))) {
      const auto same = [&](std::uint32_t here, int step) {
        return model_.words(model_.next(line, step)) == mine_.words(here) ? 1 : 0;
      };
      best = std::max(best, same(above, -1) + same(below, 1));
    }
    return best;
  }

  /// Whether the instruction writes the register that it reads, as most programs do: in "ADD s, x, s"
  /// it is likelier that a register is wrong in another line than that `s` is.
  static bool is_update(const std::vector<std::string>& line) {
    return line.size() > 2 &&
           std::find(line.begin() + 1, line.end() - 1, line.back()) != line.end() - 1;
  }

  bool is_in_model(const std::vector<std::string>& line) const {
    return !model_.with(line).empty();
  }

  /// Learners use the registers that the starter names, so their right lines are often the solution's.
  bool becomes_model(const Edit& edit) const {
    return edit.instruction && is_in_model(words(edit.text)) &&
           !is_in_model(mine_.words(edit.line));
  }

  int more_updates(const Edit& edit) const {
    if (!edit.instruction) return 0;
    return (is_update(words(edit.text)) ? 1 : 0) - (is_update(mine_.words(edit.line)) ? 1 : 0);
  }

  /// The increase of the line's likeness to other lines of the program by the edit.
  int gain(const Edit& edit) const {
    if (!edit.instruction) return 0;
    const toy::SourceText& source = *program_->source;
    return likeness(source, mine_, words(edit.text), edit.line) -
           likeness(source, mine_, mine_.words(edit.line), edit.line);
  }
  const ProgramTask& task_;
  const std::shared_ptr<const toy::Program> program_;
  const std::vector<RepairSize>& sizes_;
  const std::size_t failing_;
  const std::uint32_t suspect_;
  RepairBudget budget_;
  const std::vector<RepairSize>& everywhere_;
  const StatementLines mine_;
  const std::shared_ptr<const toy::Program>
      solution_;                         // with the learner's loop variables and order
  const StatementLines model_;           // its lines
  const std::set<std::uint32_t> given_;  // lines of the starter that the learner left as they were
  std::vector<std::unique_ptr<Trial>> trials_;  // by size; created at first use
  std::int64_t num_registers_ = 0;
  bool is_nested_ = false;  // one mistake is repaired already
  std::map<std::pair<std::uint32_t, std::string>, bool> leaves_uses_;  // by line and text
  std::map<std::string, bool>
      is_right_text_;  // of repaired programs, whether they are right everywhere
  Repairs result_;
};

}  // namespace

EditOptions edit_options(const ProgramTask& task, std::int64_t num_registers) {
  EditOptions options;
  options.num_registers = num_registers;
  options.pinned = task.operands == toy::OperandRule::kPinned;
  for (std::size_t row = 0; row < toy::instruction_set().size(); ++row) {
    if (toy::instruction_set()[row].in(task.level)) options.rows.push_back(row);
  }
  for (const std::size_t row : task.extra_instructions) {
    if (std::find(options.rows.begin(), options.rows.end(), row) == options.rows.end()) {
      options.rows.push_back(row);
    }
  }
  return options;
}

Repairs find_repairs(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                     const std::vector<RepairSize>& sizes, std::size_t failing,
                     std::uint32_t suspect, const RepairBudget& budget,
                     const std::vector<RepairSize>& everywhere) {
  return Search(task, program, sizes, failing, suspect, budget, everywhere).run();
}

std::optional<toy::Program> repaired_program(const toy::Program& program, const Repair& repair) {
  auto applied = apply(program, repair.edit);
  for (const Edit& edit : repair.further) {
    if (applied) applied = apply(*applied, edit);
  }
  if (!applied) return std::nullopt;
  return std::move(*applied);
}

}  // namespace flashlab::exercises
