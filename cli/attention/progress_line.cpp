#include "cli/attention/progress_line.hpp"

#include <iostream>

#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{1000}, kInterval{200};

}  // namespace

ProgressLine::ProgressLine() : start_(Clock::now()), on_terminal_(can_rewrite_lines()) {}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void ProgressLine::show(const std::string& text) {
  if (!on_terminal_) return;
  const std::lock_guard lock(mutex_);
  text_ = text;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void ProgressLine::run() {
  std::unique_lock lock(mutex_);
  const auto has_ended = [this] { return has_ended_; };
  if (ends_.wait_until(lock, start_ + kPatience, has_ended)) return;
  do {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_).count();
    std::cerr << "\r\x1b[K" << text_ << ", " << seconds << " s" << std::flush;
  } while (!ends_.wait_for(lock, kInterval, has_ended));
  std::cerr << "\r\x1b[K" << std::flush;
}

}  // namespace flashlab::cli
