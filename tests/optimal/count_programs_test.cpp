// The number of optimal programs, against all sequences of instructions on machines with registers.
#include "optimal/solve/count_programs.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "optimal/solve/plain_search.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
using flashlab::toy::CostTable;
using flashlab::toy::OperandRule;

/// What registers hold, by register, those that are alike sorted; and then what is in DRAM.
using RawState = std::vector<int>;
struct RawStep {
  std::string instruction;  // by the values that it handles
  RawState next;
  std::int64_t cycles = 0;
};

class RawMachine {
 public:
  virtual ~RawMachine() = default;
  virtual RawState initial() const = 0;
  virtual bool is_goal(const RawState& state) const = 0;
  virtual std::vector<RawStep> steps(const RawState& state) const = 0;
};

/// Values: 0 nothing; 1 + input; from kSums on, output * 2^inner + the set of its terms.
class RawProduct final : public RawMachine {
 public:
  RawProduct(const MatrixProduct& product, const ProductMachine& machine)
      : product_(product), machine_(machine) {}

  RawState initial() const override {
    const int sums = product_.num_outputs() << product_.inner;
    return RawState(static_cast<std::size_t>(machine_.registers + sums), 0);
  }
  bool is_goal(const RawState& state) const override {
    for (int output = 0; output < product_.num_outputs(); ++output) {
      if (state[in_dram(sum(output, all_terms()))] == 0) return false;
    }
    return true;
  }

  std::vector<RawStep> steps(const RawState& state) const override {
    std::vector<RawStep> result;
    for (int input = 0; input < product_.num_inputs(); ++input) {
      write(state, 1 + input, "LOAD " + product_.input_name(input), machine_.costs.load, result);
    }
    for (int output = 0; output < product_.num_outputs(); ++output) {
      for (int terms = 1; terms <= all_terms(); ++terms) through_dram(state, output, terms, result);
    }
    for (int term = 0; term < product_.num_terms(); ++term) multiply(state, term, result);
    return result;
  }

 private:
  static constexpr int kSums = 100;
  int all_terms() const { return (1 << product_.inner) - 1; }
  int sum(int output, int terms) const { return kSums + (output << product_.inner) + terms; }
  std::size_t in_dram(int sum) const {
    return static_cast<std::size_t>(machine_.registers + sum - kSums);
  }
  bool pinned() const { return machine_.operand_rule == OperandRule::kPinned; }
  bool holds(const RawState& state, int value) const {
    const auto end = state.begin() + machine_.registers;
    return std::find(state.begin(), end, value) != end;
  }

  void write(const RawState& state, int value, const std::string& instruction, std::int64_t cycles,
             std::vector<RawStep>& result) const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(machine_.registers); ++i) {
      RawState next = state;
      next[i] = value;
      const int first_alike = pinned() ? std::min(2, machine_.registers) : 0;
      std::sort(next.begin() + first_alike, next.begin() + machine_.registers);
      result.push_back({instruction, std::move(next), cycles});
    }
  }

  void through_dram(const RawState& state, int output, int terms,
                    std::vector<RawStep>& result) const {
    const int value = sum(output, terms);
    const std::string name = product_.output_name(output) + " of " + std::to_string(terms);
    const bool is_finished = terms == all_terms();
    if ((is_finished || machine_.allow_spills) && holds(state, value)) {
      RawState next = state;
      next[in_dram(value)] = 1;
      result.push_back({"STORE " + name, std::move(next), machine_.costs.store});
    }
    if (machine_.allow_spills && state[in_dram(value)] != 0) {
      write(state, value, "LOAD " + name, machine_.costs.load, result);
    }
  }

  void multiply(const RawState& state, int term, std::vector<RawStep>& result) const {
    const int a = 1 + product_.factor_a(term), b = 1 + product_.factor_b(term);
    const bool in_place = machine_.registers > 1 &&
                          ((state[0] == a && state[1] == b) || (state[0] == b && state[1] == a));
    if (pinned() ? !in_place : !(holds(state, a) && holds(state, b))) return;
    const int output = product_.output_of(term), bit = 1 << (term % product_.inner);
    const std::string name = "term " + std::to_string(term) + " to ";
    write(state, sum(output, bit), name + "0", machine_.costs.first_product, result);
    for (int terms = 1; terms <= all_terms(); ++terms) {
      if ((terms & bit) != 0 || !holds(state, sum(output, terms))) continue;
      write(state, sum(output, terms | bit), name + std::to_string(terms),
            machine_.costs.next_product, result);
    }
  }

  MatrixProduct product_;
  ProductMachine machine_;
};

class RawValues final : public RawMachine {
 public:
  RawValues(const ValueAlgebra& algebra, const ValueMachine& machine)
      : algebra_(algebra), machine_(machine) {}

