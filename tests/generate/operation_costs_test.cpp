// The costs of operations are those that were counted in machine code.
#include "generate/plan/operation_costs.hpp"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch_shim.hpp"

namespace flashlab::generate {
namespace {

nlohmann::json counted() {
  std::ifstream file(FLASHLAB_SOURCE_DIR "/docs/results/operation_costs.json");
  return nlohmann::json::parse(file)["costs"];
}

}  // namespace

TEST_CASE("an operation costs what nvcc makes of it") {
  const nlohmann::json costs = counted();
  for (const toy::OperationSpec& spec : toy::kOperations) {
    const std::string name(spec.function);
    CAPTURE(name);
    if (spec.shape == toy::ShapeRule::kProduct || spec.shape == toy::ShapeRule::kColumn) continue;
    if (spec.shape == toy::ShapeRule::kMask && !toy::is_place(spec.operation)) continue;
    REQUIRE(costs.contains(name));
    const OperationCost cost = cost_of(spec.operation);
    CHECK(std::abs(cost.instructions - costs[name]["instructions"].get<double>()) < 0.051);
    CHECK(std::abs(cost.specials - costs[name]["specials"].get<double>()) < 0.051);
  }
  const auto is_counted = [&](double cost, const char* name) {
    CAPTURE(name);
    CHECK(std::abs(cost - costs[name]["instructions"].get<double>()) < 0.051);
  };
  is_counted(kCostOfSeries, "exponential by series");
  is_counted(cost_of_narrowing(toy::ElementType::kFp16), "to fp16");
  is_counted(cost_of_narrowing(toy::ElementType::kBf16), "to bf16");
  is_counted(cost_of_widening(toy::ElementType::kFp16), "from fp16");
  is_counted(cost_of_widening(toy::ElementType::kBf16), "from bf16");
}

}  // namespace flashlab::generate
