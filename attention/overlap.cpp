#include "attention/overlap.hpp"

#include <algorithm>
#include <cstdlib>

namespace flashlab {
namespace {

/// One term of a sum of addresses: coefficient * x with 0 <= x <= most.
struct Term {
  std::int64_t coefficient, most;
};

/// Searches x with sum coefficient x = target. Terms with the largest steps come first: the range
/// of the smaller ones then leaves few choices.
class Search {
 public:
  explicit Search(std::vector<Term> terms) : terms_(std::move(terms)) {
    std::erase_if(terms_, [](const Term& term) { return term.coefficient == 0 || term.most == 0; });
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) {
      return std::abs(a.coefficient) > std::abs(b.coefficient);
    });
    low_.assign(terms_.size() + 1, 0);
    high_ = low_;
    for (std::size_t k = terms_.size(); k-- > 0;) {
      const std::int64_t reach = terms_[k].coefficient * terms_[k].most;
      low_[k] = low_[k + 1] + std::min<std::int64_t>(reach, 0);
      high_[k] = high_[k + 1] + std::max<std::int64_t>(reach, 0);
    }
  }

  bool may_reach(std::int64_t target) { return step(0, target); }

 private:
  bool step(std::size_t k, std::int64_t target) {
    if (target < low_[k] || target > high_[k]) return false;
    if (k == terms_.size()) return true;
    const auto [coefficient, most] = terms_[k];
    // target - coefficient x must be in the range of the remaining terms.
    const std::int64_t step_size = std::abs(coefficient);
    const std::int64_t from = coefficient > 0 ? target - high_[k + 1] : low_[k + 1] - target;
    const std::int64_t to = coefficient > 0 ? target - low_[k + 1] : high_[k + 1] - target;
    const std::int64_t first = from <= 0 ? 0 : (from + step_size - 1) / step_size;
    const std::int64_t last = to < 0 ? -1 : std::min(most, to / step_size);
    for (std::int64_t x = first; x <= last; ++x) {
      if (--tries_ < 0 || step(k + 1, target - coefficient * x)) return true;
    }
    return false;
  }

  std::vector<Term> terms_;
  std::vector<std::int64_t> low_, high_;  // range of the sum of the terms from k on
  std::int64_t tries_ = 100'000;
};

bool has_elements(const TensorView& tensor) {
  return std::all_of(tensor.shape.begin(), tensor.shape.end(),
                     [](std::int64_t n) { return n > 0; });
}

}  // namespace

bool may_overlap(const TensorView& a, const TensorView& b) {
  if (!has_elements(a) || !has_elements(b)) return false;
  const std::int64_t size_a = size_in_bytes(a.dtype), size_b = size_in_bytes(b.dtype);
  // a's byte - b's byte = 0: a's address counts positive, b's negative.
  std::vector<Term> terms = {{1, size_a - 1}, {-1, size_b - 1}};
  for (std::size_t axis = 0; axis < a.shape.size(); ++axis) {
    terms.push_back({a.strides[axis] * size_a, a.shape[axis] - 1});
  }
  for (std::size_t axis = 0; axis < b.shape.size(); ++axis) {
    terms.push_back({-b.strides[axis] * size_b, b.shape[axis] - 1});
  }
  const auto address = [](const void* data) { return reinterpret_cast<std::intptr_t>(data); };
  return Search(std::move(terms)).may_reach(address(b.data) - address(a.data));
}

bool may_overlap_itself(const TensorView& tensor) {
  if (!has_elements(tensor)) return false;
  // In order of strides, each axis must step over the whole range of the smaller ones.
  std::vector<Term> axes;
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    if (tensor.shape[axis] > 1) {
      axes.push_back({std::abs(tensor.strides[axis]), tensor.shape[axis] - 1});
    }
  }
  std::sort(axes.begin(), axes.end(),
            [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
  std::int64_t reach = 0;
  for (const Term& axis : axes) {
    if (axis.coefficient <= reach) return true;
    reach += axis.coefficient * axis.most;
  }
  return false;
}

}  // namespace flashlab
