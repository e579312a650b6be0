// Best loads found in two other ways: an exhaustive search, and Belady's rule played on registers.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "optimal/products/load_schedule.hpp"
#include "tests/catch_shim.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::test {

using optimal::ScheduleMachine;
using toy::OperandRule;

struct Unrolled {
  toy::BoundProgram bound;
  toy::UnrolledProgram program;
};

inline std::optional<Unrolled> unrolled(const std::string& text, const toy::Binding& binding = {}) {
  const auto source = std::make_shared<const toy::SourceText>("test", text);
  auto program = toy::assemble(source);
  INFO(text << toy::format(program.diagnostics, *source));
  REQUIRE(program);
  auto bound = toy::bind(std::make_shared<const toy::Program>(std::move(*program)), binding);
  INFO(toy::format(bound.diagnostics, *source));
  REQUIRE(bound);
  auto steps = toy::unroll(*bound, 1'000'000);
  if (!steps) return std::nullopt;
  return Unrolled{std::move(*bound), std::move(*steps)};
}

inline ScheduleMachine machine_of(const toy::BoundProgram& bound) {
  ScheduleMachine machine;
  machine.operand_rule = bound.program->operand_rule;
  if (bound.registers_declared) machine.registers = bound.num_registers;
  return machine;
}

inline bool is_load(const toy::UnrolledStep& step) {
  return toy::instruction_set()[step.row].is_load();
}

inline std::int64_t num_loads(const toy::UnrolledProgram& program) {
  return std::count_if(program.steps.begin(), program.steps.end(), is_load);
}

// -- An order of operations, found another way: what each step reads, then what an output needs. --

struct Action {
  std::vector<int> factors, others;  // values that must be in registers
  int result = -1;                   // value
  int cell = -1, cell_value = -1;
  std::size_t step = 0;
};

struct PlainOrder {
  std::vector<Action> actions;
  std::map<int, int> first_cells;  // input cells and their values
  int num_values = 0;
};

class PlainOrderMaker {
 public:
  explicit PlainOrderMaker(const Unrolled& program) : program_(program) {}

  PlainOrder run() {
    follow();
    std::set<std::size_t> live;
    for (const toy::BoundArray& array : program_.bound.arrays) {
      if (array.role != toy::ArrayRole::kOutput) continue;
      for (std::int64_t i = 0; i < array.size; ++i) {
        const auto writer = cell_writer_.find(static_cast<int>(array.offset + i));
        if (writer != cell_writer_.end()) reach(writer->second, live);
      }
    }
    for (const std::size_t s : live) {
      if (!is_load(program_.program.steps[s]) && !copies_.contains(s)) {
        order_.actions.push_back(actions_[s]);
      }
    }
    return order_;
  }

 private:
  void follow() {
    for (const toy::BoundArray& array : program_.bound.arrays) {
      if (array.role != toy::ArrayRole::kInput) continue;
      for (std::int64_t i = 0; i < array.size; ++i) {
        order_.first_cells[static_cast<int>(array.offset + i)] = order_.num_values;
        cells_[static_cast<int>(array.offset + i)] = order_.num_values++;
      }
    }
    for (std::size_t s = 0; s < program_.program.steps.size(); ++s) follow(s);
  }

  void follow(std::size_t s) {
    const toy::UnrolledStep& step = program_.program.steps[s];
    const toy::InstructionSpec& spec = toy::instruction_set()[step.row];
    Action action;
    action.step = s;
    std::vector<std::size_t> needs;
    int source = -1, target = -1;
    const auto kinds = spec.kinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const int slot = step.slots[i];
      if (toy::is_register_read(kinds[i])) {
        source = registers_.at(slot);
        (kinds[i] == toy::OperandKind::kFactor ? action.factors : action.others).push_back(source);
        needs.push_back(register_writer_.at(slot));
      } else if (kinds[i] == toy::OperandKind::kDestination) {
        target = slot;
      } else if (toy::is_memory(kinds[i])) {
        if (toy::is_read(kinds[i])) {
          if (spec.is_load()) source = cells_.at(slot);
          if (cell_writer_.contains(slot)) needs.push_back(cell_writer_.at(slot));
        }
        if (toy::is_memory_write(kinds[i])) action.cell = slot;
      }
    }
    const bool is_move = spec.mnemonic == "MOV";
    if (is_move) copies_.insert(s);
    const bool keeps = spec.is_load() || is_move || spec.is_store();
    const int value = keeps ? source : order_.num_values++;
    if (target >= 0) {
      registers_[target] = value;
      register_writer_[target] = s;
      action.result = keeps ? -1 : value;
    } else {
      cells_[action.cell] = value;
      cell_writer_[action.cell] = s;
      action.cell_value = value;
    }
    actions_.push_back(action);
    needs_.push_back(needs);
  }

  void reach(std::size_t s, std::set<std::size_t>& live) const {
    if (!live.insert(s).second) return;
    for (const std::size_t need : needs_[s]) reach(need, live);
  }

  const Unrolled& program_;
  PlainOrder order_;
  std::map<int, int> registers_, cells_;
  std::map<int, std::size_t> register_writer_, cell_writer_;
  std::set<std::size_t> copies_;
  std::vector<Action> actions_;
  std::vector<std::vector<std::size_t>> needs_;
};

