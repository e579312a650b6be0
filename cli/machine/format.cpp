// `flashlab format`: formats programs.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "text/utf8.hpp"
#include "text/visible.hpp"
#include "toymachine/language/formatting.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::cli {
namespace {

struct FormatFlags {
  std::vector<std::string> files;
  bool check = false;
};

/// Throws Failure, naming the line, if this is no text in UTF-8.
void require_text(const std::string& file, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    if (!point.valid || point.code == 0) {
      throw request_failure(
          printable(file) + ", line " +
              std::to_string(1 + std::count(text.begin(), text.begin() + at, '\n')) +
              ": a byte that is no text",
          "a program in UTF-8");
    }
    at += point.bytes;
  }
}

/// Returns the exit code: 1 if it only checks, and the file is not formatted.
int format_file(const std::string& file, bool checks) {
  const std::string text =
      read_text_file(file, toy::Limits{}.max_source_bytes, "a program such as sum.toy");
  require_text(file, text);
  const std::string formatted = toy::formatted(toy::SourceText(file, text));
  std::error_code code;
  const bool is_file = file != "-" && std::filesystem::is_regular_file(file, code);
  if (!is_file && !checks) {  // a pipe, too, is not written
    std::cout << formatted;
    return kExitGood;
  }
  if (formatted == text) return kExitGood;
  if (checks) {
    std::cout << printable(file) << " is not formatted\n";
    return kExitProgramWrong;
  }
  write_file(file, [&](std::ostream& stream) { stream << formatted; });
  std::cout << "Formatted " << printable(file) << "\n";
  return kExitGood;
}

int format_files(const FormatFlags& options) {
  int code = kExitGood;
  std::vector<Failure> failures;  // one file's does not keep the others from being formatted
  for (const std::string& file : options.files) {
    try {
      code = std::max(code, format_file(file, options.check));
    } catch (const Failure& failure) {
      failures.push_back(failure);
    }
  }
  if (failures.empty()) return code;
  std::cout.flush();
  for (std::size_t i = 0; i + 1 < failures.size(); ++i) std::cerr << failures[i].what();
  throw Failure(failures.back());
}

}  // namespace

CommandAction add_format(CLI::App& app) {
  auto options = std::make_shared<FormatFlags>();
  CLI::App& command = add_command(
      app, "format", "Formats programs: indentation and spaces",
      "  flashlab format mine.toy       rewrites the file\n"
      "  flashlab format --check *.toy  names files that are not formatted: exit code 1\n"
      "  flashlab format - < mine.toy   prints the formatted text\n"
      "\nOnly whitespace changes. Comments and the columns of declarations stay.\n");
  add_option(command, "files", options->files, "programs, or - for standard input")
      .required()
      .file(FileRole::kInput)
      .type_name("FILE ...");
  add_flag(command, "--check", options->check, "write nothing");
  return [options] { return format_files(*options); };
}

}  // namespace flashlab::cli
