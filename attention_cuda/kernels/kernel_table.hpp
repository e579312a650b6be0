// The table of kernels: one row for each file kernels/<stem>.cu, which defines
// `const KernelRow <stem>`. Listings, tiles and the list of linked rows are derived from this table
// and from the files' names.
//
// Columns  stem, variant, types and products, first compute capability, source; around them what
//          differs from a portable kernel; then the toy program that counts its work, and its
//          launches (kernels/<stem>.hpp)
#pragma once

#include "attention_cuda/kernel_listing.hpp"
#include "attention_cuda/kernels/bwd_naive.hpp"
#include "attention_cuda/kernels/bwd_onepass_fp16x3_sm90.hpp"
#include "attention_cuda/kernels/bwd_onepass_fp32.hpp"
#include "attention_cuda/kernels/bwd_onepass_mma_sm80.hpp"
#include "attention_cuda/kernels/bwd_onepass_pair_sm90.hpp"
#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.hpp"
#include "attention_cuda/kernels/bwd_twopass_fp32.hpp"
#include "attention_cuda/kernels/bwd_twopass_loads_o_fp32.hpp"
#include "attention_cuda/kernels/bwd_twopass_mma_sm80.hpp"
#include "attention_cuda/kernels/bwd_twopass_wgmma_sm90.hpp"
#include "attention_cuda/kernels/flash1.hpp"
#include "attention_cuda/kernels/flash2_fp16x3_sm90.hpp"
#include "attention_cuda/kernels/flash2_fp32.hpp"
#include "attention_cuda/kernels/flash2_mma_sm80.hpp"
#include "attention_cuda/kernels/flash2_wgmma_sm90.hpp"
#include "attention_cuda/kernels/fused_softmax.hpp"
#include "attention_cuda/kernels/naive.hpp"
#include "attention_cuda/kernels/online.hpp"
#include "attention_cuda/kernels/split_kv.hpp"
#include "attention_cuda/kernels/split_kv_mma_sm80.hpp"
#include "attention_cuda/kernels/three_pass.hpp"

