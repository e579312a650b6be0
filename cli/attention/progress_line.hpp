// One line on a terminal that says how far a long call is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace flashlab::cli {

/// Shows the last text and the seconds so far on stderr if that is a terminal, after a second of patience,
/// and goes on counting while nothing new happens; wiped out at the end. Prints nothing elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);

 private:
  void run();

  const std::chrono::steady_clock::time_point start_;
  const bool on_terminal_;
  std::mutex mutex_;
  std::condition_variable ends_;
  std::string text_;
  bool has_ended_ = false;
  std::thread thread_;  // begins with the first text
};

}  // namespace flashlab::cli
