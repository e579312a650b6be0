// Each length, tile edges and all, and lengths of many tiles.
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/attention_cuda/chosen_cases.hpp"
#include "tests/attention_cuda/kernel_check.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

GeneratedCase square_case(DataType dtype, std::int64_t seqlen, std::int64_t head_dim,
                          textbook::Causal causal) {
  GeneratedCase generated;
  generated.number = static_cast<int>(seqlen);
  generated.dtype = dtype;
  generated.problem.seqlen_q = generated.problem.seqlen_k = seqlen;
  generated.problem.head_dim = head_dim;
  generated.problem.causal = causal;
  generated.problem.softmax_scale = 1 / std::sqrt(static_cast<double>(head_dim));
  return generated;
}

/// Where queries and keys differ in number, bottom right is a mask of its own.
GeneratedCase with_more_keys(GeneratedCase generated) {
  generated.problem.seqlen_k += generated.problem.seqlen_k % 97;
  return generated;
}

void check_each_length(Pass pass, DataType dtype) {
  const std::vector<KernelCase> kernels = chosen_kernels(pass, dtype);
  WorstErrors worst;
  const auto [first, step] = chosen_cases(FLASHLAB_LENGTH_STEP);
  for (std::int64_t seqlen = 1 + first; seqlen <= FLASHLAB_MOST_LENGTH; seqlen += step) {
    for (const auto causal :
         {textbook::Causal::kNo, textbook::Causal::kTopLeft, textbook::Causal::kBottomRight}) {
      check_kernels(worst, pass, kernels, with_more_keys(square_case(dtype, seqlen, 64, causal)));
    }
  }
}

void check_each_head_dim(Pass pass, DataType dtype) {
  const std::vector<KernelCase> kernels = chosen_kernels(pass, dtype);
  WorstErrors worst;
  const auto check = [&](const std::vector<KernelCase>& which, std::int64_t head_dim) {
    check_kernels(worst, pass, which, square_case(dtype, 70, head_dim, textbook::Causal::kNo));
  };
  KernelTurns turns;
  for (std::int64_t head_dim = 1; head_dim <= cuda::kMaxGpuHeadDim;
       head_dim += head_dim < 8 ? 1 : FLASHLAB_HEAD_DIM_STEP) {
    check(turns.next(kernels), head_dim);
  }
  for (const std::int64_t head_dim : {96, 192}) check(kernels, head_dim);  // tiles of their own
}

/// Every tile shape of every kernel: each compiled head_dim, at lengths that end inside of tiles, under
/// each mask. compute-sanitizer runs this (bench/on_a_gpu.py).
void check_ragged_lengths(Pass pass, DataType dtype) {
  const std::vector<KernelCase> kernels = chosen_kernels(pass, dtype);
  constexpr std::array kCausal = {textbook::Causal::kNo, textbook::Causal::kTopLeft,
                                  textbook::Causal::kBottomRight};
  constexpr std::pair<int, int> kLengths[] = {{129, 129}, {200, 75}, {1, 65},
                                              {63, 130},  {100, 31}, {193, 257}};
  WorstErrors worst;
  KernelTurns turns;
  int number = -1, next = chosen_cases(1).first;
  for (const std::int64_t head_dim : {32, 64, 96, 128, 192, 256}) {
    for (const auto& [seqlen_q, seqlen_k] : std::span(kLengths).first(FLASHLAB_RAGGED_LENGTHS)) {
      const std::vector<KernelCase> these = turns.next(kernels);
      if (++number != next) continue;
      next += chosen_cases(1).step;
      GeneratedCase generated = square_case(
          dtype, seqlen_q, head_dim, kCausal.at(static_cast<std::size_t>(number) % kCausal.size()));
      generated.problem.seqlen_k = seqlen_k;
      generated.problem.num_heads = 2;
      check_kernels(worst, pass, these, generated);
    }
  }
}

}  // namespace

TEST_CASE("each length from 1 to 300 is right under every mask: forward, float",
          "[cuda][lengths][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_each_length(Pass::kForward, DataType::kFloat32);
}

TEST_CASE("each length from 1 to 300 is right under every mask: forward, bf16",
          "[cuda][lengths][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_each_length(Pass::kForward, DataType::kBFloat16);
}

TEST_CASE("each length from 1 to 300 is right under every mask: forward, fp16",
          "[cuda][lengths][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_each_length(Pass::kForward, DataType::kFloat16);
}

TEST_CASE("each length from 1 to 300 is right under every mask: backward, float",
          "[cuda][lengths][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_each_length(Pass::kBackward, DataType::kFloat32);
}

TEST_CASE("each length from 1 to 300 is right under every mask: backward, bf16",
          "[cuda][lengths][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_each_length(Pass::kBackward, DataType::kBFloat16);
}

