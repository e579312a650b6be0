#include "optimal/value_algebra.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace flashlab::optimal {
namespace {

using Set = unsigned;  // of elements

/// What kind of value, and of which sets; see safe_softmax().
enum class Kind : std::uint8_t { kMaximum, kSum, kDifference, kExponential, kShare, kZero, kOne };
using Key = std::tuple<Kind, Set, Set>;

Set permuted(Set set, const std::vector<int>& order) {
  Set result = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if ((set >> i & 1) != 0) result |= 1U << order[i];
  }
  return result;
}

/// Numbers values by what they are, and operations by what they make.
class Builder {
 public:
  explicit Builder(int n) : n_(n), all_((1U << n) - 1) {
    if (n < 1 || n > 8) throw std::invalid_argument("a vector has 1 to 8 elements");
  }

  Set all() const { return all_; }
  void operation(std::string_view mnemonic, const Key& a, const Key& b, const Key& result) {
    const int left = number(a), right = number(b);
    algebra_.operations.push_back({mnemonic, left, right, number(result)});
  }
  void operation(std::string_view mnemonic, const Key& a, const Key& result) {
    const int operand = number(a);
    algebra_.operations.push_back({mnemonic, operand, -1, number(result)});
  }
  void input(const Key& key) { algebra_.inputs.push_back(number(key)); }
  void output(const Key& key) { algebra_.outputs.push_back(number(key)); }

  ValueAlgebra finish(std::string title) {
    algebra_.title = std::move(title);
    algebra_.num_values = static_cast<int>(keys_.size());
    std::vector<int> order(static_cast<std::size_t>(n_));
    std::iota(order.begin(), order.end(), 0);
    do {
      std::vector<int> renumbered;
      for (const auto& [kind, a, b] : keys_) {
        renumbered.push_back(numbers_.at({kind, permuted(a, order), permuted(b, order)}));
      }
      algebra_.symmetries.push_back(std::move(renumbered));
    } while (n_ <= 5 && std::next_permutation(order.begin(), order.end()));
    return std::move(algebra_);
  }

 private:
  int number(const Key& key) {
    const auto [place, is_new] = numbers_.try_emplace(key, static_cast<int>(keys_.size()));
    if (is_new) keys_.push_back(key);
    return place->second;
  }

  int n_;
  Set all_;
  ValueAlgebra algebra_;
  std::map<Key, int> numbers_;
  std::vector<Key> keys_;
};

/// Calls visit(a) for each set within `whole` that is not empty.
template <class Visit>
void for_each_part(Set whole, Visit&& visit) {
  for (Set part = whole; part != 0; part = (part - 1) & whole) visit(part);
}

Key maximum(Set a) { return {Kind::kMaximum, a, 0}; }
Key zero() { return {Kind::kZero, 0, 0}; }
Key one() { return {Kind::kOne, 0, 0}; }
Key difference(Set a, Set b) { return a == b ? zero() : Key{Kind::kDifference, a, b}; }
/// The sum of e^(x_i - max b) for i in a.
Key exponentials(Set a, Set b) {
  return a == b && std::has_single_bit(a) ? one() : Key{Kind::kSum, a, b};
}
/// e^(max a - max b), which for one element is a sum of one.
Key exponential(Set a, Set b) {
  if (a == b) return one();
  return std::has_single_bit(a) ? exponentials(a, b) : Key{Kind::kExponential, a, b};
}
/// e^(max a - max b) over the whole sum.
Key share(Set a, Set b) { return {Kind::kShare, a == b ? 0 : a, a == b ? 0 : b}; }

void add_maxima(Builder& build) {
  for_each_part(build.all(), [&](Set a) {
    for_each_part(build.all(), [&](Set b) {
      const Set both = a | b;
      if (a >= b || both == a || both == b) return;
      build.operation("MAX", maximum(a), maximum(b), maximum(both));
    });
  });
}

void add_differences(Builder& build, Set a, Set b) {
  build.operation("SUB", maximum(a), maximum(b), difference(a, b));
  build.operation("EXP", difference(a, b), exponential(a, b));
  if (a == b) return;
  build.operation("ADD", difference(a, b), maximum(b), maximum(a));
  build.operation("SUB", maximum(a), difference(a, b), maximum(b));
}

/// From a within b to a within c.
void add_rescaling(Builder& build, Set a, Set b, Set c) {
  if (b == c) return;
  if (a != b) {
    build.operation("ADD", difference(a, b), difference(b, c), difference(a, c));
    build.operation("SUB", difference(a, c), difference(b, c), difference(a, b));
    if (!std::has_single_bit(a)) {
      build.operation("MUL", exponential(a, b), exponential(b, c), exponential(a, c));
    }
  }
  if (!(a == b && std::has_single_bit(a))) {
    build.operation("MUL", exponentials(a, b), exponential(b, c), exponentials(a, c));
  }
}

void add_shares(Builder& build, Set a, Set b) {
  const Set all = build.all();
  const bool is_element = std::has_single_bit(a);
  if (is_element || b == all) {
    build.operation("DIV", exponential(a, b), exponentials(all, all), share(a, b));
  }
  if (a == b) return;
  // e^(max a - max b) e^(max b - max all) / s, with either factor divided first.
  build.operation("MUL", exponential(a, b), share(b, all), share(a, all));
  if (is_element && b != all) {
    build.operation("MUL", share(a, b), exponential(b, all), share(a, all));
  }
}

}  // namespace

ValueAlgebra vector_sum(int n) {
  Builder build(n);
  for (int i = 0; i < n; ++i) build.input({Kind::kSum, 1U << i, 0});
  for_each_part(build.all(), [&](Set whole) {
    for_each_part(whole, [&](Set a) {
      const Set b = whole & ~a;
      if (b != 0 && a < b)
        build.operation("ADD", {Kind::kSum, a, 0}, {Kind::kSum, b, 0}, {Kind::kSum, whole, 0});
    });
  });
  build.output({Kind::kSum, build.all(), 0});
  return build.finish("The sum of " + std::to_string(n) + " elements");
}

ValueAlgebra vector_maximum(int n) {
  Builder build(n);
  for (int i = 0; i < n; ++i) build.input(maximum(1U << i));
  add_maxima(build);
  build.output(maximum(build.all()));
  return build.finish("The maximum of " + std::to_string(n) + " elements");
}

ValueAlgebra safe_softmax(int n) {
  if (n < 2) throw std::invalid_argument("the softmax of one element is 1");
  Builder build(n);
  const Set all = build.all();
  for (int i = 0; i < n; ++i) build.input(maximum(1U << i));
  add_maxima(build);
  for_each_part(all, [&](Set b) {
    for_each_part(b, [&](Set a) {
      add_differences(build, a, b);
      add_shares(build, a, b);
      for_each_part(all, [&](Set c) {
        if ((b & ~c) == 0) add_rescaling(build, a, b, c);
      });
      for_each_part(b & ~a, [&](Set other) {
        if (a < other)
          build.operation("ADD", exponentials(a, b), exponentials(other, b),
                          exponentials(a | other, b));
      });
    });
  });
  for (int i = 0; i < n; ++i) build.output(share(1U << i, all));
  return build.finish("Safe softmax of " + std::to_string(n) + " elements");
}

}  // namespace flashlab::optimal
