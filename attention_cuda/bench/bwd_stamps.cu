// When a block of bwd_onepass_wgmma_sm90 reaches which point, for head_dim 128 in bf16 without a mask. (At
// head_dim 64 no register is left for marks: the compiler would make products wait for each other.)
//
//   bwd_stamps [FLAG VALUE]...
//     --json FILE      writes the stamps; otherwise only times are printed
//     --commit TEXT    the commit to record in the file (git's)
//
// 2048 tokens, heads x head_dim = 2048. The gradients with marks are compared with those without. Exit
// code 1 if they differ.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/bench/clock_marks.cuh"
#include "attention_cuda/bench/run_context.hpp"
#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/kernels/backward_wgmma/launch.cuh"
#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.cuh"
#include "attention_cuda/samples.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::bench;
using namespace flashlab::cuda;

constexpr std::int64_t kSeqlen = 2048, kWidth = 2048;
constexpr int kWarmUps = 3, kRounds = 9;

constexpr const char* kMarkNames[] = {"waits for empty Q",
                                      "loads Q",
                                      "waits for empty dO",
                                      "loads dO",
                                      "waits for Q",
                                      "issues S",
                                      "waits for dO",
                                      "issues dP",
                                      "waits for S",
                                      "has S",
                                      "waits for dP",
                                      "has dP",
                                      "waits for dS",
                                      "issues gradients",
                                      "waits for dQ",
                                      "has dQ",
                                      "waits for dV",
                                      "waits for dK",
                                      "ends"};
static_assert(std::size(kMarkNames) == kNumBwdWgmmaMarks);

/// Q, K, V, O, dO, dQ, dK, dV of one batch entry, and lse; O and lse of the forward pass.
class Problem {
 public:
  explicit Problem(std::int64_t head_dim)
      : shape_{1, kWidth / head_dim, kSeqlen, head_dim}, lse_("lse", 4 * rows()) {
    for (const char* const name : {"Q", "K", "V", "O", "dO", "dQ", "dK", "dV"}) {
      arrays_.push_back(std::make_unique<DeviceMemory>(name, 2 * rows() * head_dim));
    }
    tensors_ = {tensor(0), tensor(1), tensor(2), tensor(3), lse(),
                tensor(4), tensor(5), tensor(6), tensor(7)};
    std::uint64_t seed = 1;
    for (const TensorView& input : {tensors_.Q, tensors_.K, tensors_.V, tensors_.dO}) {
      draw_normal(input, seed++, nullptr);
    }
    attention_forward("flash2", {tensors_.Q, tensors_.K, tensors_.V, tensors_.O, lse()}, {});
  }

  const BackwardTensors& tensors() const { return tensors_; }

