// Measures every attention kernel on this GPU, with every arithmetic that it supports, in one run:
// time, FLOP/s, share of the GPU's peak, and speedup over the first kernel of the pass, which is
// `naive` or `bwd_naive` if these support the type.
//
// Each kernel is warmed up. Before each sample, inputs are drawn, outputs are filled with NaN, and
// L2 is filled with other data; afterwards the outputs are checked. NaN is an error, and so is a
// time below the minimum by the data sheet's rates. `attention_speed_cuda --help` lists the flags.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention_cuda/bench/attention_speed_flags.hpp"
#include "attention_cuda/bench/json_text.hpp"
#include "attention_cuda/bench/run_context.hpp"
#include "attention_cuda/roofline.hpp"
#include "attention_cuda/timed_call.hpp"

namespace {

using flashlab::bench::json_array;
using flashlab::bench::JsonObject;
using flashlab::bench::JsonText;
using flashlab::bench::Settings;
using flashlab::bench::Shape;
namespace cuda = flashlab::cuda;

struct Row {
  const cuda::KernelRow* kernel = nullptr;
  cuda::Arithmetic arithmetic{};
  flashlab::Pass pass{};
  std::string not_run;  // the reason
  cuda::Samples samples;
  double flops = 0, floor_ms = 0;
  std::optional<cuda::PeakRates> peak;
  std::size_t workspace_bytes = 0;

  double flops_per_s() const { return flops / (1e-3 * samples.median()); }
};

// ---- Measuring

flashlab::AttentionProblem problem_of(const Shape& shape) {
  flashlab::AttentionProblem problem;
  problem.batch = shape.batch;
  problem.num_heads = shape.num_heads;
  problem.num_kv_heads = shape.num_kv_heads;
  problem.seqlen_q = shape.seqlen_q;
  problem.seqlen_k = shape.seqlen_k;
  problem.head_dim = shape.head_dim;
  problem.dtype = shape.dtype;
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(shape.head_dim));
  if (shape.is_causal) problem.mask = flashlab::Mask::kCausalTopLeft;
  return problem;
}

/// Takes the requested number of samples, or fewer if time runs out.
cuda::Samples samples_of(cuda::TimedCall& call, int runs) {
  constexpr double kMostMs = 500;
  constexpr std::uint64_t kSeed = 1, kOtherSeed = 1000;
  const double ms = cuda::sample(call, 1, kSeed).median();
  const double affordable = std::max(3.0, kMostMs / ms);
  return cuda::sample(call, static_cast<int>(std::min<double>(runs, affordable)), kOtherSeed);
}

Row measure(const cuda::KernelRow& kernel, const cuda::Arithmetic& arithmetic, const Shape& shape,
            int runs, const cuda::GpuInfo& gpu) {
  const flashlab::AttentionProblem problem = problem_of(shape);
  Row row{&kernel, arithmetic, flashlab::find_variant(kernel.variant).pass, {}, {}, 0, 0, {}, 0};
  cuda::ExecutionOptions execution;
  execution.products = arithmetic.products;
  execution.kernel = kernel.stem;
  try {
    cuda::TimedCall call(kernel.variant, problem, execution);
    row.workspace_bytes = call.workspace_bytes();
    row.samples = samples_of(call, runs);
  } catch (const flashlab::ProblemError& error) {
    row.not_run = error.what();
    return row;
  } catch (const cuda::NoDeviceMemory& error) {
    row.not_run = error.what();
    return row;
  }
  row.flops = static_cast<double>(row.pass == flashlab::Pass::kForward ? forward_flops(problem)
                                                                       : backward_flops(problem));
  row.peak = cuda::peak_rates(gpu.name, arithmetic);
  if (row.peak) row.floor_ms = cuda::floor_ms(row.pass, problem, *row.peak);
  if (row.samples.least() < row.floor_ms) {
    throw std::runtime_error(std::string(kernel.stem) + ": " + std::to_string(row.samples.least()) +
                             " ms is below the floor of " + std::to_string(row.floor_ms) + " ms");
  }
  return row;
}

double times_first(const Row& row, const std::vector<Row>& rows) {
  const auto first = std::find_if(rows.begin(), rows.end(), [&](const Row& other) {
    return other.pass == row.pass && other.not_run.empty();
  });
  return first->samples.median() / row.samples.median();
}

