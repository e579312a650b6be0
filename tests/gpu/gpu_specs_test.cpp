// The data sheets of gpus.json: consistent with themselves and with what an H200 was measured to
// do.
#include "gpu/sheets/gpu_specs.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "results/machine_model.hpp"
#include "results/result_file.hpp"
#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

bool within_2_percent(double value, double sheet) {
  return value > 0.98 * sheet && value < 1.02 * sheet;
}

}  // namespace

TEST_CASE("float rates of the sheets are multiprocessors, clock and two FLOPs an addition") {
  for (const gpu::GpuSpec& gpu : gpu::gpu_specs()) {
    INFO(gpu.name);
    CHECK(within_2_percent(
        static_cast<double>(gpu.num_sms) * gpu.boost_clock_hz * gpu.additions_per_clock_per_sm * 2,
        gpu.flops_per_s.at("float")));
  }
}

TEST_CASE("tensor core rates of the sheets are multiprocessors, clock and FLOPs a clock") {
  const auto file = nlohmann::json::parse(read_source(kSourceRoot / "gpu/sheets/gpus.json"));
  for (const auto& row : file.at("gpus")) {
    const gpu::GpuSpec gpu = gpu::find_gpu(row.at("key").get<std::string>()).value();
    INFO(gpu.name);
    const double clocks_per_s = static_cast<double>(gpu.num_sms) * gpu.tensor_boost_clock_hz;
    const auto& per_clock = row.at("per_clock_per_sm").at("tensor_flops");
    for (const char* const type : {"bf16", "float tf32"}) {
      CHECK(within_2_percent(clocks_per_s * per_clock.at(type).get<double>(),
                             gpu.flops_per_s.at(type)));
    }
    CHECK(gpu.flops_per_s.at("fp16") == gpu.flops_per_s.at("bf16"));
  }
}

TEST_CASE("every GPU has a source, memory, and more shared memory than a block may take") {
  for (const gpu::GpuSpec& gpu : gpu::gpu_specs()) {
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
  for (const gpu::GpuSpec& gpu : gpu::gpu_specs()) {
    INFO(gpu.name);
    CHECK(gpu.instructions_per_clock_per_sm == 4);
    CHECK(gpu.mma_share <= 1);
    CHECK(gpu.arithmetic_clocks >= 1);
    CHECK(gpu.arithmetic_clocks < 2);
    CHECK(gpu.constant_clocks == 8);
    const gpu::Latencies& clocks = gpu.latency;
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
  const gpu::GpuSpec gpu = gpu::find_gpu("h200").value();
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
  CHECK(gpu::find_gpu("h200").value().l2_bytes == committed.calibration.value().l2_bytes);
}

TEST_CASE("an H200 was measured to have the rates per clock that the guide gives it") {
  const Comparison committed = parse_comparison(committed_result("h200").value());
  const MachineModel sheet = machine_model(gpu::find_gpu("h200").value());
  const Calibration& measured = committed.calibration.value();
  CHECK(within_2_percent(measured.exps_per_s.value(), sheet.exps.value().per_s));
  CHECK(within_2_percent(measured.shared_bytes_per_s.value(), sheet.shared.value().per_s));
}

}  // namespace flashlab::test
