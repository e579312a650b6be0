#include "optimal/problem/sampled_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "optimal/search/node_table.hpp"

namespace flashlab::optimal::detail {
namespace {

constexpr double kSameDigits = 1e-11;  // relative
constexpr double kZero = 1e-13;        // rounding error of an exponent that is 0
constexpr int kKeyBits = 36;

}  // namespace

SamplePoints::SamplePoints(std::size_t num_inputs) {
  if (num_inputs + kOrders > kMostPoints) throw std::invalid_argument("too many inputs to sample");
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> uniform(-2.5, 2.5);
  std::vector<std::vector<double>> points(kOrders, std::vector<double>(num_inputs));
  for (std::vector<double>& point : points) {
    for (double& x : point) x = uniform(random);
  }
  std::sort(points[0].begin(), points[0].end());
  std::sort(points[1].begin(), points[1].end(), std::greater<>());
  inputs_.resize(num_inputs);
  for (std::size_t i = 0; i < num_inputs; ++i) {
    inputs_[i].fill(0);
    for (std::size_t p = 0; p < kOrders; ++p) inputs_[i][p] = points[p][i];
    for (std::size_t changed = 0; changed < num_inputs; ++changed) {
      inputs_[i][kOrders + changed] = points[0][i];
    }
  }
  for (std::size_t i = 0; i < num_inputs; ++i) inputs_[i][kOrders + i] = uniform(random) * 1.5;
}

unsigned SamplePoints::depends_on(const Sampled& value) const {
  unsigned result = 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (value[kOrders + i] != value[0]) result |= 1U << i;
  }
  return result;
}

bool SamplePoints::is_legal(const Sampled& value) const {
  return std::all_of(
      value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size()),
      [](double number) { return std::abs(number) <= std::numeric_limits<float>::max(); });
}

bool SamplePoints::is_positive_somewhere(const Sampled& value) const {
  return std::any_of(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size()),
                     [](double number) { return number > kZero; });
}

bool SamplePoints::is_same(const Sampled& a, const Sampled& b) const {
  for (std::size_t p = 0; p < size(); ++p) {
    if (std::abs(a[p] - b[p]) > kSameDigits * std::max(std::abs(a[p]), std::abs(b[p]))) {
      return false;
    }
  }
  return true;
}

std::uint64_t SamplePoints::key(const Sampled& value) const {
  std::uint64_t result = 0;
  for (std::size_t p = 0; p < size(); ++p) {
    int exponent = 0;
    const double mantissa = std::frexp(value[p], &exponent);
    const auto digits = static_cast<std::int64_t>(std::llround(std::ldexp(mantissa, kKeyBits)));
    result = mixed_bits(result ^ static_cast<std::uint64_t>(digits * 4096 + exponent));
  }
  return result;
}

int SampledValues::index_of(const Sampled& value) {
  const auto [place, is_new] =
      indices_.try_emplace(points_.key(value), static_cast<int>(values_.size()));
  if (is_new) values_.push_back(value);
  return place->second;
}

}  // namespace flashlab::optimal::detail
