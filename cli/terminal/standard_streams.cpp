#include "cli/terminal/standard_streams.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <iostream>
#include <streambuf>
#include <string_view>

#include "cli/terminal/descriptor_io.hpp"
#include "cli/terminal/waiting_input.hpp"

namespace flashlab::cli {
namespace {

constexpr std::size_t kStreamBytes = 1 << 16;

class WaitingOutput : public std::streambuf {
 public:
  explicit WaitingOutput(int descriptor) : descriptor_(descriptor) { empty(); }

 protected:
  int_type overflow(int_type c) override {
    if (!write_out()) return traits_type::eof();
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    return sputc(traits_type::to_char_type(c));
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (size <= epptr() - pptr()) return std::streambuf::xsputn(text, size);
    const std::string_view all(text, static_cast<std::size_t>(size));
    return write_out() && write_all(descriptor_, all) ? size : 0;
  }
  int sync() override { return write_out() ? 0 : -1; }

 private:
  void empty() { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
  /// What cannot be written is lost: the stream becomes bad, and nobody tries again.
  bool write_out() {
    const std::string_view waiting(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    empty();
    return write_all(descriptor_, waiting);
  }

  int descriptor_;
  std::array<char, kStreamBytes> bytes_{};
};

// What typed_line() has asked and where, and whether the program has continued since.
const std::string* asked = nullptr;
std::ostream* asked_on = nullptr;
volatile std::sig_atomic_t was_continued = 0;

void on_continue(int) { was_continued = 1; }

void ask_again() {
  if (was_continued == 0 || tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
  was_continued = 0;
  *asked_on << *asked << std::flush;
}

}  // namespace

void use_waiting_streams() {
  // Never destroyed: the streams are flushed last of all.
  static std::streambuf* const input = std::cin.rdbuf(new WaitingInput(STDIN_FILENO));
  static std::streambuf* const output = std::cout.rdbuf(new WaitingOutput(STDOUT_FILENO));
  static std::streambuf* const errors = std::cerr.rdbuf(new WaitingOutput(STDERR_FILENO));
  static_cast<void>(input), static_cast<void>(output), static_cast<void>(errors);
}

std::optional<std::string> typed_line(const std::string& question, std::ostream& out) {
  struct sigaction action {
  }, before{};
  action.sa_handler = on_continue;  // not SA_RESTART: it ends the waiting
  sigemptyset(&action.sa_mask);
  sigaction(SIGCONT, &action, &before);
  was_continued = 0;
  asked = &question;
  asked_on = &out;
  WaitingInput::after_signal = ask_again;
  out << question << std::flush;
  std::string line;
  const bool is_typed = static_cast<bool>(std::getline(std::cin, line));
  WaitingInput::after_signal = nullptr;
  sigaction(SIGCONT, &before, nullptr);
  return is_typed ? std::optional(line) : std::nullopt;
}

}  // namespace flashlab::cli
