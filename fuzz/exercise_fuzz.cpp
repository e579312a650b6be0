// Reads any folder as an exercise, or expects printable messages. The bytes are a folder's files,
// one after another, each after a line "=== NAME". Bytes before the first such line are
// exercise.toml. Missing files are those of the template.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "text/visible.hpp"

using namespace flashlab::exercises;

namespace {

void expect(bool good, const char* claim, std::string_view details) {
  if (good) return;
  std::cerr << "not true: " << claim << '\n' << details << std::endl;
  std::abort();
}

Files split(std::string_view bytes) {
  Files files = template_exercise().files;
  std::string name = "exercise.toml", text;
  const auto put = [&] {
    if (!text.empty()) files[name] = text;
    text.clear();
  };
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end);
    if (line.starts_with("=== ") && line.size() > 5) {
      put();
      name = line.substr(4, line.size() - 5);
    } else {
      text += line;
    }
  }
  put();
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Files files = split({reinterpret_cast<const char*>(data), size});
  const ReadResult read = read_exercise("fuzz", files);
  const std::string messages = format(read.errors, files);
  if (!read.exercise) {
    expect(!read.errors.empty() && !messages.empty(), "a refusal has a reason", "");
    return 0;
  }
  const Exercise& exercise = *read.exercise;
  expect(read.errors.empty(), "what is read has no errors", messages);
  expect(!flashlab::first_unprintable(exercise.title) && !exercise.title.empty(),
         "a title can be shown", exercise.title);
  expect(!exercise.starter().empty(), "there is something to begin with", exercise.title);
  expect(exercise.hints.size() == kHintLevels, "there are four hints", exercise.title);
  return 0;
}
