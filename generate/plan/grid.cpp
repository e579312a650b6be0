#include "generate/plan/grid.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "generate/plan/cell_use.hpp"
#include "generate/plan/register_use.hpp"
#include "generate/plan/stretches.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::generate {
namespace {

constexpr std::int64_t kMostBlocks = INT32_MAX;  // of a grid, along x

class GridSearch {
 public:
  GridSearch(const toy::BoundProgram& program, Launch& launch)
      : program_(program), launch_(launch) {}

  toy::Result<bool> run() {
    if (auto reason = why_no_loop()) return one_block(std::move(*reason));
    const std::uint32_t loop = program_.nodes[node_].loop;
    const std::size_t end = program_.nodes[node_].partner;
    if (auto reason = why_not_after_the_rest(end)) return one_block(std::move(*reason));
    const auto use = register_use(program_, node_ + 1, end);
    if (!use) return too_long_to_follow();
    if (auto reason = why_tied_by_registers(*use)) return one_block(std::move(*reason));
    if (auto reason = why_tied_by_cells(loop, end)) return one_block(std::move(*reason));
    return make_grid(loop);
  }

 private:
  std::string line(std::uint32_t site) const {
    return "line " + std::to_string(program_.instructions[site].span.line);
  }
  std::string array(std::uint32_t site) const {
    for (const toy::BoundOperand& operand : program_.instructions[site].operands) {
      if (toy::is_memory(operand.kind)) return program_.arrays[operand.array].name;
    }
    return {};
  }
  Reason reason(std::uint32_t site, std::string text) const {
    return {std::move(text), program_.instructions[site].span};
  }
  toy::Result<bool> one_block(Reason why) {
    launch_.one_block = std::move(why);
    return true;
  }

  /// Finds the last loop, or says why there is none.
  std::optional<Reason> why_no_loop() {
    std::optional<std::size_t> found;
    std::uint32_t after = kNoSite;
    for (std::size_t at = launch_.first_node; at < launch_.last_node; ++at) {
      const toy::Node& node = program_.nodes[at];
      if (node.kind == toy::Node::Kind::kLoopBegin) {
        found = at;
        after = kNoSite;
        at = node.partner;
      } else if (node.kind == toy::Node::Kind::kBlock) {
        after = node.first;
      }
    }
    if (!found) return Reason{"there is no loop", {}};
    node_ = *found;
    const toy::BoundLoop& loop = program_.loops[program_.nodes[node_].loop];
    if (after != kNoSite) {
      return reason(
          after, line(after) + " comes after the loop of line " + std::to_string(loop.span.line));
    }
    if (loop.values.empty()) return Reason{"the loop runs no iteration", loop.span};
    return std::nullopt;
  }

  std::optional<Reason> why_not_after_the_rest(std::size_t end) const {
    for (std::size_t at = launch_.first_node; at < node_; ++at) {
      const toy::Node& node = program_.nodes[at];
      if (node.kind != toy::Node::Kind::kBlock) continue;
      for (std::uint32_t site = node.first; site < node.last; ++site) {
        for (const toy::BoundOperand& operand : program_.instructions[site].operands) {
          if (!toy::is_memory_write(operand.kind)) continue;
          return reason(site, line(site) +
                                  " stores before the last loop, and every block would "
                                  "repeat that");
        }
      }
    }
    if (const auto conflict =
            load_before_write(program_, launch_.first_node, node_, node_ + 1, end)) {
      return reason(conflict->other_site, line(conflict->other_site) + " loads " +
                                              array(conflict->site) + " in every block, while " +
                                              line(conflict->site) + " writes it in another");
    }
    return std::nullopt;
  }

  std::optional<Reason> why_tied_by_registers(const RegisterUse& use) const {
    for (std::size_t r = 0; r < use.written.size(); ++r) {
      const std::uint32_t reader = use.taken_over[r];
      if (reader == kNoSite || use.written[r] == kNoSite) continue;
      return reason(reader, line(reader) + " reads " +
                                program_.register_name(static_cast<std::int64_t>(r)) + ", which " +
                                line(use.written[r]) + " may have written in an earlier iteration");
    }
    return std::nullopt;
  }

