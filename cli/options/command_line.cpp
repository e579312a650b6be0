#include "cli/options/command_line.hpp"

namespace flashlab::cli {
namespace {

std::string& stored() {
  static std::string line;
  return line;
}

std::string& stored_call() {
  static std::string call;
  return call;
}

std::string quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./%@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace

const std::string& command_line() { return stored(); }

void set_command_line(int argc, char** argv) {
  stored() = "flashlab";
  stored_call() = argc > 0 ? argv[0] : "";
  for (int k = 1; k < argc; ++k) stored() += " " + quoted(argv[k]);
}

const std::string& called_as() { return stored_call(); }

}  // namespace flashlab::cli
