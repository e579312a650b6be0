#include "compare/model/prediction.hpp"

#include "tests/catch_shim.hpp"

using namespace flashlab::compare;

namespace {

auto close_to(double value) { return Catch::Matchers::WithinAbs(value, 1e-9); }

/// A machine whose rates are round.
MachineModel round_machine() {
  MachineModel model;
  model.gpu.num_sms = 100;
  model.dram_copy = Rate{1e12, true};
  model.dram_read = Rate{2e12, true};
  model.sm = Rate{4e12, true};
  model.elementwise = Rate{1e13, true};
  model.exps = Rate{1e12, true};
  model.products["bf16"] = Rate{1e14, true};
  return model;
}

Step step_with(const Work& work, std::int64_t num_blocks = 100) {
  Step step;
  step.num_blocks = num_blocks;
  step.work = work;
  return step;
}

}  // namespace

TEST_CASE("what is read and written goes at a copy's rate, the rest at reading's", "[compare]") {
  Work work;
  work.dram = {3'000'000'000, 1'000'000'000};
  const Prediction p = predict(step_with(work), round_machine(), "bf16", "native", false);
  CHECK_THAT(p.dram_ms, close_to(2.0 + 1.0));
  CHECK(p.bound == Bound::kDram);
}

TEST_CASE("the roofline is the slowest unit, the overlap adds up what waits", "[compare]") {
  Work work;
  work.sm = Traffic{4'000'000'000, 0};
  work.product_flops = 200'000'000'000;
  work.elementwise_flops = 5'000'000'000;
  work.exps = 1'000'000'000;
  const Prediction p = predict(step_with(work), round_machine(), "bf16", "native", false);
  CHECK_THAT(p.sm_ms, close_to(1.0));
  CHECK_THAT(p.products_ms, close_to(2.0));
  CHECK_THAT(p.roofline_ms, close_to(2.0));
  CHECK_THAT(p.overlap_ms, close_to(2.0 + 0.5 + 1.0));  // loads run beside it
  CHECK(p.bound == Bound::kProducts);
}

TEST_CASE("loads that take longer than computing hide it", "[compare]") {
  Work work;
  work.sm = Traffic{40'000'000'000, 0};
  work.exps = 1'000'000'000;
  CHECK_THAT(predict(step_with(work), round_machine(), "bf16", "native", false).overlap_ms,
             close_to(10.0));
}

TEST_CASE("divisions cost what additions do unless they were measured", "[compare]") {
  Work work;
  work.elementwise_flops = 2'000'000'000;
  work.divisions = 1'000'000'000;
  MachineModel model = round_machine();
  CHECK_THAT(predict(step_with(work), model, "bf16", "native", false).elementwise_ms,
             close_to(0.2));
  model.divisions = Rate{1e12, true};
  CHECK_THAT(predict(step_with(work), model, "bf16", "native", false).elementwise_ms,
             close_to(1.1));
}

TEST_CASE("blocks that do not fill the multiprocessors stretch the computing", "[compare]") {
  CHECK_THAT(fill_of(100, 100, false), close_to(1.0));
  CHECK_THAT(fill_of(101, 100, false), close_to(0.505));
  CHECK_THAT(fill_of(25, 100, false), close_to(0.25));
  CHECK_THAT(fill_of(25, 100, true), close_to(0.25));
  CHECK_THAT(fill_of(101, 100, true),
             close_to(1.0));                          // long blocks first, short ones fill the gaps
  CHECK_THAT(fill_of(0, 100, false), close_to(1.0));  // not known
  Work work;
  work.exps = 1'000'000'000;
  CHECK_THAT(predict(step_with(work, 25), round_machine(), "bf16", "native", false).overlap_ms,
             close_to(4.0));
}

TEST_CASE("every launch costs an empty kernel's time", "[compare]") {
  MachineModel model = round_machine();
  model.launch_s = 2e-6;
  Step step = step_with({});
  step.num_launches = 500;
  const Prediction p = predict(step, model, "bf16", "native", false);
  CHECK_THAT(p.launch_ms, close_to(1.0));
  CHECK_THAT(p.overlap_ms, close_to(1.0));
  CHECK(p.bound == Bound::kLaunch);
}

TEST_CASE("steps run one after the other, and the longest gives its bound", "[compare]") {
  Work moving, computing;
  moving.dram = {1'000'000'000, 1'000'000'000};
  computing.exps = 5'000'000'000;
  std::vector<Step> steps = {step_with(moving), step_with(computing)};
  for (Step& step : steps) step.predicted = predict(step, round_machine(), "bf16", "native", false);
  const Prediction total = in_turn(steps);
  CHECK_THAT(total.overlap_ms, close_to(2.0 + 5.0));
  CHECK_THAT(total.roofline_ms, close_to(7.0));
  CHECK(total.bound == Bound::kExp);
}

TEST_CASE("more work never takes less time", "[compare]") {
  Work work;
  double before = 0;
  for (int k = 0; k < 20; ++k) {
    work.dram.bytes_read += 100'000'000 * (k % 3);
    work.exps += 10'000'000 * (k % 4);
    work.product_flops += 1'000'000'000 * (k % 2);
    const double ms = predict(step_with(work), round_machine(), "bf16", "native", false).overlap_ms;
    CHECK(ms >= before);
    before = ms;
  }
}