/// The fewest loads that execute the actions in their order: every machine state is tried.
class ExhaustiveSearch {
 public:
  ExhaustiveSearch(const PlainOrder& order, int registers, bool pinned)
      : order_(order), registers_(registers), pinned_(pinned) {
    std::map<int, int> cells = order.first_cells;
    for (const Action& action : order.actions) {
      cells_before_.push_back(cells);
      if (action.cell >= 0) cells[action.cell] = action.cell_value;
    }
  }

  int run() {
    visit({0, std::vector<int>(static_cast<std::size_t>(registers_), -1)}, 0);
    while (!queue_.empty()) {
      const auto [loads, state] = queue_.top();
      queue_.pop();
      if (loads > best_.at(state)) continue;
      if (state.first == order_.actions.size()) return loads;
      expand(state, loads);
    }
    return -1;
  }

 private:
  using State = std::pair<std::size_t, std::vector<int>>;

  bool is_wanted(int value, std::size_t from) const {
    for (std::size_t a = from; a < order_.actions.size(); ++a) {
      const Action& action = order_.actions[a];
      for (const auto* all : {&action.factors, &action.others}) {
        if (std::find(all->begin(), all->end(), value) != all->end()) return true;
      }
    }
    return false;
  }

  void visit(State state, int loads) {
    for (int& value : state.second) {
      if (value >= 0 && !is_wanted(value, state.first)) value = -1;
    }
    const std::ptrdiff_t alike = pinned_ ? std::min<std::ptrdiff_t>(2, registers_) : 0;
    std::sort(state.second.begin() + alike, state.second.end());
    const auto [entry, is_new] = best_.emplace(state, loads);
    if (!is_new && entry->second <= loads) return;
    entry->second = loads;
    queue_.emplace(loads, std::move(state));
  }

  void expand(const State& state, int loads) {
    const auto& [next, registers] = state;
    for (const auto& [cell, value] : cells_before_[next]) {
      if (!is_wanted(value, next)) continue;
      for (std::size_t r = 0; r < registers.size(); ++r) {
        State after = state;
        after.second[r] = value;
        visit(std::move(after), loads + 1);
      }
    }
    const Action& action = order_.actions[next];
    if (!is_ready(action, registers)) return;
    if (action.result < 0) return visit({next + 1, registers}, loads);
    for (std::size_t r = 0; r < registers.size(); ++r) {
      State after{next + 1, registers};
      after.second[r] = action.result;
      visit(std::move(after), loads);
    }
  }

  bool is_ready(const Action& action, const std::vector<int>& registers) const {
    const auto is_there = [&](int value) {
      return std::find(registers.begin(), registers.end(), value) != registers.end();
    };
    for (std::size_t i = 0; i < action.factors.size(); ++i) {
      if (pinned_ ? registers[i] != action.factors[i] : !is_there(action.factors[i])) return false;
    }
    return std::all_of(action.others.begin(), action.others.end(), is_there);
  }

  const PlainOrder& order_;
  int registers_;
  bool pinned_;
  std::vector<std::map<int, int>> cells_before_;
  std::map<State, int> best_;
  std::priority_queue<std::pair<int, State>, std::vector<std::pair<int, State>>, std::greater<>>
      queue_;
};

/// Belady's rule on registers: what is loaded, or made, takes the place of what is wanted last
/// among all that can be loaded again. For programs that overwrite no cell.
inline int belady(const PlainOrder& order, std::size_t registers) {
  std::set<int> held, in_dram;
  for (const auto& [cell, value] : order.first_cells) in_dram.insert(value);
  const auto wanted_at = [&](int value, std::size_t from) {
    for (std::size_t a = from; a < order.actions.size(); ++a) {
      for (const auto* all : {&order.actions[a].factors, &order.actions[a].others}) {
        if (std::find(all->begin(), all->end(), value) != all->end()) return a;
      }
    }
    return order.actions.size();
  };
  int loads = 0;
  for (std::size_t a = 0; a < order.actions.size(); ++a) {
    const Action& action = order.actions[a];
    std::set<int> operands(action.factors.begin(), action.factors.end());
    operands.insert(action.others.begin(), action.others.end());
    const auto make_room = [&](std::size_t from, const std::set<int>& stays) {
      while (held.size() >= registers) {
        int victim = -1;
        for (const int value : held) {
          if (stays.contains(value)) continue;
          const bool is_useless = wanted_at(value, from) == order.actions.size();
          if (!is_useless && !in_dram.contains(value)) continue;
          if (victim < 0 || wanted_at(value, from) > wanted_at(victim, from)) victim = value;
        }
        REQUIRE(victim >= 0);
        held.erase(victim);
      }
    };
    for (const int value : operands) {
      if (held.contains(value)) continue;
      make_room(a, operands);
      held.insert(value);
      ++loads;
    }
    if (action.cell >= 0) in_dram.insert(action.cell_value);
    if (action.result >= 0) {
      make_room(a + 1, {});
      held.insert(action.result);
    }
  }
  return loads;
}

}  // namespace flashlab::test
