// Which unit binds: on steps with round times, and on all committed rows.
#include "compare/model/binding_unit.hpp"

#include <cmath>

#include "compare/model/unit_cycles.hpp"
#include "compare/report/explain.hpp"
#include "compare/report/unit_shares.hpp"
#include "compare/rows/rows.hpp"
#include "compare/rows/sweep.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

auto exact_time(double value) { return Catch::Matchers::WithinAbs(value, 1e-9); }

/// Blocks that are not described: 0.6 ms of loads beside 0.5 + 0.3 + 0.2 ms of computing.
Step plain_step() {
  Step step;
  Prediction& p = step.predicted;
  p.dram_ms = 0.6;
  p.products_ms = 0.5;
  p.elementwise_ms = 0.3;
  p.exp_ms = 0.2;
  p.launch_ms = 0.1;
  p.units_ms = p.overlap_ms = 1.1;
  return step;
}

/// One warp per scheduler, for which times add up, in blocks that take twice as long.
Step lone_warp() {
  Step step;
  Prediction& p = step.predicted;
  p.products_ms = 0.5;
  p.shared_ms = 0.4;
  p.exp_ms = 0.1;
  p.dram_ms = 1.5;
  p.warps = 1;
  p.units_ms = 2;
  return step;
}

/// Blocks of one warp that take a row, one at a time.
Step rows_step() {
  Step step;
  step.num_threads = 128;
  Prediction& p = step.predicted;
  p.dram_ms = 0.6;
  p.issue_ms = 0.3;
  p.wait_ms = 0.1;
  p.sm_ms = 0.2;
  p.warps = 1;
  p.units_ms = 1;
  return step;
}

Row row_with(const std::vector<Step>& steps) {
  Row row;
  row.steps = steps;
  return row;
}

}  // namespace

TEST_CASE("without a unit, the others take what they took", "[compare]") {
  const Step step = plain_step();
  CHECK_THAT(ms_with(step, Bound::kProducts, 1), exact_time(1.1));
  CHECK_THAT(ms_with(step, Bound::kProducts, 0),
             exact_time(0.7));  // loads take longer than the rest
  CHECK_THAT(ms_with(step, Bound::kElementwise, 0), exact_time(0.8));
  CHECK_THAT(ms_with(step, Bound::kDram, 0), exact_time(1.1));
  CHECK_THAT(ms_with(step, Bound::kLaunch, 0), exact_time(1.0));
  CHECK(binding_unit(step) == Bound::kProducts);
  CHECK(unit_ms(step, Bound::kIssue) == 0);
}

TEST_CASE("a unit that is busier than others binds only if the time depends on it", "[compare]") {
  const Step step = lone_warp();
  CHECK_THAT(ms_with(step, Bound::kDram, 0), exact_time(2.0));    // computing takes longer
  CHECK_THAT(ms_with(step, Bound::kShared, 0), exact_time(1.5));  // as long as DRAM
  CHECK_THAT(ms_with(step, Bound::kExp, 0), exact_time(1.8));     // twice what its units show
  CHECK(binding_unit(step) == Bound::kProducts);                  // of two, the busier one
  Step loading = step;
  loading.predicted.dram_ms = 2;
  CHECK(binding_unit(loading) == Bound::kDram);
  CHECK_THAT(ms_with(loading, Bound::kDram, 0), exact_time(1.0));  // the units' own times
  CHECK_THAT(ms_with(loading, Bound::kProducts, 0), exact_time(2.0));
}

TEST_CASE("blocks of rows share DRAM as they share instructions", "[compare]") {
  const Step step = rows_step();
  CHECK(binding_unit(step) == Bound::kDram);
  CHECK_THAT(ms_with(step, Bound::kDram, 0), exact_time(0.4));
  CHECK_THAT(ms_with(step, Bound::kIssue, 0), exact_time(0.7));
  const auto next = next_binding(step);
  REQUIRE(next);
  CHECK(next->unit == Bound::kIssue);
  CHECK(std::abs(next->share - 0.5) < 1e-5);
  CHECK(std::abs(next->time_left - 0.7) < 1e-5);
}

