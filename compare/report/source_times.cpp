#include "compare/report/source_times.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "compare/model/pallas_formulas.hpp"
#include "compare/rows/rows.hpp"
#include "compare/rows/sweep.hpp"
#include "source_time_files.hpp"
#include "text/numbers.hpp"

namespace flashlab::compare {
namespace {

/// A source's problem, and the GPU that it ran on.
struct SourceProblem {
  gpu::GpuSpec gpu;
  MachineModel sheet;
  std::int64_t heads = 1, n = 0;
  DataType dtype = DataType::kFloat32;
  cuda::Products products = cuda::Products::kNative;

  static constexpr std::int64_t kBatch = 4, kHeadDim = 64;  // of both sources

  SourceProblem(const std::string& gpu_name, std::int64_t num_heads)
      : gpu(gpu::find_gpu(gpu_name).value()), sheet(machine_model(gpu)), heads(num_heads) {}

  std::string text() const {
    const bool is_split = products != cuda::Products::kNative;
    return std::string(is_split ? cuda::to_string(products) : to_string(dtype)) + ", N " +
           std::to_string(n);
  }

  Row row(const std::string& variant) const {
    Call call;
    call.variant = variant;
    AttentionProblem& problem = call.problem;
    problem.batch = kBatch;
    problem.num_heads = problem.num_kv_heads = heads;
    problem.seqlen_q = problem.seqlen_k = n;
    problem.head_dim = kHeadDim;
    problem.dtype = dtype;
    problem.softmax_scale = 1 / std::sqrt(static_cast<double>(kHeadDim));
    call.products = products;
    return predict_row(call, sheet, sheet);
  }

  /// reason(ours, ratio): asked if the times are not close.
  template <class Reason>
  SourceTime time(const std::string& kernel, double source_ms, const std::string& variant,
                  const Reason& reason) const {
    const Row ours = row(variant);
    SourceTime time = {gpu.name, text(), kernel, source_ms, variant, predicted_ms(ours.predicted),
                       {}};
    if (std::abs(time.ratio() - 1) > kNearTime) time.reason = reason(ours);
    return time;
  }