void print_row(const Row& row, const std::vector<Row>& rows) {
  const std::string stem(row.kernel->stem), products(to_string(row.arithmetic.products));
  if (!row.not_run.empty()) {
    std::printf("%-27s %-7s not run: %s\n", stem.c_str(), products.c_str(), row.not_run.c_str());
    return;
  }
  const std::string of_peak =
      row.peak ? std::to_string(std::lround(100 * row.flops_per_s() / row.peak->flops_per_s)) + " %"
               : "";
  const std::string of_floor =
      row.peak ? std::to_string(std::lround(100 * row.floor_ms / row.samples.median())) + " %" : "";
  std::printf("%-27s %-7s %9.3f %9.3f %9.3f %8.1f %7s %8s %8.2f\n", stem.c_str(), products.c_str(),
              row.samples.median(), row.samples.least(), row.samples.most(),
              row.flops_per_s() / 1e12, of_peak.c_str(), of_floor.c_str(), times_first(row, rows));
  std::fflush(stdout);
}

std::vector<Row> measure_all(const Shape& shape, const Settings& settings,
                             const cuda::GpuInfo& gpu) {
  std::printf(
      "\n%s, batch %lld, %lld heads over %lld, %lld queries, %lld keys, head_dim %lld, %s\n",
      std::string(to_string(shape.dtype)).c_str(), static_cast<long long>(shape.batch),
      static_cast<long long>(shape.num_heads), static_cast<long long>(shape.num_kv_heads),
      static_cast<long long>(shape.seqlen_q), static_cast<long long>(shape.seqlen_k),
      static_cast<long long>(shape.head_dim), shape.is_causal ? "causal" : "full");
  std::printf("%-27s %-7s %9s %9s %9s %8s %7s %8s %8s\n", "kernel", "how", "median ms", "min",
              "max", "TFLOP/s", "of peak", "of floor", "x first");
  const auto is_wanted = [&](std::string_view stem) {
    const auto& names = settings.kernels;
    return names.empty() || std::find(names.begin(), names.end(), stem) != names.end();
  };
  std::vector<Row> rows;
  for (const cuda::KernelRow* const kernel : cuda::kernels()) {
    for (const cuda::Arithmetic& arithmetic : kernel->arithmetic) {
      if (arithmetic.dtype != shape.dtype || !is_wanted(kernel->stem)) continue;
      rows.push_back(measure(*kernel, arithmetic, shape, settings.runs, gpu));
      print_row(rows.back(), rows);
    }
  }
  return rows;
}

// ---- Output

JsonText row_text(const Row& row, const std::vector<Row>& rows, const Shape& shape) {
  const std::array<double, 4> sizes = {
      static_cast<double>(shape.batch), static_cast<double>(shape.num_heads),
      static_cast<double>(shape.seqlen_q), static_cast<double>(shape.head_dim)};
  JsonObject object;
  object.add("kernel", row.kernel->stem)
      .add("variant", row.kernel->variant)
      .add("dtype", to_string(shape.dtype))
      .add("products", to_string(row.arithmetic.products))
      .add("shape", json_array(sizes))
      .add("num_kv_heads", static_cast<double>(shape.num_kv_heads))
      .add("seqlen_k", static_cast<double>(shape.seqlen_k))
      .add("mask", shape.is_causal ? "causal" : "none");
  if (!row.not_run.empty()) return object.add("not_run", row.not_run).text();
  object.add("median_ms", row.samples.median())
      .add("samples_ms", json_array(row.samples.ms))
      .add("flops", row.flops)
      .add("flops_per_s", row.flops_per_s())
      .add("times_first", times_first(row, rows))
      .add("workspace_bytes", static_cast<double>(row.workspace_bytes));
  if (row.peak) object.add("floor_ms", row.floor_ms).add("peak_flops_per_s", row.peak->flops_per_s);
  return object.text();
}

int measure_and_write(const Settings& settings, const std::string& command) {
  const cuda::GpuInfo gpu = flashlab::bench::gpu_here();
  JsonObject context = flashlab::bench::run_context(command, settings.commit, gpu);
  std::printf("%s%s\n", gpu.name.c_str(),
              cuda::peak_rates(gpu.name, {})
                  ? ""
                  : ", not in gpu/sheets/gpus.json: times are not compared with a floor");
  std::vector<JsonText> texts;
  for (const Shape& shape : settings.shapes) {
    const std::vector<Row> rows = measure_all(shape, settings, gpu);
    for (const Row& row : rows) texts.push_back(row_text(row, rows, shape));
  }
  context.add("gpu_after", flashlab::bench::gpu_state()).add("rows", json_array(texts, true));
  if (!settings.json_file.empty()) flashlab::bench::write_json(settings.json_file, context);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::string command = "attention_speed_cuda";
  for (const std::string& word : words) command += " " + word;
  if (std::find(words.begin(), words.end(), "--help") != words.end()) {
    std::fputs(flashlab::bench::kUsage, stdout);
    return 0;
  }
  try {
    return measure_and_write(flashlab::bench::parse(words), command);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "attention_speed_cuda: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attention_speed_cuda: %s\n", error.what());
    return 1;
  }
}
