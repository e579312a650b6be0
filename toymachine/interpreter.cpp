#include "toymachine/interpreter.hpp"

#include "toymachine/detail/execute_tile.hpp"
#include "toymachine/detail/interpret.hpp"

namespace flashlab::toy {
namespace {

template <class Value>
Result<Execution> run_scalars(const BoundProgram& program, std::span<Value> dram) {
  if (auto error = detail::too_many_steps(program)) return std::move(*error);
  NoObserver observer;
  if (program.tiled) return detail::interpret<detail::Tile<Value>>(program, dram, observer);
  return detail::interpret<Value>(program, dram, observer);
}

}  // namespace

Result<Execution> run_shapes(const BoundProgram& program) {
  if (auto error = detail::too_many_steps(program)) return std::move(*error);
  NoObserver observer;
  return detail::interpret<detail::Shape>(program, std::span<detail::NoCell>(), observer);
}

Result<Execution> run(const BoundProgram& program, std::span<float> dram) {
  return run_scalars(program, dram);
}

Result<Execution> run(const BoundProgram& program, std::span<double> dram) {
  return run_scalars(program, dram);
}

}  // namespace flashlab::toy
