// Noticing that a file was saved.
#pragma once

#include <cstdint>
#include <string>

namespace flashlab::cli {

/// Watches one file, which need not be there yet. What counts is the file's state (is it there, its
/// inode, size and time); the system's notices (inotify on its folder, so that a file which takes
/// another's name is seen too) only say when to look, and without them it is looked at every 250
/// ms.
class FileWatch {
 public:
  /// `poll_only`: without the system's notices.
  FileWatch(const std::string& file, bool poll_only);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  enum class Event { kSaved, kKey, kInterrupted };
  /// Returns when the file's state has changed and come to rest, `keys` (a descriptor; -1: none)
  /// can be read, or a signal was handled.
  Event wait(int keys);
  bool has_notices() const { return notices_ >= 0; }

 private:
  struct State {
    bool there = false;
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0, seconds = 0, nanoseconds = 0;
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