  RawState initial() const override {
    RawState result(static_cast<std::size_t>(machine_.registers), kNoValue);
    result.resize(result.size() + algebra_.outputs.size(), 0);
    return result;
  }
  bool is_goal(const RawState& state) const override {
    return std::find(state.begin() + machine_.registers, state.end(), 0) == state.end();
  }

  std::vector<RawStep> steps(const RawState& state) const override {
    std::vector<RawStep> result;
    const auto end = state.begin() + machine_.registers;
    const auto holds = [&](int value) {
      return value == kNoValue || std::find(state.begin(), end, value) != end;
    };
    const auto cycles = [&](std::string_view name) { return scalar_cycles(machine_.costs, name); };
    const auto write = [&](int value, const std::string& instruction, std::int64_t cost) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(machine_.registers); ++i) {
        RawState next = state;
        next[i] = value;
        std::sort(next.begin(), next.begin() + machine_.registers);
        result.push_back({instruction, std::move(next), cost});
      }
    };
    for (const int input : algebra_.inputs) {
      write(input, "LOAD " + std::to_string(input), cycles("LOAD"));
    }
    for (const ValueOperation& operation : algebra_.operations) {
      auto operands = operation.operands;
      if (!std::all_of(operands.begin(), operands.end(), holds)) continue;
      std::sort(operands.begin(), operands.end());
      std::string name(operation.mnemonic);
      for (const int operand : operands) name += " " + std::to_string(operand);
      write(operation.result, name + " " + std::to_string(operation.result),
            cycles(operation.mnemonic));
    }
    for (std::size_t i = 0; i < algebra_.outputs.size(); ++i) {
      if (!holds(algebra_.outputs[i])) continue;
      RawState next = state;
      next[static_cast<std::size_t>(machine_.registers) + i] = 1;
      result.push_back({"STORE " + std::to_string(i), std::move(next), cycles("STORE")});
    }
    return result;
  }

 private:
  const ValueAlgebra& algebra_;
  ValueMachine machine_;
};

/// The cheapest programs, by sequences of instructions: a sequence is one of them if registers can
/// be chosen along it, and all choices are followed at once. Optimal programs are live: where all
/// instructions cost something, one without use could be left out.
class Sequences {
 public:
  explicit Sequences(const RawMachine& machine) : machine_(machine) {
    find_remainders();
    programs_ = count({machine.initial()}, optimum());
  }

  std::int64_t optimum() const { return remainders_.at(machine_.initial()); }
  const mpz_class& programs() const { return programs_; }

 private:
  using Choices = std::set<RawState>;

  /// Of the states on the way to the cheapest goal: forwards as far as that costs, and back.
  void find_remainders() {
    using Entry = std::pair<std::int64_t, RawState>;
    using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
    std::map<RawState, std::vector<std::pair<RawState, std::int64_t>>> before;
    std::map<RawState, std::int64_t> done;
    std::int64_t optimum = -1;
    Queue open, back;
    open.emplace(0, machine_.initial());
    while (!open.empty()) {
      const auto [cycles, state] = open.top();
      open.pop();
      if (optimum >= 0 && cycles > optimum) break;
      if (!done.try_emplace(state, cycles).second) continue;
      if (machine_.is_goal(state)) {
        optimum = cycles;
        back.emplace(0, state);
        continue;
      }
      for (RawStep& step : machine_.steps(state)) {
        before[step.next].emplace_back(state, step.cycles);
        if (!done.contains(step.next)) open.emplace(cycles + step.cycles, std::move(step.next));
      }
    }
    while (!back.empty()) {
      const auto [cycles, state] = back.top();
      back.pop();
      if (!remainders_.try_emplace(state, cycles).second) continue;
      for (const auto& [from, cost] : before[state]) {
        if (cycles + cost + done.at(from) <= optimum) back.emplace(cycles + cost, from);
      }
    }
  }

  mpz_class count(const Choices& choices, std::int64_t left) {
    const auto [place, is_new] = counted_.try_emplace({choices, left});
    if (!is_new) return place->second;
    mpz_class result = left == 0 ? 1 : 0;
    std::map<std::pair<std::string, std::int64_t>, Choices> next;
    for (const RawState& state : choices) {
      for (RawStep& step : machine_.steps(state)) {
        const auto rest = remainders_.find(step.next);
        if (rest == remainders_.end() || rest->second > left - step.cycles) continue;
        next[{step.instruction, step.cycles}].insert(std::move(step.next));
      }
    }
    for (const auto& [instruction, reached] : next) {
      result += count(reached, left - instruction.second);
    }
    return counted_[{choices, left}] = result;
  }

  const RawMachine& machine_;
  std::map<RawState, std::int64_t> remainders_;
  std::map<std::pair<Choices, std::int64_t>, mpz_class> counted_;
  mpz_class programs_;
};

}  // namespace

