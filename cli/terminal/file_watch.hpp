// Detects that a file was saved.
#pragma once

#include <cstdint>
#include <string>

namespace flashlab::cli {

/// Watches one file, which need not exist yet. It compares the file's state (existence, inode, size
/// and times). The system's notices (inotify on its folder, which also reports a file that is
/// renamed to this name) only trigger this comparison; without them it runs every 250 ms.
class FileWatch {
 public:
  /// `poll_only`: do not use the system's notices.
  FileWatch(const std::string& file, bool poll_only);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  enum class Event { kSaved, kKey, kInterrupted };
  /// Returns when the file's state has changed and is stable, when `keys` (a descriptor; -1: none)
  /// is readable, or when a signal was handled.
  Event wait(int keys);
  bool has_notices() const { return notices_ >= 0; }

 private:
  struct State {
    bool there = false;
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0, seconds = 0, nanoseconds = 0;
    std::int64_t change_seconds = 0,
                 change_nanoseconds = 0;  // of the file's entry, which no tool sets
    bool operator==(const State&) const = default;
  };
  State state() const;
  void follow_folder();
  bool drain();
  bool saved();

  std::string file_;
  int notices_ = -1;
  State last_;
};

}  // namespace flashlab::cli
