// Writes files so that a reader finds the old text or the new one, and so that the file stays what it
// was: its mode, its owner, its links.
#pragma once

#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>

namespace flashlab {

/// "'marks.csv' cannot be written: No space left on device".
class NotWritten : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether a write ends only when the computer may lose its power, which takes milliseconds.
enum class Sync { kNo, kYes };

/// Writes a regular file completely or not at all: `write` fills a temporary file beside it.
///
///   - A file that has this content already is left alone, with its time.
///   - Mode and, where permitted, owner stay. A new file gets those of new files.
///   - A symbolic link stays, and its target is written. A file with several hard links, or whose
///     owner or folder forbids a new file, keeps its place on the disk: its content is replaced after
///     the room for it was reserved.
///   - Devices and pipes are written directly.
///
/// Returns whether the file was changed. Throws NotWritten, also for a file that its mode protects,
/// and whatever `write` throws; the file is then as before.
bool write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write,
                      Sync sync = Sync::kNo);

/// Does the same with a file that was filled already and lies beside it, for writers of their own. It is
/// gone then, or as before if NotWritten is thrown.
bool put_in_place(const std::string& temporary, const std::string& path);

/// Removes the temporary file of an unfinished write. For signal handlers: accesses only simple data.
void remove_unfinished_file();

}  // namespace flashlab
