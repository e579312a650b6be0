#include "toymachine/history/rescaled_sum.hpp"

#include <algorithm>
#include <map>

namespace flashlab::toy {
namespace {

enum class Change { kOther, kMultiplied, kAdded };

/// What the step does to the register that it writes.
Change change_in_place(const RecordedStep& step) {
  const auto& reads = step.register_reads;
  if (step.spec().flop_kind != FlopKind::kElementwise || reads.size() != 2) return Change::kOther;
  if (std::count(reads.begin(), reads.end(), step.register_written) != 1) return Change::kOther;
  if (step.expression.operation() == Operation::kTimes) return Change::kMultiplied;
  return step.expression.operation() == Operation::kPlus ? Change::kAdded : Change::kOther;
}

/// Returns the first register that changes in both ways; -1 if there is none.
std::int64_t find_register(const RecordedRun& run) {
  std::map<std::int64_t, bool> is_multiplied;
  for (const RecordedStep& step : run.steps) {
    const Change change = change_in_place(step);
    if (change == Change::kMultiplied) is_multiplied[step.register_written] = true;
    if (change == Change::kAdded && is_multiplied[step.register_written])
      return step.register_written;
  }
  return -1;
}

class SumFollower {
 public:
  explicit SumFollower(std::int64_t number) { sum_.register_number = number; }

  /// Returns false when the register is used for something else.
  bool follow(const RecordedStep& step) {
    if (step.read) {
      input_ = step.read;
      input_value_ = step.value.number;
    }
    if (step.register_written == sum_.register_number && !change(step)) return false;
    if (step.register_written >= 0) values_[step.register_written] = step.value.number;
    return true;
  }

  RescaledSum take() { return std::move(sum_); }

 private:
  double other_operand(const RecordedStep& step) {
    const bool is_first = step.register_reads[0] == sum_.register_number;
    return values_[step.register_reads[is_first ? 1 : 0]];
  }

  bool change(const RecordedStep& step) {
    switch (change_in_place(step)) {
      case Change::kMultiplied:
        factor_ *= other_operand(step);
        return true;
      case Change::kAdded:
        add(other_operand(step), step.value.number);
        if (const SymbolName* name = step.symbol.as_name()) sum_.name = name->base;
        return true;
      case Change::kOther:
        if (sum_.rows.size() > 1) return false;
        sum_.rows.clear();
        factor_ = 1;
        if (step.value.number != 0) add(step.value.number, step.value.number);
        return true;
    }
    return true;
  }

  void add(double term, double value) {
    RescaledRow row;
    if (!sum_.rows.empty()) row = sum_.rows.back();
    row.factor = factor_;
    for (double& earlier : row.terms) earlier *= factor_;
    row.terms.push_back(term);
    row.sum = value;
    row.input = input_;
    row.input_value = input_value_;
    sum_.rows.push_back(std::move(row));
    factor_ = 1;
  }

  RescaledSum sum_;
  std::map<std::int64_t, double> values_;  // by register
  double factor_ = 1;
  std::optional<TraceCell> input_;
  double input_value_ = 0;
};

}  // namespace

std::optional<RescaledSum> rescaled_sum(const RecordedRun& run) {
  const std::int64_t number = find_register(run);
  if (number < 0) return std::nullopt;
  SumFollower follower(number);
  for (const RecordedStep& step : run.steps) {
    if (!follower.follow(step)) break;
  }
  return follower.take();
}

}  // namespace flashlab::toy
