#include "exercises/grader/submission/submission_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "text/encoding.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostNotes = 8;               // for one student
constexpr std::size_t kMostFolderEntries = 1000;    // for one student
constexpr std::int64_t kMostAnswerBytes = 1 << 16;  // of an answer file
constexpr int kCautious = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// An open file. Closes it at the end of the scope.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int operator*() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

struct Entry {
  std::string name;
  mode_t mode = 0;  // 0: it no longer exists
};

/// The entries of an open folder in bytewise order, at most `most`. Nothing: it cannot be listed.
std::optional<std::vector<Entry>> entries_of(int folder, std::size_t most) {
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(own < 0 ? nullptr : fdopendir(own), closedir);
  if (stream == nullptr) return std::nullopt;
  std::vector<Entry> all;
  while (const dirent* found = readdir(stream.get())) {
    Entry entry{found->d_name, 0};
    if (entry.name == "." || entry.name == "..") continue;
    struct stat status {};
    if (fstatat(folder, found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
      entry.mode = status.st_mode;
    }
    all.push_back(std::move(entry));
    if (all.size() > most) break;
  }
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return all;
}

std::string kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link, which is not followed";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISDIR(mode)) return "a folder";
  return "not a regular file";
}

/// Returns ".toy" for "anna.TOY".
std::string ending_of(const std::string& name) {
  constexpr std::size_t kLength = 4;
  std::string ending = name.substr(name.size() - std::min(name.size(), kLength));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return ending;
}

/// The name without its ending, if the ending is that of a submission.
std::optional<std::string> stem_of(const std::string& name) {
  const std::string ending = ending_of(name);
  if (name.size() <= ending.size()) return std::nullopt;
  if (ending != ".toy" && ending != ".txt") return std::nullopt;
  return name.substr(0, name.size() - ending.size());
}

/// Two names for a student. The stem is used if it is unambiguous, otherwise the whole name.
struct Naming {
  std::string stem, whole;
};

/// Uses a stem if it differs from every other stem and whole name, otherwise the whole name. Whole
/// names differ from each other, so no two students share a name.
void give_names(const std::vector<Naming>& namings, std::vector<Submission>& students) {
  std::map<std::string, std::size_t> stems;
  std::set<std::string> wholes;
  for (const Naming& naming : namings) ++stems[naming.stem], wholes.insert(naming.whole);
  for (std::size_t i = 0; i < namings.size(); ++i) {
    const auto& [stem, whole] = namings[i];
    const bool clear = stems[stem] == 1 && (stem == whole || !wholes.contains(stem));
    students[i].name = visible_name(clear ? stem : whole);
  }
}

SubmissionText no_text(Outcome outcome, std::string problem) {
  SubmissionText result;
  result.outcome = outcome;
  result.problem = std::move(problem);
  return result;
}

SubmissionText unreadable_file(std::string problem) {
  return no_text(Outcome::kUnreadable, std::move(problem));
}

std::int64_t most_bytes(const Exercise& exercise) {
  return exercise.kind == Kind::kProgram ? exercise.program.limits.max_source_bytes
                                         : kMostAnswerBytes;
}

