// A server for editors with pipes to its input and from its output.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {

class CaseProcess {
 public:
  /// `words`: of the command, without its name. It runs in that folder. `nonblocking`: its input
  /// and output are as other programs may leave them.
  CaseProcess(const std::string& folder, const std::vector<std::string>& words,
              bool nonblocking = false) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
    for (const int end : {in[0], out[1]}) fcntl(end, F_SETFL, nonblocking ? O_NONBLOCK : 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      const int errors = open((folder + "/stderr").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0666);
      dup2(errors, 2);
      if (chdir(folder.c_str()) != 0) _exit(126);
      for (const char* name : {"LC_ALL", "LC_CTYPE", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE",
                               "CLICOLOR", "COLUMNS"}) {
        unsetenv(name);
      }
      setenv("LANG", "C", 1);
      std::vector<char*> arguments{const_cast<char*>("flashlab")};
      for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      execv(FLASHLAB_BINARY, arguments.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
    signal(SIGPIPE, SIG_IGN);  // a server that has ended
  }
  ~CaseProcess() {
    close_input();
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    close(out_);
  }
  CaseProcess(const CaseProcess&) = delete;
  CaseProcess& operator=(const CaseProcess&) = delete;

  void write_bytes(const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::write(in_, bytes.data() + done, bytes.size() - done);
      if (n <= 0) return;
      done += static_cast<std::size_t>(n);
    }
  }
  void close_input() {
    if (in_ >= 0) close(in_);
    in_ = -1;
  }

  /// Returns the next message, or nothing after that time or at the end of the output.
  std::optional<nlohmann::json> next_message(std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
      if (auto message = take_message()) return message;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      pollfd waiting{out_, POLLIN, 0};
      if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) != 1) return {};
      char bytes[65536];
      const ssize_t n = read(out_, bytes, sizeof(bytes));
      if (n <= 0) return {};
      text_.append(bytes, static_cast<std::size_t>(n));
    }
  }

  /// Returns the exit code, 128 + the signal, or nothing if it does not end in that time.
  std::optional<int> exit_code(std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
      int status = 0;
      if (waitpid(process_, &status, WNOHANG) == process_) {
        process_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      if (std::chrono::steady_clock::now() >= deadline) return {};
      usleep(5'000);
    }
  }

 private:
  std::optional<nlohmann::json> take_message() {
    const auto end = text_.find("\r\n\r\n");
    if (end == std::string::npos) return {};
    const auto length = text_.find("Content-Length: ");
    if (length >= end) return {};
    const auto size = std::stoul(text_.substr(length + 16));
    if (text_.size() < end + 4 + size) return {};
    auto message = nlohmann::json::parse(text_.substr(end + 4, size));
    text_.erase(0, end + 4 + size);
    return message;
  }

  pid_t process_ = -1;
  int in_ = -1, out_ = -1;
  std::string text_;
};

}  // namespace flashlab::test
