#include "cli/terminal/keyboard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "cli/terminal/descriptor_io.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/terminal.hpp"
#include "cli/terminal/text_input.hpp"
#include "text/utf8.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

// The terminal that has the keys, and its original settings, also for the signal handler, which
// reads `changed`.
int key_descriptor = STDIN_FILENO;
termios original{};
volatile std::sig_atomic_t changed = 0;
std::string on_enter, on_leave;

void write_to_terminal(const std::string& text) {
  static_cast<void>(write_all(STDOUT_FILENO, text));
}

void restore() {
  if (changed != 0) {
    write_to_terminal(on_leave);
    tcsetattr(key_descriptor, TCSANOW, &original);
  }
  changed = 0;
}

void on_end(int signal) {
  restore();
  _exit(exit_code_of_signal(signal));
}

// Whether Ctrl-C stops what runs, and whether it came.
volatile std::sig_atomic_t stops_work = 0, was_interrupted = 0;

void on_ctrl_c(int signal) {
  if (stops_work == 0 || was_interrupted != 0) on_end(signal);
  was_interrupted = 1;
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
  keys.c_iflag &= ~static_cast<tcflag_t>(IXON);  // Ctrl-S would freeze the screen
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  changed = 1;
  tcsetattr(key_descriptor, TCSANOW, &keys);
  write_to_terminal(on_enter);
}

/// A background program must not access the terminal: it would be stopped.
bool in_foreground() { return tcgetpgrp(key_descriptor) == getpgrp(); }

bool has_terminal = false;

/// Whether the terminal's settings were restored for a suspension that has ended.
bool is_to_resume() { return has_terminal && changed == 0 && in_foreground(); }

constexpr char kEscapeByte = '\x1b';
constexpr char kBell = '\x07', kCancel = '\x18', kSubstitute = '\x1a';
/// What begins a string behind Escape: DCS, SOS, OSC, PM and APC.
constexpr std::string_view kStringBegins = "PX]^_";
constexpr int kLongestSequence = 32, kLargestParameter = 1000;

/// Sequences of keys, without what stands before their parameter: xterm's, rxvt's, and the console's.
struct KeyRow {
  char final;
  int parameter;  // of those that end in ~; 0: any
  Key::Kind kind;
};
constexpr std::array<KeyRow, 15> kKeys{{{'A', 0, Key::Kind::kUp},
                                        {'B', 0, Key::Kind::kDown},
                                        {'C', 0, Key::Kind::kRight},
                                        {'D', 0, Key::Kind::kLeft},
                                        {'H', 0, Key::Kind::kHome},
                                        {'F', 0, Key::Kind::kEnd},
                                        {'~', 1, Key::Kind::kHome},
                                        {'~', 7, Key::Kind::kHome},
                                        {'~', 4, Key::Kind::kEnd},
                                        {'~', 8, Key::Kind::kEnd},
                                        {'~', 3, Key::Kind::kDelete},
                                        {'~', 5, Key::Kind::kPageUp},
                                        {'~', 6, Key::Kind::kPageDown},
                                        {'a', 0, Key::Kind::kUp},
                                        {'b', 0, Key::Kind::kDown}}};

// "Bracketed paste": the terminal writes these around what is pasted.
constexpr const char *kMarkPastes = "\x1b[?2004h", *kMarkNoPastes = "\x1b[?2004l";
constexpr int kPasteBegins = 200;
constexpr std::string_view kPasteEnds = "\x1b[201~";
constexpr std::size_t kLongestPaste = 1 << 16;  // the rest of a longer one is lost

Key::Kind key_kind(char final, int parameter) {
  for (const KeyRow& row : kKeys) {
    if (row.final == final && (row.parameter == 0 || row.parameter == parameter)) return row.kind;
  }
  return Key::Kind::kOther;
}

}  // namespace

bool keys_come_from_a_terminal() {
  if (isatty(key_descriptor) == 1) return true;
  if (!standard_input_was_read()) return false;
  const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal >= 0) key_descriptor = terminal;
  return terminal >= 0;
}

Keyboard::Keyboard() : Keyboard({}, {}) {}

Keyboard::Keyboard(const std::string& enter, const std::string& leave) {
  const bool marks_pastes = knows_escape_codes();
  on_enter = enter + (marks_pastes ? kMarkPastes : "");
  on_leave = (marks_pastes ? kMarkNoPastes : "") + leave;
  has_terminal = keys_come_from_a_terminal() && isatty(STDOUT_FILENO) == 1 && in_foreground() &&
                 tcgetattr(key_descriptor, &original) == 0;
  if (!has_terminal) return;
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) handle(signal, on_end);
  handle(SIGINT, on_ctrl_c);
  handle(SIGTSTP, on_suspend);
  handle(SIGCONT, on_interruption);
  if (!enter.empty()) handle(SIGWINCH, on_interruption);
  single_keys();
}

Keyboard::~Keyboard() { restore(); }

int Keyboard::descriptor() const { return has_terminal ? key_descriptor : -1; }

std::optional<char> Keyboard::byte() {
  if (returned_) return std::exchange(returned_, std::nullopt);
  char pressed = 0;
  const ssize_t n = read_some(key_descriptor, &pressed, 1);
  if (n < 0 && errno == EINTR) return std::nullopt;
  is_closed_ = n != 1;
  return is_closed_ ? 'q' : pressed;
}

