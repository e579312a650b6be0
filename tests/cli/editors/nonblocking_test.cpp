// Pipes that another program has made non-blocking: nothing to read yet is not the end, and no room
// to write yet is no error.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

constexpr useconds_t kLate = 300'000;  // microseconds

/// Runs a line of shell whose input comes late and whose output is read late.
Outcome run_late(const std::string& line, const std::string& input) {
  int in[2], out[2];
  REQUIRE(pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(pipe2(out, O_CLOEXEC) == 0);
  for (const int end : {in[0], out[1]}) fcntl(end, F_SETFL, O_NONBLOCK);
  const pid_t process = fork();
  if (process == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execl("/bin/sh", "sh", "-c", ("exec '" FLASHLAB_BINARY "' " + line).c_str(), nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  signal(SIGPIPE, SIG_IGN);  // a command that has ended
  usleep(kLate);
  static_cast<void>(!write(in[1], input.data(), input.size()));
  close(in[1]);
  usleep(kLate);
  Outcome outcome;
  char bytes[65536];
  for (ssize_t n = 0; (n = read(out[0], bytes, sizeof bytes)) > 0;) {
    outcome.out.append(bytes, static_cast<std::size_t>(n));
  }
  close(out[0]);
  int status = 0;
  waitpid(process, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

}  // namespace

TEST_CASE("a non-blocking input that is empty has not ended", "[nonblocking]") {
  const std::string program =
      ".registers 1\n.input x[1]\n.output y[1]\nLOAD x[0], R0\nSTORE R0, y[0]\n";
  const Outcome ran = run_late("run -", program);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, contains("cycles"));
  const Outcome formatted = run_late("format -", program);
  CHECK(formatted.code == 0);
  CHECK_THAT(formatted.out, contains("STORE R0, y[0]"));
  const Outcome answered =
      run_late("answer", "{\"request\": \"run\", \"program\": \"matmul_c00\"}\n");
  CHECK(answered.code == 0);
  CHECK_THAT(answered.out, contains("\"cycles\""));
}

TEST_CASE("a non-blocking output that is full takes the rest later", "[nonblocking]") {
  const Outcome late = run_late("trace softmax_safe -D n=200 --json -", "");
  const Outcome usual = flashlab("trace softmax_safe -D n=200 --json -");
  CHECK(late.code == 0);
  CHECK(usual.out.size() > (1 << 17));
  const bool is_whole = late.out == usual.out;  // too long to print
  CHECK(is_whole);
}

}  // namespace flashlab::test
