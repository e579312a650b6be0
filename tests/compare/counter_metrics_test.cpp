#include "compare/counters/counter_metrics.hpp"

#include <set>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"

using namespace flashlab::compare;

namespace {

struct Value {
  Counter counter;
  double value;
};

CountedLaunch launch_with(const std::string& name, const std::vector<Value>& values) {
  CountedLaunch result{name, {}};
  for (const Value& value : values) {
    result.values[static_cast<std::size_t>(value.counter)] = value.value;
  }
  return result;
}

}  // namespace

TEST_CASE("the table of metrics has a row for each counter and no name twice") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kNumCounters; ++i) {
    CHECK(counter_metrics()[i].counter == static_cast<Counter>(i));
    CHECK_FALSE(counter_metrics()[i].names[0].empty());
    for (const std::string_view name : counter_metrics()[i].names) {
      if (!name.empty()) CHECK(names.insert(name).second);
    }
  }
}

TEST_CASE("ranges of one name are added up, in the order of the first of each") {
  const std::vector<CountedLaunch> launches = {
      launch_with("b", {{Counter::kSmRead, 10}, {Counter::kSmWritten, 1}}),
      launch_with("a", {{Counter::kSmRead, 20}, {Counter::kSmWritten, 2}}),
      launch_with("b", {{Counter::kSmRead, 30}, {Counter::kSmWritten, 3}})};
  const auto ranges = together(launches);
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].name == "b");
  CHECK(ranges[0].counters.sm == Traffic{40, 4});
  CHECK(ranges[1].name == "a");
  CHECK(ranges[1].counters.sm == Traffic{20, 2});
}

TEST_CASE("a launch that lasts three times as long weighs three times as much in a percentage") {
  const std::vector<CountedLaunch> launches = {
      launch_with("a", {{Counter::kTensor, 80}, {Counter::kTime, 300}}),
      launch_with("a", {{Counter::kTensor, 40}, {Counter::kTime, 100}})};
  CHECK(together(launches).at(0).counters.tensor_percent == 70.0);
}

TEST_CASE("percentages of several launches are left out where their times are not known") {
  const std::vector<CountedLaunch> launches = {launch_with("a", {{Counter::kExp, 80}}),
                                               launch_with("a", {{Counter::kExp, 40}})};
  CHECK_FALSE(together(launches).at(0).counters.exp_percent.has_value());
}

TEST_CASE("bytes that one launch of a step lacks are not made up for it") {
  const std::vector<CountedLaunch> launches = {
      launch_with("a", {{Counter::kDramRead, 10}, {Counter::kDramWritten, 1}}),
      launch_with("a", {{Counter::kDramRead, 10}})};
  CHECK_FALSE(together(launches).at(0).counters.dram.has_value());
  CHECK_FALSE(together(launches).at(0).counters.why_no_counters.empty());
}
