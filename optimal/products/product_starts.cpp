#include "optimal/products/product_starts.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

namespace flashlab::optimal::detail {
namespace {

using Kind = ProductProgress::Kind;
constexpr std::size_t kMostStarts = std::size_t{1} << 20;

/// A sum with which an output's chain can continue.
struct Choice {
  std::uint64_t terms = 0;
  bool in_dram = false;
  std::int64_t paid = 0;  // for the store that brings it to DRAM
};

class Chooser {
 public:
  Chooser(const MatrixProduct& product, const ProductMachine& machine, const ProductProgress& from)
      : product_(product), machine_(machine), from_(from) {
    check();
  }

  ProductStarts all() {
    ProductStarts result;
    result.inputs = inputs();
    result.starts.emplace_back();
    for (int output = 0; output < product_.num_outputs(); ++output) {
      const std::vector<Choice> options = choices(output);
      if (result.starts.size() * options.size() > kMostStarts) {
        throw std::invalid_argument("there are too many partial sums to choose from");
      }
      std::vector<ProductStart> longer;
      for (const ProductStart& start : result.starts) {
        for (const Choice& choice : options) longer.push_back(extended(start, output, choice));
      }
      result.starts = std::move(longer);
    }
    result.least_cycles = result.starts.front().cycles;
    for (const ProductStart& start : result.starts) {
      result.least_cycles = std::min(result.least_cycles, start.cycles);
    }
    for (const ProductStart& start : result.starts) {
      result.differences = std::gcd(result.differences, start.cycles - result.least_cycles);
    }
    return result;
  }

 private:
  std::uint64_t all_terms() const { return ~std::uint64_t{0} >> (64 - product_.inner); }
  bool is_finished(int output) const { return (from_.finished >> output & 1) != 0; }

  void check() const {
    const auto check_content = [&](const ProductProgress::Content& content, bool may_be_input) {
      const int items =
          content.kind == Kind::kInput ? product_.num_inputs() : product_.num_outputs();
      const bool is_sum = content.kind == Kind::kSum;
      if (content.kind == Kind::kNothing) return;
      if (content.item < 0 || content.item >= items || (!is_sum && !may_be_input) ||
          (is_sum && (content.terms == 0 || (content.terms & ~all_terms()) != 0))) {
        throw std::invalid_argument("a register or cell holds a value that is none of the product");
      }
    };
    if (from_.registers.size() > static_cast<std::size_t>(machine_.registers)) {
      throw std::invalid_argument("more registers are in use than the machine has");
    }
    for (const auto& content : from_.registers) check_content(content, true);
    for (const auto& content : from_.stored) check_content(content, false);
    const int outputs = product_.num_outputs();
    if (outputs < 64 && from_.finished >> outputs != 0) {
      throw std::invalid_argument("an output is finished that the product does not have");
    }
  }

  /// Whether products can read factors from this register; is_for_sums(): whether it can hold sums.
  bool is_for_factors(std::size_t number) const { return !pinned() || number < 2; }
  bool is_for_sums(std::size_t number) const { return !pinned() || number >= 2; }
  bool pinned() const { return machine_.operand_rule == toy::OperandRule::kPinned; }

  std::vector<int> inputs() const {
    std::vector<int> result;
    for (std::size_t number = 0; number < from_.registers.size(); ++number) {
      const auto& content = from_.registers[number];
      if (content.kind == Kind::kInput && is_for_factors(number)) result.push_back(content.item);
    }
    return result;
  }

  std::vector<Choice> choices(int output) const {
    if (is_finished(output)) return {{all_terms(), false, -machine_.costs.store}};
    std::vector<Choice> result;
    for (std::size_t number = 0; number < from_.registers.size(); ++number) {
      const auto& content = from_.registers[number];
      if (content.kind != Kind::kSum || content.item != output) continue;
      if (content.terms == all_terms()) return {{all_terms(), false, 0}};
      if (is_for_sums(number)) {
        add({content.terms, false, 0}, result);
      } else if (machine_.allow_spills) {
        add({content.terms, true, machine_.costs.store}, result);
      }
    }
    if (machine_.allow_spills) {
      for (const auto& content : from_.stored) {
        if (content.kind == Kind::kSum && content.item == output) {
          add({content.terms, true, 0}, result);
        }
      }
    }
    result.push_back({});
    return result;
  }

  static void add(const Choice& choice, std::vector<Choice>& choices) {
    const auto covers = [](const Choice& a, const Choice& b) {
      return a.in_dram == b.in_dram && a.paid <= b.paid && (b.terms & ~a.terms) == 0;
    };
    for (const Choice& other : choices) {
      if (covers(other, choice)) return;
    }
    std::erase_if(choices, [&](const Choice& other) { return covers(choice, other); });
    choices.push_back(choice);
  }

  ProductStart extended(ProductStart start, int output, const Choice& choice) const {
    start.terms |= choice.terms << (output * product_.inner);
    if (choice.in_dram) start.in_dram |= std::uint64_t{1} << output;
    const int left = product_.inner - std::popcount(choice.terms);
    start.cycles += choice.paid + machine_.costs.store + left * machine_.costs.next_product;
    if (choice.terms == 0)
      start.cycles += machine_.costs.first_product - machine_.costs.next_product;
    return start;
  }

  const MatrixProduct& product_;
  const ProductMachine& machine_;
  const ProductProgress& from_;
};

}  // namespace

ProductStarts product_starts(const MatrixProduct& product, const ProductMachine& machine,
                             const ProductProgress& from) {
  return Chooser(product, machine, from).all();
}

}  // namespace flashlab::optimal::detail
