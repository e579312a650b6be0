// Values that are distinguished by what they evaluate to at random points.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace flashlab::optimal::detail {

inline constexpr std::size_t kMostPoints = 12;
/// A function of the inputs, as its results at the points.
using Sampled = std::array<double, kMostPoints>;

/// Three points with the inputs in ascending, descending and mixed order. For each input there is
/// one more point: the first point with that input changed.
class SamplePoints {
 public:
  static constexpr std::size_t kOrders = 3;
  explicit SamplePoints(std::size_t num_inputs);  // at most kMostPoints - kOrders

  std::size_t size() const { return kOrders + inputs_.size(); }
  const std::vector<Sampled>& inputs() const { return inputs_; }
  /// Bit i: the value changes with input i, at the first point.
  unsigned depends_on(const Sampled& value) const;
  /// Whether the machine can continue with it: finite, and not above the largest float.
  bool is_legal(const Sampled& value) const;
  bool is_positive_somewhere(const Sampled& value) const;
  /// Whether both are equal except for the last digits.
  bool is_same(const Sampled& a, const Sampled& b) const;
  /// A hash that is equal for equal values despite rounding.
  std::uint64_t key(const Sampled& value) const;

 private:
  std::vector<Sampled> inputs_;
};

/// Assigns an index to each value.
class SampledValues {
 public:
  explicit SampledValues(const SamplePoints& points) : points_(points) {}
  int index_of(const Sampled& value);
  /// Adds a value that index_of() does not know, and returns its index. Until pop() removes it,
  /// index_of() must not be called.
  int push(const Sampled& value) {
    values_.push_back(value);
    return static_cast<int>(values_.size()) - 1;
  }
  void pop() { values_.pop_back(); }
  const Sampled& operator[](int index) const { return values_[static_cast<std::size_t>(index)]; }
  std::size_t size() const { return values_.size(); }

 private:
  const SamplePoints& points_;
  std::vector<Sampled> values_;
  std::unordered_map<std::uint64_t, int> indices_;
};

}  // namespace flashlab::optimal::detail
