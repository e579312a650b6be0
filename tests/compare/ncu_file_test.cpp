// tests/data/ncu: three calls on an H200, as Nsight Compute 2025.3 printed them (columns that
// nobody reads are left out).
#include "compare/counters/ncu_file.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"

using flashlab::compare::CountedLaunch;
using flashlab::compare::CountedRange;
using flashlab::compare::Counter;
using flashlab::compare::ncu_step_name;
using flashlab::compare::NcuFileError;
using flashlab::compare::parse_ncu_csv;
using flashlab::compare::parse_ncu_launches;
using flashlab::compare::Traffic;
using flashlab::test::contains;

namespace {

std::string data_file(const std::string& name) {
  std::ifstream file(FLASHLAB_TEST_DATA "/ncu/" + name, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string ncu_error(const std::string& text) {
  try {
    parse_ncu_launches(text);
  } catch (const NcuFileError& error) {
    return error.what();
  }
  return "no error";
}

/// One launch per line, one metric.
std::string wide(const std::string& metric, const std::string& unit, const std::string& value) {
  return "\"ID\",\"Kernel Name\",\"" + metric + "\"\n\"\",\"\",\"" + unit +
         "\"\n\"0\",\"online_kernel<64>(int)\",\"" + value + "\"\n";
}

std::optional<double> value_of(const CountedLaunch& launch, Counter counter) {
  return launch.values[static_cast<std::size_t>(counter)];
}

}  // namespace

TEST_CASE("each launch of Nsight Compute's table is a range, in the order of the launches") {
  const std::vector<CountedRange> launches = parse_ncu_csv(data_file("flash1.csv"));
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].name == "flash1");
  CHECK(launches[0].counters.dram == Traffic{68'719'872, 16'072'960});
  CHECK(launches[0].counters.sm == Traffic{118'996'608, 41'797'280});
  CHECK(launches[0].counters.exp_percent == 5.03);
  CHECK(launches[0].counters.issue_percent == 60.11);
  CHECK(launches[0].counters.tensor_percent == 0.60);
  CHECK(launches[1].counters.sm == Traffic{118'998'624, 41'798'944});
  CHECK(launches[1].counters.why_no_counters.empty());
}

TEST_CASE("a metric that Nsight Compute was not asked for leaves its field empty") {
  const auto launches = parse_ncu_csv(data_file("flash1.csv"));
  CHECK_FALSE(launches.at(0).counters.shared_percent.has_value());
}

TEST_CASE("launches of one step add up to its bytes and to its mean percentages over time") {
  const auto steps = together(parse_ncu_launches(data_file("flash1.csv")));
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].counters.sm == Traffic{118'996'608 + 118'998'624, 41'797'280 + 41'798'944});
  const double mean = (60.11 * 131'968 + 60.15 * 132'000) / (131'968 + 132'000);
  CHECK(std::abs(steps[0].counters.issue_percent.value() - mean) <= 1e-12 * mean);
}

TEST_CASE("a kernel is the longest step that its name begins with") {
  const std::vector<std::string> steps = {"delta_kernel", "bwd_twopass", "bwd_twopass_dQ_mma_sm80",
                                          "bwd_twopass_dKdV_mma_sm80"};
  std::vector<std::string> names;
  for (const auto& launch : parse_ncu_csv(data_file("bwd_twopass.csv"), steps)) {
    names.push_back(launch.name);
  }
  CHECK(names == std::vector<std::string>{"delta_kernel", "bwd_twopass_dQ_mma_sm80",
                                          "bwd_twopass_dKdV_mma_sm80"});
}

TEST_CASE("a step is known by whole words of a kernel's name") {
  const std::vector<std::string> steps = {"flash", "flash2"};
  CHECK(ncu_step_name("flash2_kernel(int)", steps) == "flash2");
  CHECK(ncu_step_name("flash22_kernel(int)", steps) == "flash22");
  CHECK(ncu_step_name("flash2_fp32_kernel(int)", steps) == "flash2");
}

TEST_CASE("namespaces, templates and parameters are no part of a step's name") {
  CHECK(ncu_step_name(
            "void flashlab::cuda::(anonymous namespace)::flash1_kernel<(int)64>(float *)") ==
        "flash1");
  CHECK(ncu_step_name("void unnamed>::flash2_fp32_kernel<unnamed>::Config<64, 4>>(int)") ==
        "flash2_fp32");
  CHECK(ncu_step_name("zero_dQ_kernel") == "zero_dQ");
}