TEST_CASE("each length from 1 to 300 is right under every mask: backward, fp16",
          "[cuda][lengths][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_each_length(Pass::kBackward, DataType::kFloat16);
}

TEST_CASE("each head_dim up to 256 is right", "[cuda][lengths]") {
  FLASHLAB_NEEDS_GPU();
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16}) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) check_each_head_dim(pass, dtype);
  }
}

TEST_CASE("kernels that take turns each run once per round of cases", "[lengths]") {
  KernelTurns turns;
  const std::vector<KernelCase> kernels = kernels_here(Pass::kForward, DataType::kFloat32);
  std::map<std::string, std::size_t> runs;
  for (std::size_t number = 0; number < 2 * turns.step(); ++number) {
    for (const KernelCase& kernel : turns.next(kernels)) ++runs[kernel.name()];
  }
  CHECK(runs.size() == kernels.size());
  for (const auto& [name, count] : runs) {
    INFO(name);
    CHECK(count == 2);
  }
}

TEST_CASE("queries of one block that see different numbers of tiles are right", "[cuda][lengths]") {
  FLASHLAB_NEEDS_GPU();
  KernelTurns turns;
  for (const DataType dtype : {DataType::kBFloat16, DataType::kFloat16}) {
    const std::vector<KernelCase> kernels = chosen_kernels(Pass::kForward, dtype);
    WorstErrors worst;
    // flash2_wgmma_sm90 has blocks of 192 queries for head_dim 64: warpgroups whose queries see no
    // key of the last tile, or do not exist.
    for (const auto causal : {textbook::Causal::kTopLeft, textbook::Causal::kBottomRight}) {
      for (const auto& [seqlen_q, seqlen_k] : {std::pair{192, 192}, {200, 330}, {330, 200}}) {
        GeneratedCase generated = square_case(dtype, seqlen_q, 64, causal);
        generated.problem.seqlen_k = seqlen_k;
        generated.problem.num_heads = generated.problem.num_kv_heads = 5;
        check_kernels(worst, Pass::kForward, turns.next(kernels), generated);
        generated.problem.num_heads = generated.problem.num_kv_heads = 1;
        generated.problem.batch = 2;
        generated.problem.key_lengths = {seqlen_k, seqlen_k - 140};
        check_kernels(worst, Pass::kForward, turns.next(kernels), generated);
      }
    }
  }
}

TEST_CASE("scores far above all that came before are right", "[cuda][lengths]") {
  FLASHLAB_NEEDS_GPU();
  for (const DataType dtype : {DataType::kBFloat16, DataType::kFloat16}) {
    const std::vector<KernelCase> kernels = chosen_kernels(Pass::kForward, dtype);
    WorstErrors worst;
    // A tile of flash2_wgmma_sm90 computes its weights with the maximum of the tiles before, and
    // once more if that was too small. Of 600 spread scores, each tile exceeds some row's maximum.
    for (const std::int64_t head_dim : {64, 128, 256}) {
      GeneratedCase generated = square_case(dtype, 70, head_dim, textbook::Causal::kNo);
      generated.problem.seqlen_k = 600;
      generated.magnitude = Magnitude::kSpreadScores;
      check_kernels(worst, Pass::kForward, kernels, generated);
    }
  }
}

TEST_CASE("windows that end before, at and after the edges of tiles are right", "[cuda][lengths]") {
  FLASHLAB_NEEDS_GPU();
  KernelTurns turns;
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16}) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      const std::vector<KernelCase> kernels = chosen_kernels(pass, dtype);
      WorstErrors worst;
      for (const std::int64_t left : {0, 15, 63, 64, 65, 150}) {
        GeneratedCase generated = square_case(dtype, 200, 64, textbook::Causal::kTopLeft);
        generated.problem.window_left = left;
        check_kernels(worst, pass, turns.next(kernels), generated);
        generated.problem.causal = textbook::Causal::kBottomRight;
        generated.problem.seqlen_q = 70;  // no query sees the first keys
        check_kernels(worst, pass, turns.next(kernels), generated);
        generated.problem.causal = textbook::Causal::kNo;
        generated.problem.window_right = 64 - left % 64;
        std::swap(generated.problem.seqlen_q, generated.problem.seqlen_k);  // the last see none
        check_kernels(worst, pass, turns.next(kernels), generated);
      }
    }
  }
}

