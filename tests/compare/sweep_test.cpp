#include "compare/rows/sweep.hpp"

#include "results/result_file.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"

using namespace flashlab;
using namespace flashlab::compare;
using namespace flashlab::test;

namespace {

SweepAxes square() {
  SweepAxes axes;
  axes.variants = {"flash2", "bwd-onepass"};
  axes.dtypes = {DataType::kFloat32, DataType::kBFloat16};
  axes.products = {cuda::Products::kNative, cuda::Products::kTensorFloat32};
  axes.masks = {Mask::kNone, Mask::kCausalTopLeft};
  axes.seqlens = {1024, 4096};
  axes.head_dims = {64, 128};
  return axes;
}

}  // namespace

TEST_CASE("every combination is a call, but tf32 products of other types than float", "[compare]") {
  // variants x (float: two products, bf16: one) x masks x lengths x head_dims
  CHECK(calls_of(square()).size() == 2 * 3 * 2 * 2 * 2);
}

TEST_CASE("tokens and hidden columns stay the same over lengths and head_dims", "[compare]") {
  SweepAxes axes = square();
  axes.tokens = 16384;
  axes.hidden = 2048;
  for (const Call& call : calls_of(axes)) {
    CHECK(call.problem.batch * call.problem.seqlen_q == 16384);
    CHECK(call.problem.num_heads * call.problem.head_dim == 2048);
  }
  axes.seqlens = {65536};
  CHECK(calls_of(axes).front().problem.batch == 1);
}

TEST_CASE("a size that is none is refused by name", "[compare]") {
  SweepAxes axes = square();
  axes.batch = 0;
  CHECK_THROWS_AS(calls_of(axes), ProblemError);
  axes = square();
  axes.num_kv_heads = 3;
  CHECK_THROWS_AS(calls_of(axes), ProblemError);
  axes = square();
  axes.head_dims = {0};
  CHECK_THROWS_AS(calls_of(axes), ProblemError);
}

TEST_CASE("a row's call is the one that it was predicted from", "[compare]") {
  Row row = measured_row(1);
  row.mask = "causal";
  const Call call = call_of(row);
  CHECK(call.variant == "flash2");
  CHECK(call.problem.dtype == DataType::kBFloat16);
  CHECK(call.problem.mask == Mask::kCausalTopLeft);
  CHECK(call.problem.softmax_scale == 0.125);
  row.dtype = "int4";
  CHECK_THROWS_AS(call_of(row), ProblemError);
}

TEST_CASE("a call that was measured in another shape takes the measured shape", "[compare]") {
  SweepAxes axes = square();
  axes.variants = {"flash2"};
  axes.dtypes = {DataType::kBFloat16};
  axes.products = {cuda::Products::kNative};
  axes.masks = {Mask::kNone};
  axes.head_dims = {64};
  axes.seqlens = {4096};
  Row wide = measured_row(1), narrow = measured_row(1), long_one = measured_row(1);
  wide.num_heads = wide.num_kv_heads = 32;
  narrow.num_heads = narrow.num_kv_heads = 1;
  long_one.seqlen_q = long_one.seqlen_k = 8192;
  const std::vector<Call> calls = calls_of(axes);
  const std::vector<Call> other = with_measured_shapes({wide, narrow, long_one}, calls);
  REQUIRE(other.size() == 2);
  CHECK(other[0].problem.num_heads == 32);
  CHECK(other[1].problem.num_heads == 1);
  CHECK(with_measured_shapes({long_one}, calls).front().problem.num_heads ==
        calls.front().problem.num_heads);
  wide.measured.reset();
  CHECK(with_measured_shapes({wide}, calls).front().problem.num_heads != 32);
}

TEST_CASE("a measured shape is not replaced", "[compare]") {
  const Row row = measured_row(1);
  Row wide = row;
  wide.num_heads = wide.num_kv_heads = 32;
  const std::vector<Call> calls = with_measured_shapes({wide, row}, {call_of(row)});
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].problem.num_heads == row.num_heads);
}

TEST_CASE("measured sizes are listed with the flags that choose them", "[compare]") {
  Row row = measured_row(1), longer = row, other = row;
  row.batch = 2, row.num_heads = 3, row.seqlen_q = 100, row.head_dim = 64;
  longer = row;
  longer.batch = 1, longer.seqlen_q = 200;
  other = row;
  other.dtype = "float";
  CHECK(measured_sizes({longer, row, other}, row.variant, row.dtype) ==
        std::vector<std::string>{"N 100, 200 at d 64 (--tokens 200 --hidden 192)"});
  CHECK(measured_sizes({row}, "naive", row.dtype).empty());
}

