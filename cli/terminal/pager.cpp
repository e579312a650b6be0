#include "cli/terminal/pager.hpp"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/search_path.hpp"
#include "cli/terminal/terminal.hpp"
#include "text/lists.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

constexpr std::size_t kMostHeldBytes = 1 << 20;
constexpr const char* kUsualPager = "less -R";

/// Returns the pager's command; empty: none. A shell does nothing for blanks, and the text would be lost.
std::string pager_command() {
  if (const char* const own = std::getenv("PAGER")) return std::string(trimmed(own));
  return found_on_path("less").empty() ? "" : kUsualPager;
}

/// Holds text back, counts its rows, and becomes a pipe to the pager or steps aside.
class PagedOutput : public std::streambuf {
 public:
  PagedOutput(const winsize& window, std::string pager)
      : rows_(window.ws_row), columns_(window.ws_col), pager_(std::move(pager)) {
    output_ = std::cout.rdbuf(this);
    tied_ = std::cerr.tie(nullptr);  // a warning does not flush
  }
  ~PagedOutput() override { end(); }
  PagedOutput(const PagedOutput&) = delete;
  PagedOutput& operator=(const PagedOutput&) = delete;

  void end() {
    if (output_ == nullptr) return;
    if (pipe_ != nullptr) {
      end_pager();
    } else {
      step_aside();
    }
    std::cout.rdbuf(output_);
    std::cerr.tie(tied_);
    output_ = nullptr;
  }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }

  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const auto bytes = static_cast<std::size_t>(size);
    if (output_ == nullptr) return 0;
    if (pipe_ != nullptr) return to_pager({text, bytes}) ? size : 0;
    if (is_aside_) return output_->sputn(text, size);
    held_.append(text, bytes);
    count_rows();
    // The shell's prompt takes the last row.
    if (used_rows_ >= rows_ || held_.size() > kMostHeldBytes) start_pager();
    return size;
  }

  int sync() override {
    if (pipe_ != nullptr) return to_pager({}) ? 0 : -1;
    step_aside();
    return output_ == nullptr ? 0 : output_->pubsync();
  }

 private:
  /// A line that is wider than the window takes several rows.
  void count_rows() {
    for (std::size_t end = 0; (end = held_.find('\n', counted_)) != std::string::npos;) {
      const std::size_t width =
          display_width(std::string_view(held_).substr(counted_, end - counted_));
      used_rows_ += std::max<std::size_t>(1, (width + columns_ - 1) / columns_);
      counted_ = end + 1;
    }
  }

  void step_aside() {
    if (is_aside_ || output_ == nullptr) return;
    is_aside_ = true;
    output_->sputn(held_.data(), static_cast<std::streamsize>(held_.size()));
    held_.clear();
  }

  void start_pager() {
    setenv("LESS", "RX", 0);  // X: the last page stays on the terminal
    // What is written is UTF-8 (or ASCII). less asks the locale, which need not be installed here.
    setenv("LESSCHARSET", "utf-8", 0);
    pipe_ = popen(pager_.c_str(), "we");  // e: no worker keeps the pipe open
    if (pipe_ == nullptr) return step_aside();
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    sigemptyset(&ignored.sa_mask);
    sigaction(SIGINT, &ignored, &interrupt_);  // for the pager, which ends when the user asks it to
    sigaction(SIGPIPE, &ignored, &broken_);    // perhaps it never began
    to_pager(std::exchange(held_, {}));
  }

  /// Writes to the pager (flushes, if there is no text), and keeps a copy while it may not have begun to read: more than a pipe
  /// holds is accepted only if it did.
  bool to_pager(std::string_view text) {
    constexpr std::size_t kMostInPipe = 1 << 20;  // as large as a pipe may be made
    if (!was_read_) given_ += text;
    const bool is_good = text.empty()
                             ? std::fflush(pipe_) == 0
                             : std::fwrite(text.data(), 1, text.size(), pipe_) == text.size();
    if (!is_good) {
      end_pager();
      if (is_aside_) return true;
      _exit(kExitGood);  // the user has left the pager
    }
    if (given_.size() > kMostInPipe) {
      was_read_ = true;
      given_.clear();
    }
    return true;
  }

  /// Waits for the pager's end. If it ended with an error, perhaps because there is no such command,
  /// it has shown nothing, and the text is printed as it is.
  void end_pager() {
    const int status = pclose(std::exchange(pipe_, nullptr));
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGPIPE, &broken_, nullptr);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 0) return;
    held_ = std::exchange(given_, {});
    step_aside();
  }

  std::size_t rows_, columns_;
  std::string pager_;
  std::streambuf* output_ = nullptr;  // of std::cout; null after end()
  std::ostream* tied_ = nullptr;
  std::string held_;
  std::size_t counted_ = 0;  // bytes of held_ whose rows are in used_rows_
  std::size_t used_rows_ = 0;
  bool is_aside_ = false;
  FILE* pipe_ = nullptr;
  std::string given_;      // what the pager got
  bool was_read_ = false;  // too much was given for that to be only in the pipe
  struct sigaction interrupt_ {
  }, broken_{};  // as they were before the pager
};

std::unique_ptr<PagedOutput>& paged_output() {
  static std::unique_ptr<PagedOutput> output;
  return output;
}

}  // namespace

void page_output() {
  if (paged_output() != nullptr || isatty(STDOUT_FILENO) == 0) return;
  if (!knows_escape_codes()) return;
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0 || window.ws_col == 0) {
    return;
  }
  std::string pager = pager_command();
  if (pager.empty() || pager == "cat") return;
  paged_output() = std::make_unique<PagedOutput>(window, std::move(pager));
}

void end_paging() {
  if (paged_output() != nullptr) paged_output()->end();
}

}  // namespace flashlab::cli