  /// dQ, dK and dV, after they were filled with NaN.
  template <class Launch>
  std::vector<std::uint16_t> gradients(const Launch& launch) const {
    for (std::size_t k = 5; k < 8; ++k) arrays_[k]->fill(0xff);
    launch();
    std::vector<std::uint16_t> all;
    for (std::size_t k = 5; k < 8; ++k) {
      std::vector<std::uint16_t> one(arrays_[k]->bytes() / 2);
      copy_from_gpu(one.data(), arrays_[k]->data(), arrays_[k]->bytes());
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

 private:
  std::size_t rows() const { return static_cast<std::size_t>(shape_[1] * shape_[2]); }
  TensorView tensor(std::size_t k) const {
    return view(static_cast<BFloat16*>(arrays_[k]->data()), shape_);
  }
  TensorView lse() const {
    return view(static_cast<float*>(lse_.data()), {shape_[0], shape_[1], shape_[2]});
  }

  std::vector<std::int64_t> shape_;
  DeviceMemory lse_;
  std::vector<std::unique_ptr<DeviceMemory>> arrays_;
  BackwardTensors tensors_;
};

template <class Config>
void launch_config(const BackwardCall& call) {
  launch_bwd_wgmma<Config>(call, "bwd_stamps", bwd_onepass_wgmma_sm90_kernel<Config>);
}

template <class Launch>
double median_ms(const Launch& launch) {
  cudaEvent_t start, end;
  check_cuda(cudaEventCreate(&start), "cudaEventCreate");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  Samples samples;
  for (int k = 0; k < kWarmUps + kRounds; ++k) {
    check_cuda(cudaEventRecord(start), "cudaEventRecord");
    launch();
    check_cuda(cudaEventRecord(end), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
    if (k >= kWarmUps) samples.ms.push_back(ms);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  return samples.median();
}

/// dQ is added in any order: at most a rounding apart, in few elements.
bool are_alike(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b) {
  std::size_t apart = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const int difference = std::abs(static_cast<int>(a[k]) - static_cast<int>(b[k]));
    apart += difference > 1 ? 1 : 0;
  }
  return apart * 1000 <= a.size();
}

/// Adds the stamps of a call. Returns whether its gradients are right.
bool add_run(std::vector<JsonText>& runs) {
  constexpr BwdWgmmaShape kShape = kBwdWgmmaShapes[bwd_wgmma_index(128)];
  using Plain = BwdWgmmaConfig<BFloat16, kShape>;
  using Marked = BwdWgmmaConfig<BFloat16, kShape, true, ClockMarks>;
  const Problem inputs(kShape.head_dim);
  const AttentionProblem problem = check_backward(inputs.tensors(), {});
  const ExecutionOptions options;
  const DeviceMemory workspace(
      "workspace", bwd_wgmma_arrays(problem, options, nullptr, kShape.head_dim, 1).bytes);
  const BackwardCall call{{problem, options, nullptr, static_cast<std::byte*>(workspace.data())},
                          inputs.tensors()};
  const auto plain = [&] { launch_config<Plain>(call); };
  const auto marked = [&] { launch_config<Marked>(call); };
  const bool is_right = are_alike(inputs.gradients(plain), inputs.gradients(marked));
  const double ms = median_ms(plain), ms_with_marks = median_ms(marked);
  forget_stamps();
  marked();
  const std::vector<Stamp> stamps = recorded_stamps();
  std::printf("head_dim %d: %.4f ms, with marks %.4f ms, %zu stamps%s\n", kShape.head_dim, ms,
              ms_with_marks, stamps.size(), is_right ? "" : "  WRONG");
  JsonObject row;
  runs.push_back(
      row.add("step", "bwd-onepass")
          .add("dtype", "bf16")
          .add("shape", json_array(std::vector<double>{1, double(kWidth / kShape.head_dim),
                                                       double(kSeqlen), double(kShape.head_dim)}))
          .add("mask", "none")
          .add("block_q", double(kShape.block_q))
          .add("block_kv", double(BwdWgmmaShape::kBlockKV))
          .add("median_ms", ms)
          .add("median_ms_with_marks", ms_with_marks)
          .add("stamps", json_of(stamps, kMarkNames))
          .text());
  return is_right;
}

int measure_and_write(const std::string& file, const std::string& commit,
                      const std::string& command) {
  JsonObject found = run_context(command, commit, gpu_here());
  std::vector<JsonText> runs;
  const bool is_right = add_run(runs);
  found.add("unit", "cycles of the multiprocessor's clock, from the first stamp on")
      .add("columns",
           json_array(std::vector<std::string>{"cycle", "warpgroup", "turn", "tile", "mark"}))
      .add("runs", json_array(runs, true));
  if (!file.empty()) write_json(file, found);
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::string command = "bwd_stamps", file, commit;
  for (const std::string& word : words) command += " " + word;
  try {
    for (std::size_t k = 0; k < words.size(); k += 2) {
      if (k + 1 == words.size()) throw std::invalid_argument(words[k] + ": expected a value");
      if (words[k] != "--json" && words[k] != "--commit") {
        throw std::invalid_argument(words[k] + ": expected --json or --commit");
      }
      (words[k] == "--json" ? file : commit) = words[k + 1];
    }
    return measure_and_write(file, commit, command);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "bwd_stamps: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bwd_stamps: %s\n", error.what());
    return 1;
  }
}
