#include "toymachine/run/interpreter.hpp"

#include "toymachine/count/step_limit.hpp"
#include "toymachine/execute/execute_tile.hpp"
#include "toymachine/execute/interpret.hpp"
#include "toymachine/execute/run_on_shapes.hpp"

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
  return detail::run_on_shapes(program);
}

Result<Execution> run(const BoundProgram& program, std::span<float> dram) {
  return run_scalars(program, dram);
}

Result<Execution> run(const BoundProgram& program, std::span<double> dram) {
  return run_scalars(program, dram);
}

}  // namespace flashlab::toy
