#include "toymachine/forms/normal_form.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "toymachine/budget/budget.hpp"
#include "toymachine/execute/run_errors.hpp"
#include "toymachine/forms/form_value.hpp"
#include "toymachine/forms/normal_form_text.hpp"

namespace flashlab::toy {

NormalForm make_form(std::shared_ptr<const NormalForm::Node> node) {
  NormalForm form;
  form.node_ = std::move(node);
  return form;
}

namespace {

using detail::FormNode;
using detail::FormStore;
using detail::FormValue;

constexpr std::size_t kComparisonWork = 4'000'000;  // terms: a few seconds at most

/// Executes the steps one by one. All forms are in one store, which every result keeps alive.
class Runner {
 public:
  Runner(const BoundProgram& program, const UnrolledProgram& unrolled, std::size_t max_terms)
      : program_(program),
        unrolled_(unrolled),
        max_run_terms_(100 * max_terms),
        store_(std::make_shared<FormStore>(detail::FormLimits{max_terms, 400 * max_terms})) {}

  Result<NormalRun> run() {
    std::size_t at = 0;
    try {
      fill();
      for (; at < unrolled_.steps.size(); ++at) {
        check_budget(4);
        if (auto error = step(at)) return std::move(*error);
      }
    } catch (const detail::FormTooLarge& limit) {
      return too_large(at, limit);
    }
    for (const FormValue& value : dram_) result_.dram.push_back(shared(value));
    return std::move(result_);
  }

 private:
  void fill() {
    registers_.resize(static_cast<std::size_t>(unrolled_.num_registers));
    for (const double value : unrolled_.constants) registers_.push_back(constant(value));
    dram_.resize(static_cast<std::size_t>(unrolled_.dram_elements));
    for (const BoundArray& array : program_.arrays) {
      if (array.role == ArrayRole::kInput) fill(array);
    }
  }

  /// A constant that is +inf or NaN counts as unwritten, so that reading it is an error.
  FormValue constant(double value) {
    if (std::isfinite(value)) return {store_.get(), store_->number(detail::Rational::of(value))};
    return {store_.get(), value < 0 ? store_->minus_infinity() : nullptr};
  }

  void fill(const BoundArray& array) {
    std::vector<std::int64_t> indices(array.counts.size(), 0);
    for (std::int64_t i = 0; i < array.size; ++i) {
      std::int64_t rest = i;
      for (std::size_t axis = indices.size(); axis-- > 0;) {
        indices[axis] = rest % array.counts[axis];
        rest /= array.counts[axis];
      }
      dram_[static_cast<std::size_t>(array.offset + i)] = {store_.get(),
                                                           store_->input(array.name, indices)};
    }
  }

  std::optional<Diagnostic> step(std::size_t at) {
    const UnrolledStep& step = unrolled_.steps[at];
    detail::Slots<FormValue> slots;
    slots.at.fill(0);
    for (std::size_t i = 0; i < kMaxOperands; ++i) slots.at[i] = step.slots[i];
    const auto execute = detail::kExecute<FormValue>[step.row];
    if (execute(slots, registers_.data(), dram_.data()) != detail::Status::kOk) {
      return unwritten(at);
    }
    const FormValue& written = target(step);
    run_terms_ += written.node->numerator.size() + written.node->denominator.size();
    if (run_terms_ > max_run_terms_) {
      throw detail::FormTooLarge{
          "the formulas of all steps have more than " + std::to_string(max_run_terms_) + " terms",
          "a shorter program, or smaller formulas"};
    }
    result_.results.push_back(shared(written));
    return std::nullopt;
  }

  const FormValue& target(const UnrolledStep& step) const {
    const InstructionSpec& spec = instruction_set()[step.row];
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      const auto slot = static_cast<std::size_t>(step.slots[i]);
      if (spec.operands[i] == OperandKind::kDestination) return registers_[slot];
      if (is_memory_write(spec.operands[i])) return dram_[slot];
    }
    return registers_[0];  // unreachable: a test checks that every row has a target
  }

  NormalForm shared(const FormValue& value) const {
    if (!value.node) return {};
    return make_form(std::shared_ptr<const FormNode>(store_, value.node));
  }

