#include <algorithm>
#include <cstdint>
#include <vector>

#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/sm_clock.hpp"

namespace flashlab::compare {
namespace {

struct alignas(16) Mark {
  std::uint64_t clocks, ns;  // 0: no block was there
};

__global__ void mark_kernel(Mark* marks, unsigned num_sms) {
  unsigned sm = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (sm >= num_sms) return;
  std::uint64_t ns = 0, clocks = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clocks));
  marks[sm] = {clocks, ns};
}

}  // namespace

SmClock::SmClock()
    : num_sms_(cuda::current_gpu().num_multiprocessors),
      marks_("clocks", 2 * sizeof(Mark) * static_cast<std::size_t>(num_sms_)) {
  marks_.fill(0);
}

void SmClock::mark(int which) {
  // More blocks than multiprocessors, so that few of these have none.
  mark_kernel<<<2 * num_sms_, 32>>>(static_cast<Mark*>(marks_.data()) + which * num_sms_,
                                    static_cast<unsigned>(num_sms_));
  check_launch("mark_kernel");
}

std::optional<double> SmClock::ghz() const {
  const auto count = static_cast<std::size_t>(num_sms_);
  std::vector<Mark> marks(2 * count);
  check_cuda(
      cudaMemcpy(marks.data(), marks_.data(), marks.size() * sizeof(Mark), cudaMemcpyDeviceToHost),
      "cudaMemcpy");
  std::vector<double> all;
  for (std::size_t sm = 0; sm < count; ++sm) {
    const Mark &start = marks[sm], &end = marks[count + sm];
    if (start.ns == 0 || end.ns <= start.ns || end.clocks <= start.clocks) continue;
    all.push_back(static_cast<double>(end.clocks - start.clocks) /
                  static_cast<double>(end.ns - start.ns));
  }
  if (all.empty()) return std::nullopt;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace flashlab::compare
