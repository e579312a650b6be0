// A normal form as a value of the machine, for the effects of the instruction table.
#pragma once

#include <cstdint>

#include "toymachine/execute/execute.hpp"
#include "toymachine/forms/normal_form_store.hpp"

namespace flashlab::toy::detail {

struct FormValue {
  FormStore* store = nullptr;
  const FormNode* node = nullptr;  // null: never written
};

inline FormValue operator+(const FormValue& a, const FormValue& b) {
  return {a.store, a.store->add(a.node, b.node)};
}
inline FormValue operator-(const FormValue& a, const FormValue& b) {
  return {a.store, a.store->subtract(a.node, b.node)};
}
inline FormValue operator*(const FormValue& a, const FormValue& b) {
  return {a.store, a.store->multiply(a.node, b.node)};
}
inline FormValue operator/(const FormValue& a, const FormValue& b) {
  return {a.store, a.store->divide(a.node, b.node)};
}
inline FormValue product(const FormValue& a, const FormValue& b) { return a * b; }
inline FormValue maximum(const FormValue& a, const FormValue& b) {
  return {a.store, a.store->maximum(a.node, b.node)};
}
inline FormValue exponential(const FormValue& a) { return {a.store, a.store->exponential(a.node)}; }
inline FormValue logarithm(const FormValue& a) { return {a.store, a.store->logarithm(a.node)}; }
inline FormValue row_maximum(const FormValue& a) { return a; }
inline FormValue row_sum(const FormValue& a) { return a; }
inline FormValue masked(const FormValue& a, std::int64_t row, std::int64_t column) {
  return column > row ? FormValue{a.store, a.store->minus_infinity()} : a;
}
inline FormValue masked_left(const FormValue& a, std::int64_t row, std::int64_t column) {
  return column < row ? FormValue{a.store, a.store->minus_infinity()} : a;
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
