// Several machines as one straight line: it computes what they compute, and errors are errors.
#include "toymachine/links/unroll_machines.hpp"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/lanes.hpp"
#include "toymachine/links/machines.hpp"

namespace flashlab::toy {
namespace {

Machines all_machines(const std::string& text,
                      const std::map<std::string, std::int64_t>& params = {}) {
  CapacityBinding binding;
  binding.params = params;
  auto machines = bind_machines(test::assembled(text), binding);
  REQUIRE(machines);
  return std::move(*machines);
}

std::string bundled_text(const std::string& name) {
  return test::read_source(std::filesystem::path(FLASHLAB_SOURCE_DIR) / "toymachine" / "programs" /
                           (name + ".toy"));
}

/// Why the text cannot be unrolled; "" if it can.
std::string error_of_unrolling(const std::string& text, std::uint64_t max_steps = 1000) {
  const auto unrolled = unroll_machines(all_machines(text), max_steps);
  return unrolled ? "" : unrolled.diagnostics.front().what;
}

constexpr const char* kTwo = ".machines rank of ranks = 2\n.input x[2]\n.output o[2]\n";
constexpr const char* kNoOrder = "the machines cannot be put into one order";

}  // namespace

TEST_CASE("machines that are unrolled compute the floats that a run computes", "[links]") {
  for (const char* const name : {"ring_full", "ring_causal", "ring_causal_zigzag", "gather_kv"}) {
    for (const std::int64_t ranks : {1, 2, 3, 5}) {
      CAPTURE(name, ranks);
      const Machines machines = all_machines(
          bundled_text(name), {{"ranks", ranks}, {"n", 3}, {"d", 1}, {"B", 1}, {"Bd", 1}});
      std::map<std::string, InputSource> inputs;
      auto dram = initial_dram(machines.joined, inputs);
      REQUIRE(dram);
      const auto unrolled = unroll_machines(machines, 100000);
      REQUIRE(unrolled);
      std::vector<LaneValue> lanes(dram->size()), registers;
      for (std::size_t k = 0; k < lanes.size(); ++k) {
        for (float& lane : lanes[k].lane) lane = static_cast<float>((*dram)[k]);
      }
      REQUIRE_FALSE(run_lanes(*unrolled, lanes, registers));
      std::vector<float> cells(dram->begin(), dram->end());
      REQUIRE(run_machines(machines, cells));
      for (std::size_t k = 0; k < cells.size(); ++k) {
        const float lane = lanes[k].lane[kLanes - 1];
        CHECK((lane == cells[k] || (std::isnan(lane) && std::isnan(cells[k]))));
      }
    }
  }
}

TEST_CASE("each step of unrolled machines has its machine's registers, cells and line", "[links]") {
  const auto unrolled = unroll_machines(
      all_machines(std::string(kTwo) + "SEND x[1], 1 - rank\nRECV 1 - rank, o[0]\n"
                                       "LOAD o[0], R1\nMUL R1, R1, R0\nSTORE R0, o[1]\n"),
      100);
  REQUIRE(unrolled);
  REQUIRE(unrolled->steps.size() == 10);
  CHECK(unrolled->num_registers == 2 * 2 + 2);  // two on each machine, and two links
  CHECK(unrolled->dram_elements == 8);
  // Machine 0 sends and waits; machine 1 runs to its end; then machine 0 goes on.
  const auto slots = [&](std::size_t step) { return unrolled->steps[step].slots; };
  CHECK(slots(0)[0] == 1);
  CHECK(slots(1)[0] == 3);
  CHECK(slots(2)[1] == 6);  // o[0] of machine 1
  CHECK(slots(4)[0] == 3);  // R1 of machine 1
  CHECK(slots(5)[0] == 2);
  CHECK(slots(5)[1] == 7);
  CHECK(slots(6)[1] == 4);
  CHECK(unrolled->steps[6].site == 1);
}

TEST_CASE("machines that wait for each other have no order, nor messages that nobody takes",
          "[links]") {
  const std::string two = kTwo;
  CHECK(error_of_unrolling(two + "SEND x[0], 1 - rank\nRECV 1 - rank, o[0]\n") == "");
  CHECK(error_of_unrolling(two + "RECV 1 - rank, o[0]\nSEND x[0], 1 - rank\n") == kNoOrder);
  CHECK(error_of_unrolling(two + "SEND x[0], 1 - rank\nSEND x[1], 1 - rank\n"
                                 "RECV 1 - rank, o[0]\nRECV 1 - rank, o[1]\n") == kNoOrder);
  CHECK(error_of_unrolling(two + "SEND x[0], 1 - rank\n") == kNoOrder);
  CHECK(error_of_unrolling(two + "for i in 0..2\n  SEND x[0], i\nend\n") == kNoOrder);  // to itself
  CHECK(error_of_unrolling(".machines rank of ranks = 2\n.input x[1] double\n.output o[1]\n"
                           "SEND x[0], 1 - rank\nRECV 1 - rank, o[0]\n") == kNoOrder);
}

TEST_CASE("steps of all unrolled machines together are limited", "[links]") {
  const std::string text =
      std::string(kTwo) + "SEND x[0], 1 - rank\nRECV 1 - rank, o[0]\nLOAD x[0], R0\n";
  CHECK(error_of_unrolling(text, 6) == "");
  CHECK_THAT(error_of_unrolling(text, 5), test::contains("more than 2 steps"));
  // Before memory is taken for 1.6 thousand million elements.
  const auto large = unroll_machines(
      all_machines(".machines rank of ranks = 4\n.input x[400000000]\nLOAD x[0], R0\n"), 100);
  REQUIRE_FALSE(large);
  CHECK(large.diagnostics.front().fault == Fault::kLimit);
}

}  // namespace flashlab::toy
