#include "exercises/isolation/sandbox.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <vector>

#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace flashlab::exercises {
namespace {

void set_limit(decltype(RLIMIT_CORE) what, rlim_t most) {
  rlimit limit{};
  if (getrlimit(what, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, most);
  limit.rlim_max = std::min(limit.rlim_max, most);
  setrlimit(what, &limit);
}

#ifdef __linux__

/// Bytes of mapped address space; 0 if the system does not report it.
std::int64_t mapped_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  long pages = 0;
  const int found = std::fscanf(file, "%ld", &pages);
  std::fclose(file);
  return found == 1 ? std::int64_t{pages} * sysconf(_SC_PAGESIZE) : 0;
}

// Declarations of Landlock from linux/landlock.h of Linux 6.12: Debian 12 has an older header.

struct LandlockRuleset {
  std::uint64_t file_accesses, network_accesses, scopes;
};
constexpr long kCreateRuleset = 444, kRestrictSelf = 446;  // the same on every architecture
constexpr std::uint32_t kAskVersion = 1;

/// Everything that a version of Landlock can forbid, and the structure's size, which tells the
/// kernel the version.
std::pair<LandlockRuleset, std::size_t> everything(int version) {
  LandlockRuleset all{(1ULL << 13U) - 1, 0, 0};        // execute to make_sym
  if (version >= 2) all.file_accesses |= 1ULL << 13U;  // refer
  if (version >= 3) all.file_accesses |= 1ULL << 14U;  // truncate
  if (version >= 5) all.file_accesses |= 1ULL << 15U;  // ioctl of devices
  if (version >= 4) all.network_accesses = 3;          // bind and connect
  if (version >= 6) all.scopes = 3;                    // abstract sockets, signals
  const std::size_t words = version >= 6 ? 3 : version >= 4 ? 2 : 1;
  return {all, words * sizeof(std::uint64_t)};
}

/// Installs a ruleset without rules: it allows no file access.
bool lock_files() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  if (version < 1) return false;
  const auto [all, size] = everything(static_cast<int>(version));
  const long ruleset = syscall(kCreateRuleset, &all, size, 0);
  if (ruleset < 0) return false;
  const bool locked = syscall(kRestrictSelf, ruleset, 0) == 0;
  close(static_cast<int>(ruleset));
  return locked;
}

#if defined(__x86_64__)
#define FLASHLAB_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FLASHLAB_AUDIT_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef FLASHLAB_AUDIT_ARCH

/// The calls for computing and answering. No call here opens, connects, starts
/// or inspects anything.
constexpr int kAllowed[] = {
    __NR_read,      __NR_write,        __NR_readv,       __NR_writev,         __NR_recvfrom,
    __NR_sendto,    __NR_close,        __NR_fstat,       __NR_lseek,          __NR_mmap,
    __NR_mprotect,  __NR_munmap,       __NR_mremap,      __NR_madvise,        __NR_brk,
    __NR_futex,     __NR_rt_sigaction, __NR_sigaltstack, __NR_rt_sigprocmask, __NR_rt_sigreturn,
    __NR_getpid,    __NR_gettid,       __NR_exit,        __NR_exit_group,     __NR_clock_gettime,
    __NR_getrandom, __NR_sched_yield,  __NR_getrusage,   __NR_gettimeofday,   __NR_restart_syscall,
};

/// Every other call fails with EPERM, which libraries can handle. Signals and limits may affect
/// only this process.
bool filter_calls() {
  const auto load = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  };
  const auto return_now = [](std::uint32_t action) {
    return sock_filter BPF_STMT(BPF_RET | BPF_K, action);
  };
  const auto skip_unless = [](std::uint32_t value, std::uint8_t lines) {
    return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, lines);
  };
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | 1;  // EPERM
  constexpr std::size_t kFirstArgument = offsetof(seccomp_data, args);
  std::vector<sock_filter> code = {
      load(offsetof(seccomp_data, arch)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FLASHLAB_AUDIT_ARCH, 1, 0),
      return_now(SECCOMP_RET_KILL_PROCESS),  // calls of another architecture
      load(offsetof(seccomp_data, nr)),
  };
  const auto allow = [&](int call) {
    code.push_back(skip_unless(static_cast<std::uint32_t>(call), 1));
    code.push_back(return_now(SECCOMP_RET_ALLOW));
  };
  const auto allow_for = [&](int call, std::uint32_t process) {  // compares the first argument
    code.push_back(skip_unless(static_cast<std::uint32_t>(call), 4));
    code.push_back(load(kFirstArgument));
    code.push_back(skip_unless(process, 1));
    code.push_back(return_now(SECCOMP_RET_ALLOW));
    code.push_back(return_now(kRefuse));
  };
  for (const int call : kAllowed) allow(call);
  // The undefined-behaviour sanitizer uses pipes to find out which memory is readable.
  if (has_sanitizer()) allow(__NR_pipe2);
#ifdef __NR_pipe
  if (has_sanitizer()) allow(__NR_pipe);
#endif
  allow_for(__NR_tgkill, static_cast<std::uint32_t>(getpid()));  // used by abort()
  allow_for(__NR_prlimit64, 0);                                  // used by limit_processor_time
  code.push_back(return_now(kRefuse));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

bool filter_calls() { return false; }

#endif
#endif  // __linux__

}  // namespace

bool has_sanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

std::string to_string(const Sandbox& sandbox) {
  return std::string(sandbox.filters_calls ? "system calls filtered (seccomp)"
                                           : "system calls not filtered (no seccomp)") +
         (sandbox.locks_files ? ", files locked (Landlock)" : ", files not locked (no Landlock)");
}

Sandbox enter_sandbox(std::int64_t bytes) {
  Sandbox sandbox;
  set_limit(RLIMIT_CORE, 0);
#ifdef __linux__
  if (bytes > 0) set_limit(RLIMIT_AS, static_cast<rlim_t>(mapped_bytes() + bytes));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) sandbox.locks_files = lock_files();
  set_limit(RLIMIT_NPROC, 0);
#else
  if (bytes > 0) set_limit(RLIMIT_DATA, static_cast<rlim_t>(bytes));
#endif
  set_limit(RLIMIT_FSIZE, 0);
  // If standard error is a file, a library's last message must not replace the actual reason
  // of the exit.
  signal(SIGXFSZ, SIG_IGN);
  set_limit(RLIMIT_NOFILE, STDERR_FILENO + 1 + (has_sanitizer() ? 2 : 0));
#ifdef __linux__
  sandbox.filters_calls = filter_calls();
#endif
  return sandbox;
}

void limit_processor_time(std::int64_t milliseconds) {
  timespec used{};
  rlimit limit{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return;
  if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
  const auto most = static_cast<rlim_t>(used.tv_sec + 2 + milliseconds / 1000);
  limit.rlim_cur = std::min(most, limit.rlim_max);
  setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace flashlab::exercises
