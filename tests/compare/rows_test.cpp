#include "compare/rows/rows.hpp"

#include "attention/variants.hpp"
#include "compare/rows/sweep.hpp"
#include "gpu/sheets/gpu_specs.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::compare;
using namespace flashlab::test;

namespace {

SweepAxes axes(std::vector<std::string> variants, std::vector<std::int64_t> seqlens,
               DataType dtype = DataType::kBFloat16) {
  SweepAxes result;
  result.variants = std::move(variants);
  result.dtypes = {dtype};
  result.products = {cuda::Products::kNative};
  result.masks = {Mask::kNone};
  result.seqlens = std::move(seqlens);
  result.head_dims = {64};
  return result;
}

MachineModel machine_of(const char* gpu = "h200") { return machine_model(*gpu::find_gpu(gpu)); }

Row first_row_of(const SweepAxes& of, const char* gpu = "h200") {
  return predict_row(calls_of(of).front(), machine_of(gpu), machine_of(gpu));
}

}  // namespace

// 4 x 8 heads, N 4096, d 64, bf16.
TEST_CASE("flash2's bytes to the SMs are Q once, K and V once for each tile", "[compare]") {
  const Row row = first_row_of(axes({"flash2"}, {4096}));
  const std::int64_t heads = 32, matrix = 4096 * 64 * 2;
  REQUIRE(row.steps.size() == 1);
  const std::int64_t block_q = row.steps[0].block_q, tiles = (4096 + block_q - 1) / block_q;
  REQUIRE(row.work.sm.has_value());
  CHECK(row.work.sm->bytes_read == heads * (matrix + 2 * tiles * matrix));
  CHECK(row.work.sm->bytes_written == heads * (matrix + 4096 * 4));
  CHECK(row.work.dram.bytes_read == heads * 3 * matrix);
  CHECK(row.steps[0].num_blocks == heads * tiles);
}

TEST_CASE("flash1 on a GPU loads K and V for every query tile, the toy program's worker keeps them",
          "[compare]") {
  const Row row = first_row_of(axes({"flash1"}, {4096}, DataType::kFloat32));
  REQUIRE(row.work.sm.has_value());
  CHECK(row.work.sm->bytes_read > row.toy.sm->bytes_read);
  const std::int64_t lse_bytes = std::int64_t{32} * 4096 * 4;  // of a launch that ends it
  CHECK(row.work.sm->bytes_written == row.toy.sm->bytes_written + lse_bytes);
}

TEST_CASE("steps of naive move the matrix of scores, products by the library have no tiles",
          "[compare]") {
  const Row row = first_row_of(axes({"naive"}, {4096}, DataType::kFloat32));
  const std::int64_t scores = std::int64_t{32} * 4096 * 4096 * 4;
  for (const Step& step : row.steps) {
    if (step.name == "naive_scale" || step.name == "naive_exp") {
      CHECK(step.work.dram == Traffic{scores, scores});
      CHECK(step.predicted.bound == Bound::kDram);
    }
    if (step.name == "naive_row_max") CHECK(step.work.dram.bytes_read == scores);
    if (step.name == "S = Q K^T") CHECK_FALSE(step.work.sm.has_value());
  }
  CHECK_FALSE(row.work.sm.has_value());
}

TEST_CASE("a call's work is that of its steps", "[compare]") {
  for (const char* const variant : {"flash2", "bwd-onepass", "bwd-twopass", "split-kv"}) {
    const Row row = first_row_of(axes({variant}, {2048}, DataType::kFloat32));
    std::int64_t flops = 0, bytes = 0;
    double ms = 0;
    for (const Step& step : row.steps) {
      flops += step.work.product_flops;
      bytes += step.work.sm ? step.work.sm->bytes() : 0;
      ms += step.predicted.units_ms;
    }
    INFO(variant);
    CHECK(row.work.product_flops == flops);
    CHECK(row.work.sm->bytes() == bytes);
    CHECK(std::abs(row.predicted.units_ms - ms) < 1e-12);
  }
}

