#include "exercises/grader/explain/exchanged_registers.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/repair/value_runs.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/replay/breakpoint.hpp"
#include "toymachine/replay/replay.hpp"

namespace flashlab::exercises {
namespace {

using SharedProgram = std::shared_ptr<const toy::Program>;
using Contents = std::vector<toy::RegisterContents>;

/// The registers before the first execution of a line.
Contents registers_before(const ProgramTask& task, const SharedProgram& program, std::uint32_t line,
                          const SizedCases& sized, const Case& entry) {
  const auto bound = bound_alone(task, program, sized.size);
  if (!bound) return {};
  const auto dram = dram_for(*bound, entry);
  const auto site = toy::site_at_line(*bound, line);
  if (!dram || !site || bound->instructions[*site].span.line != line) return {};
  auto replay = toy::Replay::start(*bound, toy::InitialDram::of_cells(*bound, *dram));
  if (!replay) return {};
  const auto step = (*replay)->next_execution(std::vector{toy::WantedExecutions{*site, {}}});
  if (!step) return {};
  (*replay)->go_to(*step);
  Contents contents;
  for (std::int64_t i = 0; i < bound->num_registers; ++i) {
    contents.push_back((*replay)->register_contents(i));
  }
  return contents;
}

bool is_equal_tile(const toy::RegisterContents& a, const toy::RegisterContents& b) {
  return a.is_written() && a.rows == b.rows && a.cols == b.cols && a.elements == b.elements;
}

/// The only two registers that hold each other's right values; nothing if there are none, or others.
std::optional<std::pair<std::size_t, std::size_t>> exchanged_pair(const Contents& mine,
                                                                  const Contents& right) {
  std::optional<std::pair<std::size_t, std::size_t>> found;
  if (mine.size() != right.size()) return std::nullopt;
  for (std::size_t a = 0; a < mine.size(); ++a) {
    for (std::size_t b = a + 1; b < mine.size(); ++b) {
      if (!is_equal_tile(mine[a], right[b]) || !is_equal_tile(mine[b], right[a])) continue;
      if (is_equal_tile(mine[a], mine[b])) continue;
      if (found) return std::nullopt;
      found.emplace(a, b);
    }
  }
  return found;
}

/// The first statement below a line that both texts have once: its lines.
std::optional<std::pair<std::uint32_t, std::uint32_t>> line_after(const toy::SourceText& mine,
                                                                  const toy::SourceText& right,
                                                                  std::uint32_t line) {
  const StatementLines own(mine), other(right);
  for (std::uint32_t below = own.next(line, 1); below != 0; below = own.next(below, 1)) {
    const StatementLines::Words& here = own.words(below);
    if (here.front() == "for" || here.front() == "end") return std::nullopt;
    const auto there = other.with(here);
    if (own.with(here).size() == 1 && there.size() == 1) return std::pair{below, there.front()};
  }
  return std::nullopt;
}

}  // namespace

std::string exchanged_registers_text(const FailedAttempt& failed, const Repair& repair) {
  if (failed.attempt.machines) return {};
  auto repaired = repaired_program(*failed.program, repair);
  if (!repaired) return {};
  const auto right = std::make_shared<const toy::Program>(std::move(*repaired));
  const auto lines = line_after(failed.text, *right->source, repair.edit.line);
  if (!lines) return {};
  const auto pair_at = [&](const SizedCases& sized, const Case& entry) {
    return exchanged_pair(registers_before(failed.task, failed.program, lines->first, sized, entry),
                          registers_before(failed.task, right, lines->second, sized, entry));
  };
  const SizedCases& here = *failed.attempt.sized;
  const auto pair = pair_at(here, here.cases[failed.attempt.failure->entry]);
  if (!pair) return {};
  bool is_confirmed_elsewhere = false;
  for (const RepairSize& size : failed.all) {
    if (size.sized == &here || is_confirmed_elsewhere) continue;
    for (const Case& entry : size.sized->cases) {
      const auto there = pair_at(*size.sized, entry);
      is_confirmed_elsewhere = is_confirmed_elsewhere || (there && *there == *pair);
    }
  }
  if (!is_confirmed_elsewhere) return {};
  const auto name = [&](std::size_t number) {
    return failed.attempt.bound->register_name(static_cast<std::int64_t>(number));
  };
  return " Before line " + std::to_string(lines->first) + ", " + name(pair->first) +
         " holds what belongs in " + name(pair->second) + ", and " + name(pair->second) +
         " what belongs in " + name(pair->first) + ".";
}

}  // namespace flashlab::exercises
