// What the GPU at hand does in a second, as a table; and whether its counters can be read: a copy
// of 1 GiB should read and write 1 GiB of DRAM, and the same across the multiprocessors' boundary.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <exception>

#include "compare/cuda/calibrate.hpp"
#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/micro_benchmarks.hpp"
#include "compare/hardware_counters.hpp"

namespace flashlab::compare {
namespace {

void print_rates() {
  const auto start = std::chrono::steady_clock::now();
  const CalibrationResult result = calibrate();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Calibration& calibration = result.calibration;
  std::printf("%s, driver for CUDA %s, CUDA %s, %s; measured in %.1f s\n\n",
              calibration.gpu_name.c_str(), calibration.driver.c_str(), calibration.cuda.c_str(),
              calibration.date.c_str(), seconds.count());
  std::printf("%-14s %14s %14s %14s\n", "", "median", "least", "most");
  for (const CalibratedRate& rate : result.rates) {
    std::printf("%-14s %14.5g %14.5g %14.5g  %s/s\n", rate.key.c_str(), rate.median, rate.least,
                rate.most, rate.unit.c_str());
  }
  std::printf("\na launch: %.3f us\n", calibration.launch_s.value_or(0) * 1e6);
}

void print(const char* name, const std::optional<Traffic>& traffic) {
  if (!traffic) return void(std::printf("  %-5s not counted\n", name));
  std::printf("  %-5s %14lld bytes read, %14lld bytes written\n", name,
              static_cast<long long>(traffic->bytes_read),
              static_cast<long long>(traffic->bytes_written));
}

void print(const char* name, const std::optional<double>& percent) {
  if (!percent) return void(std::printf("  %-14s not counted\n", name));
  std::printf("  %-14s %6.2f %%\n", name, *percent);
}

/// Twice, so that the second shows whether the first let go of the hardware; ranges of one name go
/// together.
void print_counters() {
  constexpr std::int64_t kBytes = std::int64_t{1} << 30;
  const cuda::GpuInfo gpu = cuda::current_gpu();
  const cuda::DeviceMemory source("source", kBytes), destination("destination", kBytes);
  source.fill(0x5a);
  const auto call = [&](RangeMarker& marker) {
    for (const char* name : {"copy", "two copies", "two copies"}) {
      marker.begin(name);
      copy_on_gpu(destination.data(), source.data(), kBytes);
      check_cuda(cudaDeviceSynchronize(), "dram_copy_kernel");
      marker.end();
    }
  };
  for (int time = 1; time <= 2; ++time) {
    std::string why_not;
    const std::vector<CountedRange> ranges = count_on_gpu(call, why_not);
    std::printf("\ncounters, time %d: %s\n", time, why_not.empty() ? "read" : why_not.c_str());
    for (const CountedRange& range : ranges) {
      std::printf("%s (%lld bytes each way a copy) %s\n", range.name.c_str(),
                  static_cast<long long>(kBytes), range.counters.why_no_counters.c_str());
      print("DRAM", range.counters.dram);
      print("SM", range.counters.sm);
      print("tensor cores", range.counters.tensor_percent);
      print("exp2", range.counters.exp_percent);
      print("issue slots", range.counters.issue_percent);
      print("shared memory", range.counters.shared_percent);
    }
  }
}

}  // namespace
}  // namespace flashlab::compare

int main() {
  try {
    flashlab::compare::print_rates();
    flashlab::compare::print_counters();
    std::printf("\nafter the counters, as before them?\n");
    flashlab::compare::print_rates();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "calibrate_gpu: %s\n", error.what());
    return 1;
  }
}
