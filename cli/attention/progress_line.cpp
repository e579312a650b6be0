#include "cli/attention/progress_line.hpp"

#include <unistd.h>

#include <iostream>

namespace flashlab::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{1000}, kInterval{200};

}  // namespace

ProgressLine::ProgressLine()
    : next_(Clock::now() + kPatience), on_terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (is_shown_) std::cerr << "\r\x1b[K" << std::flush;
}

void ProgressLine::show(const std::string& text) {
  if (!on_terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + kInterval;
  is_shown_ = true;
  std::cerr << "\r\x1b[K" << text << std::flush;
}

}  // namespace flashlab::cli
