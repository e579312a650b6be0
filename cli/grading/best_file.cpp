#include "cli/grading/best_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/terminal.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

constexpr std::uintmax_t kMostBestBytes = 1 << 24;

Failure failure(const std::string& path, const std::string& what,
                const std::string& expected = {}) {
  return request_failure("--best '" + printable(path) + "': " + what, expected);
}

/// A lock that only one process can hold. Its file goes with it: who waited for a file that was removed
/// meanwhile waits for the new one.
class Lock {
 public:
  explicit Lock(const std::string& path) : file_(path + ".lock") {
    do {
      if (descriptor_ >= 0) close(descriptor_);
      descriptor_ = open(file_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
      if (descriptor_ < 0)
        throw failure(path, std::string("no lock file: ") + std::strerror(errno));
      while (flock(descriptor_, LOCK_EX) != 0) {
        if (errno == EINTR) continue;
        close(descriptor_);
        throw failure(path, std::string("it cannot be locked: ") + std::strerror(errno));
      }
    } while (!is_still_there());
  }
  ~Lock() {
    unlink(file_.c_str());
    close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  bool is_still_there() const {
    struct stat locked {
    }, named{};
    return fstat(descriptor_, &locked) == 0 && lstat(file_.c_str(), &named) == 0 &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
  }

  std::string file_;
  int descriptor_ = -1;
};

/// Returns an empty text if there is no such file.
std::string read_text(const std::string& path) {
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) return {};
  if (!std::filesystem::is_regular_file(status)) throw failure(path, "not a regular file");
  if (std::filesystem::file_size(path, code) > kMostBestBytes)
    throw failure(path, "it is too long");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file && !file.eof()) throw failure(path, "it cannot be read");
  if (!file.is_open())
    throw failure(path, std::string("it cannot be read: ") + std::strerror(errno));
  if (text.empty()) throw failure(path, "it is empty", "remove it to start again");
  return text;
}

}  // namespace

BestEver update_best_file(const std::string& path, const std::string& exercise,
                          const exercises::Size& size, const exercises::Costs& costs) {
  const Lock lock(path);
  const std::string before = read_text(path);
  exercises::BestCosts best;
  if (!before.empty()) {
    auto parsed = exercises::parse_best_costs(before);
    if (!parsed) {
      const toy::Diagnostic& problem = parsed.diagnostics.front();
      throw failure(path, printable(problem.what), problem.expected);
    }
    best = std::move(*parsed);
  }
  BestEver result;
  const auto known = best.by_exercise.find(exercise);
  if (!costs.empty() && known != best.by_exercise.end() && !known->second.empty() &&
      !known->second.contains(exercises::to_string(size))) {
    result.note = "--best '" + printable(path) + "': the costs of " + exercise + " in it are at " +
                  printable(known->second.begin()->first) + ", as another seed draws it; at " +
                  exercises::to_string(size) + " they start over";
  }
  result.costs = best.merge(exercise, size, costs);
  const std::string after = to_json(best);
  if (after != before) write_file(path, [&](std::ostream& out) { out << after; });
  return result;
}

}  // namespace flashlab::cli
