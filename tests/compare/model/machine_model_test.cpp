// Rates that predictions are made with: the data sheet's, and what was measured over them.
#include "results/machine_model.hpp"

#include <stdexcept>

#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

gpu::GpuSpec small_gpu() {
  gpu::GpuSpec gpu;
  gpu.name = "Small";
  gpu.num_sms = 10;
  gpu.boost_clock_hz = 1e9;
  gpu.dram_bytes_per_s = 1e11;
  gpu.flops_per_s = {{"bf16", 4e12}, {"float", 1e12}, {"float tf32", 3e12}};
  gpu.exps_per_clock_per_sm = 16;
  gpu.additions_per_clock_per_sm = 64;
  gpu.shared_bytes_per_clock_per_sm = 128;
  return gpu;
}

bool is_from_sheet(const std::optional<Rate>& rate, double per_s) {
  return rate && rate->per_s == per_s && !rate->is_measured;
}

bool is_measured(const std::optional<Rate>& rate, double per_s) {
  return rate && rate->per_s == per_s && rate->is_measured;
}

}  // namespace

TEST_CASE("a data sheet gives rates at the boost clock") {
  const MachineModel model = machine_model(small_gpu());
  CHECK(is_from_sheet(model.dram_copy, 1e11));
  CHECK(is_from_sheet(model.dram_read, 1e11));
  CHECK(is_from_sheet(model.exps, 1.6e11));
  CHECK(is_from_sheet(model.elementwise, 6.4e11));
  CHECK(is_from_sheet(model.shared, 1.28e12));
  CHECK(is_from_sheet(model.product_rate("bf16", "native"), 4e12));
}

TEST_CASE("what no data sheet has is missing without a calibration") {
  const MachineModel model = machine_model(gpu::find_gpu("H200").value());
  CHECK_FALSE(model.sm);
  CHECK_FALSE(model.divisions);
  CHECK_FALSE(model.launch_s);
}

TEST_CASE("a measured rate takes the place of the data sheet's, the others stay") {
  Calibration calibration;
  calibration.dram_copy_bytes_per_s = 0.9e11;
  calibration.sm_bytes_per_s = 5e11;
  calibration.exps_per_s = 1.5e11;
  calibration.flops_per_s = {{"bf16", 3e12}};
  calibration.launch_s = 2e-6;
  const MachineModel model = machine_model(small_gpu(), calibration);
  CHECK(is_measured(model.dram_copy, 0.9e11));
  CHECK(is_from_sheet(model.dram_read, 1e11));
  CHECK(is_measured(model.sm, 5e11));
  CHECK(is_measured(model.exps, 1.5e11));
  CHECK(is_from_sheet(model.elementwise, 6.4e11));
  CHECK(is_measured(model.product_rate("bf16", "native"), 3e12));
  CHECK(is_from_sheet(model.product_rate("float", "native"), 1e12));
  CHECK(model.launch_s == 2e-6);
}

TEST_CASE("a product of split floats costs three of tf32") {
  const MachineModel model = machine_model(small_gpu());
  CHECK(is_from_sheet(model.product_rate("float", "tf32"), 3e12));
  CHECK(is_from_sheet(model.product_rate("float", "tf32x3"), 1e12));
}

TEST_CASE("a product of floats split into fp16 costs three of fp16") {
  Calibration calibration;
  calibration.flops_per_s = {{"fp16", 3e12}, {"fp16 wgmma", 6e12}};
  const MachineModel model = machine_model(small_gpu(), calibration);
  CHECK(is_measured(model.product_rate("float", "fp16x3"), 1e12));
  CHECK(is_measured(model.product_rate("float", "fp16x3", "wgmma"), 2e12));
  CHECK_THROWS_AS(model.product_rate("bf16", "fp16x3"), std::invalid_argument);
}

TEST_CASE("an instruction has its own measured rate, or the data sheet's") {
  Calibration calibration;
  calibration.flops_per_s = {{"bf16", 3e12}, {"bf16 wgmma", 3.5e12}, {"float tf32", 2e12}};
  const MachineModel model = machine_model(small_gpu(), calibration);
  CHECK(is_measured(model.product_rate("bf16", "native", "wgmma"), 3.5e12));
  CHECK(is_measured(model.product_rate("bf16", "native"), 3e12));
  CHECK(is_from_sheet(model.product_rate("float", "tf32", "wgmma"), 3e12));
  CHECK_THROWS_AS(model.product_rate("fp16", "native", "wgmma"), std::invalid_argument);
}

TEST_CASE("a type that the GPU has no rate of is refused by name") {
  const MachineModel model = machine_model(small_gpu());
  CHECK_THROWS_AS(model.product_rate("fp16", "native"), std::invalid_argument);
  CHECK_THROWS_WITH(model.product_rate("fp16", "native"), "Small has no rate of fp16 products");
  CHECK_THROWS_AS(model.product_rate("bf16", "tf32"), std::invalid_argument);
}

}  // namespace flashlab::test
