#include "cli/terminal/command_lines.hpp"

#include <algorithm>
#include <sstream>

#include "text/width.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kCommand = "flashlab ";

/// Where a command begins that ends with the line; npos: there is none.
std::size_t start_of_command(const std::string& line) {
  const std::size_t at = line.rfind(kCommand);
  const bool is_word = at != std::string::npos && (at == 0 || line[at - 1] == ' ');
  return is_word ? at : std::string::npos;
}

std::string lines_of_command(const std::string& command, std::size_t indent, std::size_t width) {
  constexpr std::size_t kGoesOn = 2;  // further to the right, and the columns of " \"
  std::istringstream words(command);
  std::string text, line(indent, ' ');
  bool is_first = true;
  for (std::string word; words >> word;) {
    const std::size_t needed = display_width(line) + 1 + display_width(word) + kGoesOn;
    if (!is_first && needed > width) {
      text += line + " \\\n";
      line = std::string(indent + kGoesOn, ' ') + word;
    } else {
      line += (is_first ? "" : " ") + word;
    }
    is_first = false;
  }
  return text + line + "\n";
}

}  // namespace

std::string fitted_lines(const std::string& text, const Terminal& terminal) {
  std::istringstream lines(text);
  std::string fitted;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t command = start_of_command(line);
    if (display_width(line) <= terminal.width) {
      fitted += line + "\n";
    } else if (command == std::string::npos) {
      fitted += wrapped(line, terminal.width);
    } else {
      std::size_t indent = std::min(line.find_first_not_of(' '), command);
      const std::size_t end = line.find_last_not_of(' ', command - (command > 0 ? 1 : 0));
      if (command > indent) {
        fitted += wrapped(line.substr(0, end + 1), terminal.width);
        indent += 2;
      }
      fitted += lines_of_command(line.substr(command), indent, terminal.width);
    }
  }
  return fitted;
}

}  // namespace flashlab::cli
