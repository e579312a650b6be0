// Stands in for attention_cuda/ptx/wgmma.cuh. Until a thread has waited, its registers of D hold
// NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "attention/tensor.hpp"
#include "attention_cuda/emulation/async/async_block.hpp"
#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

inline void wgmma_fence() {
  emulation::async_block().warpgroups().fence(emulation::thread_number());
}

inline void wgmma_commit() {
  emulation::async_block().warpgroups().commit(emulation::thread_number());
}

template <int kGroupsInFlight>
void wgmma_wait() {
  emulation::AsyncBlock& block = emulation::async_block();
  const int thread = emulation::thread_number();
  if (!block.warpgroups().can_wait(thread, kGroupsInFlight)) {
    emulation::wait_until(
        [] { return std::string("the other threads of its warpgroup to issue wgmma"); },
        [&block, thread] { return block.warpgroups().can_wait(thread, kGroupsInFlight); });
  }
  block.warpgroups().wait(thread, kGroupsInFlight, block.operations());
}

inline std::uint64_t matrix_descriptor(SharedAddress panel, std::uint32_t panel_bytes = 16) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62, kRowGroupBytes = 1024;
  const std::size_t at =
      emulation::shared_offset(reinterpret_cast<const void*>(panel), 16, "a matrix descriptor");
  return at >> 4 | static_cast<std::uint64_t>(panel_bytes >> 4) << 16 | kRowGroupBytes >> 4 << 32 |
         kSwizzle128;
}

constexpr std::uint64_t descriptor_step(std::uint32_t bytes) { return bytes >> 4; }

template <class Element, std::size_t kRegisters>
void issue_wgmma(float (&d)[kRegisters], const std::uint32_t* a, std::uint64_t a_descriptor,
                 std::uint64_t b_descriptor, bool accumulates, bool is_transposed) {
  static_assert(kRegisters % 8 == 0 && kRegisters <= 128, "N is a multiple of 16 up to 256");
  emulation::WgmmaIssue issue;
  issue.num_columns = static_cast<int>(2 * kRegisters);
  issue.is_bfloat16 = std::is_same_v<Element, BFloat16>;
  issue.accumulates = accumulates;
  issue.is_a_transposed = is_transposed && a == nullptr;
  issue.is_b_transposed = is_transposed;
  issue.d = d;
  issue.a = a;
  issue.a_descriptor = a_descriptor;
  issue.b_descriptor = b_descriptor;
  emulation::AsyncBlock& block = emulation::async_block();
  block.warpgroups().issue(emulation::thread_number(), issue, block.views(), block.operations());
}

template <class Element, bool kIsTransposed = false, std::size_t kRegisters>
void wgmma(float (&d)[kRegisters], std::uint64_t a, std::uint64_t b, bool accumulates) {
  issue_wgmma<Element>(d, nullptr, a, b, accumulates, kIsTransposed);
}

template <class Element, std::size_t kRegisters>
void wgmma(float (&d)[kRegisters], const std::uint32_t (&a)[4], std::uint64_t b, bool accumulates) {
  issue_wgmma<Element>(d, a, 0, b, accumulates, true);
}

}  // namespace flashlab::cuda::ptx
