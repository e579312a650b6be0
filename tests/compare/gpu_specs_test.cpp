// The data sheets of gpus.json: consistent with themselves and with what an H200 was measured to
// do, and found by any of their names.
#include "gpus/gpu_specs.hpp"

#include "results/machine_model.hpp"
#include "results/result_file.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

/// FLOPs of all multiprocessors in a clock of the tensor cores, fp32 sums: a whitepaper says so of
/// each architecture.
struct TensorRate {
  const char* key;
  double half_flops_per_clock_per_sm, tf32_flops_per_clock_per_sm;
};
constexpr TensorRate kTensorRates[] = {{"rtx3090", 512, 256}, {"rtx4000ada", 1024, 512},
                                       {"l40s", 1024, 512},   {"a100", 2048, 1024},
                                       {"h100", 4096, 2048},  {"h200", 4096, 2048}};

bool within_2_percent(double value, double sheet) {
  return value > 0.98 * sheet && value < 1.02 * sheet;
}

std::string key_of_device(std::string_view name) {
  const auto found = find_gpu(name);
  return found ? found->key : "";
}

}  // namespace

TEST_CASE("float rates of the sheets are multiprocessors, clock and two FLOPs an addition") {
  for (const GpuSpec& gpu : gpu_specs()) {
    INFO(gpu.name);
    CHECK(within_2_percent(
        static_cast<double>(gpu.num_sms) * gpu.boost_clock_hz * gpu.additions_per_clock_per_sm * 2,
        gpu.flops_per_s.at("float")));
  }
}

TEST_CASE("tensor core rates of the sheets are multiprocessors, clock and FLOPs a clock") {
  REQUIRE(std::size(kTensorRates) == gpu_specs().size());
  for (const TensorRate& rate : kTensorRates) {
    INFO(rate.key);
    const GpuSpec gpu = find_gpu(rate.key).value();
    const double clocks_per_s = static_cast<double>(gpu.num_sms) * gpu.tensor_boost_clock_hz;
    CHECK(within_2_percent(clocks_per_s * rate.half_flops_per_clock_per_sm,
                           gpu.flops_per_s.at("bf16")));
    CHECK(gpu.flops_per_s.at("fp16") == gpu.flops_per_s.at("bf16"));
    CHECK(within_2_percent(clocks_per_s * rate.tf32_flops_per_clock_per_sm,
                           gpu.flops_per_s.at("float tf32")));
  }
}

TEST_CASE("every GPU has a source, memory, and more shared memory than a block may take") {
  for (const GpuSpec& gpu : gpu_specs()) {
    INFO(gpu.name);
    CHECK(gpu.sources.size() == 2);
    CHECK(gpu.memory_bytes >= 20'000'000'000);
    CHECK(gpu.dram_bytes_per_s >= 360e9);
    CHECK(gpu.shared_memory_per_sm_bytes - gpu.shared_memory_per_block_bytes == 1024);
    CHECK(gpu.exps_per_clock_per_sm == 16);
    CHECK(gpu.shared_bytes_per_clock_per_sm == 128);
    CHECK(gpu.l2_bytes.value_or(0) >= 6 << 20);
  }
}

TEST_CASE("every GPU has schedulers, latencies, and a share of its products for mma.sync") {
  for (const GpuSpec& gpu : gpu_specs()) {
    INFO(gpu.name);
    CHECK(gpu.instructions_per_clock_per_sm == 4);
    CHECK(gpu.mma_share <= 1);
    CHECK(gpu.arithmetic_clocks >= 1);
    CHECK(gpu.arithmetic_clocks < 2);
    CHECK(gpu.constant_clocks == 8);
    const Latencies& clocks = gpu.latency;
    for (const double latency :
         {clocks.shared, clocks.mma, clocks.exp, clocks.shuffle, clocks.barrier}) {
      CHECK(latency >= 10);
      CHECK(latency < 100);
    }
    CHECK(clocks.dram > 5 * clocks.shared);
  }
}

TEST_CASE("the counters say that mma.sync reaches its share of the products' peak") {
  const Comparison committed = parse_comparison(committed_result("h200").value());
  const GpuSpec gpu = find_gpu("h200").value();
  int num_steps = 0;
  for (const Row& row : committed.rows) {
    for (const Step& step : row.steps) {
      const bool is_backward = row.kernel.starts_with("bwd") && row.dtype == "bf16";
      if (!is_backward || step.block_kv == 0 || row.head_dim != 64 || row.seqlen_q < 4096) continue;
      if (!step.measured || step.measured->tensor_percent.value_or(0) <= 0) continue;
      // Each exponential is counted once, so their unit tells the clocks.
      const double sm_clocks = static_cast<double>(step.work.exps) /
                               (*step.measured->exp_percent / 100 * gpu.exps_per_clock_per_sm);
      const double flops_per_busy_clock = static_cast<double>(step.work.product_flops) /
                                          (sm_clocks * *step.measured->tensor_percent / 100);
      INFO(key_of(row) << ", " << step.name);
      CHECK(within_2_percent(flops_per_busy_clock, 4096 * gpu.mma_share));
      ++num_steps;
    }
  }
  CHECK(num_steps > 10);
}

TEST_CASE("an H200 has as much L2 as the one that was measured said") {
  const Comparison committed = parse_comparison(committed_result("h200").value());
  CHECK(find_gpu("h200").value().l2_bytes == committed.calibration.value().l2_bytes);
}

TEST_CASE("an H200 was measured to have the rates per clock that the guide gives it") {
  const Comparison committed = parse_comparison(committed_result("h200").value());
  const MachineModel sheet = machine_model(find_gpu("h200").value());
  const Calibration& measured = committed.calibration.value();
  CHECK(within_2_percent(measured.exps_per_s.value(), sheet.exps.value().per_s));
  CHECK(within_2_percent(measured.shared_bytes_per_s.value(), sheet.shared.value().per_s));
}

TEST_CASE("GPUs are found by key, name and the name that CUDA gives the device") {
  CHECK(key_of_device("RTX-4000 ada") == "rtx4000ada");
  CHECK(key_of_device("h200") == "h200");
  CHECK(key_of_device("NVIDIA H200") == "h200");
  CHECK(key_of_device("NVIDIA H100 80GB HBM3") == "h100");
  CHECK(key_of_device("NVIDIA A100-SXM4-80GB") == "a100");
  CHECK(key_of_device("NVIDIA GeForce RTX 3090") == "rtx3090");
  CHECK(key_of_device("NVIDIA RTX 4000 Ada Generation") == "rtx4000ada");
}

TEST_CASE("models that share a name's words but not its rates are not found") {
  for (const char* name : {"NVIDIA GeForce RTX 3090 Ti", "NVIDIA RTX 4000 SFF Ada Generation",
                           "NVIDIA RTX 4000 Ada Generation Laptop GPU", "NVIDIA A100-PCIE-40GB",
                           "NVIDIA A100-SXM4-40GB", "NVIDIA H100 PCIe", "NVIDIA H100 NVL",
                           "NVIDIA GH200 480GB", "Tesla T4", "RTX", ""}) {
    INFO(name);
    CHECK_FALSE(find_gpu(name));
  }
}

}  // namespace flashlab::test
