#include "toymachine/trace/trace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "toymachine/execute/execute_tile.hpp"
#include "toymachine/execute/interpret.hpp"
#include "toymachine/language/request_error.hpp"
#include "toymachine/trace/claim.hpp"
#include "toymachine/trace/tracer.hpp"

namespace flashlab::toy {
namespace {

using detail::BodyFinder;
using detail::Carried;
using detail::LoopPoint;
using detail::Precision;
using detail::Tracer;

/// Returns the position of the operand that the instruction writes.
std::size_t written_operand(const BoundInstruction& instruction) {
  std::size_t i = 0;
  while (instruction.operands[i].kind != OperandKind::kDestination &&
         !is_memory_write(instruction.operands[i].kind)) {
    ++i;
  }
  return i;
}

template <class Element>
TraceValue tile_value(const Element* data, const detail::Shape& shape, std::int64_t stride) {
  TraceValue value{0, shape.rows, shape.cols, {}};
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    for (std::int64_t c = 0; c < shape.cols; ++c) {
      value.elements.push_back(static_cast<double>(data[r * stride + c]));
      value.number += value.elements.back();
    }
  }
  return value;
}

/// Passes on steps and labels, with the values that steps wrote.
template <class Value>
struct TraceObserver {
  using Cell = typename detail::ValueTraits<Value>::Cell;
  static constexpr bool kPerStep = true;
  Tracer& tracer;
  const BoundProgram& program;

  bool after(const Step& step, std::span<Value> registers, std::span<Cell> dram) {
    const std::size_t written = written_operand(*step.instruction);
    const BoundOperand& operand = step.instruction->operands[written];
    const auto at = static_cast<std::size_t>(step.operands[written]);
    TraceValue value;
    if constexpr (detail::ValueTraits<Value>::kTiles) {
      if (is_memory(operand.kind)) {
        const BoundArray& array = program.arrays[operand.array];
        value = tile_value(&dram[at], detail::cell_shape(array, operand, step.loop_values),
                           array.extents.back());
      } else {
        value = tile_value(registers[at].data(), registers[at].shape(), registers[at].stride());
      }
    } else {
      value.number = static_cast<double>(is_memory(operand.kind) ? dram[at] : registers[at]);
    }
    return tracer.after(step, value);
  }
  void label(const BoundLabel& label, std::int64_t register_number, const std::int64_t* loop_values,
             std::span<Value>) {
    tracer.label(label, register_number, loop_values);
  }
};

/// Finds the registers that each generic iteration reads before it writes them, so that the trace
/// can name them.
template <class Value>
class CarriedObserver {
 public:
  using Cell = typename detail::ValueTraits<Value>::Cell;
  static constexpr bool kPerStep = true;
  CarriedObserver(const BoundProgram& program, const TraceOptions& options)
      : bodies_(program, options) {}

  bool after(const Step& step, std::span<Value>, std::span<Cell>) {
    bodies_.move_to({step.instruction->loop, step.loop_values}, step.number);
    if (!bodies_.active()) return !bodies_.all_done();
    if (current_ != bodies_.current()) written_.clear();
    current_ = bodies_.current();
    std::optional<std::int64_t> destination;
    for (std::size_t i = 0; i < step.instruction->operands.size(); ++i) {
      const OperandKind kind = step.instruction->operands[i].kind;
      const std::int64_t number = step.operands[i];
      if (kind == OperandKind::kDestination) destination = number;
      if (is_register_read(kind) && !written_.contains(number)) carried_[current_].insert(number);
    }
    if (destination) written_.insert(*destination);
    return true;
  }
  void label(const BoundLabel&, std::int64_t, const std::int64_t*, std::span<Value>) {}
  Carried take() { return std::move(carried_); }