TEST_CASE("packed sequences are right wherever they meet in tiles", "[cuda][lengths]") {
  FLASHLAB_NEEDS_GPU();
  KernelTurns turns;
  using Bounds = std::vector<std::int64_t>;
  const std::pair<Bounds, Bounds> packed[] = {
      {{0, 200}, {0, 210}},
      {{0, 1, 64, 65, 130, 130, 200}, {0, 1, 64, 65, 130, 140, 210}},
      {{0, 20, 90, 200}, {0, 150, 150, 210}},  // queries without keys
      {{0, 64, 200}, {0, 128, 210}},           // a warpgroup whose keys end with a tile
  };
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16}) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      const std::vector<KernelCase> kernels = chosen_kernels(pass, dtype);
      WorstErrors worst;
      for (const auto causal : {textbook::Causal::kNo, textbook::Causal::kBottomRight}) {
        for (const auto& [cu_seqlens_q, cu_seqlens_k] : packed) {
          GeneratedCase generated = square_case(dtype, 200, 64, causal);
          generated.problem.seqlen_k = 210;
          generated.problem.cu_seqlens_q = cu_seqlens_q;
          generated.problem.cu_seqlens_k = cu_seqlens_k;
          if (causal != textbook::Causal::kNo) generated.problem.window_left = 30;
          check_kernels(worst, pass, turns.next(kernels), generated);
        }
      }
    }
  }
}

TEST_CASE("parts of the keys, one call each in any order, give the result of all keys",
          "[cuda][lengths]") {
  FLASHLAB_NEEDS_GPU();
  const std::vector<KeyPart> orders[] = {
      {{0, 130}, {130, 330}},
      {{200, 330}, {60, 60}, {0, 60}, {60, 200}},  // the last keys first, and a part without keys
  };
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16}) {
    std::vector<KernelCase> kernels = chosen_kernels(Pass::kForward, dtype);
    std::erase_if(kernels, [](const KernelCase& kernel) { return !kernel.row->takes_state; });
    WorstErrors worst;
    for (const auto& [causal, head_dim] : {std::pair{textbook::Causal::kNo, 64},
                                           {textbook::Causal::kTopLeft, 128},
                                           {textbook::Causal::kBottomRight, 64},
                                           {textbook::Causal::kTopLeft, 40}}) {
      for (const std::vector<KeyPart>& parts : orders) {
        GeneratedCase generated = square_case(dtype, 200, head_dim, causal);
        generated.problem.seqlen_k = 330;
        generated.problem.num_heads = 2;
        if (head_dim == 128) generated.problem.window_left = 100;
        check_forward_kernels(worst, kernels, generated, parts);
      }
    }
  }
}

TEST_CASE("few queries see many keys, and many queries few", "[cuda][lengths]") {
  FLASHLAB_NEEDS_GPU();
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16}) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      const std::vector<KernelCase> kernels = chosen_kernels(pass, dtype);
      WorstErrors worst;
      GeneratedCase generated = square_case(dtype, 1, 64, textbook::Causal::kBottomRight);
      generated.problem.seqlen_q = 33;
      generated.problem.seqlen_k = FLASHLAB_LONG_SEQLEN;
      check_kernels(worst, pass, kernels, generated);
      std::swap(generated.problem.seqlen_q, generated.problem.seqlen_k);
      generated.problem.causal = textbook::Causal::kTopLeft;
      check_kernels(worst, pass, kernels, generated);
    }
  }
}

TEST_CASE("each tile shape is right at six ragged lengths: forward, float",
          "[cuda][ragged][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_ragged_lengths(Pass::kForward, DataType::kFloat32);
}

TEST_CASE("each tile shape is right at six ragged lengths: forward, bf16",
          "[cuda][ragged][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_ragged_lengths(Pass::kForward, DataType::kBFloat16);
}

TEST_CASE("each tile shape is right at six ragged lengths: forward, fp16",
          "[cuda][ragged][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_ragged_lengths(Pass::kForward, DataType::kFloat16);
}

TEST_CASE("each tile shape is right at six ragged lengths: backward, float",
          "[cuda][ragged][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_ragged_lengths(Pass::kBackward, DataType::kFloat32);
}

TEST_CASE("each tile shape is right at six ragged lengths: backward, bf16",
          "[cuda][ragged][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_ragged_lengths(Pass::kBackward, DataType::kBFloat16);
}

TEST_CASE("each tile shape is right at six ragged lengths: backward, fp16",
          "[cuda][ragged][parts]") {
  FLASHLAB_NEEDS_GPU();
  check_ragged_lengths(Pass::kBackward, DataType::kFloat16);
}

TEST_CASE("batch x heads may be more than 65535", "[cuda][lengths]") {
  FLASHLAB_NEEDS_GPU();
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16}) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      std::vector<KernelCase> kernels = chosen_kernels(pass, dtype);
      WorstErrors worst;
      GeneratedCase generated = square_case(dtype, 2, 4, textbook::Causal::kTopLeft);
      generated.problem.batch = FLASHLAB_MANY_HEADS / 4;
      generated.problem.num_heads = 4;
      generated.problem.num_kv_heads = 2;
      check_kernels(worst, pass, kernels, generated);
    }
  }
}
