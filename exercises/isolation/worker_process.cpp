#include "exercises/isolation/worker_process.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "exercises/isolation/sandbox.hpp"
#include "exercises/isolation/serve.hpp"
#include "system/messages.hpp"

namespace flashlab::exercises {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{100};            // maximum of a single wait
constexpr milliseconds kMostSilence{60'000};  // of a process that uses no processor time
constexpr milliseconds kMostFarewell{2'000};  // between its last message and its exit
constexpr std::int64_t kNoLimit = INT64_MAX;

/// The environment of a worker: options of sanitizers, library paths, and the tests' variable.
constexpr const char* kEnvironment[] = {"ASAN_OPTIONS",    "UBSAN_OPTIONS",
                                        "LSAN_OPTIONS",    "FLASHLAB_TEST_WORKER",
                                        "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"};

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (const char* const name : kEnvironment) {
    if (const char* const value = std::getenv(name)) all.push_back(std::string(name) + "=" + value);
  }
  return all;
}

/// The usual names of signals. Older C libraries lack sigabbrev_np.
std::string signal_name(int number) {
  switch (number) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGKILL:
      return "SIGKILL";
    case SIGSYS:
      return "SIGSYS";
    case SIGTERM:
      return "SIGTERM";
    case SIGXCPU:
      return "SIGXCPU";
    case SIGXFSZ:
      return "SIGXFSZ";
    default:
      return "signal " + std::to_string(number);
  }
}

WorkerEnd end_of(int status) {
  using Kind = WorkerEnd::Kind;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return number == SIGXCPU ? WorkerEnd{Kind::kTime, 0} : WorkerEnd{Kind::kSignal, number};
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return code == kExitNoMemory ? WorkerEnd{Kind::kMemory, 0} : WorkerEnd{Kind::kExit, code};
}

}  // namespace

std::string to_string(const WorkerEnd& end) {
  switch (end.kind) {
    case WorkerEnd::Kind::kTime:
      return "it took too long";
    case WorkerEnd::Kind::kMemory:
      return "it had no memory left";
    case WorkerEnd::Kind::kSilent:
      return "it stopped without an answer";
    case WorkerEnd::Kind::kSignal:
      return signal_name(end.number);
    case WorkerEnd::Kind::kExit:
      return "it exited with code " + std::to_string(end.number);
    case WorkerEnd::Kind::kNonsense:
      return "its answer is not a verdict";
  }
  return "";
}

WorkerProcess::WorkerProcess(const WorkerProgram& program, const WorkOrder& order,
                             std::int64_t milliseconds)
    : most_nanoseconds_(milliseconds * 1'050'000) {
  start(program);
  try {
    const auto ready = [this] { return wait(0, kNoLimit) == Wait::kReadable; };
    std::optional<std::string> answer;
    if (system::send_message(*channel_, encode(order)))
      answer = system::receive_message(*channel_, ready);
    if (!answer) {
      throw WorkerError("the grading process ended before it began: " + to_string(end()));
    }
    hello_ = decode_hello(*answer);
    if (!hello_.broken.empty()) throw BrokenExercise(hello_.broken);
  } catch (...) {
    if (process_.is_running()) end();
    throw;
  }
}

WorkerProcess::~WorkerProcess() {
  if (process_.is_running()) end();
}

void WorkerProcess::start(const WorkerProgram& program) {
  try {
    auto [mine, its] = system::connected_sockets(std::chrono::duration_cast<seconds>(kMostSilence));
    system::ProgramCall call = {program.path, {"flashlab"}, environment(), *its};
    call.words.insert(call.words.end(), program.arguments.begin(), program.arguments.end());
    call.prints_errors = has_sanitizer();  // its reports are needed
    process_ = system::ChildProcess(call);
    channel_ = std::move(mine);
  } catch (const std::system_error& error) {
    throw WorkerError("a grading process cannot be started: " + error.code().message());
  }
}

std::variant<Verdict, WorkerEnd> WorkerProcess::grade(const GradingRequest& request) {
  const std::int64_t begun = process_.processor_time();
  Wait waited = Wait::kReadable;
  const auto ready = [&] {
    waited = wait(begun, most_nanoseconds_);
    return waited == Wait::kReadable;
  };
  std::optional<std::string> answer;
  if (system::send_message(*channel_, encode(request)))
    answer = system::receive_message(*channel_, ready);
  if (answer) {
    try {
      return decode_verdict(*answer);
    } catch (const WireError&) {
      end();
      return WorkerEnd{WorkerEnd::Kind::kNonsense, 0};
    }
  }
  if (waited == Wait::kReadable) return end();
  process_.kill();
  channel_.close();
  return WorkerEnd{waited == Wait::kTime ? WorkerEnd::Kind::kTime : WorkerEnd::Kind::kSilent, 0};
}

WorkerProcess::Wait WorkerProcess::wait(std::int64_t begun, std::int64_t most) const {
  milliseconds silence{0};
  std::int64_t last = process_.processor_time();
  while (true) {
    milliseconds patience = kLook;
    if (most != kNoLimit) {
      const std::int64_t left = begun + most - last;
      if (left <= 0) return Wait::kTime;
      patience = std::min(kLook, milliseconds(1 + left / 1'000'000));
    }
    pollfd channel{*channel_, POLLIN, 0};
    const auto before = steady_clock::now();
    const int found = poll(&channel, 1, static_cast<int>(patience.count()));
    if (found > 0) return Wait::kReadable;
    const std::int64_t now = process_.processor_time();
    // Adds at most the requested wait: this process itself may have been stopped in between.
    const auto passed = std::chrono::duration_cast<milliseconds>(steady_clock::now() - before);
    silence = now - last > 1000 ? milliseconds(0) : silence + std::min(passed, patience);
    last = now;
    if (silence > kMostSilence) return Wait::kSilent;
  }
}

WorkerEnd WorkerProcess::end() {
  channel_.close();
  return end_of(process_.wait(kMostFarewell));
}

}  // namespace flashlab::exercises
