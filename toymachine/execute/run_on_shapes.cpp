#include "toymachine/execute/run_on_shapes.hpp"

#include "toymachine/execute/execute_tile.hpp"
#include "toymachine/execute/interpret.hpp"

namespace flashlab::toy::detail {

Result<Execution> run_on_shapes(const BoundProgram& program) {
  NoObserver observer;
  return interpret<Shape>(program, std::span<NoCell>(), observer);
}

}  // namespace flashlab::toy::detail
