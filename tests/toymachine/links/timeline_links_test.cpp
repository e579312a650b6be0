// The schedules of machines with links, typed from the rules in timeline.hpp.
#include <string>
#include <vector>

#include "tests/toymachine/assembled.hpp"
#include "toymachine/timeline/timeline.hpp"

namespace flashlab::toy {
namespace {

/// By machine and model.
std::vector<std::vector<Timeline>> timed(const std::string& text, const std::string& costs,
                                         std::int64_t recorded = 0) {
  const auto machines = bind_machines(test::assembled(text), {});
  REQUIRE(machines);
  TimelineOptions options;
  options.models = {{false, 1}, {true, 1}};
  REQUIRE(options.costs.parse(costs));
  options.to = INT64_MAX;
  options.machine = recorded;
  auto timelines = simulate_machines(*machines, options);
  REQUIRE(timelines);
  return std::move(*timelines);
}

std::string intervals_of(const Timeline& timeline, Unit unit) {
  std::string text;
  for (const TimelineInterval& interval : timeline.intervals) {
    if (interval.unit != unit) continue;
    text += (text.empty() ? "" : ", ") + std::string(to_string(interval.cause)) + " " +
            std::to_string(interval.start) + "-" + std::to_string(interval.end);
  }
  return text;
}

constexpr const char* kSwapAndStore =
    ".machines rank of ranks = 2\n.input x[1]\n.temp y[1]\n.output o[1]\n"
    "SEND x[0], 1 - rank\nRECV 1 - rank, y[0]\nLOAD y[0], R0\nSTORE R0, o[0]\n";

}  // namespace

TEST_CASE("a RECV begins when its message has arrived, and a LOAD of it when it has ended",
          "[links]") {
  const auto timelines = timed(kSwapAndStore, "SEND=5");
  for (const Timeline& timeline : timelines[0]) CHECK(timeline.cycles == 8);
  const Timeline& overlap = timelines[0][1];
  CHECK(intervals_of(overlap, Unit::kLink) == "busy 0-5, busy 5-6, idle 6-8");
  CHECK(intervals_of(overlap, Unit::kMemory) == "data 0-6, busy 6-7, busy 7-8");
  CHECK(intervals_of(overlap, Unit::kCompute) == "idle 0-8");
}

TEST_CASE("a machine that sends late keeps the other one waiting", "[links]") {
  // Machine 1 stores its message after 4 additions; machine 0 sends at once.
  const std::string text =
      ".machines rank of ranks = 2\n.input x[1]\n.temp y[1]\n.output o[1]\nLOAD x[0], R0\n"
      "for i in 0..4*rank\n  ADD R0, R0, R0\nend\nSTORE R0, y[0]\n"
      "SEND y[0], 1 - rank\nRECV 1 - rank, o[0]\n";
  const auto timelines = timed(text, "SEND=2");
  CHECK(intervals_of(timelines[0][1], Unit::kLink) == "data 0-2, busy 2-4, data 4-8, busy 8-9");
  CHECK(timelines[0][1].end == 9);
  CHECK(timelines[1][1].end == 9);
  CHECK(timelines[0][0].end == 9);
}

TEST_CASE("a link takes its next message when the last one was received, a cell when it was used",
          "[links]") {
  const std::string text =
      ".machines rank of ranks = 2\n.input x[1]\n.temp y[1]\n.output o[1]\n"
      "for once in 0..1 - rank\n  SEND x[0], 1\n  SEND x[0], 1\nend\n"
      "for once in 0..rank\n  RECV 0, y[0]\n  LOAD y[0], R0\n  RECV 0, y[0]\nend\n"
      "LOAD x[0], R0\nSTORE R0, o[0]\n";
  CHECK(intervals_of(timed(text, "SEND=5,LOAD=7")[0][1], Unit::kLink) ==
        "busy 0-5, buffer 5-6, busy 6-11, idle 11-21");
  CHECK(intervals_of(timed(text, "SEND=5,LOAD=7", 1)[1][1], Unit::kLink) ==
        "data 0-5, busy 5-6, data 6-11, buffer 11-13, busy 13-14, idle 14-21");
}

TEST_CASE("the units' cycles of every machine add up to the whole", "[links]") {
  for (const auto& machine : timed(kSwapAndStore, "SEND=5,LOAD=3")) {
    for (const Timeline& timeline : machine) {
      for (const CauseCycles& unit : timeline.units) {
        CHECK(unit[0] + unit[1] + unit[2] + unit[3] == timeline.cycles);
      }
    }
  }
}

TEST_CASE("costs of all machines together must fit 64 bits", "[links]") {
  const auto machines = bind_machines(
      test::assembled(".machines rank of ranks = 2\n.param n = 9000000000\n.input x[1]\n"
                      ".output o[1]\nfor i in 0..n\n  SEND x[0], 1 - rank\n"
                      "  RECV 1 - rank, o[0]\nend\n"),
      {});
  REQUIRE(machines);
  TimelineOptions options;
  const auto timelines = simulate_machines(*machines, options);
  REQUIRE_FALSE(timelines);
  CHECK(timelines.diagnostics.front().fault == Fault::kLimit);
}

}  // namespace flashlab::toy
