#include "toymachine/interpreter.hpp"

#include "toymachine/detail/execute_tile.hpp"
#include "toymachine/detail/interpret.hpp"

namespace flashlab::toy {
namespace {

/// Steps are known without running, so a run that would take too many is refused at once.
std::optional<Diagnostic> too_many_steps(const BoundProgram& program) {
  const auto times = count_times(program);
  if (!times) return std::nullopt;  // the interpreter's own budget decides
  Count total = 0;
  for (const Count& count : *times) total += count;
  if (total <= Count(static_cast<long>(program.limits.max_steps))) return std::nullopt;
  return detail::steps_error(program.limits, "the program takes " + total.get_str() + " steps");
}

template <class Value>
Result<Execution> run_numbers(const BoundProgram& program, std::span<Value> dram) {
  if (auto error = too_many_steps(program)) return std::move(*error);
  NoObserver observer;
  if (program.tiled) return detail::interpret<detail::Tile<Value>>(program, dram, observer);
  return detail::interpret<Value>(program, dram, observer);
}

}  // namespace

Result<Execution> run_shapes(const BoundProgram& program) {
  if (auto error = too_many_steps(program)) return std::move(*error);
  NoObserver observer;
  return detail::interpret<detail::Shape>(program, std::span<detail::NoCell>(), observer);
}

Result<Execution> run(const BoundProgram& program, std::span<float> dram) {
  return run_numbers(program, dram);
}

Result<Execution> run(const BoundProgram& program, std::span<double> dram) {
  return run_numbers(program, dram);
}

}  // namespace flashlab::toy
