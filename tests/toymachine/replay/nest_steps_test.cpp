// Every answer is compared with a walk through all iterations.
#include "toymachine/replay/nest_steps.hpp"

#include <functional>

#include "tests/toymachine/random_nest.hpp"

namespace flashlab::test {
namespace {

/// Every execution of a small program, in order.
std::vector<toy::RunPoint> all_points(const toy::BoundProgram& program) {
  std::vector<toy::RunPoint> points;
  std::vector<std::int64_t> values(program.loops.size(), 0);
  const std::function<void(std::size_t, std::size_t)> walk = [&](std::size_t first,
                                                                 std::size_t last) {
    for (std::size_t at = first; at < last; ++at) {
      const toy::Node& node = program.nodes[at];
      if (node.kind == toy::Node::Kind::kBlock) {
        for (std::uint32_t site = node.first; site < node.last; ++site) {
          points.push_back({site, values});
        }
      } else if (node.kind == toy::Node::Kind::kLoopBegin) {
        const toy::BoundLoop& loop = program.loops[node.loop];
        const std::int64_t upper = loop.upper(values.data());
        for (std::int64_t i = loop.lower(values.data()); i < upper; i += loop.step) {
          values[node.loop] = i;
          walk(at + 1, node.partner);
        }
        at = node.partner;
      }
    }
  };
  walk(0, program.nodes.size());
  return points;
}

using Wanted = std::vector<toy::IndexWithin>;

bool reaches(const toy::RunPoint& point, std::uint32_t site, const Wanted& wanted) {
  return point.site == site && std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
           const std::int64_t value = (*one.index)(point.loop_values.data());
           return one.low <= value && value <= one.high;
         });
}

/// Compares both searches from the points [first, last) in steps of `stride`.
void check_searches(const toy::BoundProgram& program, std::uint32_t site, const Wanted& wanted,
                    std::size_t stride) {
  const toy::NestSteps nest(program);
  std::vector<toy::RunPoint> points = all_points(program);
  const std::size_t steps = points.size();
  points.push_back({static_cast<std::uint32_t>(program.instructions.size()),
                    std::vector<std::int64_t>(program.loops.size(), 0)});
  for (std::size_t from = 0; from < points.size(); from += stride) {
    std::optional<std::size_t> before, after;
    for (std::size_t step = 0; step < steps; ++step) {
      if (!reaches(points[step], site, wanted)) continue;
      if (step < from) before = step;
      if (step > from && !after) after = step;
    }
    const auto step_of = [&](const std::optional<toy::RunPoint>& point) {
      return point ? std::optional<std::size_t>(nest.steps_before(*point)) : std::nullopt;
    };
    INFO("from step " << from << " to instruction " << site);
    CHECK(step_of(nest.last_before(site, points[from], wanted)) == before);
    CHECK(step_of(nest.first_after(site, points[from], wanted)) == after);
  }
}

}  // namespace

TEST_CASE("the steps before every point of random nests are counted as by a walk", "[replay]") {
  std::size_t compared = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::string text = RandomNest(seed, false).text();
    const toy::BoundProgram program = bound(assembled(text));
    const auto points = all_points(program);
    if (points.size() > 20'000) continue;
    const toy::NestSteps nest(program);
    INFO(text);
    REQUIRE(nest.total() == points.size());
    for (std::size_t step = 0; step < points.size(); step += 1 + points.size() / 50) {
      REQUIRE(nest.steps_before(points[step]) == step);
      ++compared;
    }
  }
  CHECK(compared > 500);  // the nests differ: a compiler chooses the order of the random draws
}

TEST_CASE("the previous and the next visit of an instruction are those of a walk", "[replay]") {
  std::size_t compared = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    const std::string text = RandomNest(seed, false).text();
    const toy::BoundProgram program = bound(assembled(text));
    const std::size_t steps = all_points(program).size();
    if (steps == 0 || steps > 3000) continue;
    INFO(text);
    for (std::uint32_t site = 0; site < program.instructions.size(); ++site) {
      check_searches(program, site, {}, 1 + steps / 10);
      ++compared;
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("a search for an index finds the executions that have it, and no others", "[replay]") {
  const char* const kText = R"(.isa softmax
.registers 2
.input x[40]
.output y[40]
.output z(6, 9)
for i in 0..5
  for j in i..9 step 2
    LOAD x[i + 2*j], R0
    STORE R0, y[20 - i + j]
    for k in max(0, i - 2)..min(j, 4)
      STORE R0, z[k][j]
    end
    STORE R0, z[5][0]
  end
  STORE R0, y[3*i]
end
)";
  const toy::BoundProgram program = bound(assembled(kText));
  for (const toy::BoundInstruction& instruction : program.instructions) {
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (operand.axes.size() == 1) {
        for (std::int64_t value = -1; value < 40; value += 3) {
          check_searches(program, instruction.site, {{&operand.axes[0], value, value}}, 7);
        }
      } else if (operand.axes.size() == 2) {
        for (std::int64_t value = 0; value < 9; ++value) {
          check_searches(
              program, instruction.site,
              {{&operand.axes[0], value % 4, value % 4}, {&operand.axes[1], value, value}}, 7);
        }
      }
    }
  }
}

TEST_CASE("a search in a loop of a billion iterations goes straight to the index", "[replay]") {
  const toy::BoundProgram program = bound(assembled(R"(.isa softmax
.registers 1
.param n = 1000000000
.input x[1]
.output y[2000000000]
LOAD x[0], R0
for i in 0..n
  STORE R0, y[i]
end
for i in 0..n
  for j in 0..2
    STORE R0, y[1999999998 - 2*i + j]
  end
end
)"));
  const toy::NestSteps nest(program);
  const toy::RunPoint end{3, {0, 0, 0}};
  const auto write = [&](std::uint32_t site, std::int64_t element) {
    const Wanted wanted{{&program.instructions[site].operands[1].axes[0], element, element}};
    const auto found = nest.last_before(site, end, wanted);
    REQUIRE(found);
    return nest.steps_before(*found);
  };
  CHECK(write(1, 777'777'777) == 777'777'778);
  CHECK(write(2, 1'000'000'001) == 1'000'000'001 + 2 * 499'999'999 + 1);
}

}  // namespace flashlab::test
