#include "optimal/values/value_witness.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace flashlab::optimal::detail {
namespace {

/// Returns a name that no declaration uses.
std::string free_name(const std::vector<std::string>& declarations) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(declarations.begin(), declarations.end(), [&](const std::string& line) {
      const std::string spaced = " " + line + " ";
      for (std::size_t at = spaced.find(name, 1); at != std::string::npos;
           at = spaced.find(name, at + 1)) {
        const auto is_letter = [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
        };
        if (!is_letter(spaced[at - 1]) && !is_letter(spaced[at + name.size()])) return true;
      }
      return false;
    });
  };
  std::string name = "t";
  for (int number = 2; is_taken(name); ++number) name = "t" + std::to_string(number);
  return name;
}

/// An instruction. If it has a `spill`, the cell of that spill goes between `text` and `rest`.
struct WitnessLine {
  std::string text, rest = {};
  std::size_t spill = kNoSpill;
  static constexpr std::size_t kNoSpill = static_cast<std::size_t>(-1);
};

/// A value in a scratch cell, with the lines of its store and its last load.
struct Spill {
  int cell = 0;
  std::size_t first = 0, last = 0;
};

/// Assigns each spill to an output whose cell is free until the output's own store, by line.
/// Returns nothing if there are too few outputs. Going backwards in time, cells only become free,
/// so any free cell may be taken. There is one as long as there are no more values than outputs
/// still to be stored.
std::optional<std::vector<std::size_t>> outputs_for(const std::vector<Spill>& spills,
                                                    std::vector<std::size_t> free_until) {
  std::vector<std::size_t> order(spills.size()), result(spills.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return spills[a].last > spills[b].last; });
  for (const std::size_t spill : order) {
    const auto is_free = [&](std::size_t until) { return until > spills[spill].last; };
    const auto output = std::find_if(free_until.begin(), free_until.end(), is_free);
    if (output == free_until.end()) return std::nullopt;
    *output = spills[spill].first;
    result[spill] = static_cast<std::size_t>(output - free_until.begin());
  }
  return result;
}

/// Assigns registers and scratch cells to values, and writes a line for each instruction.
class ValueWriter {
 public:
  explicit ValueWriter(const ValueProblem& problem)
      : problem_(problem),
        frame_(problem.algebra().frame),
        scratch_name_(free_name(frame_.declarations)),
        registers_(static_cast<std::size_t>(problem.machine().registers), kNoValue),
        scratch_(static_cast<std::size_t>(problem.machine().scratch_cells), kNoValue),
        spill_in_(scratch_.size(), WitnessLine::kNoSpill),
        stored_at_(frame_.output_cells.size(), 0) {}

  void write(const ValueMove& move) {
    if (move.spills) spill(move);
    const int destination = index(registers_, move.lost);
    const std::string to = name(destination) + "\n";
    if (move.operation < 0) {
      load(move.value, to);
    } else {
      const auto number = static_cast<std::size_t>(move.operation);
      const int in_algebra = problem_.operations()[number].number;
      const auto& operation = problem_.algebra().operations[static_cast<std::size_t>(in_algebra)];
      lines_.push_back({std::string(operation.mnemonic) + " " + operands_text(operation) + to});
      ++witness_.products;
    }
    witness_.cycles += move.cost;
    registers_[static_cast<std::size_t>(destination)] = move.value;
    store_outputs(move.value);
  }

  /// Forgets the values that the state after a move no longer holds.
  void keep(const ValueState& state) {
    const auto forget = [](std::vector<int>& values, const auto& places) {
      for (int& value : values) {
        const auto place = static_cast<std::uint16_t>(value + 1);
        if (std::find(places.begin(), places.end(), place) == places.end()) value = kNoValue;
      }
    };
    forget(registers_, state.registers);
    forget(scratch_, state.scratch);
  }

  /// Returns nothing if spilled values should be in the outputs' cells and do not fit there.
  std::optional<Witness> finish() {
    std::vector<std::string> cells;
    if (problem_.machine().scratch_in_outputs) {
      const auto outputs = outputs_for(spills_, stored_at_);
      if (!outputs) return std::nullopt;
      for (const std::size_t output : *outputs) cells.push_back(frame_.output_cells[output]);
    } else {
      for (const Spill& spill : spills_) cells.push_back(scratch_cell(spill.cell));
    }
    std::string head = "; " + problem_.algebra().title + " in " + std::to_string(witness_.cycles) +
                       " cycles\n.isa " + frame_.level + "\n.registers " +
                       std::to_string(registers_.size()) + "\n";
    for (const std::string& line : frame_.declarations) head += line + "\n";
    if (!spills_.empty() && !problem_.machine().scratch_in_outputs) {
      head += ".temp   " + scratch_name_ + "[" + std::to_string(scratch_.size()) + "]\n";
    }
    witness_.text = head + "\n";
    for (const WitnessLine& line : lines_) {
      witness_.text += line.text;
      if (line.spill != WitnessLine::kNoSpill) witness_.text += cells[line.spill] + line.rest;
    }
    return witness_;
  }