TEST_CASE("two passes of the backward multiply seven times, one pass five times", "[compare]") {
  const std::int64_t product = std::int64_t{2} * 32 * 4096 * 4096 * 64;
  CHECK(first_row_of(axes({"bwd-onepass"}, {4096})).work.product_flops == 5 * product);
  CHECK(first_row_of(axes({"bwd-twopass"}, {4096})).work.product_flops == 7 * product);
}

TEST_CASE("no call is predicted below the floor of the data sheet", "[compare]") {
  for (const VariantInfo& variant : variants()) {
    for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16}) {
      std::vector<RefusedCall> refused;
      const auto rows =
          predict_rows(calls_of(axes({std::string(variant.name)}, {512, 4096}, dtype)),
                       machine_of(), machine_of(), refused);
      for (const Row& row : rows) {
        INFO(key_of(row));
        CHECK(row.predicted.roofline_ms >= 0.999 * floor_ms(row, machine_of()));
        CHECK(row.predicted.units_ms >= 0.999 * row.predicted.roofline_ms);
      }
    }
  }
}

TEST_CASE("heads that share K and V need not load them from DRAM again", "[compare]") {
  SweepAxes grouped = axes({"flash2"}, {4096});
  grouped.num_kv_heads = 2;
  const Row row = first_row_of(grouped), all = first_row_of(axes({"flash2"}, {4096}));
  CHECK(row.work.dram.bytes_read < all.work.dram.bytes_read);
  CHECK(row.work.sm->bytes_read == all.work.sm->bytes_read);
}

TEST_CASE("a tile that was asked for is counted, and has no blocks", "[compare]") {
  SweepAxes tiled = axes({"flash2"}, {4096});
  tiled.tiles = {{64, 64}, {256, 64}};
  std::vector<RefusedCall> refused;
  const auto rows = predict_rows(calls_of(tiled), machine_of(), machine_of(), refused);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].tile == "64x64");
  CHECK(rows[0].work.sm->bytes_read > 3 * rows[1].work.sm->bytes_read);
  CHECK(rows[0].steps[0].num_blocks == 0);
}

TEST_CASE("a kernel that is named is predicted instead of the variant's own", "[compare]") {
  SweepAxes named = axes({"flash2", "naive"}, {4096});
  named.kernels = {"flash2_mma_sm80", "flash2_wgmma_sm90"};
  std::vector<RefusedCall> refused;
  const auto rows = predict_rows(calls_of(named), machine_of(), machine_of(), refused);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].kernel == "flash2_mma_sm80");
  CHECK(rows[0].work.sm->bytes_read == 1090519040);  // as Nsight Compute counted on an H200
  CHECK(rows[1].kernel == "flash2_wgmma_sm90");
  CHECK(rows[2].kernel == "naive");
  CHECK(call_of(rows[0]).kernel == "flash2_mma_sm80");
  named.variants = {"naive"};
  CHECK_THROWS_WITH(calls_of(named), contains("it is one of flash2"));
  named.kernels = {"flash9"};
  CHECK_THROWS_WITH(calls_of(named), contains("kernel: flash9"));
}

TEST_CASE("measurements go to the rows of their kernels", "[compare]") {
  SweepAxes both = axes({"flash2"}, {4096});
  both.kernels = {"flash2_mma_sm80", "flash2_wgmma_sm90"};
  std::vector<RefusedCall> refused;
  auto measured = predict_rows(calls_of(both), machine_of(), machine_of(), refused);
  measured[0].measured.emplace().median_ms = 2;
  measured[1].measured.emplace().median_ms = 1;
  auto rows = predict_rows(calls_of(both), machine_of(), machine_of(), refused);
  CHECK(merge_measurements(rows, measured).num_merged == 2);
  CHECK((rows[0].measured->median_ms == 2 && rows[1].measured->median_ms == 1));
  both.kernels = {"flash2_wgmma_sm90"};
  auto one = predict_rows(calls_of(both), machine_of(), machine_of(), refused);
  CHECK(merge_measurements(one, {measured[0]}).not_there.size() == 1);
}

