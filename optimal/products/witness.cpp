#include "optimal/products/witness.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace flashlab::optimal::detail {
namespace {

/// Assigns registers to values, and writes a line for each instruction.
class ProgramWriter final : public Listener {
 public:
  ProgramWriter(const ProductStates& states, const ProgramFrame& frame)
      : product_(states.product()),
        frame_(frame),
        machine_(states.machine()),
        taken_(static_cast<std::size_t>(machine_.registers)),
        input_at_(static_cast<std::size_t>(product_.num_inputs()), kNothing),
        sum_at_(static_cast<std::size_t>(product_.num_outputs()), kNothing) {}

  void move(const Move& move) override {
    const bool is_input = move.kind == MoveKind::kLoad || move.kind == MoveKind::kStartStored;
    int destination = kNothing;
    if (move.spilled != kNothing) {
      destination = sum(move.spilled);
      store(move.spilled);
    } else if (move.lost_input != kNothing) {
      destination = input(move.lost_input);
    } else {
      destination = free_register(is_input);
    }
    perform(move, destination);
  }

  void start(int term) override { first_product(term, free_register(false)); }

  void multiply_add(int term) override {
    const std::string r = name(sum(product_.output_of(term)));
    line("MAC " + factors(term) + ", " + r + ", " + r);
    ++result_.products;
    result_.cycles += machine_.costs.next_product;
  }

  void store(int output) override {
    line("STORE " + name(sum(output)) + ", " + output_cell(output));
    ++result_.stores;
    result_.cycles += machine_.costs.store;
    release(sum(output));
  }

  void forget(int input_number) override { release(input(input_number)); }

  Witness finish() {
    result_.text = header() + result_.text;
    return result_;
  }

 private:
  int& input(int number) { return input_at_[static_cast<std::size_t>(number)]; }
  int& sum(int output) { return sum_at_[static_cast<std::size_t>(output)]; }
  static std::string name(int register_number) { return "R" + std::to_string(register_number); }
  bool pinned() const { return machine_.operand_rule == toy::OperandRule::kPinned; }
  void line(const std::string& text) { result_.text += text + "\n"; }

  void perform(const Move& move, int destination) {
    switch (move.kind) {
      case MoveKind::kLoad:
        load(frame_.input_cells[static_cast<std::size_t>(move.item)], destination);
        replace(move, destination);
        input(move.item) = destination;
        break;
      case MoveKind::kReload:
        load(output_cell(move.item), destination);
        replace(move, destination);
        sum(move.item) = destination;
        break;
      case MoveKind::kStart:
      case MoveKind::kStartStored:
        first_product(move.item, destination, move.lost_input);
        if (move.kind == MoveKind::kStartStored && product_.inner > 1) {
          store(product_.output_of(move.item));
        }
    }
  }

  void load(const std::string& cell, int destination) {
    line("LOAD " + cell + ", " + name(destination));
    ++result_.loads;
    result_.cycles += machine_.costs.load;
  }

  void first_product(int term, int destination, int lost_input = kNothing) {
    line("MAC_Z " + factors(term) + ", " + name(destination));
    ++result_.products;
    result_.cycles += machine_.costs.first_product;
    replace({MoveKind::kStart, term, lost_input}, destination);
    sum(product_.output_of(term)) = destination;
  }

  /// The destination loses its old value and takes a new one.
  void replace(const Move& move, int destination) {
    if (move.lost_input != kNothing) input(move.lost_input) = kNothing;
    taken_[static_cast<std::size_t>(destination)] = true;
  }

  void release(int& place) {
    taken_[static_cast<std::size_t>(place)] = false;
    place = kNothing;
  }

  int free_register(bool for_input) const {
    const auto first_sum = taken_.begin() + (pinned() ? 2 : 0);
    const auto first = for_input ? taken_.begin() : first_sum;
    const auto place = std::find(first, taken_.end(), false);
    if (place == taken_.end()) throw std::logic_error("a move without a free register");
    return static_cast<int>(place - taken_.begin());
  }

  std::string factors(int term) {
    if (pinned()) return name(0) + ", " + name(1);
    return name(input(product_.factor_a(term))) + ", " + name(input(product_.factor_b(term)));
  }

  std::string header() const {
    const auto count = [](std::int64_t number, const char* what) {
      return std::to_string(number) + " " + what;
    };
    std::string text =
        "; " + std::to_string(product_.rows) + " x " + count(product_.inner, "times ") +
        std::to_string(product_.inner) + " x " + count(product_.columns, "in ") +
        count(result_.cycles, "cycles\n;\n; ") + count(result_.loads, "loads, ") +
        count(result_.products, "multiply-accumulates, ") + count(result_.stores, "stores.\n") +
        ".isa " + frame_.level + "\n.operands " + (pinned() ? "pinned" : "any") + "\n.registers " +
        std::to_string(machine_.registers) + "\n";
    for (const std::string& declaration : frame_.declarations) text += declaration + "\n";
    return text + "\n";
  }

  const std::string& output_cell(int output) const {
    return frame_.output_cells[static_cast<std::size_t>(output)];
  }

  MatrixProduct product_;
  const ProgramFrame& frame_;
  ProductMachine machine_;
  std::vector<bool> taken_;             // by register
  std::vector<int> input_at_, sum_at_;  // the register that holds the input, the sum
  Witness result_;
};

}  // namespace

std::vector<Move> moves_along(const ProductStates& states, const Symmetry& symmetry,
                              const std::vector<State>& path) {
  std::vector<Move> result, moves;
  State state = path.front();
  for (std::size_t step = 1; step < path.size(); ++step) {
    moves.clear();
    states.moves(state, moves);
    const State wanted = symmetry.canonical(path[step]);
    const Move* best = nullptr;
    for (const Move& move : moves) {
      if (symmetry.canonical(states.apply(state, move)) != wanted) continue;
      if (best == nullptr || states.cost(move) < states.cost(*best)) best = &move;
    }
    if (best == nullptr) throw std::logic_error("a path of states that no moves connect");
    result.push_back(*best);
    state = states.apply(state, *best);
  }
  return result;
}

Witness write_program(const ProductStates& states, const std::vector<Move>& moves,
                      const ProgramFrame& frame) {
  ProgramWriter writer(states, frame);
  State state = states.initial();
  for (const Move& move : moves) state = states.apply(state, move, &writer);
  if (!states.is_goal(state)) throw std::logic_error("a program that stores not all outputs");
  return writer.finish();
}

}  // namespace flashlab::optimal::detail
