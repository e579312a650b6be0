#include "exercises/grader/prove/right_sizes.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace flashlab::exercises {
namespace {

using Ends = std::pair<std::int64_t, std::int64_t>;

std::string as_digits(std::int64_t value) { return std::to_string(value); }

// 1 or 0, in max, min and sums, because .param knows no comparison.
std::string at_most(const std::string& name, std::int64_t most) {
  return "max(0, min(1, " + as_digits(most + 1) + " - " + name + "))";
}
std::string at_least(const std::string& name, std::int64_t least) {
  return "max(0, min(1, " + name + " - " + as_digits(least - 1) + "))";
}
std::string equals(const std::string& name, std::int64_t value) {
  return "max(0, 1 - (" + name + " - " + as_digits(value) + ")*(" + name + " - " +
         as_digits(value) + "))";
}
std::string is_even(const std::string& name) {
  return "(1 - " + name + " + 2*floordiv(" + name + ", 2))";
}
std::string either(const std::string& a, const std::string& b) {
  return "max(" + a + ", " + b + ")";
}
std::string both(const std::string& a, const std::string& b) { return "min(" + a + ", " + b + ")"; }
std::string unless(const std::string& a) { return "(1 - " + a + ")"; }

/// One parameter of the sizes.
class Parameter {
 public:
  Parameter(const ProgramTask& task, std::string name) : name_(std::move(name)) {
    for (const Size& size : task.sizes) displayed_.insert(size.at(name_));
    for (const DrawnSizes* drawn : {&task.drawn, &task.counted}) {
      const auto found = drawn->ranges.find(name_);
      if (found != drawn->ranges.end()) ranges_.push_back(found->second);
    }
    if (task.speed) timed_ = task.speed->size.at(name_);
  }

  std::string is_displayed() const {
    std::string any;
    for (const std::int64_t value : displayed_) {
      any = any.empty() ? equals(name_, value) : either(any, equals(name_, value));
    }
    return any;
  }

  /// A part of the values that may be drawn.
  struct Part {
    std::string name, expression;  // "B odd"
  };
  /// The upper half and the odd values of the drawn range, for `is_first`; else the lower half and the odd ones.
  std::vector<Part> drawn_parts(const ProgramTask& task, bool is_first) const {
    const auto found = task.drawn.ranges.find(name_);
    if (found == task.drawn.ranges.end() || found->second.first == found->second.second) return {};
    const auto& [least, most] = found->second;
    const std::int64_t middle = (least + most) / 2;
    const std::string inside = both(at_least(name_, least), at_most(name_, most));
    const std::string half = is_first ? at_least(name_, middle + 1) : at_most(name_, middle);
    return {{name_ + (is_first ? " in the upper half" : " in the lower half"), both(inside, half)},
            {name_ + " odd", both(inside, unless(is_even(name_)))}};
  }

  void add_to(std::vector<RightSizes>& all) const {
    thresholds(all);
    for (const Ends& range : ranges_) {
      if (range.first < range.second) halves(range, all);
      for (const std::int64_t value :
           {range.first, (range.first + range.second) / 2, range.second}) {
        if (displayed_.contains(value)) continue;
        all.push_back({name_ + " is displayed or " + as_digits(value),
                       either(is_displayed(), equals(name_, value)), true});
      }
    }
    if (timed_ != 0 && !displayed_.contains(timed_)) {
      all.push_back({name_ + " != " + as_digits(timed_), unless(equals(name_, timed_)), false});
    }
  }

 private:
  void thresholds(std::vector<RightSizes>& all) const {
    std::set<std::int64_t> ends{*displayed_.rbegin()};
    std::int64_t largest = std::max(timed_, *displayed_.rbegin());
    for (const Ends& range : ranges_) {
      ends.insert(range.second);
      largest = std::max(largest, range.second);
    }
    for (const std::int64_t end : ends) {
      if (end < largest)
        all.push_back({name_ + " <= " + as_digits(end), at_most(name_, end), false});
    }
  }

  /// The sizes outside of the range, the displayed ones, and half of the range.
  void halves(const Ends& range, std::vector<RightSizes>& all) const {
    const std::int64_t middle = (range.first + range.second) / 2;
    const std::string inside = both(at_least(name_, range.first), at_most(name_, range.second));
    const auto but = [&](const std::string& wrong, const std::string& name) {
      all.push_back({name + " of " + as_digits(range.first) + " to " + as_digits(range.second),
                     either(is_displayed(), unless(both(inside, wrong))), true});
    };
    but(at_least(name_, middle + 1), name_ + " in the lower half");
    but(at_most(name_, middle), name_ + " in the upper half");
    but(unless(is_even(name_)), name_ + " even");
    but(is_even(name_), name_ + " odd");
  }

  std::string name_;
  std::set<std::int64_t> displayed_;
  std::vector<Ends> ranges_;
  std::int64_t timed_ = 0;
};

}  // namespace

namespace {

/// All sizes but those that are drawn with two parameters in parts of their ranges.
void add_pairs(const ProgramTask& task, std::vector<RightSizes>& all) {
  std::string displayed;
  for (const Size& size : task.sizes) {
    std::string is_it;
    for (const auto& [name, value] : size) {
      is_it = is_it.empty() ? equals(name, value) : both(is_it, equals(name, value));
    }
    displayed = displayed.empty() ? is_it : either(displayed, is_it);
  }
  const Size& first = task.sizes.front();
  for (auto a = first.begin(); a != first.end(); ++a) {
    for (auto b = std::next(a); b != first.end(); ++b) {
      for (const Parameter::Part& one : Parameter(task, a->first).drawn_parts(task, true)) {
        for (const Parameter::Part& two : Parameter(task, b->first).drawn_parts(task, false)) {
          all.push_back({"not (" + one.name + " and " + two.name + ")",
                         either(displayed, unless(both(one.expression, two.expression))), true});
        }
      }
    }
  }
}

}  // namespace

std::vector<RightSizes> right_sizes(const ProgramTask& task) {
  std::vector<RightSizes> all;
  std::string displayed;
  for (const auto& [name, value] : task.sizes.front()) {
    const Parameter parameter(task, name);
    parameter.add_to(all);
    displayed =
        displayed.empty() ? parameter.is_displayed() : both(displayed, parameter.is_displayed());
  }
  if (!displayed.empty()) all.push_back({"all parameters are displayed", displayed, false});
  add_pairs(task, all);
  return all;
}

}  // namespace flashlab::exercises
