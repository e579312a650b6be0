// Single keys from the terminal.
#pragma once

#include <optional>

namespace flashlab::cli {

/// Keys arrive as they are pressed and are not shown, until the object goes away, the program is
/// ended by a signal (Ctrl-C: exit code 130), or it is suspended. Does nothing when standard input
/// or output is no terminal. One at a time.
class Keyboard {
 public:
  Keyboard();
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  /// A descriptor to wait on; -1 when there are no keys.
  int descriptor() const;
  /// The key that was pressed; 'q' when the terminal is gone.
  std::optional<char> key();
  /// After a signal: back from being suspended, the terminal has to be told again.
  void resume();
};

}  // namespace flashlab::cli
