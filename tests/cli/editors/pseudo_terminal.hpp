// Runs the built command on a terminal of a given size, types keys and reads its screen.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace flashlab::test {

class PseudoTerminal {
 public:
  /// `arguments` are the command's, without its name. `environment`: more variables; an empty value
  /// removes one. `folder`: where it runs; empty: here. `nonblocking`: as another program left its
  /// descriptors. `input`: what a pipe to standard input has, instead of the terminal; empty: no
  /// pipe.
  PseudoTerminal(unsigned short rows, unsigned short columns,
                 const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment = {},
                 const std::string& folder = {}, bool nonblocking = false,
                 const std::string& input = {}) {
    terminal_ = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal_ < 0 || grantpt(terminal_) != 0 || unlockpt(terminal_) != 0) return;
    const winsize size{rows, columns, 0, 0};
    const std::string name = ptsname(terminal_);
    process_ = fork();
    if (process_ != 0) {
      ioctl(terminal_, TIOCSWINSZ, &size);
      return;
    }
    setsid();
    const int own = open(name.c_str(), O_RDWR);  // becomes the controlling terminal
    ioctl(own, TIOCSWINSZ, &size);
    if (nonblocking) fcntl(own, F_SETFL, O_RDWR | O_NONBLOCK);
    for (const int descriptor : {0, 1, 2}) dup2(own, descriptor);
    if (int ends[2]; !input.empty() && pipe2(ends, O_CLOEXEC) == 0) {
      static_cast<void>(!write(ends[1], input.data(), input.size()));
      dup2(ends[0], 0);
    }
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C", 1);
    setenv("HOME", "/nowhere", 1);
    for (const auto& [variable, value] : environment) {
      value.empty() ? unsetenv(variable.c_str()) : setenv(variable.c_str(), value.c_str(), 1);
    }
    if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
    std::vector<char*> words{const_cast<char*>("flashlab")};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(FLASHLAB_BINARY, words.data());
    _exit(127);
  }
  ~PseudoTerminal() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    if (terminal_ >= 0) close(terminal_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  bool is_possible() const { return process_ > 0; }

  void type(const std::string& keys) {
    static_cast<void>(!write(terminal_, keys.data(), keys.size()));
  }

  void resize(unsigned short rows, unsigned short columns) {
    const winsize size{rows, columns, 0, 0};
    ioctl(terminal_, TIOCSWINSZ, &size);
  }

  /// Returns the last frame that the command drew (from "home" to "clear the rest") as soon as it
  /// is right, or the last one of ten seconds.
  std::string frame_that(const std::function<bool(const std::string&)>& is_right) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    std::string frame;
    while (std::chrono::steady_clock::now() < deadline) {
      read_for(50);
      const auto end = output_.rfind("\x1b[J");
      if (end == std::string::npos) continue;
      const auto begin = output_.rfind("\x1b[H", end);
      if (begin == std::string::npos) continue;
      frame = output_.substr(begin + 3, end - begin - 3);
      if (is_right(frame)) break;
    }
    return frame;
  }
  std::string frame_with(const std::string& text) {
    return frame_that(
        [&](const std::string& frame) { return frame.find(text) != std::string::npos; });
  }

  /// Returns all output as soon as it is right, or that of ten seconds.
  const std::string& output_that(const std::function<bool(const std::string&)>& is_right) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!is_right(output_) && std::chrono::steady_clock::now() < deadline) {
      if (read_for(50)) usleep(20'000);
    }
    return output_;
  }

  /// Returns all output as soon as it contains the text that many times, or after ten seconds.
  const std::string& output_with(const std::string& text, int times) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < deadline) {
      int found = 0;
      for (auto at = output_.find(text); at != std::string::npos; at = output_.find(text, at + 1)) {
        ++found;
      }
      if (found >= times) break;
      read_for(50);
    }
    return output_;
  }

  /// Returns the exit code; -1 if it does not end within ten seconds.
  int exit_code() {
    for (int attempt = 0; attempt < 200; ++attempt) {
      read_for(50);
      int status = 0;
      if (waitpid(process_, &status, WNOHANG) != process_) {
        usleep(50'000);  // a closed terminal does not make read_for() wait
        continue;
      }
      process_ = -1;
      read_for(0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return -1;
  }

  void interrupt() { kill(process_, SIGINT); }
  /// "CONT" continues a command that Ctrl-Z or "STOP" stopped.
  void signal(const std::string& name) { kill(process_, name == "STOP" ? SIGSTOP : SIGCONT); }
  const std::string& output() const { return output_; }
  /// What was printed so far is no output any more.
  void forget() {
    read_for(0);
    output_.clear();
  }

 private:
  /// Returns whether the terminal is closed, which ends the waiting.
  bool read_for(int milliseconds) {
    pollfd waiting{terminal_, POLLIN, 0};
    while (poll(&waiting, 1, milliseconds) == 1) {
      char bytes[4096];
      const ssize_t n = read(terminal_, bytes, sizeof(bytes));
      if (n <= 0) return true;
      output_.append(bytes, static_cast<std::size_t>(n));
      milliseconds = 0;
    }
    return false;
  }

  int terminal_ = -1;
  pid_t process_ = -1;
  std::string output_;
};

}  // namespace flashlab::test
