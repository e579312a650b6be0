#include "cli/terminal/keyboard.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

// The terminal's original settings, also for the signal handler, which reads `changed`.
termios original{};
volatile std::sig_atomic_t changed = 0;
std::string on_enter, on_leave;

void write_to_terminal(const std::string& text) {
  if (!text.empty()) static_cast<void>(!write(STDOUT_FILENO, text.data(), text.size()));
}

void restore() {
  if (changed != 0) {
    write_to_terminal(on_leave);
    tcsetattr(STDIN_FILENO, TCSANOW, &original);
  }
  changed = 0;
}

void on_end(int signal) {
  restore();
  _exit(signal == SIGPIPE ? kExitGood : kExitInterrupted);
}

void on_suspend(int) {
  restore();
  raise(SIGSTOP);
}

void on_interruption(int) {}  // ends the wait for a key; resume() does the rest

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void single_keys() {
  termios keys = original;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  changed = 1;
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  write_to_terminal(on_enter);
}

/// A background program must not access the terminal: it would be stopped.
bool in_foreground() { return tcgetpgrp(STDIN_FILENO) == getpgrp(); }

bool has_terminal = false;

}  // namespace

Keyboard::Keyboard() : Keyboard({}, {}) {}

Keyboard::Keyboard(const std::string& enter, const std::string& leave) {
  on_enter = enter;
  on_leave = leave;
  has_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && in_foreground() &&
                 tcgetattr(STDIN_FILENO, &original) == 0;
  if (!has_terminal) return;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) handle(signal, on_end);
  handle(SIGTSTP, on_suspend);
  handle(SIGCONT, on_interruption);
  if (!enter.empty()) handle(SIGWINCH, on_interruption);
  single_keys();
}

Keyboard::~Keyboard() { restore(); }

int Keyboard::descriptor() const { return has_terminal ? STDIN_FILENO : -1; }

std::optional<char> Keyboard::key() {
  char pressed = 0;
  const ssize_t n = read(STDIN_FILENO, &pressed, 1);
  if (n < 0 && errno == EINTR) return std::nullopt;
  return n == 1 ? pressed : 'q';
}

bool Keyboard::pressed_meanwhile(char wanted) {
  pollfd waiting{STDIN_FILENO, POLLIN, 0};
  while (has_terminal && poll(&waiting, 1, 0) == 1) {
    if (key() == wanted) return true;
  }
  return false;
}

void Keyboard::resume() {
  if (has_terminal && changed == 0 && in_foreground()) single_keys();
}

}  // namespace flashlab::cli
