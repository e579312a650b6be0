// One line on a terminal that says how far a long call is.
#pragma once

#include <chrono>
#include <string>

namespace flashlab::cli {

/// Shows texts on stderr if that is a terminal, after a second of patience and not too often; wiped out
/// at the end. Prints nothing elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);

 private:
  std::chrono::steady_clock::time_point next_;
  bool on_terminal_, is_shown_ = false;
};

}  // namespace flashlab::cli