 private:
  static std::string name(int register_number) { return "R" + std::to_string(register_number); }
  static int index(const std::vector<int>& values, int value) {
    return static_cast<int>(std::find(values.begin(), values.end(), value) - values.begin());
  }
  static bool has(const std::vector<int>& values, int value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  }
  std::string scratch_cell(int cell) const {
    return scratch_name_ + "[" + std::to_string(cell) + "]";
  }

  /// Loads the value from a cell that holds it.
  void load(int value, const std::string& to) {
    const ValueAlgebra& algebra = problem_.algebra();
    if (problem_.is_input(value)) {
      const auto input = static_cast<std::size_t>(index(algebra.inputs, value));
      lines_.push_back({"LOAD " + frame_.input_cells[input] + ", " + to});
    } else if (has(scratch_, value)) {
      const std::size_t spill = spill_in_[static_cast<std::size_t>(index(scratch_, value))];
      spills_[spill].last = lines_.size();
      lines_.push_back({"LOAD ", ", " + to, spill});
    } else {
      const auto output = static_cast<std::size_t>(index(algebra.outputs, value));
      lines_.push_back({"LOAD " + frame_.output_cells[output] + ", " + to});
    }
    ++witness_.loads;
  }

  std::string operands_text(const ValueOperation& operation) const {
    std::string result;
    if (!operation.constant.empty()) result = operation.constant + ", ";
    for (const int value : operation.operands) {
      if (value != kNoValue) result += name(index(registers_, value)) + ", ";
    }
    return result;
  }

  void spill(const ValueMove& move) {
    const int cell = index(scratch_, move.lost_scratch);
    scratch_[static_cast<std::size_t>(cell)] = move.lost;
    spill_in_[static_cast<std::size_t>(cell)] = spills_.size();
    const std::string stored = "STORE " + name(index(registers_, move.lost)) + ", ";
    lines_.push_back({stored, "\n", spills_.size()});
    spills_.push_back({cell, lines_.size() - 1, lines_.size() - 1});
    ++witness_.stores;
  }

  void store_outputs(int value) {
    const std::uint32_t missing = problem_.output_bits(value) & ~stored_;
    for (std::size_t output = 0; output < frame_.output_cells.size(); ++output) {
      if ((missing >> output & 1) == 0) continue;
      stored_at_[output] = lines_.size();
      const std::string stored = "STORE " + name(index(registers_, value)) + ", ";
      lines_.push_back({stored + frame_.output_cells[output] + "\n"});
      ++witness_.stores;
      witness_.cycles += problem_.store_cost();
    }
    stored_ |= missing;
  }

  const ValueProblem& problem_;
  const ProgramFrame& frame_;
  std::string scratch_name_;
  std::vector<int> registers_, scratch_;  // by place: the value, or kNoValue
  std::vector<std::size_t> spill_in_;     // by scratch cell: its last spill
  std::vector<std::size_t> stored_at_;    // by output: the line of its store
  std::uint32_t stored_ = 0;
  std::vector<WitnessLine> lines_;
  std::vector<Spill> spills_;
  Witness witness_;
};

}  // namespace

std::optional<Witness> write_program(const ValueMoves& space, const std::vector<ValueState>& path) {
  ValueWriter writer(space.problem());
  ValueState state = path.front();
  std::vector<ValueMove> moves;
  for (std::size_t step = 1; step < path.size(); ++step) {
    moves.clear();
    space.moves(state, moves);
    const ValueMove* best = nullptr;
    for (const ValueMove& move : moves) {
      if (space.canonical(space.apply(state, move)) != path[step]) continue;
      if (best == nullptr || move.cost < best->cost) best = &move;
    }
    if (best == nullptr) throw std::logic_error("a path of states that no moves connect");
    writer.write(*best);
    state = space.apply(state, *best);
    writer.keep(state);
  }
  return writer.finish();
}

}  // namespace flashlab::optimal::detail
