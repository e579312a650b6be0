#include "compare/report/unit_shares.hpp"

#include <cmath>

#include "compare/model/binding_unit.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"

using namespace flashlab::compare;

namespace {

auto says(const std::string& text) { return Catch::Matchers::Contains(text); }
auto exactly_ms(double value) { return Catch::Matchers::WithinAbs(value, 1e-12); }

/// Two warps per scheduler that wait for 0.1 ms each on average.
Step described_step() {
  Step step;
  Prediction& p = step.predicted;
  p.products_ms = 0.5;
  p.shared_ms = 0.8;
  p.issue_ms = 0.4;
  p.exp_ms = 0.2;
  p.wait_ms = 0.1;
  p.warps = 2;
  p.units_ms = 1.6;
  return step;
}

}  // namespace

TEST_CASE("units stand in the order of their times, with their shares of the predicted one") {
  Step step = described_step();
  step.measured = flashlab::test::measured_in(2);
  step.measured->issue_percent = 33;
  const auto units = unit_shares(step);
  REQUIRE(units.size() == 4);  // DRAM and L2 have nothing to do
  CHECK(units[0].name == "shared memory");
  CHECK_THAT(units[0].share, exactly_ms(0.5));
  CHECK_FALSE(units[0].measured_percent.has_value());
  CHECK(units[1].name == "products");
  CHECK(units[2].name == "issue slots");
  CHECK(units[2].measured_percent == 33);
  CHECK(units[3].name == "exponentials");
}

TEST_CASE("the sentence names the unit that binds, the next one, and the warps that share them") {
  const std::string text = binding_sentence(described_step());
  CHECK_THAT(text, says("shared memory binds, busy 50 % of the predicted time"));
  CHECK_THAT(text, says("with 38 % less of it, products would bind, and it would take"));
  // 2.1 and 1.8 ms of a warp alone; two of them share the units
  const double before = 2.1 + (0.25 + 0.64 + 0.16 + 0.04) / 2.1,
               after = 1.8 + (0.25 + 0.25 + 0.16 + 0.04) / 1.8;
  const int percent = static_cast<int>(std::lround(100 * after / before));
  CHECK_THAT(text, says("it would take " + std::to_string(percent) + " % of the time"));
  CHECK_THAT(text, says("its 2 warps per scheduler need other units or wait"));
  Step saturated = described_step();
  saturated.predicted.shared_ms = 1.5;
  CHECK_THAT(binding_sentence(saturated), !says("warps per scheduler"));
  CHECK(binding_sentence(Step{}) == "no unit is described");
}

TEST_CASE(
    "the sentence agrees with the number of its unit, and with units that are alike or far off") {
  Step step = described_step();
  step.predicted.products_ms = 0.9;
  CHECK_THAT(binding_sentence(step), Catch::Matchers::StartsWith("products bind, busy 56 %"));
  step.predicted.shared_ms = 0.895;
  CHECK_THAT(binding_sentence(step), says("; shared memory is as busy"));
  step.predicted.products_ms = 0.89;
  CHECK_THAT(binding_sentence(step), says("; products are as busy"));
  step.predicted.products_ms = step.predicted.issue_ms = step.predicted.exp_ms = 0.02;
  CHECK_THAT(binding_sentence(step), says("; no other unit comes near"));
}

TEST_CASE("products that no tensor core made are issue slots", "[compare]") {
  Step step = described_step();
  step.measured = flashlab::test::measured_in(2);
  step.measured->tensor_percent = 0.1;
  CHECK(unit_shares(step)[1].name == "issue slots");
  CHECK(unit_shares(step).size() == 3);
  step.measured->tensor_percent = 40;
  CHECK(unit_shares(step)[1].name == "products");
}

TEST_CASE("a unit that does nearly nothing is shown only if a counter sees it") {
  Step step = described_step();
  step.predicted.exp_ms = 0.004;
  CHECK(unit_shares(step).size() == 3);
  step.measured = flashlab::test::measured_in(2);
  step.measured->exp_percent = 12;
  CHECK(unit_shares(step).size() == 4);
}

TEST_CASE("of several kernels the last line says what binds them together", "[compare]") {
  Row row;
  CHECK(binding_sentence(row).empty());
  row.steps = {described_step()};
  CHECK(binding_sentence(row).empty());
  row.steps.push_back(described_step());
  const int percent =
      static_cast<int>(std::lround(100 * ms_with(row.steps[0], Bound::kShared, 0) / 1.6));
  CHECK(binding_sentence(row) == "all kernels: shared memory binds; without it, they would take " +
                                     std::to_string(percent) + " % of the time");
}

TEST_CASE("launches, and elementwise work of blocks that are not described, are units",
          "[compare]") {
  Step step;
  step.predicted.elementwise_ms = 0.3;
  step.predicted.products_ms = 0.2;
  step.predicted.launch_ms = 0.7;
  step.predicted.overlap_ms = 1.2;
  const auto units = unit_shares(step);
  REQUIRE(units.size() == 3);
  CHECK(units[0].name == "launches");
  CHECK(units[1].name == "elementwise");
  CHECK_THAT(binding_sentence(step), Catch::Matchers::StartsWith("launches bind, busy 58 %"));
}