  std::optional<Reason> why_tied_by_cells(std::uint32_t loop, std::size_t end) const {
    const auto conflict = conflict_of_iterations(program_, loop, node_ + 1, end);
    if (!conflict) return std::nullopt;
    if (conflict->too_many) {
      return reason(conflict->site, "its loads and stores are too many to compare");
    }
    const bool same = conflict->site == conflict->other_site;
    return reason(conflict->site,
                  line(conflict->site) + " writes to " + array(conflict->site) +
                      (same ? ", perhaps the same cell in several iterations"
                            : ", perhaps a cell that " + line(conflict->other_site) +
                                  " reaches in another iteration"));
  }

  toy::Result<bool> make_grid(std::uint32_t loop) {
    const toy::BoundLoop& range = program_.loops[loop];
    const std::int64_t first = range.lower(nullptr), last = range.upper(nullptr);
    const std::int64_t blocks = (last - first - 1) / range.step + 1;
    if (blocks > kMostBlocks) {
      return toy::Diagnostic{toy::Severity::kError,
                             toy::Fault::kLimit,
                             range.span,
                             "the loop has " + std::to_string(blocks) + " iterations",
                             "at most " + std::to_string(kMostBlocks) + " blocks in a grid",
                             {}};
    }
    if (blocks > 1) {
      if (auto repeats = note_repeated_loads(); !repeats) return repeats;
      if (auto reason = why_repeats_too_much(blocks)) return one_block(std::move(*reason));
    }
    launch_.grid_loop = loop;
    launch_.grid_node = node_;
    launch_.blocks = blocks;
    return true;
  }

  /// The bytes that the instruction loads, all its executions together.
  toy::Count loaded_bytes(const toy::BoundInstruction& instruction) const {
    toy::Count bytes = 0;
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (operand.kind != toy::OperandKind::kMemorySource) continue;
      const toy::ElementType type = program_.arrays[operand.array].element_type;
      bytes += executions_.work[instruction.site] * static_cast<long>(toy::element_bytes(type));
    }
    return bytes;
  }

  toy::Result<bool> note_repeated_loads() {
    bool loads = false;
    for_each_instruction(program_, launch_.first_node, node_, [&](const auto& instruction) {
      loads = loads || toy::instruction_set()[instruction.row].is_load();
    });
    if (!loads) return true;
    auto counted = toy::count_executions(program_);
    if (!counted) return std::move(counted.diagnostics);
    executions_ = std::move(*counted);
    for_each_instruction(program_, launch_.first_node, node_, [&](const auto& instruction) {
      const toy::Count bytes = loaded_bytes(instruction);
      if (bytes == 0) return;
      launch_.repeated.push_back(
          {instruction.site, bytes.fits_slong_p() ? bytes.get_si() : INT64_MAX});
    });
    return true;
  }

  /// The loads before the loop may at most double what the launch loads.
  std::optional<Reason> why_repeats_too_much(std::int64_t blocks) {
    if (launch_.repeated.empty()) return std::nullopt;
    toy::Count before = 0, all = 0;
    for_each_instruction(program_, launch_.first_node, node_,
                         [&](const auto& instruction) { before += loaded_bytes(instruction); });
    for_each_instruction(program_, launch_,
                         [&](const auto& instruction) { all += loaded_bytes(instruction); });
    if (before * static_cast<long>(blocks - 1) <= all) return std::nullopt;
    const std::uint32_t site = launch_.repeated.front().site;
    launch_.repeated.clear();
    return reason(site, line(site) + " loads before the last loop; " + std::to_string(blocks) +
                            " blocks would load these " + before.get_str() +
                            " bytes again, and more than double the bytes loaded");
  }

  const toy::BoundProgram& program_;
  Launch& launch_;
  std::size_t node_ = 0;        // of the last loop
  toy::Executions executions_;  // only if there are loads before the last loop
};

}  // namespace

toy::Result<bool> find_grid(const toy::BoundProgram& program, Launch& launch) {
  return GridSearch(program, launch).run();
}

}  // namespace flashlab::generate
