// Stands in for attention_cuda/ptx/turn.cuh.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

#include "attention_cuda/emulation/async/async_block.hpp"
#include "attention_cuda/emulation/fibers.hpp"

namespace flashlab::cuda::ptx {

inline void wait_for_turn(const int* turns, int number) {
  const auto ended = [turns] {
    return std::atomic_ref<int>(*const_cast<int*>(turns)).load(std::memory_order_acquire);
  };
  emulation::wait_for_other_blocks([=] { return ended() >= number; },
                                   [=] {
                                     return "turn " + std::to_string(number) + ", when " +
                                            std::to_string(ended()) + " have ended";
                                   });
  if (ended() > number) {
    throw std::logic_error("turn " + std::to_string(number) + " begins when " +
                           std::to_string(ended()) + " have ended");
  }
}

inline void end_turn(int* turns) {
  emulation::async_block().require_stores_complete(emulation::thread_number(), "a turn ends");
  std::atomic_ref<int>(*turns).fetch_add(1, std::memory_order_release);
}

}  // namespace flashlab::cuda::ptx