 private:
  BodyFinder bodies_;
  std::uint32_t current_ = kNoLoop;
  std::set<std::int64_t> written_;
  Carried carried_;
};

double epsilon_of(ElementType type) {
  switch (type) {
    case ElementType::kBf16:
      return 0x1p-7;
    case ElementType::kFp16:
      return 0x1p-10;
    case ElementType::kFloat:
      return 0x1p-23;
    case ElementType::kDouble:
      break;
  }
  return 0x1p-52;
}

/// Values that go through DRAM are rounded to the array's type.
template <class Value>
Precision precision_of(const BoundProgram& program) {
  Precision precision{std::numeric_limits<Value>::epsilon(), std::numeric_limits<Value>::min()};
  for (const BoundInstruction& instruction : program.instructions) {
    for (const BoundOperand& operand : instruction.operands) {
      if (operand.kind != OperandKind::kMemorySource) continue;
      const BoundArray& array = program.arrays[operand.array];
      if (array.role == ArrayRole::kInput) continue;
      precision.epsilon = std::max(precision.epsilon, epsilon_of(array.element_type));
      if (array.element_type == ElementType::kFp16) precision.smallest = 0x1p-14;
    }
  }
  return precision;
}

Diagnostic no_such_loop(const BoundProgram& program, const std::string& wanted) {
  std::vector<std::string> names;
  for (const Node& node : program.nodes) {
    if (node.kind != Node::Kind::kLoopBegin) continue;
    const std::string& name = program.loops[node.loop].var;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return request_error("the program has no loop over '" + wanted + "'",
                       names.empty() ? "a program with loops" : "one of " + joined(names),
                       nearest(wanted, names).value_or(""));
}

/// Copies the inputs for claims: the DRAM before the first step.
template <class Value>
std::vector<Value> copy_inputs(const BoundProgram& program, std::span<const Value> dram) {
  return has_claims(program) ? std::vector<Value>(dram.begin(), dram.end()) : std::vector<Value>();
}

/// `Held` is the content of a register: the value itself, or a tile of values.
template <class Held, class Value>
Carried carried_values(const BoundProgram& program, std::span<Value> dram,
                       const TraceOptions& options) {
  std::vector<Value> copy(dram.begin(), dram.end());
  CarriedObserver<Held> observer(program, options);
  // The trace repeats an error, after passing the steps before it to the sink.
  static_cast<void>(detail::interpret<Held>(program, std::span<Value>(copy), observer));
  return observer.take();
}

template <class Held, class Value>
Result<Execution> trace_values(const BoundProgram& program, std::span<Value> dram,
                               const TraceOptions& options, TraceSink& sink) {
  Carried carried;
  if (options.body) {
    if (BodyFinder(program, options).loops().empty()) return no_such_loop(program, *options.body);
    carried = carried_values<Held>(program, dram, options);
  }
  const std::vector<Value> inputs = copy_inputs<Value>(program, dram);
  ClaimChecker claims(
      program, [&](std::size_t element) { return static_cast<double>(inputs[element]); },
      options.max_claim_work);
  Tracer tracer(program, options, precision_of<Value>(program),
                has_claims(program) ? &claims : nullptr, carried, sink);
  TraceHeader header;
  header.program = &program;
  header.options = &options;
  header.double_precision = std::is_same_v<Value, double>;
  header.axes = tracer.axes();
  header.initial = [dram](std::size_t element) -> std::optional<double> {
    if (!detail::ValueTraits<Value>::is_written(dram[element])) return std::nullopt;
    return static_cast<double>(dram[element]);
  };
  if (!sink.begin(header)) {
    Execution nothing;
    nothing.executions =
        scalar_executions(program, std::vector<Count>(program.instructions.size(), 0));
    nothing.stopped = true;
    return tracer.finish(std::move(nothing));
  }
  TraceObserver<Held> observer{tracer, program};
  return tracer.finish(detail::interpret<Held>(program, dram, observer));
}

template <class Value>
Result<Execution> trace_any(const BoundProgram& program, std::span<Value> dram,
                            const TraceOptions& options, TraceSink& sink) {
  if (program.tiled) return trace_values<detail::Tile<Value>>(program, dram, options, sink);
  return trace_values<Value>(program, dram, options, sink);
}

}  // namespace

Result<Execution> trace(const BoundProgram& program, std::span<float> dram,
                        const TraceOptions& options, TraceSink& sink) {
  return trace_any(program, dram, options, sink);
}

Result<Execution> trace(const BoundProgram& program, std::span<double> dram,
                        const TraceOptions& options, TraceSink& sink) {
  return trace_any(program, dram, options, sink);
}

}  // namespace flashlab::toy
