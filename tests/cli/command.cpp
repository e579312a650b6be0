#include "tests/cli/command.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

namespace flashlab::test {

Workplace::Workplace() {
  std::string pattern = (std::filesystem::temp_directory_path() / "flashlab-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  folder_ = pattern;
}

Workplace::~Workplace() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Workplace::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string Workplace::read(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Outcome Workplace::shell(const std::string& line) const {
  write("script", "cd '" + folder_.string() + "'\nunset LC_ALL LC_CTYPE NO_COLOR COLUMNS\n" +
                      "export LANG=C TERM=xterm\nflashlab() { '" + FLASHLAB_BINARY +
                      "' \"$@\"; }\n" + line + "\n");
  const std::string command = "timeout 60 bash '" + path("script").string() + "' </dev/null >'" +
                              path("stdout").string() + "' 2>'" + path("stderr").string() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read("stdout"), read("stderr")};
}

Outcome flashlab(const std::string& arguments) {
  return Workplace().shell("flashlab " + arguments);
}

nlohmann::json json_of(const Outcome& outcome) {
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(outcome.out);
}

std::size_t widest_line(const std::string& text) {
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
