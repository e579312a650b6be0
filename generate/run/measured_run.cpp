#include "generate/run/measured_run.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <memory>

#include "generate/plan/element_types.hpp"
#include "generate/run/compiled_job.hpp"
#include "generate/run/drawn_inputs.hpp"
#include "generate/run/tensor_map.hpp"

namespace flashlab::generate {
namespace {

constexpr int kFlushes =
    8;  // times the size of L2 that is written before each call, as in TimedCall
constexpr unsigned char kNaN = 0xff;  // all bits set, in every type
constexpr std::int64_t kSharedBytesWithoutRequest = std::int64_t{48} << 10;
constexpr int kMeasuringThreads = 256;  // of the kernels that draw and count
constexpr std::int64_t kMeasuringBlocks = 4096;

std::string megabytes(std::int64_t bytes) { return std::to_string((bytes + 999'999) / 1'000'000); }

/// As measuring.cuh reads it.
std::uint64_t range_bits(const JobArray& array) {
  const DrawnRange range = drawn_range(array);
  return std::uint64_t{std::bit_cast<std::uint32_t>(range.half)} << 32 |
         std::bit_cast<std::uint32_t>(range.middle);
}

/// Refuses a job before anything is allocated.
void require_memory(const GpuJob& job, const CudaDriver& driver, std::int64_t flush_bytes) {
  std::size_t free_bytes = 0, total_bytes = 0;
  driver.check(driver.cuMemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo");
  const std::int64_t arrays = job.array_bytes(), most = INT64_MAX - flush_bytes;
  if (arrays <= most && arrays + flush_bytes <= static_cast<std::int64_t>(free_bytes)) return;
  std::string largest;
  for (const JobArray& array : job.arrays) {
    largest += (largest.empty() ? "" : ", ") + array.name + " " + std::to_string(array.bytes());
  }
  throw GpuMemoryError(
      "the arrays take " + (arrays == INT64_MAX ? "2^63 or more" : std::to_string(arrays)) +
      " bytes (" + std::to_string(job.problems) + " times " + largest + ") and flushing L2 " +
      std::to_string(flush_bytes) + ": expected at most the " + megabytes(free_bytes) +
      " MB that are free of the GPU's " + megabytes(total_bytes) + " MB");
}

/// The arrays of all problems, and the compiled kernels.
class PreparedJob {
 public:
  PreparedJob(const GpuJob& job, const CudaDriver& driver, const GpuInfo& gpu,
              const CompiledJob& compiled)
      : job_(job) {
    for (const CompiledSource& source : compiled.sources) {
      modules_.push_back(std::make_unique<const DeviceModule>(driver, source.image));
    }
    const std::int64_t flush_bytes = kFlushes * gpu.l2_bytes;
    require_memory(job, driver, flush_bytes);
    for (const JobArray& array : job.arrays) {
      memory_.emplace_back(driver, array.name, array.bytes() * job.problems);
    }
    memory_.emplace_back(driver, "flushing L2", flush_bytes);
    memory_.emplace_back(driver, "a number", sizeof(unsigned long long));
    for (const JobLaunch& launch : job.launches) {
      functions_.push_back(module_of(launch).function(launch.kernel));
      if (launch.shared_bytes > kSharedBytesWithoutRequest) {
        module_of(launch).allow_shared_bytes(functions_.back(), launch.shared_bytes);
      }
      maps_.emplace_back();
      for (const BoxedArray& boxed : launch.boxed) {
        maps_.back().push_back(tensor_map(driver, job.arrays[boxed.array], job.problems,
                                          memory_[boxed.array].address(), boxed));
      }
    }
  }

  /// Returns what the compiler made of each launch's kernel.
  std::vector<KernelResources> resources() const {
    std::vector<KernelResources> all;
    for (std::size_t i = 0; i < job_.launches.size(); ++i) {
      const JobLaunch& launch = job_.launches[i];
      all.push_back({launch.kernel, module_of(launch).attribute(functions_[i], kNumRegisters),
                     module_of(launch).attribute(functions_[i], kLocalBytes)});
    }
    return all;
  }

  /// Draws the inputs of a call, fills the other arrays with NaN, and flushes L2.
  void prepare(int call) const {
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const JobArray& array = job_.arrays[a];
      if (array.role != toy::ArrayRole::kInput) {
        memory_[a].fill(kNaN);
      } else {
        measure("draw", array.type, memory_[a], elements(a), stream_of(job_, call, a),
                range_bits(array));
      }
    }
    flushed().fill(0);
    // Reading what was just written replaces it in L2 by lines that need no writing.
    measure("count_nan", toy::ElementType::kFloat, flushed(),
            flushed().bytes() / static_cast<std::int64_t>(sizeof(float)), number().address());
  }

  void launch(std::size_t index) const {
    const JobLaunch& launch = job_.launches[index];
    std::vector<unsigned long long> parameters;
    for (const std::size_t array : launch.arrays) parameters.push_back(memory_[array].address());
    module_of(launch).launch(functions_[index],
                             {launch.blocks, job_.problems, launch.threads, launch.shared_bytes},
                             std::move(parameters), maps_[index]);
  }

  std::vector<std::int64_t> nan_elements() const {
    std::vector<std::int64_t> all;
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      number().fill(0);
      measure("count_nan", job_.arrays[a].type, memory_[a], elements(a), number().address());
      std::int64_t found = 0;
      number().read(&found, 0, sizeof found);
      all.push_back(found);
    }
    return all;
  }

  void read(std::span<const std::int64_t> problems, std::span<std::byte> results) const {
    std::byte* to = results.data();
    for (const std::int64_t problem : problems) {
      for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
        const std::int64_t bytes = job_.arrays[a].bytes();
        memory_[a].read(to, problem * bytes, bytes);
        to += bytes;
      }
    }
  }

 private:
  const DeviceModule& module_of(const JobLaunch& launch) const { return *modules_[launch.source]; }
  const DeviceBytes& flushed() const { return memory_[job_.arrays.size()]; }
  const DeviceBytes& number() const { return memory_[job_.arrays.size() + 1]; }
  std::int64_t elements(std::size_t array) const {
    return job_.arrays[array].elements * job_.problems;
  }
  /// Launches a kernel of measuring.cuh. `range`: of those that draw.
  void measure(const std::string& kernel, toy::ElementType type, const DeviceBytes& memory,
               std::int64_t count, std::uint64_t argument, std::uint64_t range = 0) const {
    if (count == 0) return;
    const std::int64_t blocks =
        std::min(kMeasuringBlocks, (count + kMeasuringThreads - 1) / kMeasuringThreads);
    const DeviceModule& module = *modules_.front();
    module.launch(module.function("measure_" + kernel + "_" + to_string(type)),
                  {blocks, 1, kMeasuringThreads, 0},
                  {memory.address(), static_cast<unsigned long long>(count), argument, range});
  }

  const GpuJob& job_;
  std::vector<std::unique_ptr<const DeviceModule>> modules_;  // by source of the job
  std::vector<DeviceBytes> memory_;                           // arrays, flushed(), number()
  std::vector<FunctionHandle> functions_;                     // by launch
  std::vector<std::vector<TensorMap>> maps_;                  // by launch, as JobLaunch::boxed
};

void time_calls(const GpuJob& job, const CudaDriver& driver, const PreparedJob& prepared,
                GpuTimes& times) {
  const DeviceEvent start(driver), end(driver);
  for (int call = 0; call <= job.repeat; ++call) {
    prepared.prepare(call);
    start.record();
    for (std::size_t i = 0; i < job.launches.size(); ++i) prepared.launch(i);
    end.record();
    const double ms = end.ms_since(start);
    if (call > 0) times.call_ms.push_back(ms);
  }
}

/// Events between the launches take time themselves, so this is a series of its own.
void time_launches(const GpuJob& job, const CudaDriver& driver, const PreparedJob& prepared,
                   GpuTimes& times) {
  times.launch_ms.resize(job.launches.size());
  if (job.launches.size() == 1) {
    times.launch_ms[0] = times.call_ms;
    return;
  }
  std::vector<DeviceEvent> events;
  for (std::size_t i = 0; i <= job.launches.size(); ++i) events.emplace_back(driver);
  for (int call = 1; call <= job.repeat; ++call) {
    prepared.prepare(call);
    events[0].record();
    for (std::size_t i = 0; i < job.launches.size(); ++i) {
      prepared.launch(i);
      events[i + 1].record();
    }
    for (std::size_t i = 0; i < job.launches.size(); ++i) {
      times.launch_ms[i].push_back(events[i + 1].ms_since(events[i]));
    }
  }
}

/// The profiler's calls run the last timed call again. An error ends the series, and is thrown when
/// the profiler has finished.
std::string count_launches(const GpuJob& job, const CudaDriver& driver, const PreparedJob& prepared,
                           const CountLaunches& count) {
  std::exception_ptr error;
  std::string counted = count([&](LaunchMarker& marker) {
    try {
      prepared.prepare(job.repeat);
      driver.check(driver.cuCtxSynchronize(), "cuCtxSynchronize");
      for (std::size_t i = 0; i < job.launches.size(); ++i) {
        marker.begin(i);
        prepared.launch(i);
        driver.check(driver.cuCtxSynchronize(), "cuCtxSynchronize");
        marker.end();
      }
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
  return counted;
}

}  // namespace

GpuTimes measured_run(const GpuJob& job, std::span<const std::int64_t> problems,
                      std::span<std::byte> results, const CountLaunches& count) {
  const CudaDriver& driver = CudaDriver::loaded();
  const GpuInfo gpu = first_gpu(driver);
  const CompiledJob compiled = compiled_job(job, gpu.compute_capability);
  const DeviceContext context(driver);
  const PreparedJob prepared(job, driver, gpu, compiled);
  GpuTimes times;
  times.architecture = compiled.sources.front().architecture;
  times.nvrtc_version = compiled.sources.front().version;
  times.compile_seconds = compiled.seconds;
  times.kernels = prepared.resources();
  time_calls(job, driver, prepared, times);
  times.nan_elements = prepared.nan_elements();
  prepared.read(problems, results);
  time_launches(job, driver, prepared, times);
  if (count) times.counted = count_launches(job, driver, prepared, count);
  return times;
}

}  // namespace flashlab::generate