TEST_CASE("a call that names no kernel takes the one that was measured", "[compare]") {
  std::vector<Row> measured = {first_row_of(axes({"flash2"}, {4096}))};
  measured[0].kernel = "flash2_mma_sm80";
  std::vector<Call> calls = calls_of(axes({"flash2"}, {4096, 8192}));
  take_kernels(measured, calls);
  CHECK(calls[0].kernel == "flash2_mma_sm80");
  CHECK(calls[1].kernel.empty());  // not measured
  measured[0].kernel = "of another version";
  calls = calls_of(axes({"flash2"}, {4096}));
  take_kernels(measured, calls);
  CHECK(calls[0].kernel.empty());
}

TEST_CASE("a mask that no toy program has is refused by name", "[compare]") {
  SweepAxes other = axes({"flash2"}, {1024});
  other.masks = {Mask::kCausalBottomRight};
  other.seqlen_k = 2048;
  std::vector<RefusedCall> refused;
  CHECK(predict_rows(calls_of(other), machine_of(), machine_of(), refused).empty());
  REQUIRE(refused.size() == 1);
  CHECK_THAT(refused[0].reason, contains("mask: causal-bottom-right: expected causal (top left)"));
}

TEST_CASE("a call that no kernel takes is left out with the reason", "[compare]") {
  std::vector<RefusedCall> refused;
  const auto rows = predict_rows(calls_of(axes({"flash1", "flash2"}, {1024})), machine_of(),
                                 machine_of(), refused);
  CHECK(rows.size() == 1);
  REQUIRE(refused.size() == 1);
  CHECK_THAT(refused[0].call, contains("flash1, bf16"));
}

TEST_CASE("a call whose counts would wrap is refused at once", "[compare]") {
  CHECK_THROWS_AS(first_row_of(axes({"naive"}, {std::int64_t{1} << 30})), std::overflow_error);
  CHECK_THROWS_AS(first_row_of(axes({"flash2"}, {std::int64_t{1} << 30})), std::overflow_error);
}

TEST_CASE("every GPU of the list gets predictions", "[compare]") {
  for (const gpu::GpuSpec& gpu : gpu::gpu_specs()) {
    const Row row = first_row_of(axes({"flash2"}, {4096}), gpu.key.c_str());
    INFO(gpu.name);
    CHECK(row.predicted.overlap_ms > 0);
    for (const Step& step : row.steps) {
      CHECK(step.shared_bytes <= gpu.shared_memory_per_block_bytes);
    }
  }
}

// 4 x 65536^2 scores of 4 bytes are 68.7 GB.
TEST_CASE("a call whose matrices the GPU's memory does not hold has no time", "[compare]") {
  SweepAxes long_ones = axes({"naive", "flash2"}, {65536}, DataType::kFloat32);
  long_ones.num_heads = 1;
  const auto row_at = [&](std::size_t index, const char* gpu) {
    return predict_row(calls_of(long_ones)[index], machine_of(gpu), machine_of(gpu));
  };
  const Row naive = row_at(0, "rtx3090");
  CHECK(naive.failure == "does not fit: at least 69.0 GB needed, RTX 3090 has 24 GB");
  CHECK(does_not_fit(naive));
  CHECK_FALSE(does_not_fit(row_at(0, "h200")));
  CHECK_FALSE(does_not_fit(row_at(1, "rtx3090")));
  long_ones.seqlens = {32768};  // 17.2 GB: one matrix is there at a time
  CHECK_FALSE(does_not_fit(row_at(0, "rtx3090")));
  long_ones.variants = {"bwd-naive"};  // P and dP at once: 34.4 GB
  CHECK(does_not_fit(row_at(0, "rtx3090")));
  Row measured = naive;
  measured.measured.emplace();
  CHECK_FALSE(does_not_fit(measured));
}

TEST_CASE("keys that no query sees make a call of parts no longer", "[compare]") {
  SweepAxes causal = axes({"split-kv"}, {832}, DataType::kFloat32);
  causal.masks = {Mask::kCausalTopLeft};
  const Row seen = first_row_of(causal);
  causal.seqlen_k = 6656;
  CHECK(first_row_of(causal).predicted.units_ms < 1.01 * seen.predicted.units_ms);
}
