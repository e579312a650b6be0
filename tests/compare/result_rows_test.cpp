// Rows of a comparison: as lines of CSV, their hashes, their keys, their ratios.
#include <functional>
#include <string>
#include <vector>

#include "results/calibration_fields.hpp"
#include "results/result_file.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

Work distinct_work(std::int64_t base) {
  Work work;
  work.dram = {base + 1, base + 2};
  work.sm = Traffic{base + 3, base + 4};
  work.product_flops = base + 5;
  work.elementwise_flops = base + 6;
  work.divisions = base + 7;
  work.exps = base + 8;
  return work;
}

/// A row in which no two numbers of a kind are equal.
Row distinct_row() {
  Row row = synthetic_row();
  row.variant = "bwd-twopass", row.kernel = "a_kernel", row.pass = Pass::kBackward;
  row.mask = "causal", row.tile = "64x32";
  row.batch = 2, row.num_heads = 6, row.num_kv_heads = 3;
  row.seqlen_q = 40, row.seqlen_k = 50, row.head_dim = 16;
  row.toy = distinct_work(100);
  row.work = distinct_work(200);
  row.predicted.roofline_ms = 0.8;
  row.predicted.overlap_ms = 1.5;
  row.pallas_bytes = PallasBytes{301, 302};
  row.pallas_ms = 0.25;
  row.prediction_sha256 = "0123";
  Measurement m;
  m.median_ms = 2, m.least_ms = 1.75, m.most_ms = 2.5;
  m.clock_ghz = 1.8125;
  m.dram = Traffic{401, 402};
  m.sm = Traffic{403, 404};
  m.tensor_percent = 11, m.exp_percent = 12, m.issue_percent = 13, m.shared_percent = 14;
  row.measured = m;
  row.failure = "broke";
  row.sentence = "a, b";
  return row;
}

std::string csv_line(const Row& row) {
  Comparison comparison;
  comparison.rows = {row};
  const std::string csv = to_csv(comparison);
  const std::size_t begin = csv.find('\n') + 1;
  return csv.substr(begin, csv.size() - 1 - begin);
}

Row square_row() {
  Row row = synthetic_row();
  row.products = "native", row.mask = "none", row.tile = "";
  return row;
}

}  // namespace

TEST_CASE("the columns of the CSV are these, in this order", "[compare]") {
  CHECK(to_csv({}) ==
        "variant,pass,kernel,dtype,products,mask,batch,num_heads,num_kv_heads,seqlen_q,seqlen_k,"
        "head_dim,tile,toy_sm_read_bytes,toy_sm_written_bytes,predicted_sm_read_bytes,"
        "predicted_sm_written_bytes,predicted_dram_read_bytes,predicted_dram_written_bytes,"
        "product_flops,elementwise_flops,exps,roofline_ms,overlap_ms,seed_ms,measured_ms,least_ms,"
        "most_ms,time_ratio,measured_sm_read_bytes,measured_sm_written_bytes,sm_ratio,"
        "measured_dram_read_bytes,measured_dram_written_bytes,tensor_percent,exp_percent,"
        "issue_percent,shared_percent,measured_clock_ghz,prediction_sha256,failure,sentence\n");
}

TEST_CASE("each number of a row is in its column", "[compare]") {
  // 1.5 / 2 = 0.75; (203 + 204) / (403 + 404) = 0.504337
  CHECK(csv_line(distinct_row()) ==
        "bwd-twopass,backward,a_kernel,bf16,native,causal,2,6,3,40,50,16,64x32,103,104,203,204,"
        "201,202,205,206,208,0.8,1.5,0.25,2,1.75,2.5,0.75,403,404,0.504337,401,402,11,12,13,14,"
        "1.8125,0123,broke,\"a, b\"");
}

TEST_CASE("what was not measured leaves its columns empty", "[compare]") {
  Row row = square_row();
  row.toy.sm.reset();
  row.work.sm.reset();
  CHECK(csv_line(row) ==
        "flash2,forward,flash2_mma_sm80,bf16,native,none,4,8,8,4096,4096,64,,,,,,60000000,40000000,"
        "137000000000,0,540000000,0.6,1" +
            std::string(18, ','));
  row.measured.emplace();
  row.measured->median_ms = 4;
  CHECK_THAT(csv_line(row), contains(",0.6,1,,4,,,0.25,,,,,,,,,,,,,"));
}

TEST_CASE("a cell with a comma, a quote or a line end is quoted, another is not", "[compare]") {
  const std::pair<const char*, const char*> cases[] = {{"plain; text", "plain; text"},
                                                       {"a,b", "\"a,b\""},
                                                       {"say \"x\"", "\"say \"\"x\"\"\""},
                                                       {"a\nb", "\"a\nb\""},
                                                       {"a\rb", "\"a\rb\""}};
  for (const auto& [sentence, cell] : cases) {
    Row row = square_row();
    row.sentence = sentence;
    INFO(sentence);
    CHECK(csv_line(row).ends_with("," + std::string(cell)));
  }
}