  Diagnostic unwritten(std::size_t at) const {
    const UnrolledStep& step = unrolled_.steps[at];
    const BoundInstruction& instruction = program_.instructions[step.site];
    const std::vector<std::int64_t> loop_values = loop_values_at(program_, at);
    std::size_t position = 0;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const OperandKind kind = instruction.operands[i].kind;
      if (!is_read(kind) || kind == OperandKind::kOffset) continue;
      const auto slot = static_cast<std::size_t>(step.slots[i]);
      const FormValue& value = is_memory(kind) ? dram_[slot] : registers_[slot];
      if (value.node) continue;
      if (kind == OperandKind::kConstant) {
        return detail::illegal_error(
            {&program_, &instruction, at + 1, loop_values.data()},
            unrolled_.constants[slot - static_cast<std::size_t>(unrolled_.num_registers)]);
      }
      position = i;
      break;
    }
    return detail::unwritten_error({&program_, &instruction, at + 1, loop_values.data()}, position);
  }

  Diagnostic too_large(std::size_t at, const detail::FormTooLarge& limit) const {
    SourceSpan span;
    std::string where;
    if (at < unrolled_.steps.size()) {
      span = program_.instructions[unrolled_.steps[at].site].span;
      where = "step " + std::to_string(at + 1) + ": ";
    }
    return {Severity::kError, Fault::kLimit, span, where + limit.what, limit.expected, {}};
  }

  const BoundProgram& program_;
  const UnrolledProgram& unrolled_;
  std::size_t max_run_terms_, run_terms_ = 0;
  std::shared_ptr<FormStore> store_;
  std::vector<FormValue> registers_, dram_;
  NormalRun result_;
};

}  // namespace

bool NormalForm::is_polynomial() const {
  if (!node_ || node_->minus_infinity || !node_->denominator.empty()) return false;
  for (const detail::FormTerm& term : node_->numerator) {
    if (term.monomial->exponent) return false;
    for (const auto& [atom, exponent] : term.monomial->powers) {
      if (atom->kind != detail::FormAtom::Kind::kInput || exponent < 0) return false;
    }
  }
  return true;
}

/// Equal forms of one store are the same pointer. Forms of different stores are compared in a third
/// store, unless their values in the prime field differ already, as they nearly always do.
bool operator==(const NormalForm& a, const NormalForm& b) {
  if (a.node_ == b.node_) return true;
  if (!a.node_ || !b.node_ || a.node_->value != b.node_->value) return false;
  const bool same_store = !a.node_.owner_before(b.node_) && !b.node_.owner_before(a.node_);
  if (same_store) return false;
  FormStore store({kComparisonWork, kComparisonWork});
  try {
    return store.import(a.node_.get()) == store.import(b.node_.get());
  } catch (const detail::FormTooLarge&) {
    return false;  // not proven
  }
}

std::size_t NormalForm::hash() const { return node_ ? node_->value : 0; }

Result<NormalRun> run_normal(const BoundProgram& program, const UnrolledProgram& unrolled,
                             std::size_t max_terms) {
  return Runner(program, unrolled, max_terms).run();
}

std::vector<NumberName> constant_names(const BoundProgram& program) {
  std::vector<NumberName> names;
  for (std::size_t i = 0; i < program.consts.size(); ++i) {
    const double value =
        std::visit([](auto number) { return static_cast<double>(number); }, program.consts[i]);
    if (value == 0 || std::abs(value) == 1) continue;
    names.push_back({value, program.program->consts[i].name});
  }
  return names;
}

std::string to_string(const NormalForm& form, std::size_t max_length,
                      std::span<const NumberName> names) {
  constexpr std::string_view kCut = " ... ";
  constexpr std::size_t kLongest = 1 << 14;  // the end of a longer text is not computed
  if (!form.is_written()) return "nothing";
  std::string text = detail::form_text(form.node(), std::max(kLongest, 2 * max_length), names);
  if (text.size() <= max_length) return text;
  if (max_length <= kCut.size()) return text.substr(0, max_length);
  const std::size_t kept = max_length - kCut.size();
  const std::size_t tail = kept / 2;
  return text.substr(0, kept - tail) + std::string(kCut) + text.substr(text.size() - tail);
}

}  // namespace flashlab::toy
