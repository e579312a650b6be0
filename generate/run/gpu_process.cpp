#include "generate/run/gpu_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "generate/run/drawn_inputs.hpp"
#include "generate/run/nvrtc.hpp"

namespace flashlab::generate {
namespace {

using std::chrono::steady_clock;
using Json = nlohmann::json;

/// How an error travels from the process to its caller.
enum class ErrorKind : std::uint8_t { kUnavailable, kCompiler, kMemory, kGpu };

Json error_json(ErrorKind kind, const std::exception& error) {
  return {{"error", static_cast<int>(kind)}, {"what", error.what()}};
}

void throw_error(const Json& answer) {
  const std::string what = answer.at("what");
  switch (static_cast<ErrorKind>(answer.at("error").get<int>())) {
    case ErrorKind::kUnavailable:
      throw GpuUnavailable(what);
    case ErrorKind::kCompiler:
      throw CompileError(what);
    case ErrorKind::kMemory:
      throw GpuMemoryError(what);
    case ErrorKind::kGpu:
      break;
  }
  throw GpuError(what);
}

Json answer_of(const std::function<Json()>& work) {
  try {
    return work();
  } catch (const GpuUnavailable& error) {
    return error_json(ErrorKind::kUnavailable, error);
  } catch (const CompileError& error) {
    return error_json(ErrorKind::kCompiler, error);
  } catch (const GpuMemoryError& error) {
    return error_json(ErrorKind::kMemory, error);
  } catch (const std::exception& error) {
    return error_json(ErrorKind::kGpu, error);
  }
}

std::string system_error(const std::string& call) { return call + ": " + std::strerror(errno); }

/// Memory that a process shares with those that it starts.
class SharedBytes {
 public:
  explicit SharedBytes(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    address_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (address_ == MAP_FAILED) throw GpuMemoryError(system_error("memory for the results"));
  }
  ~SharedBytes() { munmap(address_, bytes_); }
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(address_), bytes_}; }

 private:
  std::size_t bytes_;
  void* address_ = nullptr;
};

/// A process that works and writes its answer. Ends with its owner.
class WorkingProcess {
 public:
  explicit WorkingProcess(const std::function<Json()>& work) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) throw GpuError(system_error("a process for the GPU"));
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      answer(work, ends[1], parent);
    }
    close(ends[1]);
    if (process_ < 0) {
      close(ends[0]);
      throw GpuError(system_error("a process for the GPU"));
    }
    from_ = ends[0];
  }
  ~WorkingProcess() {
    close(from_);
    if (process_ > 0) end();
  }
  WorkingProcess(const WorkingProcess&) = delete;
  WorkingProcess& operator=(const WorkingProcess&) = delete;

  /// Returns the text that the process wrote; nothing if it takes longer than `seconds`.
  std::optional<std::string> wait(double seconds) const {
    const auto last = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                                std::chrono::duration<double>(seconds));
    std::string text;
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(last - steady_clock::now()).count();
      if (left <= 0) return std::nullopt;
      pollfd channel{from_, POLLIN, 0};
      const int ready = poll(&channel, 1, static_cast<int>(std::min<std::int64_t>(left, 1000)));
      if (ready <= 0) continue;
      char part[4096];
      const ssize_t count = read(from_, part, sizeof part);
      if (count == 0) return text;
      if (count > 0) text.append(part, static_cast<std::size_t>(count));
    }
  }

  /// Ends the process and returns its status.
  int end() {
    kill(process_, SIGKILL);
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }
  /// Waits for a process that has closed its end.
  int status() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }

 private:
  [[noreturn]] static void answer(const std::function<Json()>& work, int to, pid_t parent) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGPIPE, SIG_DFL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(1);
    const std::string text = answer_of(work).dump();
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = write(to, text.data() + done, text.size() - done);
      if (count > 0) done += static_cast<std::size_t>(count);
      if (count < 0 && errno != EINTR) _exit(1);
    }
    _exit(0);  // destructors of the caller's objects are the caller's
  }

  pid_t process_ = -1;
  int from_ = -1;
};

/// Runs `work` in a process and returns its answer. Throws its errors.
Json in_process(double seconds, const std::function<Json()>& work) {
  WorkingProcess process(work);
  const std::optional<std::string> text = process.wait(seconds);
  if (!text) {
    process.end();
    throw GpuTimeLimit("the GPU did not finish within " + Json(seconds).dump() + " s");
  }
  const int status = process.status();
  const Json answer = Json::parse(*text, nullptr, false);
  if (answer.is_discarded() || !answer.is_object()) {
    throw GpuError("the process that uses the GPU ended " +
                   (WIFSIGNALED(status) ? "by signal " + std::to_string(WTERMSIG(status))
                                        : "with code " + std::to_string(WEXITSTATUS(status))) +
                   " and without an answer");
  }
  if (answer.contains("error")) throw_error(answer);
  return answer;
}

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