SubmissionText too_long(std::int64_t most) {
  return no_text(Outcome::kLimit,
                 "the submission is longer than " + std::to_string(most) + " bytes");
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// Reads an open file that is known to be a regular file.
SubmissionText read_open(int file, const struct stat& before, const Exercise& exercise) {
  const std::int64_t most = most_bytes(exercise);
  if (before.st_size > most) return too_long(most);
  std::string text;
  std::array<char, 1 << 14> part{};
  for (;;) {
    const ssize_t got = read(file, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable_file(std::string("it cannot be read: ") + std::strerror(errno));
    if (got == 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
    if (static_cast<std::int64_t>(text.size()) > most) return too_long(most);
  }
  struct stat after {};
  const bool same = fstat(file, &after) == 0 && same_file(before, after);
  if (!same || static_cast<std::int64_t>(text.size()) != before.st_size) {
    return unreadable_file("the file changed while it was read; hand it in again");
  }
  return check_submission_text(std::move(text), exercise);
}

SubmissionText read_at(int folder, const std::string& name, const Exercise& exercise) {
  const File file(openat(folder, name.c_str(), kCautious));
  if (!file) {
    if (errno == ELOOP || errno == EMLINK) return unreadable_file("it is " + kind_of(S_IFLNK));
    if (errno == ENXIO) return unreadable_file("it is " + kind_of(S_IFSOCK));
    return unreadable_file(std::string("it cannot be opened: ") + std::strerror(errno));
  }
  struct stat status {};
  if (fstat(*file, &status) != 0) return unreadable_file("it cannot be examined");
  if (!S_ISREG(status.st_mode)) return unreadable_file("it is " + kind_of(status.st_mode));
  return read_open(*file, status, exercise);
}

void add_note(std::vector<std::string>& notes, std::string note) {
  if (notes.size() < kMostNotes) notes.push_back(std::move(note));
}

/// The candidates with the work file's ending, if there are any: a .txt beside a program
/// is a readme.
std::vector<std::string> likeliest(const std::vector<std::string>& candidates,
                                   const std::string& work_file, SubmissionText& result) {
  std::vector<std::string> alike, others;
  for (const std::string& name : candidates) {
    (ending_of(name) == ending_of(work_file) ? alike : others).push_back(name);
  }
  if (alike.empty()) return others;
  for (const std::string& name : others) {
    add_note(result.notes, "skipped: '" + visible_name(name) + "' lies beside a " +
                               ending_of(work_file) + " file");
  }
  return alike;
}

/// The entry of a student's folder that is the submission. Sets `problem` if there is none.
std::optional<std::string> choose(const std::vector<Entry>& entries, const std::string& work_file,
                                  SubmissionText& result) {
  std::vector<std::string> candidates;
  for (const Entry& entry : entries) {
    const std::string shown = "'" + visible_name(entry.name) + "'";
    if (entry.name == work_file) return entry.name;
    if (is_hidden_entry(entry.name)) {
      add_note(result.notes, "skipped: " + shown + " is hidden");
    } else if (S_ISDIR(entry.mode)) {
      add_note(result.notes, "skipped: " + shown + " is a folder inside a student's folder");
    } else if (stem_of(entry.name)) {
      candidates.push_back(entry.name);
    }
  }
  candidates = likeliest(candidates, work_file, result);
  if (candidates.size() == 1) return candidates.front();
  result.problem = candidates.empty()
                       ? "the folder holds no .toy or .txt file"
                       : "the folder holds " + std::to_string(candidates.size()) +
                             " possible files; the one to grade must be called " + work_file;
  return std::nullopt;
}

SubmissionText read_folder(int folder, const Exercise& exercise) {
  const auto entries = entries_of(folder, kMostFolderEntries);
  if (!entries) return unreadable_file("its folder cannot be listed");
  if (entries->size() > kMostFolderEntries) {
    return no_text(Outcome::kLimit,
                   "its folder holds more than " + std::to_string(kMostFolderEntries) + " entries");
  }
  SubmissionText result;
  const auto chosen = choose(*entries, exercise.work_file(), result);
  if (!chosen) return result;
  SubmissionText read = read_at(folder, *chosen, exercise);
  read.notes = std::move(result.notes);
  return read;
}

}  // namespace

bool is_hidden_entry(std::string_view name) {
  constexpr std::array<std::string_view, 8> kAdded{
      "__MACOSX",   "@eaDir",      "#recycle",    "$RECYCLE.BIN", "System Volume Information",
      "lost+found", "__pycache__", "node_modules"};
  return name.starts_with('.') || std::ranges::find(kAdded, name) != kAdded.end();
}

ClassFolder list_class(const std::string& folder) {
  const auto fail = [&](const std::string& why) {
    return std::runtime_error("the folder '" + visible_name(folder) + "' cannot be listed: " + why);
  };
  const File opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) throw fail(std::strerror(errno));
  const auto entries = entries_of(*opened, std::string::npos);
  if (!entries) throw fail(std::strerror(errno));
  ClassFolder result;
  std::vector<Naming> namings;
  for (const Entry& entry : *entries) {
    const auto stem = stem_of(entry.name);
    if (is_hidden_entry(entry.name)) {
      result.skipped.push_back({visible_name(entry.name), "it is hidden"});
    } else if (S_ISREG(entry.mode) && !stem) {
      result.skipped.push_back({visible_name(entry.name), "it is not a .toy or .txt file"});
    } else {
      const bool is_folder = S_ISDIR(entry.mode);
      namings.push_back({is_folder ? entry.name : stem.value_or(entry.name),
                         entry.name + (is_folder ? "/" : "")});
      result.students.push_back({{}, folder + "/" + entry.name});
    }
  }
  give_names(namings, result.students);
  return result;
}

std::vector<Submission> list_paths(const std::vector<std::string>& paths) {
  std::vector<Submission> students;
  std::vector<Naming> namings;
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  for (const std::string& path : paths) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) {
      throw std::runtime_error("'" + visible_name(path) +
                               "' cannot be read: " + std::strerror(errno));
    }
    const auto [first, is_new] = seen.emplace(std::pair(status.st_dev, status.st_ino), path);
    if (!is_new) {
      throw std::runtime_error(
          "'" + visible_name(path) + "' is given twice" +
          (first->second == path ? "" : ": it is '" + visible_name(first->second) + "'"));
    }
    std::string_view name = path;
    while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
    name.remove_prefix(std::min(name.rfind('/') + 1, name.size() - 1));
    namings.push_back({stem_of(std::string(name)).value_or(std::string(name)), path});
    students.push_back({{}, path});
  }
  give_names(namings, students);
  return students;
}

SubmissionText read_submission_file(const std::string& path, const Exercise& exercise) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    return unreadable_file(std::string("it cannot be examined: ") + std::strerror(errno));
  }
  if (!S_ISDIR(status.st_mode)) return read_at(AT_FDCWD, path, exercise);
  const File folder(open(path.c_str(), kCautious | O_DIRECTORY));
  if (!folder)
    return unreadable_file(std::string("its folder cannot be opened: ") + std::strerror(errno));
  return read_folder(*folder, exercise);
}

SubmissionText check_submission_text(std::string text, const Exercise& exercise) {
  if (static_cast<std::int64_t>(text.size()) > most_bytes(exercise)) {
    return too_long(most_bytes(exercise));
  }
  if (const std::string_view other = other_encoding(text); !other.empty()) {
    return no_text(Outcome::kRejected,
                   "this is text in " + std::string(other) + " (save the program as UTF-8)");
  }
  if (const auto odd = find_odd_character(text); odd && odd->is_nul) {
    return no_text(Outcome::kRejected,
                   "this is not text: it has NUL bytes (save the program as UTF-8)");
  }
  SubmissionText result;
  result.readable = true;
  result.text = std::move(text);
  return result;
}

}  // namespace flashlab::exercises
