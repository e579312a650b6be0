// The kernels of the calibration, none of which is attention; one file per subject.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "attention_cuda/gpu.hpp"
#include "compare/cuda/micro_benchmark.hpp"

namespace flashlab::compare {

/// "DRAM copy", "DRAM read": two buffers of 4 GiB, or of a quarter of the free memory. Throws
/// NoDeviceMemory, CudaError, as the others do.
std::vector<MicroBenchmark> dram_benchmarks(const cuda::GpuInfo& gpu);
/// "L2 to SM": every block copies the same buffer, a third of L2, to shared memory.
std::vector<MicroBenchmark> l2_benchmarks(const cuda::GpuInfo& gpu);
/// "shared memory": 16 bytes per thread, without bank conflicts.
std::vector<MicroBenchmark> shared_memory_benchmarks(const cuda::GpuInfo& gpu);
/// "additions": 16 bytes per thread, from registers to floats in L2.
std::vector<MicroBenchmark> addition_benchmarks(const cuda::GpuInfo& gpu);
/// "bulk additions": from shared memory to floats in L2. Empty before compute capability 9.0.
std::vector<MicroBenchmark> bulk_addition_benchmarks(const cuda::GpuInfo& gpu);
/// "bf16", "fp16", "float tf32": mma.sync with fp32 sums.
std::vector<MicroBenchmark> tensor_core_benchmarks(const cuda::GpuInfo& gpu);
/// "bf16 wgmma", "fp16 wgmma": wgmma with both operands in shared memory and fp32 sums. Empty if
/// the GPU's compute capability is not 9.0.
std::vector<MicroBenchmark> wgmma_benchmarks(const cuda::GpuInfo& gpu);
/// "float", "elementwise", "exp2", "divisions".
std::vector<MicroBenchmark> arithmetic_benchmarks(const cuda::GpuInfo& gpu);
/// "launches": empty kernels, one after another.
std::vector<MicroBenchmark> launch_benchmarks(const cuda::GpuInfo& gpu);

}  // namespace flashlab::compare
