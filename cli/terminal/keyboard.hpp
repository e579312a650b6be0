// Reads single keys from the terminal.
#pragma once

#include <optional>
#include <string>

namespace flashlab::cli {

/// Delivers keys without waiting for a line, and without echo. The terminal is restored when
/// the object is destroyed, when a signal ends the program (Ctrl-C: exit code 130), or when it
/// is suspended. Does nothing if standard input or output is not a terminal. Only one object
/// at a time.
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
  /// Returns the pressed key; 'q' if the terminal is closed; nothing after a signal.
  std::optional<char> key();
  /// Returns whether this key was pressed and not read yet. Forgets all keys before it.
  bool pressed_meanwhile(char wanted);
  /// Sets the terminal again after a signal, when the program continues after being suspended.
  void resume();
};

}  // namespace flashlab::cli