namespace flashlab::cuda {

inline constexpr Arithmetic kFp32[] = {{DataType::kFloat32, Products::kNative}};
inline constexpr Arithmetic k16Bits[] = {{DataType::kBFloat16, Products::kNative},
                                         {DataType::kFloat16, Products::kNative}};
inline constexpr Arithmetic kTf32[] = {{DataType::kFloat32, Products::kTensorFloat32},
                                       {DataType::kFloat32, Products::kTensorFloat32x3}};
inline constexpr Arithmetic kFp16x3[] = {{DataType::kFloat32, Products::kFloat16x3}};
inline constexpr Arithmetic kLibraryFp32[] = {{DataType::kFloat32, Products::kNative},
                                              {DataType::kFloat32, Products::kTensorFloat32}};
inline constexpr Arithmetic kLibrary[] = {{DataType::kFloat32, Products::kNative},
                                          {DataType::kFloat32, Products::kTensorFloat32},
                                          {DataType::kBFloat16, Products::kNative},
                                          {DataType::kFloat16, Products::kNative}};

inline constexpr std::string_view kForwardSource = "Dao 2023, FlashAttention-2, Algorithm 1",
                                  kBackwardSource = "Dao 2023, FlashAttention-2, Algorithm 2";

/// A kernel whose blocks add to dQ as they arrive.
constexpr KernelListing arriving(KernelListing kernel) {
  kernel.additions = Additions::kAsTheyArrive;
  return kernel;
}

/// The same, or in a fixed order if a call asks for that.
constexpr KernelListing also_ordered(KernelListing kernel) {
  kernel.additions = Additions::kAlsoOrdered;
  return kernel;
}

/// A kernel that takes and returns a state (m, l, O).
constexpr KernelListing with_state(KernelListing kernel) {
  kernel.takes_state = true;
  return kernel;
}

/// A kernel that may leave the sum of dQ in its workspace for the next call.
constexpr KernelListing keeping_dQ(KernelListing kernel) {
  kernel.keeps_dQ = true;
  return kernel;
}

/// A kernel that the host can stop.
constexpr KernelListing stoppable(KernelListing kernel) {
  kernel.reads_stop_flag = true;
  return kernel;
}

/// A kernel for which a window and packed sequences are refused.
constexpr KernelListing for_whole_rows(KernelListing kernel) {
  kernel.takes_windows = kernel.takes_packed = false;
  return kernel;
}

/// A kernel with the instructions of compute capability 9.0, which no later one has.
constexpr KernelListing with_wgmma(KernelListing kernel,
                                   std::int64_t max_head_dim = kMaxGpuHeadDim) {
  kernel.max_compute_capability = 90;
  kernel.product_instruction = "wgmma";
  kernel.max_head_dim = max_head_dim;
  return kernel;
}

/// A kernel's listing, the toy program that counts its work, and the launches of a call.
struct TableRow : KernelListing {
  std::string_view toy_program;
  Launches (*launches)(const TilesRequest&);
};

inline constexpr TableRow kKernelTable[] = {
    {{"naive", "naive", kLibrary, 80, "FA2 backward post, eager"}, "naive", naive_launches},
    {{"fused_softmax", "fused-softmax", kLibrary, 80, "toymachine/programs/fused_softmax.toy"},
     "fused_softmax",
     fused_softmax_launches},
    {{"three_pass", "three-pass", kFp32, 80, "safe softmax; toymachine/programs/three_pass.toy"},
     "three_pass",
     three_pass_launches},
    {{"online", "online", kFp32, 80, "Milakov and Gimelshein 2018, algorithm 3; toy-model notes"},
     "online",
     online_launches},
    {{"flash1", "flash1", kFp32, 80, "Dao et al. 2022, FlashAttention, Algorithm 1"},
     "flash1_launches",
     flash1_launches},
    {with_state({"flash2_fp32", "flash2", kFp32, 80, kForwardSource}), "flash2",
     flash2_fp32_launches},
    {with_state({"flash2_mma_sm80", "flash2", k16Bits, 80, kForwardSource}), "flash2",
     flash2_mma_launches},
    {with_state({"flash2_mma_tf32_sm80", "flash2", kTf32, 80, kForwardSource}), "flash2",
     flash2_mma_launches},
    {stoppable(
         with_state(with_wgmma({"flash2_wgmma_sm90", "flash2", k16Bits, 90, kForwardSource}))),
     "flash2", flash2_wgmma_launches},
    {for_whole_rows(with_wgmma({"flash2_fp16x3_sm90", "flash2", kFp16x3, 90,
                                "Ootomo and Yokota 2022; Dao 2023, FlashAttention-2, Algorithm 1"},
                               kFp16x3MostHeadDim)),
     "flash2", flash2_fp16x3_launches},
    {{"split_kv", "split-kv", kFp32, 80, "Dao et al. 2023, Flash-Decoding"},
     "split_kv",
     split_kv_launches},
    {{"split_kv_mma_sm80", "split-kv", k16Bits, 80, "Dao et al. 2023, Flash-Decoding"},
     "split_kv",
     split_kv_mma_launches},
    {{"bwd_naive", "bwd-naive", kLibraryFp32, 80, "toy-model notes; two-option algorithm"},
     "bwd_naive",
     bwd_naive_launches},
    {arriving(with_wgmma({"bwd_onepass_fp16x3_sm90", "bwd-onepass", kFp16x3, 90,
                          "Ootomo and Yokota 2022; Dao 2023, FlashAttention-2, Algorithm 2"},
                         kBwdFp16x3MostHeadDim)),
     "bwd_onepass", bwd_onepass_fp16x3_launches},
    {arriving({"bwd_onepass_fp32", "bwd-onepass", kFp32, 80, kBackwardSource}), "bwd_onepass",
     bwd_onepass_fp32_launches},
    {arriving({"bwd_onepass_mma_sm80", "bwd-onepass", k16Bits, 80, kBackwardSource}), "bwd_onepass",
     bwd_onepass_mma_launches},
    {arriving({"bwd_onepass_mma_tf32_sm80", "bwd-onepass", kTf32, 80, kBackwardSource}),
     "bwd_onepass", bwd_onepass_mma_launches},
    {keeping_dQ(also_ordered(
         with_wgmma({"bwd_onepass_pair_sm90", "bwd-onepass", k16Bits, 90, kBackwardSource},
                    kBwdPairMostHeadDim))),
     "bwd_onepass", bwd_onepass_pair_launches},
    {stoppable(keeping_dQ(also_ordered(
         with_wgmma({"bwd_onepass_wgmma_sm90", "bwd-onepass", k16Bits, 90, kBackwardSource},
                    kBwdWgmmaMostHeadDim)))),
     "bwd_onepass", bwd_onepass_wgmma_launches},
    {{"bwd_twopass_fp32", "bwd-twopass", kFp32, 80, "two-option algorithm, option 2"},
     "bwd_twopass",
     bwd_twopass_fp32_launches},
    {{"bwd_twopass_mma_sm80", "bwd-twopass", k16Bits, 80, kBackwardSource},
     "bwd_twopass",
     bwd_twopass_mma_launches},
    {{"bwd_twopass_mma_tf32_sm80", "bwd-twopass", kTf32, 80, kBackwardSource},
     "bwd_twopass",
     bwd_twopass_mma_launches},
    {with_wgmma({"bwd_twopass_wgmma_sm90", "bwd-twopass", k16Bits, 90, kBackwardSource},
                kBwdWgmmaMostHeadDim),
     "bwd_twopass", bwd_twopass_wgmma_launches},
    {{"bwd_twopass_loads_o_fp32", "bwd-twopass-loads-o", kFp32, 80,
      "two-option algorithm, option 2 as printed"},
     "bwd_twopass_loads_o",
     bwd_twopass_loads_o_fp32_launches},
};

/// Returns the row of a kernel file. Does not compile if there is none.
consteval KernelListing listed(std::string_view stem) {
  for (const TableRow& kernel : kKernelTable) {
    if (kernel.stem == stem) return kernel;
  }
  throw "no row for this kernel file";
}

}  // namespace flashlab::cuda
