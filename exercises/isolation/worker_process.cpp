#include "exercises/isolation/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <thread>

#include "exercises/isolation/sandbox.hpp"
#include "exercises/isolation/serve.hpp"

namespace flashlab::exercises {
namespace {

using std::chrono::milliseconds;
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

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
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

/// The arguments of posix_spawn. Frees them at the end of the scope.
class SpawnSetup {
 public:
  explicit SpawnSetup(int channel) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, channel, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!has_sanitizer()) {  // its reports are needed
      posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);  // Ctrl-C is for the caller only
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Two connected sockets. Executed programs do not inherit them.
std::pair<Descriptor, Descriptor> connected() {
  int ends[2] = {-1, -1};
#ifdef SOCK_CLOEXEC
  const int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
#else
  const int made = socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
#endif
  if (made != 0) {
    throw WorkerError(std::string("a grading process cannot be started: ") + std::strerror(errno));
  }
#ifndef SOCK_CLOEXEC
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
#endif
  const timeval patience{std::chrono::duration_cast<std::chrono::seconds>(kMostSilence).count(), 0};
  for (const int end : ends) setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
#ifdef SO_NOSIGPIPE
  const int on = 1;
  for (const int end : ends) setsockopt(end, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  return {Descriptor(ends[0]), Descriptor(ends[1])};
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
    if (send_message(*channel_, encode(order))) answer = receive_message(*channel_, ready);
    if (!answer) {
      throw WorkerError("the grading process ended before it began: " + to_string(end()));
    }
    hello_ = decode_hello(*answer);
    if (!hello_.broken.empty()) throw BrokenExercise(hello_.broken);
  } catch (...) {
    if (process_ > 0) end();
    throw;
  }
}

WorkerProcess::~WorkerProcess() {
  if (process_ > 0) end();
}

void WorkerProcess::start(const WorkerProgram& program) {
  auto [mine, its] = connected();
  std::vector<std::string> words = {"flashlab"}, known = environment();
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  const SpawnSetup setup(*its);
  const int error = posix_spawn(&process_, program.path.c_str(), setup.actions(),
                                setup.attributes(), pointers(words).data(), pointers(known).data());
  if (error != 0) {
    process_ = -1;
    throw WorkerError(std::string("a grading process cannot be started: ") + std::strerror(error));
  }
  channel_ = std::move(mine);
}

std::variant<Verdict, WorkerEnd> WorkerProcess::grade(const GradingRequest& request) {
  const std::int64_t begun = used();
  Wait waited = Wait::kReadable;
  const auto ready = [&] {
    waited = wait(begun, most_nanoseconds_);
    return waited == Wait::kReadable;
  };
  std::optional<std::string> answer;
  if (send_message(*channel_, encode(request))) answer = receive_message(*channel_, ready);
  if (answer) {
    try {
      return decode_verdict(*answer);
    } catch (const WireError&) {
      end();
      return WorkerEnd{WorkerEnd::Kind::kNonsense, 0};
    }
  }
  if (waited == Wait::kReadable) return end();
  kill(process_, SIGKILL);
  end();
  return WorkerEnd{waited == Wait::kTime ? WorkerEnd::Kind::kTime : WorkerEnd::Kind::kSilent, 0};
}

WorkerProcess::Wait WorkerProcess::wait(std::int64_t begun, std::int64_t most) const {
  milliseconds silence{0};
  std::int64_t last = used();
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
    const std::int64_t now = used();
    // Adds at most the requested wait: this process itself may have been stopped in between.
    const auto passed = std::chrono::duration_cast<milliseconds>(steady_clock::now() - before);
    silence = now - last > 1000 ? milliseconds(0) : silence + std::min(passed, patience);
    last = now;
    if (silence > kMostSilence) return Wait::kSilent;
  }
}

std::int64_t WorkerProcess::used() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

WorkerEnd WorkerProcess::end() {
  channel_.close();
  int status = 0;
  const auto until = steady_clock::now() + kMostFarewell;
  pid_t ended = 0;
  while (ended == 0) {
    ended = waitpid(process_, &status, WNOHANG);
    if (ended != 0 && !(ended < 0 && errno == EINTR)) break;
    ended = 0;
    if (steady_clock::now() > until) {
      kill(process_, SIGKILL);
      while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  process_ = -1;
  return end_of(status);
}

}  // namespace flashlab::exercises
