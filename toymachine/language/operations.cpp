#include "toymachine/language/operations.hpp"

#include "toymachine/language/values.hpp"

namespace flashlab::toy::detail {
namespace {

template <class Number>
Number value_in_table(Operation operation, Number a, Number b) {
  using Function = Number (*)(Number, Number);
  static constexpr auto kFunctions =
      operation_table<Function>([]<Operation kOperation>(OperationTag<kOperation>) -> Function {
        if constexpr (!is_elementwise(kOperation)) {
          return nullptr;
        } else if constexpr (spec_of(kOperation).arity == 1) {
          static_assert(Operable<kOperation, Number>, "an operation without a value on a number");
          return [](Number x, Number) { return operated(OperationTag<kOperation>(), x); };
        } else {
          static_assert(Operable<kOperation, Number, Number>,
                        "an operation without a value on two numbers");
          return [](Number x, Number y) { return operated(OperationTag<kOperation>(), x, y); };
        }
      });
  return kFunctions[static_cast<std::size_t>(operation)](a, b);
}

}  // namespace

float value_of(Operation operation, float a, float b) { return value_in_table(operation, a, b); }
double value_of(Operation operation, double a, double b) { return value_in_table(operation, a, b); }

}  // namespace flashlab::toy::detail
