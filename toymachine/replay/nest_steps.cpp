#include "toymachine/replay/nest_steps.hpp"

#include <algorithm>
#include <functional>

#include "toymachine/bind/ranges.hpp"
#include "toymachine/bind/wrapping.hpp"
#include "toymachine/budget/budget.hpp"

namespace flashlab::toy {
namespace {

using Wide = detail::Int128;  // for sums over ranges that are wider than the loops' own

/// Calls `visit` with every loop that the bound mentions.
void visit_loops(const BoundExpression& bound, const std::function<void(std::uint32_t)>& visit) {
  for (const auto& [loop, coefficient] : bound.affine.terms) visit(loop);
  for (const BoundExpression& arg : bound.args) visit_loops(arg, visit);
}

std::int64_t clamped(Wide value) {
  return static_cast<std::int64_t>(std::clamp<Wide>(value, INT64_MIN, INT64_MAX));
}

Wide quotient_below(Wide a, Wide b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

/// Searches the executions of one instruction, loop by loop from outside, for the nearest one on one
/// side of a point.
class NestSearch {
 public:
  enum class Side { kBefore, kAfter };
  using Sites = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  NestSearch(const BoundProgram& program, const Sites& sites, std::uint32_t site,
             const RunPoint& point, std::span<const IndexWithin> wanted, Side side)
      : program_(program),
        sites_(sites),
        point_(point),
        wanted_(wanted),
        side_(side),
        encloses_point_(program.loops.size(), false),
        found_{site, std::vector<std::int64_t>(program.loops.size(), 0)} {
    const auto visit_around = [&](std::uint32_t at, auto visit) {
      if (at >= program.instructions.size()) return;
      for (std::uint32_t loop = program.instructions[at].loop; loop != kNoLoop;
           loop = program.loops[loop].parent) {
        visit(loop);
      }
    };
    visit_around(site, [&](std::uint32_t loop) { around_.push_back(loop); });
    std::reverse(around_.begin(), around_.end());
    visit_around(point.site, [&](std::uint32_t loop) { encloses_point_[loop] = true; });
  }

  std::optional<RunPoint> find() {
    if (!search(0, true)) return std::nullopt;
    return std::move(found_);
  }

 private:
  bool before() const { return side_ == Side::kBefore; }

  /// `tight`: all loops so far have the values of the point.
  bool search(std::size_t level, bool tight) {
    if (level == around_.size()) {
      if (!reached_values()) return false;
      return !tight || (before() ? found_.site < point_.site : found_.site > point_.site);
    }
    const std::uint32_t loop = around_[level];
    const BoundLoop& bound = program_.loops[loop];
    const std::int64_t* values = found_.loop_values.data();
    const std::int64_t lower = bound.lower(values), upper = bound.upper(values);
    if (lower >= upper) return false;
    Wide low = lower, high = Wide{upper} - 1;
    if (!restrict_to_wanted(level, low, high)) return false;
    const bool splits = tight && encloses_point_[loop];
    if (splits) {
      const std::int64_t value = point_.loop_values[loop];
      before() ? high = std::min<Wide>(high, value) : low = std::max<Wide>(low, value);
    } else if (tight && (sites_[loop].first < point_.site) != before()) {
      return false;
    }
    // Onto the loop's own values.
    low = lower + quotient_below(low - lower + bound.step - 1, bound.step) * bound.step;
    high = lower + quotient_below(high - lower, bound.step) * bound.step;
    for (Wide value = before() ? high : low; low <= value && value <= high;
         value += before() ? -bound.step : bound.step) {
      check_budget();
      found_.loop_values[loop] = static_cast<std::int64_t>(value);
      if (search(level + 1, splits && value == point_.loop_values[loop])) return true;
    }
    return false;
  }

  bool reached_values() const {
    return std::all_of(wanted_.begin(), wanted_.end(), [&](const IndexWithin& one) {
      const std::int64_t value = (*one.index)(found_.loop_values.data());
      return one.low <= value && value <= one.high;
    });
  }

  /// Narrows the range of the loop of this level to values with which the loops inside can still
  /// reach the wanted indices. Returns false if there are none.
  bool restrict_to_wanted(std::size_t level, Wide& low, Wide& high) const {
    for (const IndexWithin& one : wanted_) {
      Wide rest_low = Wide{one.low} - one.index->constant;
      Wide rest_high = Wide{one.high} - one.index->constant;
      Wide coefficient = 0;
      for (const auto& [loop, factor] : one.index->terms) {
        const auto at = static_cast<std::size_t>(std::find(around_.begin(), around_.end(), loop) -
                                                 around_.begin());
        if (at == level) {
          coefficient = factor;
        } else if (at < level) {
          rest_low -= Wide{factor} * found_.loop_values[loop];
          rest_high -= Wide{factor} * found_.loop_values[loop];
        } else {
          const Interval range = program_.loops[loop].values;
          const Wide one_end = Wide{factor} * range.low, other_end = Wide{factor} * range.high;
          rest_low -= std::max(one_end, other_end);
          rest_high -= std::min(one_end, other_end);
        }
      }
      if (coefficient == 0) {
        if (rest_low > 0 || rest_high < 0) return false;
        continue;
      }
      if (coefficient < 0) {
        coefficient = -coefficient;
        std::swap(rest_low, rest_high);
        rest_low = -rest_low;
        rest_high = -rest_high;
      }
      low = std::max(low, quotient_below(rest_low + coefficient - 1, coefficient));
      high = std::min(high, quotient_below(rest_high, coefficient));
    }
    return low <= high;
  }

  const BoundProgram& program_;
  const Sites& sites_;
  const RunPoint& point_;
  std::span<const IndexWithin> wanted_;
  Side side_;
  std::vector<std::uint32_t> around_;  // the instruction's loops, the outermost first
  std::vector<bool> encloses_point_;   // by loop
  RunPoint found_;
};

}  // namespace

NestSteps::NestSteps(const BoundProgram& program)
    : program_(program),
      begin_(program.loops.size(), 0),
      sites_(program.loops.size(), {UINT32_MAX, 0}),
      same_(program.loops.size(), true) {
  for (std::uint32_t node = 0; node < program.nodes.size(); ++node) {
    if (program.nodes[node].kind == Node::Kind::kLoopBegin) begin_[program.nodes[node].loop] = node;
  }
  for (const BoundInstruction& instruction : program.instructions) {
    for (std::uint32_t loop = instruction.loop; loop != kNoLoop;
         loop = program.loops[loop].parent) {
      sites_[loop].first = std::min(sites_[loop].first, instruction.site);
      sites_[loop].second = std::max(sites_[loop].second, instruction.site + 1);
    }
  }
  for (std::size_t loop = 0; loop < program.loops.size(); ++loop) {
    if (sites_[loop].second == 0) continue;  // no steps, however often it runs
    const auto depends = [&](std::uint32_t outer) { same_[outer] = false; };
    visit_loops(program.loops[loop].lower, depends);
    visit_loops(program.loops[loop].upper, depends);
  }
}

NestSteps::Trips NestSteps::trips(std::uint32_t loop, const Values& values) const {
  const BoundLoop& bound = program_.loops[loop];
  const Wide first = bound.lower(values.data()), end = bound.upper(values.data());
  if (first >= end) return {static_cast<std::int64_t>(first), 0};
  return {static_cast<std::int64_t>(first), clamped((end - first - 1) / bound.step + 1)};
}

std::uint64_t NestSteps::of_loop(std::uint32_t loop, Sum& sum) const {
  if (sites_[loop].second == 0) return 0;
  return of_iterations(loop, trips(loop, sum.values), sum);
}

std::uint64_t NestSteps::of_iterations(std::uint32_t loop, const Trips& trips, Sum& sum) const {
  const std::uint32_t first = begin_[loop] + 1, last = program_.nodes[begin_[loop]].partner;
  sum.values[loop] = trips.first;
  if (trips.count == 0) return 0;
  if (same_[loop]) return static_cast<std::uint64_t>(trips.count) * of_nodes(first, last, sum);
  std::uint64_t total = 0;
  for (std::int64_t i = 0; i < trips.count && !sum.is_too_long(); ++i) {
    check_budget();
    ++sum.summed;
    total += of_nodes(first, last, sum);
    sum.values[loop] = detail::wrapped_sum(sum.values[loop], program_.loops[loop].step);
  }
  return total;
}

/// Returns the steps of the nodes [first, last), which contain whole loops.
std::uint64_t NestSteps::of_nodes(std::uint32_t first, std::uint32_t last, Sum& sum) const {
  std::uint64_t total = 0;
  for (std::uint32_t at = first; at < last; ++at) {
    const Node& node = program_.nodes[at];
    if (node.kind == Node::Kind::kBlock) total += node.last - node.first;
    if (node.kind != Node::Kind::kLoopBegin) continue;
    total += of_loop(node.loop, sum);
    at = node.partner;
  }
  return total;
}

std::optional<std::uint64_t> NestSteps::total() const {
  Sum sum = new_sum();
  const std::uint64_t total = of_nodes(0, static_cast<std::uint32_t>(program_.nodes.size()), sum);
  return sum.is_too_long() ? std::nullopt : std::optional(total);
}

std::uint64_t NestSteps::steps_before(const RunPoint& point) const {
  Sum sum = new_sum();
  if (point.site >= program_.instructions.size()) {
    return of_nodes(0, static_cast<std::uint32_t>(program_.nodes.size()), sum);
  }
  std::vector<std::uint32_t> around;
  for (std::uint32_t loop = program_.instructions[point.site].loop; loop != kNoLoop;
       loop = program_.loops[loop].parent) {
    around.push_back(loop);
  }
  std::uint64_t total = 0;
  std::uint32_t first = 0;  // the node at which the loop's body begins
  for (auto loop = around.rbegin(); loop != around.rend(); ++loop) {
    total += of_nodes(first, begin_[*loop], sum);
    Trips before = trips(*loop, sum.values);
    before.count = (point.loop_values[*loop] - before.first) / program_.loops[*loop].step;
    total += of_iterations(*loop, before, sum);
    sum.values[*loop] = point.loop_values[*loop];
    first = begin_[*loop] + 1;
  }
  for (std::uint32_t at = first;; ++at) {
    const Node& node = program_.nodes[at];
    if (node.kind == Node::Kind::kLoopBegin) {
      total += of_loop(node.loop, sum);
      at = node.partner;
    } else if (node.kind == Node::Kind::kBlock) {
      if (point.site < node.last) return total + (point.site - node.first);
      total += node.last - node.first;
    }
  }
}

std::optional<RunPoint> NestSteps::last_before(std::uint32_t site, const RunPoint& point,
                                               std::span<const IndexWithin> wanted) const {
  return NestSearch(program_, sites_, site, point, wanted, NestSearch::Side::kBefore).find();
}

std::optional<RunPoint> NestSteps::first_after(std::uint32_t site, const RunPoint& point,
                                               std::span<const IndexWithin> wanted) const {
  return NestSearch(program_, sites_, site, point, wanted, NestSearch::Side::kAfter).find();
}

}  // namespace flashlab::toy
