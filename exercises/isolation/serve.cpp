#include "exercises/isolation/serve.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "exercises/grader/grade/classroom.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/isolation/sandbox.hpp"
#include "exercises/isolation/wire.hpp"
#include "system/messages.hpp"

namespace flashlab::exercises {
namespace {

/// Memory besides the submission's limit: the allocator, the stack, an answer.
constexpr std::int64_t kOwnBytes = std::int64_t{48} << 20;

/// Closes the parent's descriptors, in case the parent did not.
void close_all_others() {
#if defined(__linux__) && defined(__NR_close_range)
  if (syscall(__NR_close_range, STDERR_FILENO + 1, ~0U, 0) == 0) return;
#endif
  const long most = sysconf(_SC_OPEN_MAX);
  for (int i = STDERR_FILENO + 1; i < (most < 0 || most > 4096 ? 4096 : most); ++i) close(i);
}

void end_with_caller() {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the parent has already ended, the channel is at its end
#endif
}

std::unique_ptr<const Grader> grader_for(WorkOrder order, std::string& broken) {
  ReadResult read = read_exercise(order.id, std::move(order.files), order.folder);
  if (!read.exercise) {
    broken = "it cannot be read";
    return nullptr;
  }
  GraderOptions options;
  options.seed = order.seed;
  options.explain = order.explain;
  options.milliseconds = order.milliseconds;
  options.bytes = order.bytes;
  try {
    return std::make_unique<const Grader>(
        std::make_shared<const Exercise>(std::move(*read.exercise)), options);
  } catch (const std::runtime_error& error) {
    broken = error.what();
    return nullptr;
  }
}

std::string answered(bool worked) { return worked ? "it works" : "it is refused"; }

/// Actions for the isolation tests. If the process survives one, the verdict reports its result.
class TestHook {
 public:
  bool wants(const std::string& text) {
    static const bool kListens = std::getenv("FLASHLAB_TEST_WORKER") != nullptr;
    constexpr std::string_view kMark = "# test: ";
    const std::size_t at = kListens ? text.find(kMark) : std::string::npos;
    if (at == std::string::npos) return false;
    const std::size_t end = text.find('\n', at);
    word_ =
        text.substr(at + kMark.size(), end == std::string::npos ? end : end - at - kMark.size());
    return true;
  }

  /// Returns an empty text if the submission is to be graded normally.
  std::string act(int descriptor) {
    if (word_ == "crash") {
      signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit instead
      raise(SIGSEGV);
    }
    if (word_ == "abort") std::abort();
    if (word_ == "exit") _exit(5);
    if (word_ == "hang") spin();
    if (word_ == "sleep") pause();
    if (word_ == "memory") exhaust();
    if (word_ == "nonsense") system::send_message(descriptor, "this is no verdict");
    if (word_ == "open") return answered(open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0);
    if (word_ == "connect") return answered(socket(AF_INET, SOCK_STREAM, 0) >= 0);
    if (word_ == "fork") return answered(started_process());
    return "";
  }

 private:
  static void spin() {
    const volatile bool forever = true;
    while (forever) {
    }
  }
  static void exhaust() {
    std::vector<void*> all;
    constexpr std::size_t kPiece = 1 << 20;
    for (void* p = std::malloc(kPiece); p != nullptr; p = std::malloc(kPiece)) {
      for (std::size_t i = 0; i < kPiece; i += 4096) static_cast<volatile char*>(p)[i] = 1;
      all.push_back(p);
    }
    _exit(kExitNoMemory);
  }
  static bool started_process() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return child > 0;
  }

  std::string word_;
};

Verdict graded(const Grader& grader, const GradingRequest& request, const VerdictStep& step) {
  return request.for_report ? grade_text(grader, request.text, step)
                            : grade_with(grader, request.name, request.text, step);
}

void answer(const Grader& grader, const GradingRequest& request, const VerdictStep& step,
            int descriptor) {
  TestHook hook;
  std::string said;
  if (hook.wants(request.text)) said = hook.act(descriptor);
  Verdict verdict = graded(grader, request, step);
  if (!said.empty()) {
    Finding finding;
    finding.what = std::move(said);
    verdict.findings.insert(verdict.findings.begin(), std::move(finding));
  }
  system::send_message(descriptor, encode(verdict));
}

}  // namespace

int serve_grading(int descriptor, const VerdictStep& step) {
  end_with_caller();
  close_all_others();
  const auto first = system::receive_message(descriptor);
  if (!first) return 0;
  WorkOrder order = decode_work_order(*first);
  const std::int64_t milliseconds = order.milliseconds, bytes = order.bytes;
  const bool sandboxed = order.sandboxed;
  WorkerHello hello;
  const std::unique_ptr<const Grader> grader = grader_for(std::move(order), hello.broken);
  if (sandboxed) {
    hello.sandbox = enter_sandbox(has_sanitizer() || bytes == 0 ? 0 : bytes + kOwnBytes);
  }
  if (!system::send_message(descriptor, encode(hello)) || grader == nullptr) return 0;
  const std::int64_t most =
      milliseconds > 0 ? milliseconds : grader->exercise().program.max_milliseconds;
  while (const auto message = system::receive_message(descriptor)) {
    limit_processor_time(most);
    answer(*grader, decode_request(*message), step, descriptor);
  }
  return 0;
}

}  // namespace flashlab::exercises