TEST_CASE("measurements go to the same calls, steps by name", "[compare]") {
  std::vector<Row> into = {flashlab::test::synthetic_row(), flashlab::test::synthetic_row()};
  into[1].seqlen_q = into[1].seqlen_k = 8192;
  Row from = measured_row(1.5);
  from.steps[0].measured = from.measured;
  for (Row& row : into) row.prediction_sha256 = prediction_sha256(row);
  from.prediction_sha256 = prediction_sha256(from);
  const MergeReport report = merge_measurements(into, {from});
  CHECK(report.num_merged == 1);
  CHECK(report.other_predictions.empty());
  REQUIRE(report.not_there.size() == 1);
  CHECK(report.not_there[0] == &into[1]);
  CHECK(into[0].measured->median_ms == 1.5);
  CHECK(into[0].steps[0].measured->median_ms == 1.5);
}

TEST_CASE("a measurement after another prediction is told apart", "[compare]") {
  std::vector<Row> into = {flashlab::test::synthetic_row()};
  into[0].prediction_sha256 = prediction_sha256(into[0]);
  Row from = measured_row(1.5);
  from.prediction_sha256 = "another";
  CHECK(merge_measurements(into, {from}).other_predictions.size() == 1);
}

TEST_CASE("shares count calls that are long enough", "[compare]") {
  std::vector<Row> rows = {measured_row(1.1), measured_row(1.25), measured_row(0.7)};
  CHECK(close_times(rows, 0.15).num_close == 1);
  CHECK(close_times(rows, 0.3).num_close == 2);
  CHECK(close_times(rows, 0.3).num_all == 3);
  rows[1].seqlen_q = 1023;  // too short to count
  CHECK(close_times(rows, 0.3).num_all == 2);
  rows[1].seqlen_q = 1024;
  CHECK(close_times(rows, 0.3).num_all == 3);
  rows[1].seqlen_q = 4095;    // its bytes are not counted
  rows[2].variant = "naive";  // nor are this variant's
  CHECK(close_sm_bytes(rows).num_close == 1);
  rows[0].measured->sm->bytes_read += 60'000'000;  // 6 %
  CHECK(close_sm_bytes(rows).num_close == 0);
  CHECK(close_sm_bytes(rows).num_all == 1);
}

TEST_CASE("rows are predicted again, but for those that this version cannot run", "[compare]") {
  const MachineModel machine = machine_model(*gpu::find_gpu("h200"));
  Call call;
  call.variant = "flash2";
  call.problem.batch = call.problem.num_heads = call.problem.num_kv_heads = 2;
  call.problem.seqlen_q = call.problem.seqlen_k = 1024;
  call.problem.head_dim = 64;
  call.problem.dtype = flashlab::DataType::kBFloat16;
  const Row row = predict_row(call, machine, machine);
  REQUIRE(row.predicted.units_ms > 0);
  std::vector<Row> rows = {row, row, row};
  rows[0].predicted.units_ms = 0;
  rows[0].predicted.overlap_ms = 9;
  rows[0].measured = flashlab::test::measured_in(7);
  rows[1].predicted.units_ms = 9;
  rows[2].predicted.units_ms = 0;
  rows[2].kernel = "none";  // this version does not have it
  CHECK(predict_again(rows, machine, machine) == 2);
  CHECK(rows[0].predicted.units_ms == row.predicted.units_ms);
  CHECK(rows[0].prediction_sha256 == row.prediction_sha256);
  CHECK(rows[0].measured->median_ms == 7);
  CHECK(rows[1].predicted.units_ms == row.predicted.units_ms);
  CHECK(rows[2].predicted.units_ms == 0);
}

TEST_CASE("calls that were measured have the predictions that were made before", "[compare]") {
  const MachineModel machine = machine_model(*gpu::find_gpu("h200"));
  Call call;
  call.variant = "flash2";
  call.kernel = "flash2_mma_sm80";
  call.problem.batch = call.problem.num_heads = call.problem.num_kv_heads = 2;
  call.problem.seqlen_q = call.problem.seqlen_k = 1024;
  call.problem.head_dim = 64;
  call.problem.dtype = flashlab::DataType::kBFloat16;
  Call longer = call, other = call;
  longer.problem.seqlen_q = longer.problem.seqlen_k = 2048;
  other.kernel = "flash2_wgmma_sm90";
  Row known = predict_row(call, machine, machine);
  known.prediction_sha256 = "before";
  known.predicted.units_ms = 9;
  std::vector<RefusedCall> refused;
  const auto rows_with = [&](const Row& row) {
    return measured_or_predicted_rows({call, longer, other}, {row}, machine, machine, refused);
  };
  CHECK(rows_with(known)[0].predicted.units_ms != 9);  // it was not measured
  known.measured = flashlab::test::measured_in(7);
  const std::vector<Row> rows = rows_with(known);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].prediction_sha256 == "before");
  CHECK(rows[0].predicted.units_ms == 9);
  CHECK(rows[0].measured->median_ms == 7);
  CHECK(rows[1].prediction_sha256 == predict_row(longer, machine, machine).prediction_sha256);
  CHECK(rows[2].kernel == "flash2_wgmma_sm90");
  CHECK_FALSE(rows[2].measured);
  CHECK(refused.empty());
}
