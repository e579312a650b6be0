#include "generate/run/working_process.hpp"

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
#include <nlohmann/json.hpp>
#include <utility>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "generate/run/driver.hpp"
#include "generate/run/gpu_process.hpp"
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

}  // namespace

SharedBytes::SharedBytes(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  address_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (address_ == MAP_FAILED) throw GpuMemoryError(system_error("shared memory of processes"));
}

SharedBytes::~SharedBytes() { munmap(address_, bytes_); }

WorkingProcess::WorkingProcess(const std::function<Json()>& work) {
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

WorkingProcess::~WorkingProcess() {
  close(from_);
  if (process_ > 0) end();
}

std::optional<std::string> WorkingProcess::wait(double seconds) const {
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

int WorkingProcess::end() {
  kill(process_, SIGKILL);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return status;
}

int WorkingProcess::status() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return status;
}

void WorkingProcess::answer(const std::function<Json()>& work, int to, int parent) {
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

Json WorkingProcess::answer_within(double seconds) {
  const std::optional<std::string> text = wait(seconds);
  if (!text) {
    end();
    throw GpuTimeLimit("the GPU did not finish within " + Json(seconds).dump() + " s");
  }
  const int ended = status();
  const Json answer = Json::parse(*text, nullptr, false);
  if (answer.is_discarded() || !answer.is_object()) {
    throw GpuError("the process that uses the GPU ended " +
                   (WIFSIGNALED(ended) ? "by signal " + std::to_string(WTERMSIG(ended))
                                       : "with code " + std::to_string(WEXITSTATUS(ended))) +
                   " and without an answer");
  }
  if (answer.contains("error")) throw_error(answer);
  return answer;
}

Json in_process(double seconds, const std::function<Json()>& work) {
  return WorkingProcess(work).answer_within(seconds);
}

}  // namespace flashlab::generate
