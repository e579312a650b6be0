#include "compare/counters/counted_call.hpp"

#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"

using namespace flashlab::compare;
using namespace flashlab::test;

namespace {

CountedLaunch timed_launch(const char* name, double sm_bytes, double ns) {
  CountedLaunch result{name, {}};
  result.values[static_cast<std::size_t>(Counter::kSmRead)] = sm_bytes;
  result.values[static_cast<std::size_t>(Counter::kSmWritten)] = 100;
  result.values[static_cast<std::size_t>(Counter::kTime)] = ns;
  return result;
}

/// delta once, then a kernel of two launches.
Row two_steps() {
  Row row = synthetic_row();
  row.steps.push_back(row.steps.front());
  row.steps[0].name = "delta";
  row.steps[1].name = "main";
  row.steps[1].num_launches = 2;
  return row;
}

}  // namespace

TEST_CASE("launches of one call give bytes and times of steps and row", "[compare]") {
  Row row = two_steps();
  const CountedLaunch launches[] = {timed_launch("delta", 1000, 5e5),
                                    timed_launch("main", 4000, 1e6), timed_launch("other", 9, 9),
                                    timed_launch("main", 4000, 2e6)};
  take_counted_launches(row, launches);
  CHECK(row.steps[0].measured->sm == Traffic{1000, 100});
  CHECK(row.steps[1].measured->sm == Traffic{8000, 200});
  CHECK(row.measured->sm == Traffic{9000, 300});
  CHECK(row.steps[1].measured->median_ms == 3);
  CHECK(row.measured->median_ms == 3.5);
}

TEST_CASE("several calls are averaged", "[compare]") {
  Row row = synthetic_row();
  const CountedLaunch launches[] = {timed_launch("flash2", 1000, 1e6),
                                    timed_launch("flash2", 3000, 3e6)};
  take_counted_launches(row, launches);
  CHECK(row.measured->sm == Traffic{2000, 100});
  CHECK(row.measured->median_ms == 2);
  CHECK(row.measured->num_samples == 2);
}

TEST_CASE("part of a call is refused, and some of its steps are no call", "[compare]") {
  Row row = two_steps();
  const CountedLaunch part[] = {timed_launch("main", 1, 1)};
  CHECK_THROWS_WITH(take_counted_launches(row, part),
                    "1 launches of main: expected a multiple of the call's 2");
  const CountedLaunch none[] = {timed_launch("other", 1, 1)};
  CHECK_THROWS_WITH(take_counted_launches(row, none), contains("no launch of flash2, bf16"));
  const CountedLaunch uneven[] = {timed_launch("delta", 1, 1), timed_launch("delta", 1, 1),
                                  timed_launch("main", 1, 1), timed_launch("main", 1, 1)};
  CHECK_THROWS_WITH(take_counted_launches(row, uneven),
                    contains("main was counted in 1 calls, the steps before it in 2"));
  const CountedLaunch some[] = {timed_launch("delta", 7, 1)};
  Row other = two_steps();
  take_counted_launches(other, some);
  CHECK(other.steps[0].measured->sm == Traffic{7, 100});
  CHECK_FALSE(other.measured.has_value());
}
