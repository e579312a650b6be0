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
  Mask mask = Mask::kNone;
  DataType dtype = DataType::kFloat32;
  cuda::Products products = cuda::Products::kNative;

  static constexpr std::int64_t kBatch = 4, kHeadDim = 64;  // of both sources

  SourceProblem(const std::string& gpu_name, std::int64_t num_heads)
      : gpu(gpu::find_gpu(gpu_name).value()), sheet(machine_model(gpu)), heads(num_heads) {}

  std::string text() const {
    const bool is_split = products != cuda::Products::kNative;
    return std::string(is_split ? cuda::to_string(products) : to_string(dtype)) + ", N " +
           std::to_string(n) + (mask == Mask::kNone ? "" : ", causal");
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
    problem.mask = mask;
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

  /// A time as a share of the sheet's rate, if it does nothing but multiply.
  double share_of_rate(std::int64_t flops, double source_ms) const {
    const double sheet_rate = sheet.product_rate(to_string(dtype), cuda::to_string(products)).per_s;
    return static_cast<double>(flops) / (1e-3 * source_ms) / sheet_rate;
  }
  /// What the source's time means, with the products that are executed.
  std::string as_rate(std::int64_t flops, double source_ms) const {
    const double rate = static_cast<double>(flops) / (1e-3 * source_ms);
    return "with the products that ours execute, theirs makes " + three_digits(1e-12 * rate) +
           " TFLOP/s, " + fixed_text(100 * share_of_rate(flops, source_ms), 0) +
           " % of the sheet's rate";
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

/// The post's GPU and problem. It says that its kernels skip tiles above the diagonal, and not for
/// which times they do. source_note() says why its times are taken as those of a causal mask.
SourceProblem problem_of_fa2_post(const nlohmann::json& post) {
  SourceProblem problem(post.at("gpu"), 1);
  problem.mask = Mask::kCausalTopLeft;
  return problem;
}

/// Times of both passes in bf16, by N.
std::map<std::int64_t, double> both_passes(const nlohmann::json& post, const char* side) {
  std::map<std::int64_t, double> times;
  for (const auto& [n, ms] : post.at("both_bf16").items()) times[std::stoll(n)] = ms.at(side);
  return times;
}

void add_both_passes(SourceProblem problem, const std::map<std::int64_t, double>& source_times,
                     const char* kernel, const char* backward, SourceTimes& times) {
  problem.dtype = DataType::kBFloat16;
  for (const auto& [n, ms] : source_times) {
    problem.n = n;
    const Row ours = problem.row("flash2"), back = problem.row(backward);
    SourceTime time = {problem.gpu.name,
                       problem.text(),
                       kernel,
                       ms,
                       std::string("flash2, ") + backward,
                       predicted_ms(ours.predicted) + predicted_ms(back.predicted),
                       {}};
    if (std::abs(time.ratio() - 1) > kNearTime) {
      time.reason = problem.as_rate(ours.work.product_flops + back.work.product_flops, ms);
    }
    times.push_back(time);
  }
}

void add_fa2_post(const nlohmann::json& post, SourceTimes& times) {
  SourceProblem problem = problem_of_fa2_post(post);
  problem.n = 8192;
  const auto passes_of = [&](double ms) {
    return [&problem, ms](const Row&) { return problem.as_passes(ms); };
  };
  const auto rate_of = [&](double ms) {
    return [&problem, ms](const Row& ours) { return problem.as_rate(ours.work.product_flops, ms); };
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
  add_both_passes(problem, both_passes(post, "triton"), "Triton, both passes", "bwd-twopass",
                  times);
  add_both_passes(problem, both_passes(post, "fa2"), "PyTorch's FA2, both passes", "bwd-onepass",
                  times);
}

nlohmann::json source_file() { return nlohmann::json::parse(source_time_files[0].text); }

}  // namespace

std::vector<SourceTime> source_times() {
  const nlohmann::json file = source_file();
  SourceTimes times;
  add_pallas(file.at("pallas_post"), times);
  add_fa2_post(file.at("fa2_backward_post"), times);
  return times;
}

std::string source_note() {
  const nlohmann::json file = source_file(), &post = file.at("fa2_backward_post");
  SourceProblem problem = problem_of_fa2_post(post);
  problem.mask = Mask::kNone;
  problem.dtype = DataType::kBFloat16;
  double least = 0, most = 0;
  for (const auto& [n, ms] : both_passes(post, "fa2")) {
    problem.n = n;
    const double share = problem.share_of_rate(
        problem.row("flash2").usual_flops + problem.row("bwd-onepass").usual_flops, ms);
    least = least == 0 ? share : std::min(least, share);
    most = std::max(most, share);
  }
  return "The post on the " + problem.gpu.name +
         " does not say which mask its times are of; its kernels skip tiles above the diagonal. "
         "Without a mask PyTorch's FA2 would make " +
         fixed_text(100 * least, 0) + " to " + fixed_text(100 * most, 0) +
         " % of the sheet's rate, so the times are very probably causal, and are compared with "
         "causal calls. Nor does it say of which batch and heads its times in bf16 are: those of "
         "its "
         "profiles are taken. In bf16 its Triton kernels were autotuned; ours have the tiles that "
         "they always have.";
}

}  // namespace flashlab::compare
