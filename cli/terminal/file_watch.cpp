#include "cli/terminal/file_watch.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#if defined(__linux__)
#include <sys/inotify.h>
#endif

namespace flashlab::cli {
namespace {

constexpr int kLookEveryMs = 250;
// Also used with notices: changes from another machine (a network folder) send none.
constexpr int kLookAnywayMs = 1000;
constexpr std::chrono::milliseconds kRest{5};
constexpr int kMostRests = 100;

std::filesystem::path folder_of(const std::string& file) {
  std::error_code code;
  const std::filesystem::path target =
      std::filesystem::canonical(file, code);  // a link's target is the file that is saved
  const std::filesystem::path folder = (code ? std::filesystem::path(file) : target).parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

}  // namespace

FileWatch::FileWatch(const std::string& file, bool poll_only) : file_(file), last_(state()) {
  if (!poll_only) follow_folder();
}

FileWatch::~FileWatch() {
  if (notices_ >= 0) close(notices_);
}

void FileWatch::follow_folder() {
#if defined(__linux__)
  notices_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (notices_ < 0) return;
  constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                    IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF;
  if (inotify_add_watch(notices_, folder_of(file_).c_str(), kEvents) >= 0) return;
  close(notices_);
  notices_ = -1;
#endif
}

FileWatch::State FileWatch::state() const {
  struct stat status {};
  if (stat(file_.c_str(), &status) != 0) return {};
    // A save may leave size and time as they were (a restored copy, a coarse clock); the change is later.
#if defined(__APPLE__)
  const timespec time = status.st_mtimespec, change = status.st_ctimespec;
#else
  const timespec time = status.st_mtim, change = status.st_ctim;
#endif
  return {true,
          static_cast<std::uint64_t>(status.st_dev),
          static_cast<std::uint64_t>(status.st_ino),
          status.st_size,
          time.tv_sec,
          time.tv_nsec,
          change.tv_sec,
          change.tv_nsec};
}

/// Reads all pending notices. Returns false if the folder no longer exists, so that no
/// notices will come.
bool FileWatch::drain() {
#if defined(__linux__)
  alignas(inotify_event) std::array<char, 1 << 14> buffer{};
  for (ssize_t n = 0; (n = read(notices_, buffer.data(), buffer.size())) > 0;) {
    for (const char* at = buffer.data(); at < buffer.data() + n;) {
      inotify_event event{};
      std::memcpy(&event, at, sizeof event);
      if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) return false;
      at += sizeof event + event.len;
    }
  }
#endif
  return true;
}

/// Returns whether the state differs from the last one, after waiting until it stops changing.
bool FileWatch::saved() {
  State now = state();
  if (now == last_) return false;
  for (int i = 0; i < kMostRests; ++i) {
    std::this_thread::sleep_for(kRest);
    const State later = state();
    if (later == now) break;
    now = later;
  }
  if (now == last_) return false;
  last_ = now;
  return true;
}

FileWatch::Event FileWatch::wait(int keys) {
  for (;;) {
    if (saved()) return Event::kSaved;
    std::array<pollfd, 2> waited{{{keys, POLLIN, 0}, {notices_, POLLIN, 0}}};  // poll ignores -1
    const int ready =
        poll(waited.data(), waited.size(), has_notices() ? kLookAnywayMs : kLookEveryMs);
    if (ready < 0 && errno == EINTR) return Event::kInterrupted;
    if (waited[0].revents != 0) return Event::kKey;
    if (waited[1].revents != 0 && !drain()) {
      close(notices_);
      notices_ = -1;
    }
  }
}

}  // namespace flashlab::cli
