// flash2_wgmma_sm90 with fewer ideas, and the points that a build of it can record.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "attention_cuda/bench/flash2_step_shapes.hpp"
#include "attention_cuda/bench/timed_candidates.cuh"
#include "attention_cuda/kernels/forward_wgmma/launch.cuh"
#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using bench::Candidate, bench::CandidateShape, bench::CandidateTensors;
using cuda::WgmmaMark;

/// A WgmmaConfig::Marks: the first thread of each warpgroup, and the one that loads.
struct RecordedMarks {
  struct Record {
    int block, warpgroup, turn, tile;
    WgmmaMark mark;
  };
  static inline std::mutex mutex;
  static inline std::vector<Record> records;

  static void mark(WgmmaMark what, int turn, int tile) {
    const int warpgroup = static_cast<int>(threadIdx.x) / cuda::kWarpgroup;
    if (warpgroup > 0 && threadIdx.x % cuda::kWarpgroup != 0) return;
    const std::lock_guard lock(mutex);
    records.push_back({static_cast<int>(blockIdx.x), warpgroup, turn, tile, what});
  }
};

template <int kStep, class Marks = cuda::NoMarks>
void launch_step(const cuda::ForwardCall& call) {
  cuda::launch_wgmma<cuda::WgmmaConfig<BFloat16, bench::shape_of_step(64, kStep), Marks>>(call);
}

/// Runs a step on one head and returns O.
std::vector<BFloat16> result(void (*launch)(const cuda::ForwardCall&), std::int64_t seqlen,
                             Mask mask) {
  const CandidateTensors<BFloat16> tensors(CandidateShape{1, 1, seqlen, 64});
  const AttentionProblem problem = check_forward(tensors.forward(), {mask, {}, {}});
  const cuda::ExecutionOptions options;
  return tensors.result_of({"", launch}, {{problem, options, nullptr, nullptr}, tensors.forward()});
}

using Marks = std::vector<std::pair<WgmmaMark, int>>;

/// What a warpgroup of the first block marked in its first query tile.
Marks marks_of(int warpgroup) {
  Marks found;
  for (const auto& record : RecordedMarks::records) {
    if (record.block != 0 || record.turn != 0 || record.warpgroup != warpgroup) continue;
    found.emplace_back(record.mark, record.tile);
  }
  return found;
}

std::ptrdiff_t position(WgmmaMark mark, int tile, int warpgroup) {
  const auto& records = RecordedMarks::records;
  return std::find_if(records.begin(), records.end(),
                      [&](const RecordedMarks::Record& record) {
                        return record.block == 0 && record.turn == 0 && record.mark == mark &&
                               record.tile == tile && record.warpgroup == warpgroup;
                      }) -
         records.begin();
}

TEST_CASE("each step towards flash2_wgmma_sm90 gives the same O", "[emulation][steps]") {
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft}) {
    const std::vector<BFloat16> last = result(launch_step<5>, 400, mask);
    CHECK(bench::largest_difference(last, result(launch_step<1>, 400, mask)) <
          bench::kLargestDifference);
    CHECK(bench::largest_difference(last, result(launch_step<2>, 400, mask)) <
          bench::kLargestDifference);
    CHECK(bench::largest_difference(last, result(launch_step<3>, 400, mask)) <
          bench::kLargestDifference);
    CHECK(bench::largest_difference(last, result(launch_step<4>, 400, mask)) <
          bench::kLargestDifference);
  }
}

TEST_CASE("a difference between two results is found, and NaN is infinite", "[steps]") {
  CHECK(bench::largest_difference<float>({1, -8}, {1, -7}) == 0.125);
  CHECK(bench::largest_difference<float>({0.25F}, {0.75F}) == 0.5);
  CHECK(bench::largest_difference<float>({1}, {NAN}) == INFINITY);
  CHECK(bench::largest_difference<float>({NAN, 1}, {1, 1}) == INFINITY);
}

TEST_CASE("marks name each wait, copy and product of a query tile, in order",
          "[emulation][steps]") {
  RecordedMarks::records.clear();
  constexpr std::int64_t kThreeTiles = 384;  // all three warpgroups of block 0 have queries
  result(launch_step<5, RecordedMarks>, kThreeTiles, Mask::kNone);
  using enum WgmmaMark;
  CHECK(marks_of(0) == Marks{{kWaitsForK, 2},
                             {kLoadsK, 2},
                             {kWaitsForQ, 0},
                             {kLoadsQ, 0},
                             {kWaitsForQ, 1},
                             {kLoadsQ, 1},
                             {kWaitsForQ, 2},
                             {kLoadsQ, 2},
                             {kWaitsForK, 1},
                             {kLoadsK, 1},
                             {kWaitsForV, 2},
                             {kLoadsV, 2},
                             {kWaitsForK, 0},
                             {kLoadsK, 0},
                             {kWaitsForV, 1},
                             {kLoadsV, 1},
                             {kWaitsForV, 0},
                             {kLoadsV, 0}});
  for (const int warpgroup : {1, 2, 3}) {
    CAPTURE(warpgroup);
    CHECK(marks_of(warpgroup) == Marks{{kWaitsForQ, warpgroup - 1},
                                       {kWaitsForK, 2},
                                       {kIssuesQK, 2},
                                       {kWaitsForS, 2},
                                       {kHasS, 2},
                                       {kHasP, 2},
                                       {kWaitsForK, 1},
                                       {kWaitsForV, 2},
                                       {kWaitsForTurn, 1},
                                       {kIssuesQK, 1},
                                       {kIssuesPV, 2},
                                       {kWaitsForS, 1},
                                       {kHasS, 1},
                                       {kHasP, 1},
                                       {kWaitsForO, 2},
                                       {kHasO, 2},
                                       {kWaitsForK, 0},
                                       {kWaitsForV, 1},
                                       {kWaitsForTurn, 0},
                                       {kIssuesQK, 0},
                                       {kIssuesPV, 1},
                                       {kWaitsForS, 0},
                                       {kHasS, 0},
                                       {kHasP, 0},
                                       {kWaitsForO, 1},
                                       {kHasO, 1},
                                       {kWaitsForV, 0},
                                       {kIssuesPV, 0},
                                       {kWaitsForO, 0},
                                       {kHasO, 0},
                                       {kStoresO, 0},
                                       {kEnds, 0}});
    for (const int tile : {0, 1, 2}) {  // nothing is used before it is loaded
      CHECK(position(kLoadsK, tile, 0) < position(kIssuesQK, tile, warpgroup));
      CHECK(position(kLoadsV, tile, 0) < position(kIssuesPV, tile, warpgroup));
    }
  }
  // Turns: each warpgroup issues a tile's products before the next warpgroup does.
  CHECK(position(kIssuesPV, 2, 1) < position(kIssuesQK, 1, 2));
  CHECK(position(kIssuesPV, 2, 2) < position(kIssuesQK, 1, 3));
  CHECK(position(kIssuesPV, 2, 3) < position(kIssuesQK, 0, 1));
}

TEST_CASE("without overlap a warpgroup has O before it issues the next products",
          "[emulation][steps]") {
  RecordedMarks::records.clear();
  result(launch_step<1, RecordedMarks>, 300, Mask::kNone);
  using enum WgmmaMark;
  CHECK(position(kWaitsForO, 2, 1) < position(kHasO, 2, 1));
  CHECK(position(kHasO, 2, 1) < position(kIssuesQK, 1, 1));
  CHECK(position(kIssuesPV, 2, 1) < position(kWaitsForO, 2, 1));
}

}  // namespace
}  // namespace flashlab::test
