#include "text/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "text/visible.hpp"

namespace flashlab {
namespace {

namespace fs = std::filesystem;

// The file that a signal handler must remove; empty: none. An array, because a handler may access only
// simple data.
constexpr std::size_t kLongestPath = 4096;
std::array<char, kLongestPath> temporary_path{};

NotWritten not_written(const std::string& path, const std::string& why) {
  return NotWritten("'" + printable(path) + "' cannot be written: " + why);
}
NotWritten not_written(const std::string& path) { return not_written(path, std::strerror(errno)); }

/// An open file.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// While it exists, signals that end the program wait.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_{};
};

/// A file beside `path` that goes away with the object, or by a signal, unless it is kept.
class TemporaryFile {
 public:
  /// Without permission or room for it, is_there() is false, and errno says why.
  explicit TemporaryFile(const std::string& path)
      : name_(path + ".part" + std::to_string(getpid())) {
    if (name_.size() >= kLongestPath) {
      errno = ENAMETOOLONG;
      return;
    }
    // Without a signal between the file and its name: the handler would leave it.
    const SignalsWait wait;
    // Not yet readable by others: it may replace a private file.
    const OpenFile file(open(name_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    is_there_ = file.is_open();
    if (is_there_) std::memcpy(temporary_path.data(), name_.c_str(), name_.size() + 1);
  }
  ~TemporaryFile() {
    if (is_there_) unlink(name_.c_str());
    temporary_path[0] = '\0';
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_there() const { return is_there_; }
  const std::string& name() const { return name_; }

  /// Puts it in place of `path`.
  bool replace(const std::string& path, Sync sync) {
    if (sync == Sync::kYes) {
      const OpenFile file(open(name_.c_str(), O_WRONLY | O_CLOEXEC));
      if (!file.is_open() || fsync(file.number()) != 0) throw not_written(path);
    }
    const bool changes = put_in_place(name_, path);
    is_there_ = false;
    return changes;
  }

 private:
  std::string name_;
  bool is_there_ = false;
};

/// Gives a file mode and owner of the one that it replaces. Returns whether it could have the owner.
bool resemble(const std::string& name, const struct stat& old) {
  const bool has_owner = (old.st_uid == geteuid() && old.st_gid == getegid()) ||
                         chown(name.c_str(), old.st_uid, old.st_gid) == 0;
  return has_owner && chmod(name.c_str(), old.st_mode & 07777) == 0;
}

/// Gives a file the mode of new files.
void be_new(const std::string& name) {
  const mode_t mask = umask(0);
  umask(mask);
  chmod(name.c_str(), 0666 & ~mask);
}

/// What a path names, through symbolic links, of which the last may lead to a file that is not there.
std::string target_of(std::string path) {
  constexpr int kMostLinks = 40;
  std::error_code code;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(path, code)); ++i) {
    const fs::path target = fs::read_symlink(path, code);
    if (code) return path;
    path = (fs::path(path).parent_path() / target).string();
  }
  return path;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool have_same_content(const std::string& a, const std::string& b) {
  std::error_code code;
  if (fs::file_size(a, code) != fs::file_size(b, code) || code) return false;
  std::ifstream one(a, std::ios::binary), other(b, std::ios::binary);
  const std::istreambuf_iterator<char> end;
  return one && other &&
         std::equal(std::istreambuf_iterator<char>(one), end, std::istreambuf_iterator<char>(other),
                    end);
}

bool write_at_start(int file, std::string_view text) {
  for (off_t at = 0; !text.empty();) {
    const ssize_t written = pwrite(file, text.data(), text.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
  return true;
}

/// Replaces the content of a file that must keep its place on the disk.
void replace_content(const std::string& path, const std::string& text) {
  const std::string old = content_of(path);
  const OpenFile file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.is_open()) throw not_written(path);
  const SignalsWait wait;
  const auto restore = [&] {
    const int reason = errno;
    static_cast<void>(!write_at_start(file.number(), old));
    static_cast<void>(!ftruncate(file.number(), static_cast<off_t>(old.size())));
    errno = reason;
  };
#if defined(__linux__)
  if (text.size() > old.size()) {
    const int code = posix_fallocate(file.number(), 0, static_cast<off_t>(text.size()));
    if (code != 0 && code != EOPNOTSUPP && code != EINVAL) {
      errno = code;
      restore();
      throw not_written(path);
    }
  }
#endif
  if (write_at_start(file.number(), text) &&
      ftruncate(file.number(), static_cast<off_t>(text.size())) == 0) {
    return;
  }
  restore();
  throw not_written(path);
}

void fill(const std::string& path, const std::string& name,
          const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream file(name, std::ios::binary);
  write(file);
  file.close();
  if (!file) {
    throw not_written(path, errno != 0 ? std::strerror(errno) : "no space or no permission");
  }
}

}  // namespace

bool write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write,
                      Sync sync) {
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) throw not_written(path, "it is a directory");
  // Before links are followed: /dev/stdout leads to a pipe that has no path.
  if (exists && !S_ISREG(old.st_mode)) return fill(path, path, write), true;
  const std::string target = target_of(path);
  if (exists && faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) throw not_written(path);
  TemporaryFile temporary(target);
  if (!temporary.is_there()) {
    if (!exists || (errno != EACCES && errno != EPERM && errno != ENAMETOOLONG)) {
      throw not_written(path);
    }
    std::ostringstream text;  // no new file may be made beside it, but it may be written
    write(text);
    if (text.str() == content_of(target)) return false;
    replace_content(target, text.str());
    return true;
  }
  fill(path, temporary.name(), write);
  return temporary.replace(target, sync);
}

bool put_in_place(const std::string& temporary, const std::string& path) {
  const std::string target = target_of(path);
  struct stat old {};
  const bool exists = stat(target.c_str(), &old) == 0;
  if (exists && have_same_content(temporary, target)) {
    unlink(temporary.c_str());
    return false;
  }
  if (!exists) be_new(temporary);
  const bool may_replace = !exists || (old.st_nlink == 1 && resemble(temporary, old));
  if (may_replace && rename(temporary.c_str(), target.c_str()) == 0) return true;
  if (!exists) throw not_written(path);
  replace_content(target, content_of(temporary));
  unlink(temporary.c_str());
  return true;
}

void remove_unfinished_file() {
  if (temporary_path[0] != '\0') unlink(temporary_path.data());
}

}  // namespace flashlab
