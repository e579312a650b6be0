// What kernel_tiles says of a call against what the call launches.
#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/tiles.hpp"
#include "tests/attention_cpu/plain_tensors.hpp"
#include "tests/attention_cuda/device_copy.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;
namespace emulation = flashlab::cuda::emulation;

namespace {

/// A kernel of a call, or several of the same name one after the other; blocks, threads and shared
/// memory of each. 0: none was launched (a library's product, a memset).
struct SeenLaunch {
  std::string name;
  std::int64_t num_launches = 0, num_blocks = 0, num_threads = 0, shared_bytes = 0;
  bool operator==(const SeenLaunch&) const = default;
};

std::ostream& operator<<(std::ostream& out, const SeenLaunch& launch) {
  return out << launch.name << ": " << launch.num_launches << " x " << launch.num_blocks
             << " blocks of " << launch.num_threads << " threads, " << launch.shared_bytes
             << " bytes";
}

class Watcher : public cuda::KernelObserver {
 public:
  Watcher() {
    emulation::reset_statistics();
    emulation::set_runs_blocks(false);
  }
  ~Watcher() override { emulation::set_runs_blocks(true); }
  void before(std::string_view, cuda::Stream) override {
    num_grids_ = emulation::launched_grids().size();
  }
  void after(std::string_view name, cuda::Stream) override {
    const auto grids = emulation::launched_grids();
    SeenLaunch seen = {std::string(name), 1};
    if (grids.size() > num_grids_) {
      seen.num_blocks = grids.back().num_blocks;
      seen.num_threads = grids.back().num_threads;
      seen.shared_bytes = grids.back().shared_bytes;
    }
    SeenLaunch* const last = launches.empty() ? nullptr : &launches.back();
    if (last != nullptr && last->name == seen.name) seen.num_launches = last->num_launches + 1;
    if (last != nullptr && last->name == seen.name) launches.pop_back();
    launches.push_back(seen);
  }
  std::vector<SeenLaunch> launches;

 private:
  std::size_t num_grids_ = 0;
};

/// Tensors without gaps, all zeros.
struct Tensors {
  StoredTensor Q, K, V, O, lse, dO, dQ, dK, dV;

