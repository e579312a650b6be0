// A small problem in device memory, as C and as C++ have it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "attention_cuda/flashlab.h"
#include "tests/attention_cpu/stored_tensor.hpp"
#include "tests/attention_cuda/device_copy.hpp"

namespace flashlab::test {

inline std::string error_text() { return flashlab_last_error(); }

inline flashlab_tensor c_tensor(const TensorView& view) {
  constexpr int kFloat64IsNotTaken = -1;
  constexpr std::array<int, 4> kTypes = {FLASHLAB_FLOAT32, kFloat64IsNotTaken, FLASHLAB_BFLOAT16,
                                         FLASHLAB_FLOAT16};
  flashlab_tensor tensor = {};
  tensor.data = view.data;
  tensor.dtype = kTypes.at(static_cast<std::size_t>(view.dtype));
  tensor.rank = static_cast<int>(view.shape.size());
  std::copy(view.shape.begin(), view.shape.end(), tensor.shape);
  std::copy(view.strides.begin(), view.strides.end(), tensor.strides);
  return tensor;
}

inline StoredTensor filled(DataType dtype, const Shape& shape, int phase) {
  StoredTensor tensor = make_tensor(dtype, shape);
  std::vector<double> values(offsets_of(tensor.view).size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = static_cast<double>((k * 37 + static_cast<std::size_t>(phase) * 11) % 64) / 32 - 1;
  }
  tensor.assign(values);
  return tensor;
}

inline const Shape kShape = {2, 3, 37, 16}, kLseShape = {2, 3, 37};

/// A problem in device memory, as C and as C++ have it.
struct InterfaceProblem {
  explicit InterfaceProblem(DataType dtype)
      : Q(filled(dtype, kShape, 1)),
        K(filled(dtype, kShape, 2)),
        V(filled(dtype, kShape, 3)),
        O(make_tensor(dtype, kShape)),
        lse(make_tensor(DataType::kFloat32, kLseShape)),
        forward{device.view(Q), device.view(K), device.view(V), device.view(O), device.view(lse)},
        c_forward{c_tensor(forward.Q), c_tensor(forward.K), c_tensor(forward.V),
                  c_tensor(forward.O), c_tensor(forward.lse)} {
    flashlab_options_init(&options);
  }

  flashlab_status run() { return flashlab_attention_forward(&c_forward, &options); }

  /// O, then lse.
  std::vector<double> results() {
    device.fetch();
    std::vector<double> all = O.values();
    for (const double value : lse.values()) all.push_back(value);
    return all;
  }

  StoredTensor Q, K, V, O, lse;
  DeviceCopies device;
  ForwardTensors forward;
  flashlab_forward_tensors c_forward;
  flashlab_options options;
};

}  // namespace flashlab::test
