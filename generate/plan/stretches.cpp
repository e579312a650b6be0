#include "generate/plan/stretches.hpp"

#include <optional>
#include <string>
#include <utility>

#include "generate/plan/register_use.hpp"

namespace flashlab::generate {
namespace {

/// Of passes times what is looked at for each pass: all registers and instructions. Half a second.
constexpr std::size_t kMostPassWork = 50'000'000;

/// The pass of the first instruction among the nodes [first, last]; nothing if there is none.
std::optional<std::size_t> pass_of(const toy::BoundProgram& program, std::size_t first,
                                   std::size_t last) {
  for (std::size_t at = first; at <= last; ++at) {
    const toy::Node& node = program.nodes[at];
    if (node.kind == toy::Node::Kind::kBlock) return program.instructions[node.first].pass;
  }
  return std::nullopt;
}

std::vector<Launch> one_per_pass(const toy::BoundProgram& program) {
  std::vector<Launch> result;
  for (std::size_t at = 0; at < program.nodes.size();) {
    const toy::Node& node = program.nodes[at];
    const std::size_t last = node.kind == toy::Node::Kind::kLoopBegin ? node.partner : at;
    const auto pass = pass_of(program, at, last);
    if (pass && (result.empty() || *pass != result.back().passes.front())) {
      result.emplace_back();
      result.back().passes.push_back(*pass);
      result.back().first_node = at;
    }
    at = last + 1;
    if (!result.empty()) result.back().last_node = at;  // otherwise, nothing is executed yet
  }
  return result;
}

/// Makes one launch of all from `first` on.
void join_from(std::size_t first, Reason reason, std::vector<Launch>& launches) {
  while (launches.size() > first + 1) {
    Launch last = std::move(launches.back());
    launches.pop_back();
    Launch& before = launches.back();
    before.passes.insert(before.passes.end(), last.passes.begin(), last.passes.end());
    before.last_node = last.last_node;
    before.joins.push_back(launches.size() == first + 1 ? std::move(reason) : reason);
    before.joins.insert(before.joins.end(), last.joins.begin(), last.joins.end());
  }
}

std::string line_text(const toy::BoundProgram& program, std::uint32_t site) {
  return "line " + std::to_string(program.instructions[site].span.line);
}

}  // namespace

toy::Diagnostic too_long_to_follow() {
  return {toy::Severity::kError,
          toy::Fault::kLimit,
          {},
          "the registers of this program take too long to follow",
          "fewer passes, instructions, registers, or loops inside each other",
          {}};
}

toy::Result<std::vector<Launch>> stretches(const toy::BoundProgram& program) {
  std::vector<Launch> result;
  struct Writer {
    std::size_t node = 0;
    std::uint32_t site = kNoSite;
  };
  std::vector<Writer> writers(static_cast<std::size_t>(program.num_registers));
  std::vector<Launch> passes = one_per_pass(program);
  if (passes.size() * (writers.size() + program.instructions.size()) > kMostPassWork) {
    return too_long_to_follow();
  }
  for (Launch& launch : passes) {
    const auto use = register_use(program, launch.first_node, launch.last_node);
    if (!use) return too_long_to_follow();
    result.push_back(std::move(launch));
    const std::size_t node = result.back().first_node;
    for (std::size_t r = 0; r < writers.size(); ++r) {
      const std::uint32_t reader = use->taken_over[r];
      if (reader == kNoSite || writers[r].site == kNoSite) continue;
      std::size_t first = result.size() - 1;
      while (result[first].first_node > writers[r].node) --first;
      if (first + 1 == result.size()) continue;
      join_from(first,
                {line_text(program, reader) + " reads " +
                     program.register_name(static_cast<std::int64_t>(r)) + ", which " +
                     line_text(program, writers[r].site) + " wrote",
                 program.instructions[reader].span},
                result);
    }
    for (std::size_t r = 0; r < writers.size(); ++r) {
      if (use->written[r] != kNoSite) writers[r] = {node, use->written[r]};
    }
  }
  return result;
}

}  // namespace flashlab::generate
