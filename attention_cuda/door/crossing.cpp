#include "attention_cuda/door/crossing.hpp"

namespace flashlab::cuda::door {

std::string interface_text(std::uint64_t fields) {
  return FLASHLAB_VERSION ", interface " + std::to_string(kInterfaceNumber) + ", fields " +
         std::to_string(fields);
}

std::string gpu_library_interface() {
  return interface_text(system::fingerprint<GpuCall, ForwardTensors, BackwardTensors, GpuInfo,
                                            GpuRun, SampledCall, SampledKernels, Outcome>());
}

}  // namespace flashlab::cuda::door
