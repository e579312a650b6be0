#include "cli/grading/kept_seed.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/terminal/failure.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/read_number.hpp"
#include "text/sha256.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSeedHeader = "flashlab class seed 1";
constexpr std::size_t kMostSeedBytes = 1 << 14;  // a path and three lines

Failure damaged_seed_file(const std::string& path, std::size_t line, const std::string& what) {
  return request_failure("the seed that is kept for this class is damaged: " + printable(path) +
                             ":" + std::to_string(line) + ": " + what,
                         "the file as it was, or no file and --seed N");
}

bool is_names_key(const std::string& text) {
  return text.size() == kNamesKeyDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The rest of a line "KEY VALUE"; throws if it has another key.
std::string value_of(const std::string& path, std::size_t number, const std::string& line,
                     const std::string& key) {
  if (line.starts_with(key + " ")) return line.substr(key.size() + 1);
  throw damaged_seed_file(path, number, "there is no '" + key + "'");
}

}  // namespace

std::string state_folder() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/flashlab";
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/flashlab";
  return {};
}

std::string seed_text(std::uint64_t seed) {
  constexpr std::uint64_t kExactInSpreadsheets = 1'000'000'000'000'000;
  if (seed < kExactInSpreadsheets) return std::to_string(seed);
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), seed, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::optional<std::uint64_t> parse_seed(const std::string& text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = std::string_view(text).substr(hexadecimal ? 2 : 0);
  std::uint64_t seed = 0;
  const auto [end, code] = read_number(digits, seed, hexadecimal ? 16 : 10);
  const bool is_whole = code == std::errc() && end == digits.data() + digits.size();
  if (!is_whole || seed > INT64_MAX) return std::nullopt;
  return seed;
}

KeptSeedFile::KeptSeedFile(const std::string& class_path) : class_path_(class_path) {
  const std::string folder = state_folder();
  if (folder.empty()) {
    problem_ = "there is no home folder";
    return;
  }
  constexpr std::size_t kDigits = 16;
  path_ = folder + "/classes/" +
          exercises::safe_file_name(fs::path(class_path).filename().string()) + "-" +
          hex(sha256(class_path)).substr(0, kDigits);
}

std::optional<KeptSeed> KeptSeedFile::read() const {
  std::error_code code;
  if (path_.empty() || !fs::exists(fs::status(path_, code))) return std::nullopt;
  std::ifstream file(path_, std::ios::binary);
  std::array<std::string, 4> lines;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_there = !std::getline(file, lines[i]).fail();
    bytes += lines[i].size();
    if (!is_there || bytes > kMostSeedBytes) {
      throw damaged_seed_file(path_, i + 1, file ? "the line is too long" : "the line is missing");
    }
  }
  if (lines[0] != kSeedHeader) throw damaged_seed_file(path_, 1, "it has another format");
  value_of(path_, 2, lines[1], "class");
  const auto seed = parse_seed(value_of(path_, 3, lines[2], "seed"));
  if (!seed) throw damaged_seed_file(path_, 3, "this is not a seed");
  KeptSeed kept{*seed, value_of(path_, 4, lines[3], "names")};
  if (!is_names_key(kept.names_key)) throw damaged_seed_file(path_, 4, "this is not a key");
  return kept;
}

/// Writes a file beside the kept one, and returns its path; empty after a failure.
std::string KeptSeedFile::written(const KeptSeed& kept) {
  if (path_.empty()) return {};
  const std::string path = path_ + ".new-" + std::to_string(getpid());
  std::error_code code;
  fs::create_directories(fs::path(path_).parent_path(), code);
  unlink(path.c_str());  // of an ended process with the same number
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const std::string text = std::string(kSeedHeader) + "\nclass " + printable(class_path_) +
                           "\nseed " + seed_text(kept.seed) + "\nnames " + kept.names_key + "\n";
  const auto size = static_cast<ssize_t>(text.size());
  bool is_whole = file >= 0 && write(file, text.data(), text.size()) == size;
  if (!is_whole) problem_ = printable(path_) + ": " + std::strerror(errno);
  if (file >= 0 && close(file) != 0 && is_whole) {
    problem_ = printable(path_) + ": " + std::strerror(errno);
    is_whole = false;
  }
  if (is_whole) return path;
  if (file >= 0) unlink(path.c_str());
  return {};
}

KeptSeed KeptSeedFile::keep_first(const KeptSeed& drawn) {
  const std::string path = written(drawn);
  if (path.empty()) return drawn;
  const bool is_first = link(path.c_str(), path_.c_str()) == 0;
  const int error = errno;
  unlink(path.c_str());
  if (is_first) return drawn;
  if (error == EEXIST) return read().value_or(drawn);
  replace(drawn);  // a file system without links
  return drawn;
}

void KeptSeedFile::replace(const KeptSeed& by) {
  const std::string path = written(by);
  if (path.empty() || rename(path.c_str(), path_.c_str()) == 0) return;
  problem_ = printable(path_) + ": " + std::strerror(errno);
  unlink(path.c_str());
}

}  // namespace flashlab::cli
