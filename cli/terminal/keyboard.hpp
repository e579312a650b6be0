// Reads single keys from the terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flashlab::cli {

/// A key, however many bytes the terminal sends for it.
struct Key {
  enum class Kind : std::uint8_t {
    kCharacter,  // `character`: printable ASCII, or a control character such as '\r'
    kEscape,
    kUp,
    kDown,
    kLeft,
    kRight,
    kHome,
    kEnd,
    kDelete,
    kPageUp,
    kPageDown,
    kLetter,  // `text`: one character outside of ASCII, or bytes that are no UTF-8
    kPaste,   // `text`, which no part of is a key
    kOther,   // a function key, a terminal's report, or a sequence that is not known
  };
  Kind kind = Kind::kCharacter;
  char character = '\0';
  std::string text{};  // that was typed, or pasted and put on one line

  /// The character, or NUL for other keys.
  char letter() const { return kind == Kind::kCharacter ? character : '\0'; }
};

/// Whether there is a terminal that has keys for us: standard input, or the one that started us if
/// standard input was a text that was read.
bool keys_come_from_a_terminal();

/// Delivers keys without waiting for a line, and without echo. The terminal is restored when
/// the object is destroyed, when a signal ends the program (Ctrl-C: exit code 130), or when it
/// is suspended. Does nothing if keys or standard output are of no terminal. Only one object
/// at a time. A terminal that knows escape codes marks what the user pastes, and that is one key.
class Keyboard {
 public:
  Keyboard();
  /// Also writes `enter` to the terminal, and `leave` whenever the terminal is restored. A change of
  /// the window's size interrupts key().
  Keyboard(const std::string& enter, const std::string& leave);
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  /// Returns a descriptor to wait on; -1 if there are no keys.
  int descriptor() const;
  /// Returns the pressed key; 'q' if the terminal is closed; nothing after a signal. A byte of Escape
  /// is the key Escape unless the rest of a known form of sequence follows within 50 ms.
  std::optional<Key> key();
  /// While it exists, the first Ctrl-C does not end the program, but pressed_meanwhile() returns
  /// true.
  class StopsWork {
   public:
    StopsWork();
    ~StopsWork();
    StopsWork(const StopsWork&) = delete;
    StopsWork& operator=(const StopsWork&) = delete;
  };
  /// Returns whether this key or Escape was pressed and not read yet. Forgets all keys before it.
  bool pressed_meanwhile(char wanted);
  /// Sets the terminal again when the program continues after being suspended. Returns whether it
  /// did: what was on the terminal is to be shown again.
  bool resume();

 private:
  std::optional<char> byte();
  std::optional<char> byte_soon(int longest_pause_ms = 50);
  Key sequence();
  Key control_sequence();
  Key control_string(char second);
  Key paste();

  bool is_closed_ = false;
  std::optional<char> returned_;  // read, but not part of the key before it
};

}  // namespace flashlab::cli
