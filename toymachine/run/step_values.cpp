#include "toymachine/run/step_values.hpp"

#include <algorithm>

#include "toymachine/count/step_limit.hpp"
#include "toymachine/execute/execute_tile.hpp"
#include "toymachine/execute/interpret.hpp"

namespace flashlab::toy {
namespace {

using FloatTile = detail::Tile<float>;

/// The position of the operand that an instruction writes; kMaxOperands: none.
std::size_t operand_written(const BoundInstruction& instruction) {
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const OperandKind kind = instruction.operands[i].kind;
    if (kind == OperandKind::kDestination || is_memory_write(kind)) return i;
  }
  return kMaxOperands;
}

void append(const float& value, StepValue& step, std::vector<float>& numbers) {
  step.rows = step.cols = 1;
  numbers.push_back(value);
}

void append(const FloatTile& tile, StepValue& step, std::vector<float>& numbers) {
  step.rows = tile.shape().rows;
  step.cols = tile.shape().cols;
  for (std::int64_t row = 0; row < step.rows; ++row) {
    const float* first = tile.data() + row * tile.stride();
    numbers.insert(numbers.end(), first, first + step.cols);
  }
}

void assign(float& value, const StepValue&, std::span<const float> numbers) {
  value = numbers.front();
}

void assign(FloatTile& tile, const StepValue& step, std::span<const float> numbers) {
  tile.reshape({step.rows, step.cols});
  std::copy(numbers.begin(), numbers.end(), tile.own_data());
}

template <class Value>
class Recorder {
 public:
  static constexpr bool kPerStep = true;
  explicit Recorder(StepValues& values) : values_(values) {}

  bool after(const Step& step, std::span<Value> registers, std::span<float> /*dram*/) {
    StepValue value;
    value.site = step.instruction->site;
    value.first = values_.numbers.size();
    for (std::size_t i = 0; i < step.instruction->operands.size(); ++i) {
      const OperandKind kind = step.instruction->operands[i].kind;
      if (is_register_read(kind)) value.reads[i] = step.operands[i];
    }
    if (const std::size_t at = operand_written(*step.instruction); at < kMaxOperands) {
      value.place = step.operands[at];
      value.is_stored = is_memory_write(step.instruction->operands[at].kind);
      if (!value.is_stored) {
        append(registers[static_cast<std::size_t>(value.place)], value, values_.numbers);
      }
    }
    values_.steps.push_back(value);
    return true;
  }
  void label(const BoundLabel&, std::int64_t, const std::int64_t*, std::span<Value>) {}

 private:
  StepValues& values_;
};

template <class Value>
class Replacer {
 public:
  static constexpr bool kPerStep = true;
  explicit Replacer(const Replacement& replacement) : replacement_(replacement) {}

  bool after(const Step& step, std::span<Value> registers, std::span<float> /*dram*/) {
    if (step.instruction->site != replacement_.site) return true;
    if (next_ == replacement_.steps.size()) return false;
    const StepValue& value = replacement_.from->steps[replacement_.steps[next_++]];
    const auto place = static_cast<std::size_t>(step.operands[operand_written(*step.instruction)]);
    assign(registers[place], value, replacement_.from->of(value));
    return true;
  }
  void label(const BoundLabel&, std::int64_t, const std::int64_t*, std::span<Value>) {}

 private:
  const Replacement& replacement_;
  std::size_t next_ = 0;
};

template <template <class> class Observer, class Argument>
Result<Execution> run_with(const BoundProgram& program, std::span<float> dram, Argument& argument) {
  if (auto error = detail::too_many_steps(program)) return std::move(*error);
  if (program.tiled) {
    Observer<FloatTile> observer(argument);
    return detail::interpret<FloatTile>(program, dram, observer);
  }
  Observer<float> observer(argument);
  return detail::interpret<float>(program, dram, observer);
}

}  // namespace

Result<Execution> run_recorded(const BoundProgram& program, std::span<float> dram,
                               StepValues& values) {
  return run_with<Recorder>(program, dram, values);
}

Result<Execution> run_replaced(const BoundProgram& program, std::span<float> dram,
                               const Replacement& replacement) {
  return run_with<Replacer>(program, dram, replacement);
}

}  // namespace flashlab::toy