  /// What the source's time means if it does nothing but multiply, without a mask.
  std::string as_rate(double flops, double source_ms) const {
    const double sheet_rate = sheet.product_rate(to_string(dtype), cuda::to_string(products)).per_s,
                 rate = flops / (1e-3 * source_ms);
    return "theirs makes " + three_digits(1e-12 * rate) + " TFLOP/s without a mask, " +
           fixed_text(100 * rate / sheet_rate, 0) + " % of the sheet's rate" +
           (rate > sheet_rate ? ", so it probably had a causal one" : "");
  }
  /// What it means if it does nothing but move fp32 scores.
  std::string as_passes(double source_ms) const {
    const double score_bytes =
        4.0 * static_cast<double>(kBatch * heads) * static_cast<double>(n) * static_cast<double>(n);
    return "theirs takes as long as the scores need " +
           fixed_text(1e-3 * source_ms * gpu.dram_bytes_per_s / score_bytes, 0) +
           " times at the sheet's rate";
  }
};

using SourceTimes = std::vector<SourceTime>;

/// Six steps over a matrix in 16 bits, which their text counts; ours are in fp32, and more.
SourceTime by_their_bytes(const SourceProblem& problem, double source_ms) {
  const PallasShape shape = {SourceProblem::kBatch, problem.heads, problem.n,
                             SourceProblem::kHeadDim, 2};
  const auto bytes = static_cast<double>(pallas_bytes("naive", shape, 64).prose);
  return {problem.gpu.name,
          problem.text(),
          "unfused",
          source_ms,
          "their bytes",
          1e3 * bytes / problem.gpu.dram_bytes_per_s,
          {}};
}

void add_pallas(const nlohmann::json& post, SourceTimes& times) {
  SourceProblem problem(post.at("gpu"), 8);
  problem.dtype = DataType::kBFloat16;
  const auto ms = [&](const char* pass, std::int64_t n, std::size_t column) -> double {
    return post.at(pass).at(std::to_string(n)).at(column);
  };
  constexpr std::size_t kUnfused = 0, kFlash = 1;
  for (const std::int64_t n : {1024, 2048, 4096}) {
    problem.n = n;
    const double unfused = ms("forward", n, kUnfused);
    times.push_back(problem.time("unfused", unfused, "naive", [](const Row&) {
      return std::string("ours moves 44 bytes per score, theirs 10: their scores have 16 bits");
    }));
    times.push_back(by_their_bytes(problem, unfused));
    for (const auto& [pass, variant] :
         {std::pair{"forward", "flash2"}, std::pair{"backward", "bwd-onepass"}}) {
      const double theirs = ms(pass, n, kFlash),
                   call = std::min(
                       {ms(pass, 128, kFlash), ms(pass, 256, kFlash), ms(pass, 512, kFlash)});
      times.push_back(
          problem.time("flash, " + std::string(pass), theirs, variant, [&](const Row& ours) {
            return "the shortest of their calls, with little work, takes " + three_digits(call) +
                   " ms; with that the ratio is " +
                   fixed_text((predicted_ms(ours.predicted) + call) / theirs, 2);
          }));
    }
  }
}

void add_fa2_post(const nlohmann::json& post, SourceTimes& times) {
  SourceProblem problem(post.at("gpu"), 1);
  problem.n = 8192;
  const auto passes_of = [&](double ms) {
    return [&problem, ms](const Row&) { return problem.as_passes(ms); };
  };
  const auto rate_of = [&](double ms) {
    return [&problem, ms](const Row& ours) {
      return problem.as_rate(static_cast<double>(ours.usual_flops), ms) +
             "; ours rounds each operand where it is loaded, two instructions per number";
    };
  };
  const nlohmann::json &forward = post.at("forward_8192"), &backward = post.at("backward_8192");
  const double naive = forward.at("naive"), compiled = forward.at("fused-softmax tf32"),
               flash = forward.at("flash2 tf32"), one_pass = backward.at("bwd-onepass tf32"),
               two_passes = backward.at("bwd-twopass tf32");
  times.push_back(problem.time("unfused", naive, "naive", passes_of(naive)));
  problem.products = cuda::Products::kTensorFloat32;
  times.push_back(problem.time("compiled", compiled, "fused-softmax", passes_of(compiled)));
  times.push_back(problem.time("flash, forward", flash, "flash2", rate_of(flash)));
  times.push_back(problem.time("one pass", one_pass, "bwd-onepass", [](const Row&) {
    return std::string("theirs adds to dQ number by number; no data sheet has a rate of additions");
  }));
  times.push_back(problem.time("two passes", two_passes, "bwd-twopass", rate_of(two_passes)));
  problem.products = cuda::Products::kNative;
  problem.dtype = DataType::kBFloat16;
  std::map<std::int64_t, double> both;  // by N
  for (const auto& [n, ms] : post.at("both_bf16").items()) both[std::stoll(n)] = ms.at("triton");
  for (const auto& [n, ms] : both) {
    problem.n = n;
    const Row ours = problem.row("flash2"), back = problem.row("bwd-twopass");
    SourceTime time = {problem.gpu.name,
                       problem.text(),
                       "Triton, both passes",
                       ms,
                       "flash2, bwd-twopass",
                       predicted_ms(ours.predicted) + predicted_ms(back.predicted),
                       {}};
    if (std::abs(time.ratio() - 1) > kNearTime) {
      time.reason = problem.as_rate(static_cast<double>(ours.usual_flops + back.usual_flops), ms);
    }
    times.push_back(time);
  }
}

}  // namespace

std::vector<SourceTime> source_times() {
  const nlohmann::json file = nlohmann::json::parse(source_time_files[0].text);
  SourceTimes times;
  add_pallas(file.at("pallas_post"), times);
  add_fa2_post(file.at("fa2_backward_post"), times);
  return times;
}

}  // namespace flashlab::compare
