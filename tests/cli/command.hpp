// Runs the built command as a user would, from a shell, in an empty folder of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// An empty folder that goes away with the object; commands run in it.
class Workplace {
 public:
  Workplace() {
    std::string pattern = (std::filesystem::temp_directory_path() / "flashlab-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  /// A line of shell in which `flashlab` is the command under test. The locale is C unless the line
  /// sets another, so that output is ASCII.
  Outcome shell(const std::string& line) const {
    write("script", "cd '" + folder_.string() + "'\nunset LC_ALL LC_CTYPE NO_COLOR COLUMNS\n" +
                        "export LANG=C TERM=xterm\nflashlab() { '" + FLASHLAB_BINARY +
                        "' \"$@\"; }\n" + line + "\n");
    const std::string command = "timeout 60 bash '" + path("script").string() + "' </dev/null >'" +
                                path("stdout").string() + "' 2>'" + path("stderr").string() + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read("stdout"), read("stderr")};
  }

 private:
  std::filesystem::path folder_;
};

inline Outcome flashlab(const std::string& arguments) {
  return Workplace().shell("flashlab " + arguments);
}

inline nlohmann::json json_of(const Outcome& outcome) {
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(outcome.out);
}

inline std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0, columns = 0;
  for (const char c : text) {
    if (c == '\n')
      columns = 0;
    else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
      widest = std::max(widest, ++columns);
  }
  return widest;
}

}  // namespace flashlab::test