TEST_CASE("each predicted number is in the hash", "[compare]") {
  using Change = std::function<void(Row&)>;
  const std::vector<std::function<void(Work&)>> of_work = {[](Work& w) { ++w.dram.bytes_read; },
                                                           [](Work& w) { ++w.dram.bytes_written; },
                                                           [](Work& w) { ++w.sm->bytes_read; },
                                                           [](Work& w) { ++w.sm->bytes_written; },
                                                           [](Work& w) { w.sm.reset(); },
                                                           [](Work& w) { ++w.product_flops; },
                                                           [](Work& w) { ++w.elementwise_flops; },
                                                           [](Work& w) { ++w.divisions; },
                                                           [](Work& w) { ++w.exps; }};
  const std::vector<std::function<void(Prediction&)>> of_prediction = {
      [](Prediction& p) { p.dram_ms += 1; },     [](Prediction& p) { p.sm_ms += 1; },
      [](Prediction& p) { p.products_ms += 1; }, [](Prediction& p) { p.elementwise_ms += 1; },
      [](Prediction& p) { p.exp_ms += 1; },      [](Prediction& p) { p.launch_ms += 1; },
      [](Prediction& p) { p.fill += 1; },        [](Prediction& p) { p.roofline_ms += 1; },
      [](Prediction& p) { p.overlap_ms += 1; },  [](Prediction& p) { p.bound = Bound::kLaunch; }};
  std::vector<Change> changes = {[](Row& r) { r.variant += "x"; },
                                 [](Row& r) { r.kernel += "x"; },
                                 [](Row& r) { r.pass = Pass::kForward; },
                                 [](Row& r) { r.dtype += "x"; },
                                 [](Row& r) { r.products += "x"; },
                                 [](Row& r) { r.mask += "x"; },
                                 [](Row& r) { ++r.batch; },
                                 [](Row& r) { ++r.num_heads; },
                                 [](Row& r) { ++r.num_kv_heads; },
                                 [](Row& r) { ++r.seqlen_q; },
                                 [](Row& r) { ++r.seqlen_k; },
                                 [](Row& r) { ++r.head_dim; },
                                 [](Row& r) { r.tile += "x"; },
                                 [](Row& r) { r.tile.clear(); },
                                 [](Row& r) { ++r.pallas_bytes->formula; },
                                 [](Row& r) { ++r.pallas_bytes->prose; },
                                 [](Row& r) { r.pallas_bytes.reset(); },
                                 [](Row& r) { *r.pallas_ms += 1; },
                                 [](Row& r) { ++r.usual_flops; },
                                 [](Row& r) { ++r.tensor_bytes; },
                                 [](Row& r) { ++r.workspace_bytes; },
                                 [](Row& r) { r.steps.clear(); },
                                 [](Row& r) { r.steps[0].name += "x"; },
                                 [](Row& r) { ++r.steps[0].num_launches; },
                                 [](Row& r) { ++r.steps[0].num_blocks; },
                                 [](Row& r) { ++r.steps[0].block_q; },
                                 [](Row& r) { ++r.steps[0].block_kv; },
                                 [](Row& r) { ++r.steps[0].num_threads; },
                                 [](Row& r) { ++r.steps[0].shared_bytes; }};
  for (const auto& change : of_work) {
    changes.emplace_back([&](Row& r) { change(r.toy); });
    changes.emplace_back([&](Row& r) { change(r.work); });
    changes.emplace_back([&](Row& r) { change(r.steps[0].work); });
  }
  for (const auto& change : of_prediction) {
    changes.emplace_back([&](Row& r) { change(r.predicted); });
    changes.emplace_back([&](Row& r) { change(r.steps[0].predicted); });
  }
  const std::string before = prediction_sha256(distinct_row());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Row row = distinct_row();
    changes[i](row);
    INFO("change " << i);
    CHECK(prediction_sha256(row) != before);
  }
}

TEST_CASE("nothing that was measured or said is in the hash", "[compare]") {
  Row row = distinct_row();
  const std::string before = prediction_sha256(row);
  row.failure = row.sentence = row.prediction_sha256 = "other";
  row.measured.reset();
  row.steps[0].measured = measured_in(3);
  row.predicted.dram_ms *= 1 + 1e-9;  // beyond six digits
  CHECK(prediction_sha256(row) == before);
}

TEST_CASE("a row's key has what tells it from other rows", "[compare]") {
  const std::pair<std::function<void(Row&)>, const char*> cases[] = {
      {[](Row&) {}, "flash2, bf16, batch 4, 8 heads, N 4096, d 64"},
      {[](Row& r) { r.products = "tf32"; }, "flash2, bf16 tf32, batch 4, 8 heads, N 4096, d 64"},
      {[](Row& r) { r.num_kv_heads = 2; },
       "flash2, bf16, batch 4, 8 heads on 2 kv heads, N 4096, d 64"},
      {[](Row& r) { r.seqlen_k = 100; }, "flash2, bf16, batch 4, 8 heads, N 4096 x 100, d 64"},
      {[](Row& r) { r.mask = "causal"; }, "flash2, bf16, batch 4, 8 heads, N 4096, d 64, causal"},
      {[](Row& r) { r.tile = "64x32"; },
       "flash2, bf16, batch 4, 8 heads, N 4096, d 64, tile 64x32"}};
  for (const auto& [change, key] : cases) {
    Row row = square_row();
    change(row);
    CHECK(key_of(row) == key);
  }
}

