#include "tests/compare/sample_comparison.hpp"

#include <algorithm>
#include <cmath>

namespace flashlab::test {
namespace {

using namespace compare;

constexpr std::int64_t kBatch = 4, kHeads = 8, kBlock = 128;

struct VariantCost {
  const char* variant;
  Pass pass;
  int square_passes;     // times that an n x n matrix crosses DRAM
  bool loads_per_tile;   // K and V once for each tile of queries
  double share_of_peak;  // of the products' rate
};

constexpr VariantCost kCosts[] = {{"naive", Pass::kForward, 9, false, 0.3},
                                  {"fused-softmax", Pass::kForward, 4, false, 0.4},
                                  {"flash1", Pass::kForward, 0, true, 0.25},
                                  {"flash2", Pass::kForward, 0, true, 0.55},
                                  {"bwd-onepass", Pass::kBackward, 0, true, 0.4},
                                  {"bwd-twopass", Pass::kBackward, 0, true, 0.45}};

std::int64_t element_bytes(const std::string& dtype) { return dtype == "float" ? 4 : 2; }

Work work_of(const VariantCost& cost, const Row& row) {
  const std::int64_t heads = row.batch * row.num_heads, n = row.seqlen_k;
  const std::int64_t matrix = heads * n * row.head_dim * element_bytes(row.dtype);
  const std::int64_t square = heads * n * n * element_bytes(row.dtype);
  const std::int64_t tiles = cost.loads_per_tile ? (n + kBlock - 1) / kBlock : 1;
  const bool is_forward = row.pass == Pass::kForward;
  Work work;
  work.product_flops = row.usual_flops * (row.variant == "bwd-twopass" ? 7 : 5) / 5;
  work.dram = {3 * matrix + square * cost.square_passes / 2,
               matrix * (is_forward ? 1 : 3) + square * cost.square_passes / 2};
  work.sm = Traffic{matrix + 2 * matrix * tiles + square * cost.square_passes / 2,
                    work.dram.bytes_written};
  work.exps = heads * n * n;
  work.elementwise_flops = 5 * heads * n * n;
  return work;
}

Prediction prediction_of(const VariantCost& cost, const Row& row, const Work& work) {
  const MachineModel machine = sample_machine(true);
  Prediction prediction;
  prediction.dram_ms = static_cast<double>(work.dram.bytes()) / machine.dram_copy->per_s * 1e3;
  prediction.sm_ms = static_cast<double>(work.sm->bytes()) / machine.sm->per_s * 1e3;
  prediction.products_ms =
      static_cast<double>(work.product_flops) / machine.products.at(row.dtype).per_s * 1e3;
  prediction.exp_ms = static_cast<double>(work.exps) / machine.exps->per_s * 1e3;
  prediction.launch_ms = 0.004;
  prediction.roofline_ms = std::max({prediction.dram_ms, prediction.sm_ms, prediction.products_ms});
  prediction.overlap_ms = std::max({prediction.dram_ms, prediction.sm_ms,
                                    prediction.products_ms / cost.share_of_peak}) +
                          prediction.launch_ms;
  prediction.bound =
      prediction.roofline_ms > prediction.products_ms ? Bound::kDram : Bound::kProducts;
  return prediction;
}

Traffic scaled(const Traffic& traffic, double factor) {
  const auto times = [factor](std::int64_t bytes) {
    return static_cast<std::int64_t>(static_cast<double>(bytes) * factor);
  };
  return {times(traffic.bytes_read), times(traffic.bytes_written)};
}

Measurement measurement_of(const Work& work, const Prediction& prediction, double wobble,
                           bool has_counters) {
  Measurement measured;
  measured.median_ms = prediction.overlap_ms * (1.05 + 0.3 * wobble);
  measured.least_ms = *measured.median_ms * 0.96;
  measured.most_ms = *measured.median_ms * 1.09;
  measured.num_samples = 20;
  if (!has_counters) {
    measured.why_no_counters = "the driver lets administrators alone read the counters";
    return measured;
  }
  measured.dram = scaled(work.dram, 1 + 0.4 * std::fabs(wobble));
  measured.sm = scaled(*work.sm, 1 + 0.03 * wobble);
  measured.tensor_percent = 45;
  measured.exp_percent = 60;
  return measured;
}

Row sample_row(const VariantCost& cost, const SampleOptions& options, const std::string& dtype,
               std::int64_t head_dim, std::int64_t length) {
  Row row;
  row.variant = cost.variant;
  row.kernel = row.variant + (dtype == "float" ? "_fp32" : "_mma_sm80");
  std::replace(row.kernel.begin(), row.kernel.end(), '-', '_');
  row.pass = cost.pass;
  row.dtype = dtype, row.products = "native", row.mask = "none";
  row.batch = kBatch, row.num_heads = row.num_kv_heads = kHeads;
  row.seqlen_q = row.seqlen_k = length, row.head_dim = head_dim;
  const std::int64_t pairs = kBatch * kHeads * length * length;
  row.usual_flops = (cost.pass == Pass::kForward ? 4 : 10) * pairs * head_dim;
  row.work = row.toy = work_of(cost, row);
  row.predicted = prediction_of(cost, row, row.work);
  row.tensor_bytes = 4 * kBatch * kHeads * length * head_dim * element_bytes(dtype);
  row.workspace_bytes = cost.square_passes > 0 ? pairs * element_bytes(dtype) : 0;
  row.pallas_bytes = PallasBytes{row.tensor_bytes, 5 * row.tensor_bytes};
  row.pallas_ms = row.predicted.roofline_ms;
  row.prediction_sha256 = std::string(64, 'a');
  const double wobble = std::sin(static_cast<double>(length) + static_cast<double>(head_dim));
  if (options.is_measured) {
    row.measured = measurement_of(row.work, row.predicted, wobble, options.has_counters);
  }
  row.sentence = "products are slower than their peak while exponentials wait";
  for (int i = 0; i < options.num_steps; ++i) {
    Step step;
    step.name = row.kernel + (options.num_steps > 1 ? "_step" + std::to_string(i) : "");
    step.num_blocks = length / kBlock * kBatch * kHeads;
    step.block_q = step.block_kv = kBlock / 2;
    step.num_threads = 128;
    step.shared_bytes = 3 * head_dim * kBlock / 2 * element_bytes(dtype);
    step.work = row.work;
    step.predicted = row.predicted;
    step.measured = row.measured;
    row.steps.push_back(step);
  }
  return row;
}

}  // namespace

MachineModel sample_machine(bool is_measured) {
  MachineModel machine;
  machine.gpu.name = "H200";
  machine.gpu.key = "h200";
  machine.gpu.compute_capability = "9.0";
  machine.gpu.shared_memory_per_block_bytes = 227 * 1024;
  machine.dram_copy = Rate{is_measured ? 4.28e12 : 4.8e12, is_measured};
  machine.exps = Rate{is_measured ? 4.0e12 : 4.2e12, is_measured};
  machine.products["bf16"] = {is_measured ? 640e12 : 989.4e12, is_measured};
  machine.products["fp16"] = {is_measured ? 650e12 : 989.4e12, is_measured};
  machine.products["float"] = {is_measured ? 55e12 : 66.9e12, is_measured};
  if (is_measured) {
    machine.sm = Rate{5.5e12, true};
    machine.launch_s = 4e-6;
  }
  return machine;
}

Comparison sample_comparison(const SampleOptions& options) {
  Comparison comparison;
  comparison.gpu_key = "h200";
  comparison.date = "2026-11-21 12:00 UTC";
  comparison.commit = "0123abc";
  comparison.command = "flashlab compare --gpu h200 --variant all --n 512..65536";
  if (options.is_measured) {
    comparison.gpu_name = "NVIDIA H200";
    comparison.driver = "580.1";
    comparison.cuda = "13.0";
  }
  for (const VariantCost& cost : kCosts) {
    for (const std::string& dtype : options.dtypes) {
      for (const std::int64_t head_dim : options.head_dims) {
        for (const std::int64_t length : options.lengths) {
          comparison.rows.push_back(sample_row(cost, options, dtype, head_dim, length));
        }
      }
    }
  }
  return comparison;
}

}  // namespace flashlab::test