TEST_CASE("the next unit is not the launches, which come on top", "[compare]") {
  Step step = plain_step();
  step.predicted.dram_ms = 2;
  step.predicted.units_ms = step.predicted.overlap_ms = 2.1;
  step.predicted.sm_ms = 1.5;
  const auto next = next_binding(step);
  REQUIRE(next);
  CHECK(next->unit == Bound::kSm);
  CHECK(std::abs(next->share - 0.75) < 1e-5);
  CHECK(std::abs(next->time_left - 1.6 / 2.1) < 1e-5);
}

TEST_CASE("additions that L2 executes bind as loads do", "[compare]") {
  Step step = lone_warp();
  step.predicted.sums_ms = step.predicted.units_ms;
  CHECK(binding_unit(step) == Bound::kSums);
}

TEST_CASE("without times nothing binds", "[compare]") {
  CHECK_FALSE(binding_unit(Step{}));
  CHECK_FALSE(next_binding(Step{}));
  CHECK_FALSE(binding_unit(Row{}));
  CHECK_FALSE(binding_unit(row_with({Step{}, Step{}})));
}

TEST_CASE("the unit of a call is the one that its kernels together depend on most", "[compare]") {
  // The longest kernel is bound by products, three others by DRAM: 0.4 against 3 x 0.4 ms.
  Step moving = rows_step();
  moving.predicted.issue_ms = 0.2;
  moving.predicted.dram_ms = 0.7;
  moving.predicted.units_ms = 0.9;
  moving.predicted.wait_ms = 0;
  Step longer = moving;
  longer.predicted.dram_ms = 0.8;
  longer.predicted.units_ms = 1;
  const Row row = row_with({plain_step(), moving, longer, moving});
  const auto binding = binding_unit(row);
  REQUIRE(binding);
  CHECK(binding->unit == Bound::kDram);
  CHECK(binding->kernel == &row.steps[2]);
  CHECK_THAT(binding->kernel_share, exact_time(1 / 3.9));
  CHECK_THAT(binding->time_left, exact_time((1.1 + 3 * 0.2) / 3.9));
}

TEST_CASE("times in a prediction combine as clocks per pair do", "[compare]") {
  const UnitCycles cycles = {
      .tensor = 50, .shared = 80, .issue = 40, .exp = 20, .sums = 30, .wait = 60};
  Prediction p;
  p.products_ms = cycles.tensor;
  p.shared_ms = cycles.shared;
  p.issue_ms = cycles.issue;
  p.exp_ms = cycles.exp;
  p.sums_ms = cycles.sums;
  p.warps = 3;
  p.wait_ms = cycles.wait / p.warps;
  CHECK_THAT(shared_ms_of(p), exact_time(cycles_per_pair(cycles, 4, 3)));
}

namespace {

struct CommittedRows {
  std::string name;
  std::vector<Row> rows;
  MachineModel machine, data_sheet;
};

/// The rows of a file as it predicted them, or by this version.
CommittedRows committed_rows(const std::string& name, bool is_again) {
  Comparison comparison = parse_comparison(committed_result(name).value());
  const gpu::GpuSpec gpu = gpu::find_gpu(comparison.gpu_key).value();
  CommittedRows rows = {name, std::move(comparison.rows),
                        machine_model(gpu, comparison.calibration), machine_model(gpu)};
  if (is_again) predict_again(rows.rows, rows.machine, rows.data_sheet);
  return rows;
}

}  // namespace

