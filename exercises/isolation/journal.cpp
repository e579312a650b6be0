#include "exercises/isolation/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "exercises/isolation/wire.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::string_view kHeader = "flashlab grading journal 1\n";
constexpr std::size_t kKeyDigits = 16;
constexpr std::size_t kDigestBytes = sizeof(Digest);
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
constexpr std::size_t kCheckBytes = sizeof(std::uint64_t);

/// FNV-1a checksum, which detects an incomplete record.
std::uint64_t check_sum(std::string_view bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char c : bytes) sum = (sum ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return sum;
}

void append(std::string& bytes, std::uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// A record: length, digest, verdict, checksum of these.
std::string record_of(const Digest& text, const Verdict& verdict) {
  const std::string body = encode(verdict);
  std::string record;
  record.reserve(kLengthBytes + kDigestBytes + body.size() + kCheckBytes);
  append(record, body.size());
  record.append(reinterpret_cast<const char*>(text.data()), text.size());
  record += body;
  append(record, check_sum(record));
  return record;
}

/// Adds the record at the start of `bytes` and removes it there. Returns false if it is incomplete.
bool take_record(std::string_view& bytes, KnownVerdicts& verdicts) {
  constexpr std::size_t kAround = kLengthBytes + kDigestBytes + kCheckBytes;
  if (bytes.size() < kAround) return false;
  const std::uint64_t length = number_at(bytes, 0);
  if (length > bytes.size() - kAround) return false;
  const std::size_t end = kLengthBytes + kDigestBytes + length;
  if (number_at(bytes, end) != check_sum(bytes.substr(0, end))) return false;
  Digest text;
  std::memcpy(text.data(), bytes.data() + kLengthBytes, kDigestBytes);
  try {
    verdicts.emplace(text, std::make_shared<const Verdict>(
                               decode_verdict(bytes.substr(kLengthBytes + kDigestBytes, length))));
  } catch (const WireError&) {
    return false;
  }
  bytes.remove_prefix(end + kCheckBytes);
  return true;
}

/// The content of a file; empty if it cannot be read.
std::string content_of(int file) {
  std::string text;
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return text;
  text.resize(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = read(file, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

std::string prefix_of(const JournalPlace& place) {
  return "." + place.stem + ".grading-" + hex(place.key).substr(0, kKeyDigits) + "-";
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Digest journal_key(const Exercise& exercise, const GraderOptions& options,
                   const std::string& program) {
  WorkOrder order;
  order.id = exercise.id;
  order.files = exercise.files;
  order.seed = options.seed;
  order.explain = options.explain;
  order.milliseconds = options.milliseconds;
  order.bytes = options.bytes;
  return sha256(std::string(kHeader) + program + encode(order));
}

bool Journal::open_next() {
  while (next_folder_ < place_.folders.size()) {
    const std::string& folder = place_.folders[next_folder_++];
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    const std::string path = folder + "/" + prefix_of(place_) + std::to_string(getpid());
    system::Descriptor file(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file && errno == EEXIST) {  // an ended process had the same number
      file = system::Descriptor(
          open((path + "x").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (file) paths_.push_back(path + "x");
    } else if (file) {
      paths_.push_back(path);
    }
    if (file && flock(*file, LOCK_EX | LOCK_NB) == 0 && write_all(*file, kHeader)) {
      file_ = std::move(file);
      size_ = static_cast<std::int64_t>(kHeader.size());
      return true;
    }
    error_ = std::strerror(errno);
  }
  return false;
}

void Journal::add(const Digest& text, const Verdict& verdict) {
  if (!problem_.empty()) return;
  const std::string record = record_of(text, verdict);
  while (file_ || open_next()) {
    if (write_all(*file_, record)) {
      size_ += static_cast<std::int64_t>(record.size());
      return;
    }
    error_ = std::strerror(errno);
    // Readers ignore an incomplete record anyway.
    if (ftruncate(*file_, size_) != 0) error_ = std::strerror(errno);
    full_.push_back(std::move(file_));
  }
  problem_ = error_.empty() ? "there is no folder for it" : error_;
}

void Journal::remove() {
  file_.close();
  full_.clear();
  for (const std::string& path : paths_) unlink(path.c_str());
  paths_.clear();
}

JournalFindings find_journals(const JournalPlace& place) {
  JournalFindings found;
  const std::string prefix = prefix_of(place);
  for (const std::string& folder : place.folders) {
    std::error_code code;
    std::vector<std::string> paths;
    for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end;
         at.increment(code)) {
      if (at->path().filename().string().starts_with(prefix)) paths.push_back(at->path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      const system::Descriptor file(
          open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (!file) continue;
      const std::string content = content_of(*file);
      std::string_view rest = content;
      if (rest.starts_with(kHeader)) {
        rest.remove_prefix(kHeader.size());
        while (take_record(rest, found.verdicts)) {
        }
      }
      if (flock(*file, LOCK_EX | LOCK_NB) == 0) found.abandoned.push_back(path);
    }
  }
  return found;
}

}  // namespace flashlab::exercises
