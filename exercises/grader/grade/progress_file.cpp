// Locks, reads and writes the progress file. progress.cpp parses its content.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "exercises/grader/grade/progress.hpp"
#include "system/descriptor.hpp"
#include "text/lists.hpp"
#include "text/whole_file.hpp"

namespace flashlab::exercises {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::size_t kMostProgressBytes = 4 << 20;
constexpr milliseconds kLongestWait{5000};

/// Delays Ctrl-C until the file is complete and unlocked.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
    sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

bool lock(int file) {
  for (milliseconds waited{0}; waited < kLongestWait; waited += milliseconds(5)) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  errno = ETIMEDOUT;
  return false;
}

/// A name that no file in the folder has: progress.txt.damaged, progress.txt.damaged-2, …
fs::path free_name(const fs::path& path) {
  std::error_code ignored;
  fs::path name = path;
  name += ".damaged";
  for (int i = 2; fs::exists(fs::symlink_status(name, ignored)); ++i) {
    name = path;
    name += ".damaged-" + std::to_string(i);
  }
  return name;
}

bool looks_like_text(std::string_view text) {
  return text.size() <= kMostProgressBytes && text.find('\0') == std::string_view::npos;
}

std::string not_remembered(const fs::path& path, const std::string& reason) {
  return "your progress is not remembered: '" + path.string() + "' " + reason;
}

}  // namespace

std::optional<fs::path> progress_folder() {
  const auto absolute = [](const char* name) -> std::optional<fs::path> {
    const char* value = std::getenv(name);
    if (value == nullptr || !fs::path(value).is_absolute()) return std::nullopt;
    return fs::path(value);
  };
  if (const auto data = absolute("XDG_DATA_HOME")) return *data / "flashlab";
  if (const auto home = absolute("HOME")) return *home / ".local" / "share" / "flashlab";
  return std::nullopt;
}

ProgressFile::ProgressFile(std::optional<fs::path> folder) : folder_(std::move(folder)) {
  if (!folder_) {
    note("your progress is not remembered: neither HOME nor XDG_DATA_HOME names a folder");
  }
}

void ProgressFile::note(std::string text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) {
    notes_.push_back(std::move(text));
  }
}

fs::path ProgressFile::path() const {
  if (!folder_) return {};
  const fs::path named = *folder_ / "progress.txt";
  std::error_code code;
  const fs::path target = fs::canonical(named, code);  // keep a symbolic link
  return code ? named : target;
}

/// The file's bytes, empty if there is no file. Adds a note and returns nothing if it
/// cannot be read.
std::optional<std::string> ProgressFile::text() {
  const fs::path file = path();
  const system::Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened && (errno == ENOENT)) return std::string();
  struct stat status {};
  if (!opened || fstat(*opened, &status) != 0) {
    note(not_remembered(file, std::string("cannot be read: ") + std::strerror(errno)));
    return std::nullopt;
  }
  if (!S_ISREG(status.st_mode)) {
    note(not_remembered(file, S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file"));
    return std::nullopt;
  }
  std::string text;
  std::array<char, 1 << 14> part{};
  for (ssize_t n = 0; text.size() <= kMostProgressBytes;) {
    n = ::read(*opened, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(n));
  }
  return text;
}

void ProgressFile::note_damage(const Progress& progress) {
  if (progress.damaged_lines().empty()) return;
  const std::string numbers =
      joined(progress.damaged_lines(), ", ", [](std::size_t line) { return std::to_string(line); });
  const bool one = progress.damaged_lines().size() == 1;
  note("'" + path().string() + "': " + (one ? "line " : "lines ") + numbers +
       (one ? " cannot be read; it is kept as it is"
            : " cannot be read; they are kept as they are"));
}

Progress ProgressFile::read() {
  if (!folder_) return {};
  const auto bytes = text();
  if (!bytes) return {};
  if (!looks_like_text(*bytes)) {
    note("'" + path().string() + "' is damaged (not text); the next change renames it");
    return {};
  }
  Progress progress = Progress::parse(*bytes);
  note_damage(progress);
  return progress;
}

Progress ProgressFile::unremembered(const std::string& reason, const Change& change) {
  note(not_remembered(path(), reason));
  Progress progress = read();
  change(progress);
  return progress;
}

/// The parsed content. Renames a file that is not text. If the file must stay unchanged, sets
/// `reason` and returns nothing.
std::optional<Progress> ProgressFile::take(std::string& reason) {
  const fs::path file = path();
  const auto bytes = text();
  if (!bytes) return std::nullopt;
  struct stat status {};  // check the mode bits: replacing the file would succeed anyway
  if (stat(file.c_str(), &status) == 0 && (status.st_mode & 0222U) == 0) {
    reason = "is read-only";
    return std::nullopt;
  }
  if (looks_like_text(*bytes)) {
    Progress progress = Progress::parse(*bytes);
    note_damage(progress);
    return progress;
  }
  const fs::path aside = free_name(file);
  std::error_code code;
  fs::rename(file, aside, code);
  if (code) {
    reason = "is damaged and cannot be set aside: " + code.message();
    return std::nullopt;
  }
  note("'" + file.string() + "' was damaged (not text); it is now '" + aside.string() +
       "', and a new file begins");
  return Progress();
}

Progress ProgressFile::update(const Change& change) {
  if (!folder_) {
    Progress nothing;
    change(nothing);
    return nothing;
  }
  std::error_code code;
  fs::create_directories(*folder_, code);
  if (code) return unremembered("cannot be written: " + code.message(), change);
  const SignalsHeld held;
  const system::Descriptor lock_file(
      open((*folder_ / "progress.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
  if (!lock_file || !lock(*lock_file)) {
    const std::string reason = errno == ETIMEDOUT
                                   ? "has been in use by another flashlab for 5 seconds"
                                   : std::string("cannot be locked: ") + std::strerror(errno);
    return unremembered(reason, change);
  }
  std::string reason;
  std::optional<Progress> progress = take(reason);
  if (!progress) {
    if (!reason.empty()) return unremembered(reason, change);
    progress.emplace();  // text() has added a note
    change(*progress);
    return *progress;
  }
  change(*progress);
  try {
    const std::string text = progress->to_text();
    write_whole_file(
        path().string(), [&](std::ostream& out) { out << text; }, Sync::kYes);
  } catch (const NotWritten& problem) {
    note(std::string("your progress is not remembered: ") + problem.what());
  }
  return *progress;
}

}  // namespace flashlab::exercises
