#include "exercises/grader/submission/student_files.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <system_error>

#include "exercises/grader/submission/submission_file.hpp"

namespace flashlab::exercises {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostStudentFiles = 100'000;
constexpr int kDeepestStudentFolder = 4;
constexpr std::size_t kLongestWorkFile = 255;

std::string in_small_letters(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool drop_ending(std::string& name, std::string_view ending) {
  if (name.size() <= ending.size() || !name.ends_with(ending)) return false;
  name.resize(name.size() - ending.size());
  return true;
}

/// The name in small letters without its endings (an editor may add one). Empty if it has no ending
/// of a submission.
std::string plain_stem(std::string_view name) {
  std::string stem = in_small_letters(name);
  bool has_ending = false;
  while (drop_ending(stem, ".toy") || drop_ending(stem, ".txt")) has_ending = true;
  return has_ending ? stem : std::string();
}

/// Without what systems add to the name of a second copy: "x (1)", "x(1)", "x - Copy (2)", "x copy 2",
/// "x-1".
std::string without_copy(const std::string& stem) {
  static const std::regex added(
      R"((\s*\(\d{1,3}\)|\s*-\s*(copy|kopie|copie|copia)(\s*\(\d{1,3}\))?|\s+copy(\s+\d{1,3})?|[-_]\d{1,2})+$)");
  return std::regex_replace(stem, added, "");
}

std::string with_bars(std::string stem) {
  std::replace_if(
      stem.begin(), stem.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return stem;
}

std::string without_leading_zeros(const std::string& stem) {
  const std::size_t first = std::min(stem.find_first_not_of('0'), stem.size());
  return stem.substr(first);
}

bool is_called(const Exercise& exercise, const std::string& stem) {
  const std::string id = with_bars(in_small_letters(exercise.id)), name = with_bars(stem);
  return without_leading_zeros(name) == without_leading_zeros(id) || exercise.answers_to(name);
}

std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The files below a folder, relative to it.
class Walk {
 public:
  Walk(const std::string& folder, StudentFiles& found) : folder_(folder), found_(found) {}

  std::vector<std::string> run() {
    visit("", 0);
    std::sort(files_.begin(), files_.end());
    return std::move(files_);
  }

 private:
  void visit(const std::string& below, int depth) {
    std::error_code code;
    fs::directory_iterator at(folder_ + "/" + below, code);
    if (code) {
      found_.problem = "'" + (below.empty() ? "." : below) + "' cannot be listed";
      return;
    }
    for (; !code && at != fs::directory_iterator(); at.increment(code)) {
      if (++entries_ > kMostStudentFiles) {
        found_.problem =
            "it has more than " + std::to_string(kMostStudentFiles) + " files; the rest is unseen";
        return;
      }
      const std::string name = at->path().filename().string();
      const std::string path = below.empty() ? name : below + "/" + name;
      if (is_hidden_entry(name)) {
        ++found_.hidden;
      } else if (!is_folder(at->path())) {
        files_.push_back(path);
      } else if (depth < kDeepestStudentFolder) {
        visit(path, depth + 1);
      } else {
        found_.problem = "'" + path + "' is too deep to be looked at";
      }
    }
  }

  /// A link to a folder is none, and neither is what cannot be examined.
  static bool is_folder(const fs::path& path) {
    std::error_code code;
    return fs::symlink_status(path, code).type() == fs::file_type::directory;
  }

  const std::string& folder_;
  StudentFiles& found_;
  std::size_t entries_ = 0;
  std::vector<std::string> files_;
};

/// Those with the work file's own ending, if there are any: a .txt beside a program is a readme.
std::vector<std::string> likeliest_files(const std::vector<std::string>& candidates,
                                         const std::string& work_file) {
  std::vector<std::string> alike;
  const std::string ending = work_file.substr(work_file.rfind('.'));
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(alike),
               [&](const std::string& path) { return in_small_letters(path).ends_with(ending); });
  return alike.empty() ? candidates : alike;
}

}  // namespace

bool may_be_work_file(const Exercise& exercise, std::string_view name) {
  if (name.size() > kLongestWorkFile) return false;
  const std::string stem = plain_stem(name);
  if (stem.empty()) return false;
  return is_called(exercise, stem) || is_called(exercise, without_copy(stem));
}

StudentFiles find_student_files(const std::string& folder,
                                const std::vector<const Exercise*>& exercises) {
  StudentFiles found;
  std::vector<std::string> files = Walk(folder, found).run();
  std::vector<std::vector<std::string>> candidates(exercises.size());
  found.parts.resize(exercises.size());
  for (const std::string& path : files) {
    std::vector<std::size_t> meant;
    for (std::size_t part = 0; part < exercises.size(); ++part) {
      if (path == exercises[part]->work_file()) {
        found.parts[part].taken = path;
        found.parts[part].is_exact = true;
        meant.clear();
        break;
      }
      if (may_be_work_file(*exercises[part], name_in(path))) meant.push_back(part);
    }
    if (meant.size() == 1) candidates[meant.front()].push_back(path);
  }
  for (std::size_t part = 0; part < exercises.size(); ++part) {
    PartFiles& files_of_part = found.parts[part];
    if (files_of_part.is_exact) continue;
    std::vector<std::string> likely =
        likeliest_files(candidates[part], exercises[part]->work_file());
    if (likely.size() == 1) {
      files_of_part.taken = std::move(likely.front());
    } else {
      files_of_part.rivals = std::move(likely);
    }
  }
  std::copy_if(files.begin(), files.end(), std::back_inserter(found.others),
               [&](const std::string& path) {
                 return std::none_of(found.parts.begin(), found.parts.end(),
                                     [&](const PartFiles& part) { return part.taken == path; });
               });
  return found;
}

}  // namespace flashlab::exercises
