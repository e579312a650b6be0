#include "cli/options/output_files.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40, kDeepestFolder = 5;
constexpr std::size_t kMostEntries = 100'000;

bool is_output(const NamedFile& file) {
  return file.role == FileRole::kOutput || file.role == FileRole::kProgramOutput;
}

/// A file or a folder, of whatever name: an existing one is its device and number there, another one its
/// path without links.
struct Identity {
  std::optional<std::pair<dev_t, ino_t>> number;
  fs::path path;
  bool is_folder = false, is_device = false, has_other_names = false;

  explicit Identity(const std::string& name) {
    std::error_code code;
    // A link to a file that does not exist would be followed when that is written.
    fs::path at = fs::absolute(name, code);
    for (int i = 0; i < kMostLinks && fs::is_symlink(at, code); ++i) {
      const fs::path target = fs::read_symlink(at, code);
      at = target.is_absolute() ? target : at.parent_path() / target;
    }
    path = fs::weakly_canonical(at, code);
    if (code) path = at.lexically_normal();
    struct stat status {};
    if (stat(at.c_str(), &status) != 0) return;
    number = {status.st_dev, status.st_ino};
    is_folder = S_ISDIR(status.st_mode);
    is_device = !is_folder && !S_ISREG(status.st_mode);  // /dev/null, a pipe: nothing is lost
    has_other_names = S_ISREG(status.st_mode) && status.st_nlink > 1;
  }

  friend bool operator==(const Identity& a, const Identity& b) {
    return a.number && b.number ? a.number == b.number : a.path == b.path;
  }
};

/// Whether the name is of something that a learner or a teacher wrote.
bool is_source(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".toy" || ending == ".txt" || ending == ".toml";
}

/// Whether a file is a submission or an exercise somewhere in the folder, perhaps by another name.
bool is_source_in(const Identity& folder, const Identity& file) {
  const auto [end, rest] =
      std::mismatch(folder.path.begin(), folder.path.end(), file.path.begin(), file.path.end());
  if (end == folder.path.end() && rest != file.path.end()) return is_source(file.path);
  if (!file.has_other_names) return false;
  std::error_code code;
  fs::recursive_directory_iterator at(folder.path, code);
  for (std::size_t seen = 0;
       !code && at != fs::recursive_directory_iterator() && seen < kMostEntries;
       at.increment(code), ++seen) {
    if (at.depth() > kDeepestFolder) at.pop();
    if (at == fs::recursive_directory_iterator()) break;
    struct stat status {};
    if (is_source(at->path()) && stat(at->path().c_str(), &status) == 0 &&
        std::pair(status.st_dev, status.st_ino) == file.number) {
      return true;
    }
  }
  return false;
}

std::string described(const NamedFile& file) { return file.flag + " " + in_quotes(file.name); }

void check_against_inputs(const NamedFile& output, const Identity& written,
                          const std::vector<NamedFile>& files) {
  for (const NamedFile& input : files) {
    if (is_output(input) || input.name.empty() || input.name == "-") continue;
    const Identity read(input.name);
    if (!read.number) continue;  // a bundled program, an exercise's name, or an error that follows
    if (read.is_folder ? is_source_in(read, written) : read == written) {
      throw request_failure(described(output) + " would replace " +
                                (read.is_folder ? "a file of " : "") + in_quotes(input.name) +
                                ", which this command reads",
                            "another file");
    }
  }
}

}  // namespace

void check_files(const std::vector<NamedFile>& files) {
  std::vector<std::pair<const NamedFile*, Identity>> outputs;
  const NamedFile* to_standard_output = nullptr;
  for (const NamedFile& file : files) {
    if (!is_output(file)) continue;
    if (file.name.empty()) {  // as an unset variable of a script leaves it
      throw request_failure(file.flag + " has an empty name", "a file's name");
    }
    if (file.name == "-") {
      if (to_standard_output != nullptr) {
        throw request_failure(file.flag + " and " + to_standard_output->flag +
                              " both write to standard output (-)");
      }
      to_standard_output = &file;
      continue;
    }
    Identity written(file.name);
    if (written.is_device) continue;
    for (const auto& [other, known] : outputs) {
      if (known == written) {
        throw request_failure(
            other->flag + " and " + file.flag + " both name " + in_quotes(file.name),
            "a file for each");
      }
    }
    check_against_inputs(file, written, files);
    if (file.role == FileRole::kOutput && written.number && !written.is_folder &&
        written.path.extension() == ".toy") {
      throw request_failure(described(file) + " would replace a program", "a file of another name");
    }
    outputs.emplace_back(&file, std::move(written));
  }
}

}  // namespace flashlab::cli
