#include "generate/run/gpu_process.hpp"

#include <nlohmann/json.hpp>

#include "generate/run/drawn_inputs.hpp"
#include "generate/run/working_process.hpp"

namespace flashlab::generate {
namespace {

using Json = nlohmann::json;

Json times_json(const GpuTimes& times) {
  Json json = {{"architecture", times.architecture},
               {"nvrtc_version", times.nvrtc_version},
               {"compile_seconds", times.compile_seconds},
               {"call_ms", times.call_ms},
               {"launch_ms", times.launch_ms},
               {"nan_elements", times.nan_elements},
               {"counted", times.counted},
               {"kernels", Json::array()}};
  for (const KernelResources& kernel : times.kernels) {
    json["kernels"].push_back({kernel.kernel, kernel.registers, kernel.local_bytes});
  }
  return json;
}

GpuTimes times_of(const Json& json) {
  GpuTimes times;
  times.architecture = json.at("architecture");
  times.nvrtc_version = json.at("nvrtc_version");
  times.compile_seconds = json.at("compile_seconds");
  times.call_ms = json.at("call_ms").get<std::vector<double>>();
  times.launch_ms = json.at("launch_ms").get<std::vector<std::vector<double>>>();
  times.nan_elements = json.at("nan_elements").get<std::vector<std::int64_t>>();
  times.counted = json.at("counted");
  for (const Json& kernel : json.at("kernels")) {
    times.kernels.push_back({kernel.at(0), kernel.at(1), kernel.at(2)});
  }
  return times;
}

}  // namespace

GpuInfo gpu_in_process(double seconds) {
  const Json json = in_process(seconds, [] {
    const GpuInfo gpu = first_gpu(CudaDriver::loaded());
    return Json{{"name", gpu.name},
                {"compute_capability", gpu.compute_capability},
                {"num_multiprocessors", gpu.num_multiprocessors},
                {"memory_bytes", gpu.memory_bytes},
                {"l2_bytes", gpu.l2_bytes},
                {"shared_bytes_per_block", gpu.shared_bytes_per_block},
                {"driver_version", gpu.driver_version}};
  });
  GpuInfo gpu;
  gpu.name = json.at("name");
  gpu.compute_capability = json.at("compute_capability");
  gpu.num_multiprocessors = json.at("num_multiprocessors");
  gpu.memory_bytes = json.at("memory_bytes");
  gpu.l2_bytes = json.at("l2_bytes");
  gpu.shared_bytes_per_block = json.at("shared_bytes_per_block");
  gpu.driver_version = json.at("driver_version");
  return gpu;
}

MeasuredJob measure_in_process(const GpuJob& job, std::span<const std::int64_t> problems,
                               double seconds, const CountLaunches& count) {
  std::int64_t problem_bytes = 0;
  for (const JobArray& array : job.arrays) problem_bytes += array.bytes();
  const SharedBytes shared(static_cast<std::size_t>(problem_bytes) * problems.size());
  MeasuredJob measured;
  measured.times = times_of(in_process(
      seconds, [&] { return times_json(measured_run(job, problems, shared.bytes(), count)); }));
  std::size_t at = 0;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    auto& arrays = measured.results.emplace_back();
    for (const JobArray& array : job.arrays) {
      const auto bytes = static_cast<std::size_t>(array.bytes());
      arrays.push_back(numbers_of(array.type, shared.bytes().subspan(at, bytes)));
      at += bytes;
    }
  }
  return measured;
}

}  // namespace flashlab::generate