TEST_CASE("sentence, bars and binding unit of every committed row are one", "[compare]") {
  int num_rows = 0, num_naive = 0;
  for (const std::string& name : committed_results()) {
    for (const bool is_again : {false, true}) {
      const CommittedRows file = committed_rows(name, is_again);
      for (const Row& row : file.rows) {
        INFO(name << (is_again ? ", again: " : ": ") << key_of(row) << ", " << row.kernel);
        const auto binding = binding_unit(row);
        REQUIRE(binding);
        const std::string sentence = explain(row, file.machine.gpu.num_sms);
        CHECK_THAT(sentence, contains("bound by " + std::string(unit_name(binding->unit))));
        CHECK(binding->time_left < 1);
        if (!is_again) CHECK(row.sentence == sentence);  // as the file has it
        for (const Step& step : row.steps) {
          const auto unit = binding_unit(step);
          const std::vector<UnitShare> bars = unit_shares(step);
          if (!unit) continue;  // it moves nothing and computes nothing
          CHECK(std::ranges::count(bars, *unit, &UnitShare::unit) == 1);
          CHECK(binding_sentence(step).starts_with(unit_name(*unit)));
          CHECK(std::abs(ms_with(step, *unit, 1) / predicted_ms(step.predicted) - 1) < 1e-4);
        }
        if (row.steps.size() == 1) CHECK(binding->unit == binding_unit(row.steps[0]));
        ++num_rows;
        if (row.variant != "naive" || row.dtype != "bf16" || row.seqlen_q < 1024) continue;
        CHECK(binding->unit == Bound::kDram);  // every step moves a matrix
        ++num_naive;
      }
    }
  }
  CHECK(num_rows > 1500);
  CHECK(num_naive > 30);
}

namespace {

/// A machine on which a unit takes no time; nothing: no rate says how long it takes.
std::optional<MachineModel> machine_without(Bound unit, MachineModel machine) {
  constexpr double kInfinite = 1e30;
  switch (unit) {
    case Bound::kDram:
      machine.dram_copy = machine.dram_read = Rate{kInfinite, true};
      return machine;
    case Bound::kSm:
      machine.sm = Rate{kInfinite, true};
      return machine;
    case Bound::kExp:
      machine.exps = Rate{kInfinite, true};
      machine.gpu.exps_per_clock_per_sm = kInfinite;
      return machine;
    case Bound::kShared:
      machine.gpu.shared_bytes_per_clock_per_sm = kInfinite;
      return machine;
    case Bound::kSums:
      machine.additions = machine.bulk_additions = Rate{kInfinite, true};
      return machine;
    case Bound::kLaunch:
      machine.launch_s = 0;
      return machine;
    default:
      return std::nullopt;
  }
}

}  // namespace

// ms_with() knows a prediction's numbers only. The model itself, on a machine with one unit that
// takes no time, has to agree about which unit matters most. wgmma reads operands while it
// multiplies, and a prediction does not say how much of shared memory's time that is: there another
// unit can matter a little more.
TEST_CASE("the model predicts no shorter time without another unit than the one that binds",
          "[compare]") {
  constexpr std::size_t kEvery = 8;
  int num_compared = 0, num_close = 0;
  for (const char* const name : {"h200", "h200_fresh", "h100_fresh"}) {
    const CommittedRows file = committed_rows(name, true);
    for (std::size_t k = 0; k < file.rows.size(); k += kEvery) {
      const Row& row = file.rows[k];
      const auto binding = binding_unit(row);
      REQUIRE(binding);
      const auto time_without = [&](Bound unit) -> std::optional<double> {
        const auto machine = machine_without(unit, file.machine);
        if (!machine) return std::nullopt;
        return predicted_ms(predict_row(call_of(row), *machine, file.data_sheet).predicted);
      };
      const double by_shares = binding->time_left * predicted_ms(row.predicted);
      const double best = time_without(binding->unit).value_or(by_shares);
      for (const Bound unit : kUnits) {
        const auto other = time_without(unit);
        if (!other || unit == binding->unit) continue;
        INFO(name << ": " << key_of(row) << ", " << row.kernel << ": " << unit_name(binding->unit)
                  << ": " << best << " ms without it; without " << unit_name(unit));
        CHECK(best <= 1.1 * *other);
        num_close += best <= 1.02 * *other ? 1 : 0;
        ++num_compared;
      }
    }
  }
  CHECK(num_compared > 400);
  CHECK(num_close >= 0.99 * num_compared);
}

}  // namespace flashlab::test
