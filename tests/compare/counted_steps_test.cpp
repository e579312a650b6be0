// Counted ranges become the counters of steps and of their row.
#include "compare/counters/counted_steps.hpp"

#include <vector>

#include "tests/catch_shim.hpp"

namespace flashlab::compare {
namespace {

CountedRange counted_range(const std::string& name, std::int64_t bytes, double percent) {
  CountedRange range{name, {}};
  range.counters.sm = Traffic{bytes, 1};
  range.counters.shared_percent = percent;
  return range;
}

Row row_of_two_steps() {
  Row row;
  row.measured.emplace();
  for (const double ms : {1.0, 3.0}) {
    Step step;
    step.name = "step of " + std::to_string(static_cast<int>(ms));
    step.measured.emplace();
    step.measured->median_ms = ms;
    row.steps.push_back(step);
  }
  return row;
}

}  // namespace

TEST_CASE("a row's counted bytes are the sum of its steps', and percentages weigh by time") {
  Row row = row_of_two_steps();
  const std::vector<CountedRange> ranges = {counted_range("step of 3", 30, 80),
                                            counted_range("step of 1", 10, 40),
                                            counted_range("another kernel", 500, 1)};
  take_counted_ranges(row, ranges);
  CHECK(row.steps[0].measured->sm == Traffic{10, 1});
  CHECK(row.steps[1].measured->sm == Traffic{30, 1});
  CHECK(row.measured->sm == Traffic{40, 2});
  CHECK(*row.measured->shared_percent == 70.0);
  CHECK(*row.steps[1].measured->median_ms == 3);
}

TEST_CASE("a step without counted bytes leaves its row without them") {
  Row row = row_of_two_steps();
  std::vector<CountedRange> ranges = {counted_range("step of 3", 30, 80),
                                      counted_range("step of 1", 10, 40)};
  ranges[1].counters.sm.reset();
  take_counted_ranges(row, ranges);
  CHECK_FALSE(row.measured->sm);
}

}  // namespace flashlab::compare
