// Iterations that become blocks share nothing: checked by going through every one of them.
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "generate/plan/plan.hpp"
#include "tests/catch_shim.hpp"
#include "tests/generate/cases/cases.hpp"

namespace flashlab::test {
namespace {

/// A tile of an array: its number and its indices.
using CellKey = std::pair<std::size_t, std::vector<std::int64_t>>;

/// Which iterations of the grid's loop use a cell, and how.
struct CellUsers {
  std::set<std::int64_t> readers, writers, updaters;

  bool is_shared() const {
    std::set<std::int64_t> all = readers;
    all.insert(writers.begin(), writers.end());
    if (!writers.empty()) {
      all.insert(updaters.begin(), updaters.end());
      return all.size() > 1;
    }
    if (updaters.empty() || readers.empty()) return false;
    all.insert(updaters.begin(), updaters.end());
    return all.size() > 1;
  }
};

/// Goes through a launch, instruction by instruction.
class LaunchWalk {
 public:
  LaunchWalk(const toy::BoundProgram& program, const generate::Launch& launch)
      : program_(program), launch_(launch), values_(program.loops.size()) {
    walk(launch.first_node, launch.last_node);
  }

  /// Registers that an iteration reads before it writes them, and that another one writes.
  std::size_t shared_registers() const {
    std::size_t shared = 0;
    for (const auto& [reg, reader] : taken_over_) {
      const auto writers = writers_.find(reg);
      if (writers != writers_.end() && *writers->second.begin() < reader) ++shared;
    }
    return shared;
  }
  std::size_t shared_cells() const {
    std::size_t shared = 0;
    for (const auto& [cell, users] : cells_) shared += users.is_shared() ? 1 : 0;
    return shared;
  }

 private:
  static constexpr std::int64_t kBefore = -1;  // the part before the grid's loop

  void walk(std::size_t first, std::size_t last) {
    for (std::size_t at = first; at < last; ++at) {
      const toy::Node& node = program_.nodes[at];
      if (node.kind == toy::Node::Kind::kBlock) {
        for (std::uint32_t site = node.first; site < node.last; ++site) {
          visit(program_.instructions[site]);
        }
      } else if (node.kind == toy::Node::Kind::kLoopBegin) {
        repeat(at, node);
        at = node.partner;
      }
    }
  }

  void repeat(std::size_t at, const toy::Node& node) {
    const toy::BoundLoop& loop = program_.loops[node.loop];
    const bool is_grid = launch_.grid_loop && launch_.grid_node == at;
    std::int64_t& value = values_[node.loop];
    const std::int64_t end = loop.upper(values_.data());
    std::int64_t number = 0;
    for (value = loop.lower(values_.data()); value < end; value += loop.step) {
      if (is_grid) {
        iteration_ = number++;
        written_.clear();
      }
      walk(at + 1, node.partner);
    }
  }

  void visit(const toy::BoundInstruction& instruction) {
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (toy::is_register_read(operand.kind)) {
        const std::int64_t reg = operand.index(values_.data());
        if (!written_.contains(reg) && iteration_ != kBefore) taken_over_[reg] = iteration_;
      } else if (toy::is_memory(operand.kind)) {
        note_cell(operand);
      }
    }
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (operand.kind != toy::OperandKind::kDestination || iteration_ == kBefore) continue;
      const std::int64_t reg = operand.index(values_.data());
      written_.insert(reg);
      writers_[reg].insert(iteration_);
    }
  }

  void note_cell(const toy::BoundOperand& operand) {
    CellKey key{operand.array, {}};
    for (const toy::Affine& axis : operand.axes) key.second.push_back(axis(values_.data()));
    CellUsers& users = cells_[key];
    if (operand.kind == toy::OperandKind::kMemorySource) users.readers.insert(iteration_);
    if (operand.kind == toy::OperandKind::kMemoryDestination) users.writers.insert(iteration_);
    if (operand.kind == toy::OperandKind::kMemoryUpdate) users.updaters.insert(iteration_);
  }

  const toy::BoundProgram& program_;
  const generate::Launch& launch_;
  std::vector<std::int64_t> values_;
  std::int64_t iteration_ = kBefore;
  std::set<std::int64_t> written_;  // registers, in this iteration
  std::map<std::int64_t, std::int64_t> taken_over_;
  std::map<std::int64_t, std::set<std::int64_t>> writers_;
  std::map<CellKey, CellUsers> cells_;
};

}  // namespace

TEST_CASE("iterations that become blocks share no register and no cell", "[plan]") {
  std::size_t grids = 0, single_blocks = 0;
  for (const GenerateCase& one : generate_cases()) {
    INFO(one.program << " " << one.setting);
    const auto plan = generate::plan(*one.bound, {});
    REQUIRE(plan);
    for (const generate::Launch& launch : plan->launches) {
      if (!launch.grid_loop) {
        ++single_blocks;
        continue;
      }
      if (launch.blocks > 1) ++grids;
      const LaunchWalk walk(*one.bound, launch);
      CHECK(walk.shared_registers() == 0);
      CHECK(walk.shared_cells() == 0);
    }
  }
  CHECK(grids > 250);
  CHECK(single_blocks > 50);
}

}  // namespace flashlab::test
