#include "tests/cli/command.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

namespace flashlab::test {
namespace {

constexpr const char* kPreamble =
    "unset LC_ALL LC_CTYPE NO_COLOR FORCE_COLOR CLICOLOR_FORCE CLICOLOR COLUMNS\nexport LANG=C "
    "TERM=xterm\n";
constexpr std::chrono::seconds kLongest{30};
constexpr std::chrono::milliseconds kPause{20}, kUntilItWorks{300};

/// Whether a process is the command already, and no longer a shell, and has a handler for SIGINT.
bool handles_interrupts(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  std::error_code error;
  const auto program = std::filesystem::read_symlink(folder + "/exe", error);
  if (error || !std::filesystem::equivalent(program, FLASHLAB_BINARY, error)) return false;
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    const auto caught = std::stoull(line.substr(line.find_first_not_of(" \t", 7)), nullptr, 16);
    return (caught >> (SIGINT - 1) & 1) == 1;
  }
  return false;
}

}  // namespace

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
  write("script", kPreamble + ("cd '" + folder_.string() +
                               "'\nexport XDG_STATE_HOME=\"$PWD/.state\"\nflashlab() { '" +
                               FLASHLAB_BINARY + "' \"$@\"; }\n" + line + "\n"));
#ifdef FLASHLAB_HAS_ADDRESS_SANITIZER
  const std::string seconds = "900";
#else
  const std::string seconds = "60";
#endif
  const std::string command = "timeout " + seconds + " bash '" + path("script").string() +
                              "' </dev/null >'" + path("stdout").string() + "' 2>'" +
                              path("stderr").string() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read("stdout"), read("stderr")};
}

int Workplace::code_after_interrupt(const std::string& line) const {
  std::string command = line;
  const std::string name = "flashlab", binary = "'" FLASHLAB_BINARY "'";
  command.replace(command.find("exec " + name) + 5, name.size(), binary);
  write("script", kPreamble + ("cd '" + folder_.string() + "'\n" + command +
                               " </dev/null >/dev/null 2>&1\n"));
  const std::string script = path("script").string();
  const pid_t process = fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    execlp("bash", "bash", script.c_str(), nullptr);
    _exit(127);
  }
  const auto end = std::chrono::steady_clock::now() + kLongest;
  bool handled = false;
  while (!handled && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kPause);
    handled = handles_interrupts(process);
  }
  std::this_thread::sleep_for(kUntilItWorks);
  kill(process, handled ? SIGINT : SIGKILL);
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(process, &status, WNOHANG)) == 0 &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kPause);
  }
  if (ended == 0) {
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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
