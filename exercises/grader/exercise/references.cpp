#include "exercises/grader/exercise/references.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace flashlab::exercises {
namespace {

const NamedArray& input(const NamedArrays& inputs, const std::string& name, std::size_t axes) {
  const auto found = inputs.find(name);
  if (found == inputs.end() || found->second.extents.size() != axes) {
    throw std::runtime_error("the built-in reference needs an input " + name + " with " +
                             std::to_string(axes) + (axes == 1 ? " axis" : " axes"));
  }
  return found->second;
}

/// Row i of a two-dimensional array.
const double* row(const NamedArray& array, std::int64_t i) {
  return array.values.data() + i * array.extents[1];
}

NamedArrays sum(const NamedArrays& inputs) {
  double total = 0;
  for (const double value : input(inputs, "x", 1).values) total += value;
  return {{"s", {{1}, {total}}}};
}

NamedArrays softmax(const NamedArrays& inputs) {
  NamedArray out = input(inputs, "x", 1);
  const double largest =
      out.values.empty() ? 0 : *std::max_element(out.values.begin(), out.values.end());
  double total = 0;
  for (double& value : out.values) total += value = std::exp(value - largest);
  for (double& value : out.values) value /= total;
  return {{"out", std::move(out)}};
}

/// Two passes over the values: the mean, then the squared differences from it, divided by n
/// - 1. Differences from the first value are averaged, so that equal values have a variance
/// of exactly 0.
NamedArrays variance(const NamedArrays& inputs) {
  const std::vector<double>& x = input(inputs, "x", 1).values;
  const double first = x.empty() ? 0 : x.front();
  double mean = 0, squares = 0;
  for (const double value : x) mean += value - first;
  mean = first + mean / static_cast<double>(x.size());
  for (const double value : x) squares += (value - mean) * (value - mean);
  return {{"mean", {{1}, {mean}}},
          {"variance", {{1}, {squares / (static_cast<double>(x.size()) - 1)}}}};
}

NamedArrays matmul(const NamedArrays& inputs) {
  const NamedArray &a = input(inputs, "a", 2), &b = input(inputs, "b", 2);
  const std::int64_t rows = a.extents[0], inner = a.extents[1], columns = b.extents[1];
  if (b.extents[0] != inner) throw std::runtime_error("a and b do not fit together");
  NamedArray c{{rows, columns}, std::vector<double>(static_cast<std::size_t>(rows * columns))};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t p = 0; p < inner; ++p) {
      for (std::int64_t j = 0; j < columns; ++j) {
        c.values[static_cast<std::size_t>(i * columns + j)] += row(a, i)[p] * row(b, p)[j];
      }
    }
  }
  return {{"c", std::move(c)}};
}

NamedArrays attention(const NamedArrays& inputs) {
  const NamedArray &q = input(inputs, "q", 2), &k = input(inputs, "k", 2),
                   &v = input(inputs, "v", 2);
  const std::int64_t n = q.extents[0], d = q.extents[1], nk = k.extents[0];
  if (k.extents[1] != d || v.extents != k.extents) {
    throw std::runtime_error("q, k and v do not fit together");
  }
  NamedArray o{{n, d}, std::vector<double>(static_cast<std::size_t>(n * d))};
  NamedArray lse{{n, 1}, std::vector<double>(static_cast<std::size_t>(n))};
  std::vector<double> scores(static_cast<std::size_t>(nk));
  for (std::int64_t i = 0; i < n; ++i) {
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    for (std::int64_t j = 0; j < nk; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < d; ++c) score += row(q, i)[c] * row(k, j)[c];
      score /= std::sqrt(static_cast<double>(d));
      scores[static_cast<std::size_t>(j)] = score;
      largest = std::max(largest, score);
    }
    for (double& score : scores) total += score = std::exp(score - largest);
    for (std::int64_t j = 0; j < nk; ++j) {
      for (std::int64_t c = 0; c < d; ++c) {
        o.values[static_cast<std::size_t>(i * d + c)] +=
            scores[static_cast<std::size_t>(j)] / total * row(v, j)[c];
      }
    }
    lse.values[static_cast<std::size_t>(i)] = largest + std::log(total);
  }
  return {{"o", std::move(o)}, {"lse", std::move(lse)}};
}

struct Reference {
  const char* name;
  NamedArrays (*run)(const NamedArrays&);
};
constexpr Reference kReferences[] = {{"sum", sum},
                                     {"softmax", softmax},
                                     {"variance", variance},
                                     {"matmul", matmul},
                                     {"attention", attention}};

}  // namespace

std::vector<std::string> builtin_reference_names() {
  std::vector<std::string> names;
  for (const Reference& reference : kReferences) names.emplace_back(reference.name);
  return names;
}

NamedArrays run_builtin_reference(const std::string& name, const NamedArrays& inputs) {
  for (const Reference& reference : kReferences) {
    if (reference.name == name) return reference.run(inputs);
  }
  throw std::runtime_error("there is no built-in reference '" + name + "'");
}

}  // namespace flashlab::exercises
