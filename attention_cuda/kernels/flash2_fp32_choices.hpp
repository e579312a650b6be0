// The tiles that flash2_fp32 is compiled with, for a benchmark of all of them.
#pragma once

#include <span>

#include "attention_cuda/detail/call.hpp"
#include "attention_cuda/kernels/flash2_fp32.hpp"

namespace flashlab::cuda {

struct Flash2Fp32Choice {
  Flash2Fp32Shape shape;
  void (*launch)(const ForwardCall&);
};

/// Returns them in the order of kFlash2Fp32Shapes.
std::span<const Flash2Fp32Choice> flash2_fp32_choices();

}  // namespace flashlab::cuda
