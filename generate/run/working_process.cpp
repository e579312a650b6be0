#include "generate/run/working_process.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "generate/run/driver.hpp"
#include "generate/run/gpu_process.hpp"
#include "generate/run/nvrtc.hpp"
#include "system/messages.hpp"

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
  try {
    auto [mine, its] = system::connected_sockets(std::chrono::seconds(0));
    process_ = system::ChildProcess([&] {
      mine.close();
      return system::send_message(*its, answer_of(work).dump()) ? 0 : 1;
    });
    channel_ = std::move(mine);
  } catch (const std::system_error& error) {
    throw GpuError("a process for the GPU: " + error.code().message());
  }
}

Json WorkingProcess::answer_within(double seconds) {
  const auto last = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                              std::chrono::duration<double>(seconds));
  bool is_late = false;
  const std::optional<std::string> text = system::receive_message(*channel_, [&] {
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(last - steady_clock::now()).count();
      is_late = left <= 0;
      if (is_late) return false;
      pollfd channel{*channel_, POLLIN, 0};
      if (poll(&channel, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) > 0) return true;
    }
  });
  if (is_late) {
    process_.kill();
    throw GpuTimeLimit("the GPU did not finish within " + Json(seconds).dump() + " s");
  }
  const int ended = process_.wait();
  const Json answer = text ? Json::parse(*text, nullptr, false) : Json();
  if (!answer.is_object()) {
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