  Tensors(DataType dtype, const PlainSizes& sizes) {
    const Shape q = {sizes.batch, sizes.num_heads, sizes.seqlen_q, sizes.head_dim},
                k = {sizes.batch, sizes.num_kv_heads, sizes.seqlen_k, sizes.head_dim};
    for (StoredTensor* const tensor : {&Q, &O, &dO, &dQ}) *tensor = zeros(dtype, q);
    for (StoredTensor* const tensor : {&K, &V, &dK, &dV}) *tensor = zeros(dtype, k);
    lse = zeros(DataType::kFloat32, {q[0], q[1], q[2]});
  }
  static StoredTensor zeros(DataType dtype, const Shape& shape) {
    StoredTensor tensor = make_tensor(dtype, shape);
    tensor.assign(std::vector<double>(tensor.values().size(), 0));
    return tensor;
  }
};

std::vector<SeenLaunch> seen_launches(std::string_view variant, bool is_backward,
                                      const Tensors& tensors, const AttentionOptions& options,
                                      cuda::ExecutionOptions execution) {
  DeviceCopies copies;
  const auto on = [&](const StoredTensor& tensor) { return copies.view(tensor); };
  const ForwardTensors forward = {on(tensors.Q), on(tensors.K), on(tensors.V), on(tensors.O),
                                  on(tensors.lse)};
  const AttentionProblem problem = check_forward(forward, options);
  const DeviceMemory workspace(cuda::workspace_bytes(variant, problem, execution));
  execution.workspace = workspace.get();
  execution.workspace_bytes = workspace.bytes();
  Watcher watcher;
  execution.observer = &watcher;
  if (is_backward) {
    cuda::attention_backward(variant,
                             {forward.Q, forward.K, forward.V, forward.O, forward.lse,
                              on(tensors.dO), on(tensors.dQ), on(tensors.dK), on(tensors.dV)},
                             options, execution);
  } else {
    cuda::attention_forward(variant, forward, options, execution);
  }
  return watcher.launches;
}

std::vector<SeenLaunch> told_launches(const cuda::KernelTiles& tiles) {
  std::vector<SeenLaunch> told;
  for (const cuda::LaunchTiles& launch : tiles.launches) {
    told.push_back({std::string(launch.name), launch.num_launches, launch.num_blocks,
                    launch.num_threads, launch.shared_bytes});
    if (launch.num_threads == 0) told.back().num_blocks = 0;
  }
  return told;
}

/// The emulated GPU, as the runtime tells it.
cuda::GpuLimits limits_here() {
  const auto attribute = [](cudaDeviceAttr which) {
    int value = 0;
    check_call(cudaDeviceGetAttribute(&value, which, 0));
    return value;
  };
  return {cuda::compute_capability(), attribute(cudaDevAttrMultiProcessorCount),
          attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
}

void check_launches(const KernelCase& kernel, const PlainSizes& sizes,
                    const AttentionOptions& options, cuda::ExecutionOptions execution = {}) {
  INFO(kernel.name() << ", head_dim " << sizes.head_dim << ", seqlen_q " << sizes.seqlen_q);
  execution.products = kernel.arithmetic.products;
  execution.kernel = kernel.row->stem;
  const AttentionProblem problem = {sizes.batch,
                                    sizes.num_heads,
                                    sizes.num_kv_heads,
                                    sizes.seqlen_q,
                                    sizes.seqlen_k,
                                    sizes.head_dim,
                                    kernel.arithmetic.dtype,
                                    options.mask,
                                    1,
                                    {options.key_lengths.begin(), options.key_lengths.end()},
                                    options.window_left,
                                    options.window_right,
                                    {options.cu_seqlens_q.begin(), options.cu_seqlens_q.end()},
                                    {options.cu_seqlens_k.begin(), options.cu_seqlens_k.end()}};
  const cuda::KernelTiles tiles =
      cuda::kernel_tiles(kernel.row->variant, problem, execution, limits_here());
  CHECK(tiles.stem == kernel.row->stem);
  CHECK(told_launches(tiles) == seen_launches(kernel.row->variant, kernel.row->backward != nullptr,
                                              Tensors(kernel.arithmetic.dtype, sizes), options,
                                              execution));
}

std::vector<KernelCase> every_kernel() {
  std::vector<KernelCase> all;
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16}) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      for (const KernelCase& kernel : kernels_here(pass, dtype)) all.push_back(kernel);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("kernel_tiles tells the launches of every kernel, head_dim by head_dim",
          "[emulation][tiles]") {
  for (const KernelCase& kernel : every_kernel()) {
    for (const std::int64_t head_dim : {32, 64, 96, 128, 192, 256}) {
      if (head_dim > kernel.row->max_head_dim) continue;
      check_launches(kernel, {1, 1, 1, 70, 70, head_dim}, {});
    }
    check_launches(kernel, {2, 2, 2, 5, 133, 24}, {Mask::kCausalTopLeft, {}, {}});
    if (!kernel.row->takes_windows) continue;
    check_launches(kernel, {1, 2, 2, 40, 133, 24}, {Mask::kCausalBottomRight, {}, {}, 9, {}});
    check_launches(kernel, {1, 2, 2, 40, 50, 24}, {Mask::kNone, {}, {}, 200, 12});
    if (!kernel.row->takes_packed) continue;
    const std::vector<std::int64_t> cu_seqlens_q = {0, 7, 40}, cu_seqlens_k = {0, 50, 50};
    check_launches(kernel, {1, 2, 2, 40, 50, 24},
                   {Mask::kNone, {}, {}, {}, {}, cu_seqlens_q, cu_seqlens_k});
  }
}

TEST_CASE("kernel_tiles tells what key lengths, splits, rounded statistics and turns add",
          "[emulation][tiles]") {
  const std::vector<std::int64_t> lengths = {40, 0};
  cuda::ExecutionOptions three_splits;
  three_splits.num_splits = 3;
  for (const KernelCase& kernel : every_kernel()) {
    check_launches(kernel, {2, 2, 1, 40, 50, 64}, {Mask::kNone, {}, lengths}, three_splits);
    if (kernel.row->backward == nullptr || kernel.arithmetic.dtype == DataType::kFloat32) continue;
    cuda::ExecutionOptions rounded;
    rounded.round_statistics = true;
    check_launches(kernel, {1, 2, 1, 40, 50, 64}, {Mask::kCausalBottomRight, {}, {}}, rounded);
    if (kernel.row->additions != cuda::Additions::kAlsoOrdered) continue;
    cuda::ExecutionOptions ordered;
    ordered.deterministic = true;
    check_launches(kernel, {1, 2, 1, 140, 50, 64}, {Mask::kCausalBottomRight, {}, {}}, ordered);
  }
  for (const KernelCase& kernel : every_kernel()) {
    if (kernel.row->variant != "split-kv") continue;
    check_launches(kernel, {1, 1, 1, 1, 4096, 64}, {});  // as many splits as fill the GPU
  }
}

TEST_CASE("kernel_tiles tells that calls which sum dQ together begin and round it once",
          "[emulation][tiles]") {
  for (const KernelCase& kernel : every_kernel()) {
    if (!kernel.row->keeps_dQ) continue;
    for (const auto& [continues, keeps] : {std::pair(false, true), {true, true}, {true, false}}) {
      cuda::ExecutionOptions execution;
      execution.continues_dQ = continues;
      execution.keeps_dQ = keeps;
      check_launches(kernel, {1, 2, 1, 140, 50, 64}, {}, execution);
    }
  }
}

TEST_CASE("a listed kernel has its row, in the same order", "[emulation][tiles]") {
  std::vector<std::string_view> listed, rows;
  for (const cuda::KernelListing& kernel : cuda::kernel_listings()) listed.push_back(kernel.stem);
  for (const cuda::KernelRow* const row : cuda::kernels()) rows.push_back(row->stem);
  CHECK(listed == rows);
}

TEST_CASE("smaller tiles are told for a GPU with less shared memory", "[tiles]") {
  const AttentionProblem problem = {1, 1, 1, 256, 256, 128, DataType::kFloat32, Mask::kNone, 1, {}};
  AttentionProblem in_bf16 = problem;
  in_bf16.dtype = DataType::kBFloat16;
  const auto main_tile = [](std::string_view variant, const AttentionProblem& of,
                            std::int64_t shared_bytes) {
    for (const auto& launch :
         cuda::kernel_tiles(variant, of, {}, {89, 48, shared_bytes}).launches) {
      if (launch.block_q > 0 && launch.block_kv > 0) return launch;
    }
    return cuda::LaunchTiles();
  };
  CHECK(main_tile("flash2", problem, 227 << 10).block_q == 128);
  CHECK(main_tile("flash2", problem, 99 << 10).block_q == 64);
  CHECK(main_tile("flash2", problem, 99 << 10).shared_bytes <= 99 << 10);
  CHECK(main_tile("bwd-onepass", in_bf16, 227 << 10).block_kv == 128);
  CHECK(main_tile("bwd-onepass", in_bf16, 99 << 10).block_kv == 64);
  CHECK_THROWS_WITH(main_tile("flash2", problem, 40 << 10),
                    contains("flash2_fp32: 40960 bytes of shared memory a block"));
  CHECK_THROWS_AS(main_tile("flash9", problem, 99 << 10), ProblemError);
}

TEST_CASE("tiles that end with the last query load fewer keys under a causal mask", "[tiles]") {
  // Six tiles of at most 192 of 1024 queries. They end with query 64, 256, 448, 640, 832 and 1024,
  // and see 1, 2, 4, 5, 7 and 8 tiles of 128 keys.
  const auto moved = [](Mask mask, std::int64_t seqlen_k) {
    const AttentionProblem problem = {1,    1, 1, 1024, seqlen_k, 64, DataType::kBFloat16,
                                      mask, 1, {}};
    cuda::ExecutionOptions execution;
    execution.kernel = "flash2_wgmma_sm90";
    return cuda::kernel_tiles("flash2", problem, execution).launches.back().moved;
  };
  constexpr std::int64_t kRow = 64 * 2, kQueries = 1024;
  REQUIRE(moved(Mask::kCausalTopLeft, 1024));
  CHECK(moved(Mask::kCausalTopLeft, 1024)->read == kQueries * kRow + 2 * 27 * 128 * kRow);
  CHECK(moved(Mask::kCausalTopLeft, 1024)->written == kQueries * (kRow + 4));
  // The last tile has 76 keys: the same tiles, but of the others' keys all that there are.
  CHECK(moved(Mask::kCausalTopLeft, 460)->read ==
        kQueries * kRow + 2 * (128 + 256 + 4 * 460) * kRow);
  CHECK_FALSE(moved(Mask::kNone, 1024));  // the toy program counts these
}
