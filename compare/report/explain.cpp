#include "compare/report/explain.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/model/binding_unit.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"

namespace flashlab::compare {
namespace {

std::string percent(double share) { return fixed_text(100 * share, 0) + " %"; }
std::string times(double ratio) { return fixed_text(ratio, ratio < 10 ? 1 : 0) + " times"; }

/// Clauses about the predicted time.
class Clauses {
 public:
  Clauses(const Row& row, std::int64_t num_sms, const ExplainLimits& limits)
      : row_(row), p_(row.predicted), sms_(num_sms), limits_(limits) {}

  bool has_too_few_tiles() const { return p_.fill < limits_.fill && !row_.steps.empty(); }
  std::string too_few_tiles() const {
    return "too few tiles to fill the SMs: " + std::to_string(longest_step(row_).num_blocks) +
           (longest_step(row_).num_blocks == 1 ? " block on " : " blocks on ") +
           std::to_string(sms_);
  }

  /// The unit that binds (model/binding_unit.hpp), and where. Empty: no kernel has a unit.
  std::string bound() const {
    const std::optional<CallBinding> binding = binding_unit(row_);
    if (!binding) return {};
    std::string text = "bound by " + std::string(unit_name(binding->unit));
    if (binding->unit == Bound::kLaunch) return text + launches();
    if (binding->kernel != nullptr && binding->kernel_share < limits_.whole) {
      text += ", most of all in " + binding->kernel->name + ", " + percent(binding->kernel_share) +
              " of the time";
    }
    const double of_products = p_.exp_ms / p_.products_ms;
    if (binding->unit == Bound::kProducts && of_products > limits_.exp_to_products) {
      text += "; exponentials take " + fixed_text(of_products, 2) + " of their time";
    }
    return text;
  }

 private:
  std::string launches() const {
    std::int64_t launches = 0;
    for (const Step& step : row_.steps) launches += step.num_launches;
    return ": " + std::to_string(launches) + (launches == 1 ? " takes " : " take ") +
           percent(p_.launch_ms / predicted_ms(p_)) + " of the predicted time";
  }

  const Row& row_;
  const Prediction& p_;
  const std::int64_t sms_;
  const ExplainLimits& limits_;
};

/// The share of repeated loads that hit L2. Nothing without counters, or if the share is small.
std::optional<std::string> absorbed_reloads(const Row& row, const ExplainLimits& limits) {
  const Measurement& m = *row.measured;
  if (!m.sm || !m.dram) return std::nullopt;
  const auto once = static_cast<double>(row.work.dram.bytes());
  const double again = static_cast<double>(m.sm->bytes()) - once;
  if (again < once) return std::nullopt;
  const double missed = std::max(0.0, static_cast<double>(m.dram->bytes()) - once);
  const double share = 1 - missed / again;
  if (share < limits.absorbed) return std::nullopt;
  return "L2 absorbed " + percent(share) + " of the re-loads";
}

std::optional<std::string> extra_bytes(const Row& row, const ExplainLimits& limits) {
  const auto ratio = sm_ratio(row);
  if (!ratio || std::abs(*ratio - 1) <= limits.extra_bytes) return std::nullopt;
  const double more = 1 / *ratio - 1;
  return percent(std::abs(more)) + (more > 0 ? " more" : " fewer") +
         " bytes crossed to the SMs than were counted";
}

/// Why the row is slower than predicted, from the unit that is busiest by the counters.
std::string why_slower(const Row& row, const ExplainLimits& limits) {
  const Measurement& m = *row.measured;
  const auto dram_ratio =
      m.dram && row.work.dram.bytes() > 0
          ? static_cast<double>(m.dram->bytes()) / static_cast<double>(row.work.dram.bytes())
          : 1;
  const bool is_dram_bound = row.predicted.dram_ms > 0.5 * predicted_ms(row.predicted);
  if (is_dram_bound && dram_ratio > 1 + limits.close) {
    return "DRAM moved " + times(dram_ratio) + " the bytes";
  }
  struct Unit {
    const char* name;
    std::optional<double> percent;
  };
  const Unit units[] = {{"issue slots", m.issue_percent},
                        {"shared memory", m.shared_percent},
                        {"the tensor cores", m.tensor_percent},
                        {"the special functions", m.exp_percent}};
  const Unit* busiest = nullptr;
  for (const Unit& unit : units) {
    if (unit.percent && (busiest == nullptr || *unit.percent > *busiest->percent)) busiest = &unit;
  }
  if (busiest == nullptr) return "no counter to tell why";
  const std::string load =
      std::string(busiest->name) + " busy " + fixed_text(*busiest->percent, 0) + " % of the time";
  return *busiest->percent >= limits.busy_percent ? load
                                                  : "no unit is saturated, most of all " + load;
}

std::string why_faster(const Row& row) {
  const Measurement& m = *row.measured;
  if (m.dram && 2 * m.dram->bytes() < row.work.dram.bytes()) {
    return "L2 kept what was counted as DRAM traffic";
  }
  return "units overlapped more than predicted, by the roofline " +
         fixed_text(row.predicted.roofline_ms, 3) + " ms";
}

std::string explain_measured(const Row& row, const Clauses& clauses, const ExplainLimits& limits) {
  const bool is_close = std::abs(*time_ratio(row) - 1) <= limits.close;
  const double slower = 1 / *time_ratio(row);
  std::string first = is_close     ? "as predicted"
                      : slower > 1 ? times(slower) + " the predicted time"
                                   : "only " + fixed_text(slower, 2) + " of the predicted time";
  std::vector<std::string> said;
  if (clauses.has_too_few_tiles()) said.push_back(clauses.too_few_tiles());
  if (const std::string bound = clauses.bound(); is_close && !bound.empty()) {
    said.push_back(bound);
  } else if (!bound.empty()) {
    first += " (" + bound + ")";
  }
  said.insert(said.begin(), first);
  if (!is_close && !clauses.has_too_few_tiles()) {
    said.push_back(slower > 1 ? why_slower(row, limits) : why_faster(row));
  }
  if (const auto extra = extra_bytes(row, limits)) said.push_back(*extra);
  if (const auto absorbed = absorbed_reloads(row, limits)) said.push_back(*absorbed);
  return joined(said, "; ");
}

}  // namespace

const Step& longest_step(const Row& row) {
  if (row.steps.empty()) throw std::out_of_range("a row without steps");
  return *std::max_element(row.steps.begin(), row.steps.end(), [](const Step& a, const Step& b) {
    return predicted_ms(a.predicted) < predicted_ms(b.predicted);
  });
}

std::string explain(const Row& row, std::int64_t num_sms, const ExplainLimits& limits) {
  if (!row.failure.empty()) return row.failure;
  const Clauses clauses(row, num_sms, limits);
  if (time_ratio(row)) return explain_measured(row, clauses, limits);
  std::string text = "predicted only";
  if (clauses.has_too_few_tiles()) text += "; " + clauses.too_few_tiles();
  if (const std::string bound = clauses.bound(); !bound.empty()) text += "; " + bound;
  return text;
}

}  // namespace flashlab::compare