TEST_CASE("ratios are of prediction to measurement, and of nothing there is none", "[compare]") {
  Row row = measured_row(4);
  row.predicted.overlap_ms = 1;
  row.measured->sm = Traffic{1'500'000'000, 500'000'000};
  CHECK(time_ratio(row) == 0.25);
  CHECK(sm_ratio(row) == 0.5);
  row.predicted.overlap_ms = 0;
  CHECK_FALSE(time_ratio(row).has_value());
  row.predicted.overlap_ms = -1;
  CHECK_FALSE(time_ratio(row).has_value());
  row.measured->sm = Traffic{0, 0};
  CHECK_FALSE(sm_ratio(row).has_value());
  row.measured->sm = Traffic{0, 1'000'000'000};
  CHECK(sm_ratio(row) == 1.0);
  row.measured->sm.reset();
  CHECK_FALSE(sm_ratio(row).has_value());
  row = measured_row(4);
  row.work.sm.reset();
  CHECK_FALSE(sm_ratio(row).has_value());
  row.measured->median_ms.reset();
  CHECK_FALSE(time_ratio(row).has_value());
  row.measured.reset();
  CHECK_FALSE(time_ratio(row).has_value());
  CHECK_FALSE(sm_ratio(row).has_value());
  Step step = row.steps[0];
  CHECK_FALSE(time_ratio(step).has_value());
  step.measured = measured_in(0.5);
  CHECK(time_ratio(step) == 2.0);
}

TEST_CASE("variants stand once each, in the order of the rows", "[compare]") {
  Comparison comparison;
  CHECK(variants_of(comparison).empty());
  for (const char* const variant : {"naive", "flash2", "naive", "flash1", "flash2"}) {
    comparison.rows.push_back(synthetic_row());
    comparison.rows.back().variant = variant;
  }
  CHECK(variants_of(comparison) == std::vector<std::string>{"naive", "flash2", "flash1"});
}

TEST_CASE("every measured rate replaces its own rate of the model, and has a name", "[compare]") {
  gpu::GpuSpec gpu;
  gpu.l2_bytes = 3;
  Calibration calibration;
  calibration.dram_copy_bytes_per_s = 1;
  calibration.dram_read_bytes_per_s = 2;
  calibration.sm_bytes_per_s = 3;
  calibration.shared_bytes_per_s = 4;
  calibration.additions_bytes_per_s = 10;
  calibration.bulk_additions_bytes_per_s = 11;
  calibration.elementwise_per_s = 5;
  calibration.exps_per_s = 6;
  calibration.divisions_per_s = 7;
  calibration.launch_s = 8;
  calibration.flops_per_s = {{"bf16", 9}};
  const MachineModel before = machine_model(gpu);
  CHECK(before.gpu.l2_bytes == 3);
  CHECK_FALSE(before.dram_copy.has_value());  // the data sheet has 0
  CHECK_FALSE(before.exps.has_value());
  CHECK_FALSE(rate_named(before, "DRAM copy").has_value());
  MachineModel model = machine_model(gpu, calibration);
  CHECK(model.gpu.l2_bytes == 3);
  const std::pair<const char*, double> cases[] = {
      {"DRAM copy", 1},   {"DRAM read", 2},      {"L2 to SM", 3},  {"shared memory", 4},
      {"elementwise", 5}, {"exp2", 6},           {"divisions", 7}, {"bf16", 9},
      {"additions", 10},  {"bulk additions", 11}};
  for (const auto& [name, per_s] : cases) {
    INFO(name);
    REQUIRE(rate_named(model, name).has_value());
    CHECK(rate_named(model, name)->per_s == per_s);
    CHECK(rate_named(model, name)->is_measured);
  }
  CHECK(model.launch_s == 8.0);
  CHECK_FALSE(rate_named(model, "launches").has_value());  // a time, not a rate
  CHECK_FALSE(rate_named(model, "fp16").has_value());
  calibration.l2_bytes = 11;
  CHECK(machine_model(gpu, calibration).gpu.l2_bytes == 11);
}

TEST_CASE("a committed comparison has the name of its file", "[compare]") {
  const std::vector<std::string> names = committed_results();
  CHECK(std::find(names.begin(), names.end(), "h200") != names.end());
  for (const std::string& name : names) {
    INFO(name);
    REQUIRE(committed_result(name).has_value());
    CHECK_FALSE(parse_comparison(*committed_result(name)).rows.empty());
  }
  for (const char* const name : {"", "h20", "h200.json", "compare_h200"}) {
    INFO(name);
    CHECK_FALSE(committed_result(name).has_value());
  }
}

}  // namespace flashlab::test