/// Returns a byte that belongs to the one before it, if any: a terminal sends them together.
std::optional<char> Keyboard::byte_soon(int longest_pause_ms) {
  if (returned_) return byte();
  pollfd waiting{key_descriptor, POLLIN, 0};
  return poll(&waiting, 1, longest_pause_ms) == 1 ? byte() : std::nullopt;
}

std::optional<Key> Keyboard::key() {
  if (is_to_resume()) return std::nullopt;  // suspended since the last key
  const auto first = byte();
  if (!first) return std::nullopt;
  if (*first == kEscapeByte) return sequence();
  const auto lead = static_cast<unsigned char>(*first);
  if (lead < 0x80) return Key{Key::Kind::kCharacter, *first};
  std::string letter(1, *first);  // in UTF-8
  for (int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0; more > 0; --more) {
    const auto next = byte_soon();
    if (!next) break;
    if ((static_cast<unsigned char>(*next) & 0xC0) != 0x80) {
      returned_ = next;
      break;
    }
    letter += *next;
  }
  return Key{Key::Kind::kLetter, '\0', std::move(letter)};
}

/// What follows Escape.
Key Keyboard::sequence() {
  const auto second = byte_soon();
  if (!second) return {Key::Kind::kEscape};
  if (*second == '[') return control_sequence();
  if (kStringBegins.find(*second) != std::string_view::npos) return control_string(*second);
  if (*second == 'O') {  // of keypads: one letter, perhaps after a modifier
    for (auto next = byte_soon(); next; next = byte_soon()) {
      if (!is_digit(*next)) return {key_kind(*next, 1)};
    }
    return {Key::Kind::kOther};
  }
  returned_ = second;  // a key of its own
  return {Key::Kind::kEscape};
}

/// ECMA-48: a string of a device, of the system or of an application. A terminal sends one as an answer
/// that nobody asked for. Its end is Escape and a backslash, or BEL.
Key Keyboard::control_string(char second) {
  constexpr int kLongestPauseMs = 200;
  auto next = byte_soon();
  if (!next) {  // Alt and a key
    returned_ = second;
    return {Key::Kind::kEscape};
  }
  for (; next && !is_closed_; next = byte_soon(kLongestPauseMs)) {
    if (*next == kBell || *next == kCancel || *next == kSubstitute) break;
    if (*next != kEscapeByte) continue;
    const auto last = byte_soon(kLongestPauseMs);
    if (last && *last != '\\') returned_ = last;
    break;
  }
  return {Key::Kind::kOther};
}

/// ECMA-48: parameters, then intermediate bytes, then one final byte.
Key Keyboard::control_sequence() {
  int parameter = 0;
  bool is_first = true;
  for (int length = 0; length < kLongestSequence; ++length) {
    const auto next = byte_soon();
    if (!next) return {Key::Kind::kOther};
    if (is_digit(*next)) {
      if (is_first && parameter < kLargestParameter) parameter = 10 * parameter + (*next - '0');
    } else if (*next == '[' && length == 0) {  // function keys of Linux's console have two
      byte_soon();
      return {Key::Kind::kOther};
    } else if (*next == '~' && parameter == kPasteBegins) {
      return paste();
    } else if (*next >= '@' && *next <= '~') {
      // X10's report of a mouse: a button, a column and a line follow, each as one byte.
      const bool is_mouse = *next == 'M' && length == 0;
      for (int more = 0; is_mouse && more < 3 && byte_soon(); ++more) continue;
      return {key_kind(*next, parameter)};
    } else if (*next >= ' ' && *next <= '?') {
      is_first = false;
    } else {  // no part of a sequence
      returned_ = next;
      return {Key::Kind::kOther};
    }
  }
  return {Key::Kind::kOther};
}

/// What was pasted, up to the mark of its end. A long pause ends it, too, if that never comes.
Key Keyboard::paste() {
  constexpr int kLongestPauseMs = 1000;
  std::string bytes;
  while (!bytes.ends_with(kPasteEnds)) {
    const auto next = byte_soon(kLongestPauseMs);
    if (!next || is_closed_) return {Key::Kind::kPaste, '\0', on_one_line(bytes)};
    bytes += *next;
    if (bytes.size() == 2 * kLongestPaste) {  // what may be the start of the mark stays
      bytes.erase(kLongestPaste, kLongestPaste - kPasteEnds.size());
    }
  }
  bytes.resize(std::min(bytes.size() - kPasteEnds.size(), kLongestPaste));
  return {Key::Kind::kPaste, '\0', on_one_line(bytes)};
}

Keyboard::StopsWork::StopsWork() {
  was_interrupted = 0;
  stops_work = 1;
}
Keyboard::StopsWork::~StopsWork() { stops_work = 0; }

bool Keyboard::pressed_meanwhile(char wanted) {
  if (stops_work != 0 && was_interrupted != 0) return true;
  pollfd waiting{key_descriptor, POLLIN, 0};
  while (has_terminal && (returned_ || poll(&waiting, 1, 0) == 1)) {
    const auto pressed = key();
    if (!pressed) resume();
    if (pressed && (pressed->letter() == wanted || pressed->kind == Key::Kind::kEscape))
      return true;
  }
  return false;
}

bool Keyboard::resume() {
  if (!is_to_resume()) return false;
  single_keys();
  return true;
}

}  // namespace flashlab::cli