TEST_CASE("as many programs for a product are optimal as there are sequences of instructions") {
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto costs = GENERATE(ProductCosts{}, ProductCosts{5, 2, 3, 1});
  const auto [product, registers, spills] = GENERATE(
      std::tuple(MatrixProduct{1, 1, 1}, 2, false), std::tuple(MatrixProduct{1, 2, 1}, 3, false),
      std::tuple(MatrixProduct{1, 2, 1}, 4, true), std::tuple(MatrixProduct{1, 1, 2}, 2, false),
      std::tuple(MatrixProduct{1, 1, 2}, 3, true), std::tuple(MatrixProduct{2, 1, 2}, 3, false),
      std::tuple(MatrixProduct{1, 2, 2}, 3, false));
  const ProductMachine machine{registers, rule, spills, costs};
  CAPTURE(product.rows, product.inner, product.columns, registers, spills, costs.load);
  const RawProduct raw(product, machine);
  const Sequences sequences(raw);
  REQUIRE(sequences.optimum() > 0);
  const auto count = count_programs(product, machine, sequences.optimum());
  REQUIRE(count);
  CHECK(count->programs == sequences.programs());
  CHECK(count->programs == count->up_to_symmetry * count->symmetries);
}

TEST_CASE("as many programs for a vector are optimal as there are sequences of instructions") {
  CostTable costs;
  REQUIRE(costs.parse(GENERATE("LOAD=1", "LOAD=5,MAX=2,STORE=3", "EXP=7,MUL=2,DIV=3,ADD=2")));
  const auto [algebra, registers] =
      GENERATE(std::tuple(vector_sum(2), 2), std::tuple(vector_sum(3), 2),
               std::tuple(vector_sum(3), 4), std::tuple(vector_maximum(2), 3),
               std::tuple(vector_maximum(3), 2), std::tuple(vector_maximum(3), 3),
               std::tuple(safe_softmax(2), 3), std::tuple(safe_softmax(2), 4));
  CAPTURE(algebra.title, registers);
  const RawValues raw(algebra, {registers, costs});
  const Sequences sequences(raw);
  REQUIRE(sequences.optimum() > 0);
  const auto count = count_programs(algebra, {registers, costs}, sequences.optimum());
  REQUIRE(count);
  CHECK(count->programs == sequences.programs());
  CHECK(count->symmetries == mpz_class::factorial(algebra.inputs.size()));
}

TEST_CASE("no program is counted below the proven optimum, and some at it") {
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto spills = GENERATE(false, true);
  const auto costs = GENERATE(ProductCosts{}, ProductCosts{9, 1, 1, 1}, ProductCosts{4, 4, 1, 2});
  const auto product =
      GENERATE(MatrixProduct{2, 2, 2}, MatrixProduct{2, 3, 1}, MatrixProduct{2, 3, 2});
  const auto registers = GENERATE(3, 4, 6);
  const ProductMachine machine{registers, rule, spills, costs};
  CAPTURE(product.inner, product.columns, registers, spills, costs.load);
  const Answer answer = solve(product, machine);
  REQUIRE(answer.verdict == Verdict::kOptimal);
  CHECK(count_programs(product, machine, answer.lower_cycles)->programs > 0);
  CHECK(count_programs(product, machine, answer.lower_cycles - 1)->programs == 0);
}

TEST_CASE("2 x 2 products have as many optimal programs as were counted, by registers") {
  const auto count = [](OperandRule rule, int registers, std::int64_t cycles) {
    return count_programs({2, 2, 2}, {registers, rule, false, {}}, cycles)->programs;
  };
  CHECK(count(OperandRule::kPinned, 3, 25) == 4096);
  CHECK(count(OperandRule::kAny, 3, 25) == 2'048'000);
  CHECK(count(OperandRule::kAny, 6, 20) == 55'097'344);
}

TEST_CASE("a count that may not take enough memory or time says so") {
  const ProductMachine machine{4, OperandRule::kAny, false, {}};
  SolveLimits limits;
  limits.max_bytes = 1000;
  CHECK_FALSE(count_programs({2, 2, 2}, machine, 22, limits));
  limits = {};
  limits.max_seconds = 0;
  CHECK_FALSE(count_programs({2, 2, 2}, machine, 22, limits));
}

TEST_CASE("programs that could go on for nothing are not counted") {
  const ProductMachine spilling{3, OperandRule::kAny, true, {0, 0, 1, 1}};
  CHECK_THROWS_AS(count_programs({2, 2, 2}, spilling, 8), std::invalid_argument);
  CostTable costs;
  REQUIRE(costs.parse("SUB=0"));
  CHECK_THROWS_AS(count_programs(safe_softmax(2), {3, costs}, 10), std::invalid_argument);
}
