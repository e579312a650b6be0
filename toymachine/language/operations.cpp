#include "toymachine/language/operations.hpp"

#include "toymachine/language/values.hpp"

namespace flashlab::toy::detail {
namespace {

template <class Number>
Number value_in_table(Operation operation, Number a, Number b, Number c) {
  using Function = Number (*)(Number, Number, Number);
  static constexpr auto kFunctions =
      operation_table<Function>([]<Operation kOperation>(OperationTag<kOperation>) -> Function {
        if constexpr (!is_elementwise(kOperation)) {
          return nullptr;
        } else if constexpr (spec_of(kOperation).arity == 1) {
          static_assert(Operable<kOperation, Number>, "an operation without a value on a number");
          return [](Number x, Number, Number) { return operated(OperationTag<kOperation>(), x); };
        } else if constexpr (spec_of(kOperation).arity == 3) {
          static_assert(Operable<kOperation, Number, Number, Number>,
                        "an operation without a value on three numbers");
          return [](Number x, Number y, Number z) {
            return operated(OperationTag<kOperation>(), x, y, z);
          };
        } else {
          static_assert(Operable<kOperation, Number, Number>,
                        "an operation without a value on two numbers");
          return
              [](Number x, Number y, Number) { return operated(OperationTag<kOperation>(), x, y); };
        }
      });
  return kFunctions[static_cast<std::size_t>(operation)](a, b, c);
}

}  // namespace

float value_of(Operation operation, float a, float b, float c) {
  return value_in_table(operation, a, b, c);
}
double value_of(Operation operation, double a, double b, double c) {
  return value_in_table(operation, a, b, c);
}

}  // namespace flashlab::toy::detail
