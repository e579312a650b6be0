// A normal form as a value of the machine, for the effects of the instruction table.
#pragma once

#include "toymachine/execute/execute.hpp"
#include "toymachine/forms/normal_form_store.hpp"

namespace flashlab::toy::detail {

struct FormValue {
  FormStore* store = nullptr;
  const FormNode* node = nullptr;  // null: never written
};

/// Scalars only.
template <Operation kOperation, class... More>
FormValue operated(OperationTag<kOperation>, const FormValue& a, const More&... more) {
  constexpr auto kOnScalars = on_scalars(kOperation);
  if constexpr (!kOnScalars) {
    return a;
  } else if constexpr (is_place(kOperation)) {
    const double place = operated(OperationTag<kOperation>(), 0.0, more...);
    return {a.store, a.store->number(Rational::of(place))};
  } else if constexpr (spec_of(kOperation).shape == ShapeRule::kMask) {
    const bool is_seen = operated(OperationTag<kOperation>(), 0.0, more...) == 0;
    return is_seen ? a : FormValue{a.store, a.store->minus_infinity()};
  } else {
    return {a.store, a.store->apply(*kOnScalars, a.node, more.node...)};
  }
}

template <>
struct ValueTraits<FormValue> {
  using Cell = FormValue;
  struct Access {};
  static constexpr bool kTiles = false;
  static bool is_written(const FormValue& value) { return value.node != nullptr; }
  static bool is_legal(const FormValue&) { return true; }
};

}  // namespace flashlab::toy::detail