TEST_CASE("a library's kernels keep their names") {
  const auto launches = parse_ncu_csv(data_file("naive.csv"));
  REQUIRE(launches.size() == 9);
  CHECK(launches[0].name ==
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_"
        "alignc4_execute_kernel__5x_cublas");
  CHECK(launches[1].name == "naive_scale");
  CHECK(launches[8].name == "finish_rows");
  CHECK(launches[8].counters.dram == Traffic{1'058'816, 0});
}

TEST_CASE("a file may hold several outputs one after the other") {
  const auto launches = parse_ncu_csv(data_file("flash1.csv") + data_file("bwd_twopass.csv"));
  CHECK(launches.size() == 2 + 3);
}

TEST_CASE("a table with a line for each metric says the same as one with a column for each") {
  const std::string text =
      "==PROF== Connected to process 7\n"
      "a line, of the program\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric "
      "Unit\",\"Metric Value\"\r\n"
      "\"0\",\"7\",\"online_kernel\",\"\",\"dram__bytes_read.sum\",\"Mbyte\",\"1,234.5\"\r\n"
      "==PROF== Disconnected\n"
      "\"0\",\"7\",\"online_kernel\",\"\",\"dram__bytes_write.sum\",\"Kbyte\",\"2\"\r\n"
      "\"0\",\"7\",\"online_kernel\",\"\",\"gpu__time_duration.sum\",\"us\",\"3.5\"\r\n"
      "\"1\",\"7\",\"online_kernel\",\"\",\"dram__bytes_read.sum\",\"byte\",\"8\"\r\n"
      "\"1\",\"7\",\"online_kernel\",\"\",\"sm__throughput.avg\",\"sector\",\"no matter\"\r\n";
  const auto launches = parse_ncu_launches(text);
  REQUIRE(launches.size() == 2);
  CHECK(value_of(launches[0], Counter::kDramRead) == 1'234'500'000);
  CHECK(value_of(launches[0], Counter::kDramWritten) == 2'000);
  CHECK(value_of(launches[0], Counter::kTime) == 3'500);
  CHECK(value_of(launches[1], Counter::kDramRead) == 8);
  CHECK_FALSE(value_of(launches[1], Counter::kDramWritten).has_value());
}

TEST_CASE("launches of the same number in two processes are two launches") {
  const std::string line = ",\"online_kernel\",\"dram__bytes_read.sum\",\"byte\",\"8\"\n";
  const std::string text =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"0\",\"7\"" +
      line + "\"0\",\"8\"" + line;
  CHECK(parse_ncu_launches(text).size() == 2);
}

TEST_CASE("a metric's other name is read where the first is not there") {
  const auto launches = parse_ncu_launches(wide("dram__bytes_op_read.sum", "byte", "64"));
  CHECK(value_of(launches.at(0), Counter::kDramRead) == 64);
}

TEST_CASE("half of a traffic is not taken for all of it") {
  const auto launches = parse_ncu_csv(wide("dram__bytes_read.sum", "byte", "64"));
  CHECK_FALSE(launches.at(0).counters.dram.has_value());
  CHECK_THAT(launches.at(0).counters.why_no_counters, contains("none of the requested metrics"));
}

TEST_CASE("what is wrong with a file of Nsight Compute is said with its place") {
  CHECK_THAT(ncu_error("no table\nhere\n"), contains("line 2, column 1: the file ends without"));
  CHECK_THAT(ncu_error(""), contains("line 0, column 1"));
  CHECK_THAT(ncu_error("==ERROR== ERR_NVGPUCTRPERM - no permission\n"),
             contains("only administrators"));
  CHECK_THAT(ncu_error("\"ID\",\"Kernel Name\n"), contains("line 1, column 6: a quote"));
  CHECK_THAT(ncu_error("\"ID\",\"Context\"\n"), contains("no column \"Kernel Name\""));
  CHECK_THAT(ncu_error(wide("dram__bytes_read.sum", "byte", "many")),
             contains("line 3, column 30: \"many\" is not a number"));
  CHECK_THAT(ncu_error(wide("dram__bytes_read.sum", "sector", "1")),
             contains("line 2, column 7: the unit \"sector\": expected one of byte, Kbyte"));
  CHECK_THAT(ncu_error(wide("dram__bytes_read.sum", "byte", "n/a")),
             contains("ncu --metrics dram__bytes_read.sum,dram__bytes_write.sum,"));
}

TEST_CASE("a table that was cut off is refused where it ends") {
  std::string text = data_file("flash1.csv");
  text.resize(text.size() - 30);
  CHECK_THAT(ncu_error(text), contains("line 10, column "));
}
