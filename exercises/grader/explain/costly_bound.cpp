#include "exercises/grader/explain/costly_bound.hpp"

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "exercises/grader/exercise/source_lines.hpp"
#include "exercises/grader/explain/loop_rounds.hpp"
#include "exercises/grader/judge/cost_score.hpp"
#include "exercises/grader/repair/loop_names.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {
namespace {

void collect_loops(const std::vector<toy::Statement>& body,
                   std::vector<const toy::LoopStatement*>& loops) {
  for (const toy::Statement& statement : body) {
    const auto* const loop = std::get_if<toy::LoopStatement>(&statement.node);
    if (loop == nullptr) continue;
    loops.push_back(loop);
    collect_loops(loop->body, loops);
  }
}

std::vector<const toy::LoopStatement*> loops_in(const toy::Program& program) {
  std::vector<const toy::LoopStatement*> loops;
  collect_loops(program.body, loops);
  return loops;
}

/// "for j in 0..tiles(k)"
std::string head_text(const toy::LoopStatement& loop) {
  return "for " + loop.var + " in " + to_string(*loop.lower) + ".." + to_string(*loop.upper) +
         " step " + to_string(*loop.step);
}

/// The program with another head of the loop in this line; null: it does not assemble.
std::shared_ptr<const toy::Program> with_head(const toy::Program& program, std::uint32_t line,
                                              const std::string& head) {
  const toy::SourceText& source = *program.source;
  std::string text;
  for (std::uint32_t at = 1; at <= source.num_lines(); ++at) {
    text += (at == line ? head : std::string(source.line(at))) + "\n";
  }
  auto changed = toy::assemble(std::make_shared<const toy::SourceText>(source.name(), text));
  return changed ? std::make_shared<const toy::Program>(std::move(*changed)) : nullptr;
}

}  // namespace

std::optional<CostlyBound> costly_bound(const ProgramTask& task,
                                        const std::shared_ptr<const toy::Program>& program,
                                        const Attempt& attempt) {
  if (attempt.machines) return std::nullopt;
  const auto solution = with_loop_names(task.solution, *program);
  std::optional<CostlyBound> found;
  toy::Count cycles = attempt.counters.cycles;
  for (const toy::LoopStatement* const mine : loops_in(*program)) {
    std::set<std::string> heads{head_text(*mine)};
    for (const toy::LoopStatement* const other : loops_in(*solution)) {
      if (other->var != mine->var || !heads.insert(head_text(*other)).second) continue;
      const std::uint32_t line = mine->span.line;
      const auto changed = with_head(*program, line, head_text(*other));
      if (changed == nullptr) continue;
      const Attempt there = exercises::attempt(task, changed, *attempt.sized, nullptr);
      if (!there.passed() || there.counters.cycles >= cycles) continue;
      const auto rounds =
          other_rounds(rounds_of(*attempt.bound, line), rounds_of(*there.bound, line));
      if (!rounds || !rounds->missing.empty()) continue;
      cycles = there.counters.cycles;
      found.emplace();
      found->is_all = score_cost(task, there).full();
      found->finding.line = line;
      found->finding.what = wrong_bound_text(*program, line, *rounds);
      found->finding.inputs = to_string(attempt.sized->size);
      append_source_line(found->finding, *program->source, line);
    }
  }
  return found;
}

}  // namespace flashlab::exercises
