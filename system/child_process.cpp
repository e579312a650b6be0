#include "system/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>
#include <thread>
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace flashlab::system {
namespace {

/// The arguments of posix_spawn. Frees them at the end of the scope.
class SpawnSetup {
 public:
  explicit SpawnSetup(const ProgramCall& call) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, call.input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!call.prints_errors) {
      posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
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

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

[[noreturn]] void work_as_child(const std::function<int()>& work, pid_t parent) {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(1);
  _exit(work());  // destructors of the caller's objects are the caller's
}

}  // namespace

ChildProcess::ChildProcess(const std::function<int()>& work) {
  const pid_t parent = getpid();
  number_ = fork();
  if (number_ == 0) work_as_child(work, parent);
  if (number_ < 0) throw std::system_error(errno, std::generic_category());
}

ChildProcess::ChildProcess(const ProgramCall& call) {
  std::vector<std::string> words = call.words, environment = call.environment;
  const SpawnSetup setup(call);
  const int error = posix_spawn(&number_, call.path.c_str(), setup.actions(), setup.attributes(),
                                pointers(words).data(), pointers(environment).data());
  if (error == 0) return;
  number_ = -1;
  throw std::system_error(error, std::generic_category());
}

int ChildProcess::wait() {
  int status = 0;
  while (waitpid(number_, &status, 0) < 0 && errno == EINTR) {
  }
  number_ = -1;
  return status;
}

int ChildProcess::wait(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(number_, &status, WNOHANG);
    if (ended != 0 && !(ended < 0 && errno == EINTR)) {
      number_ = -1;
      return status;
    }
    if (std::chrono::steady_clock::now() > until) return kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int ChildProcess::kill() {
  ::kill(number_, SIGKILL);
  return wait();
}

std::int64_t ChildProcess::processor_time() const {
  if (!is_running()) return 0;
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(number_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace flashlab::system
