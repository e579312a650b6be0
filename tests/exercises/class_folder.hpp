// A folder of submissions for tests, and an exercise to grade them by.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/classroom.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/report/reports.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {

/// An empty folder that goes away with the object.
class ClassFolderOnDisk {
 public:
  ClassFolderOnDisk() {
    std::string pattern = (std::filesystem::temp_directory_path() / "flashlab-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~ClassFolderOnDisk() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ClassFolderOnDisk(const ClassFolderOnDisk&) = delete;
  ClassFolderOnDisk& operator=(const ClassFolderOnDisk&) = delete;

  const std::string& path() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream file(path(name), std::ios::binary);
    REQUIRE(file);
    file << text;
  }

 private:
  std::string folder_;
};

/// The template: a dot product in 3 registers, at n = 1, 2, 5, 16.
inline std::shared_ptr<const exercises::Exercise> dot_product(const exercises::Files& files = {}) {
  exercises::Files all = exercises::template_exercise().files;
  for (const auto& [name, text] : files) all[name] = text;
  exercises::ReadResult read = exercises::read_exercise("01_dot", all);
  INFO(exercises::format(read.errors, all));
  REQUIRE(read.exercise);
  return std::make_shared<const exercises::Exercise>(std::move(*read.exercise));
}

inline std::string dot_solution() {
  return exercises::template_exercise().files.at("solution.toy");
}
inline std::string dot_mistake() {
  return exercises::template_exercise().files.at("wrong/forgets_the_last.toy");
}
/// Right, with a load too many for each element.
inline std::string dot_costly() {
  std::string text = dot_solution();
  const std::string line = "  LOAD y[i], R1\n";
  return text.insert(text.find(line), line);
}

/// A class's verdicts by the students' names.
inline exercises::StudentResult result_of(const std::vector<exercises::StudentResult>& results,
                                          const std::string& name) {
  for (const exercises::StudentResult& result : results) {
    if (result.name == name) return result;
  }
  FAIL("there is no student " << name);
  return {};
}

/// What one of the writers in reports.hpp makes of a report.
template <class Writer>
std::string written(Writer writer, const exercises::ClassReport& report) {
  std::ostringstream out;
  writer(out, report);
  return out.str();
}

}  // namespace flashlab::test
