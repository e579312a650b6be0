#include "cli/terminal/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <span>
#include <system_error>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/terminal.hpp"
#include "cli/terminal/text_input.hpp"
#include "page_program_files.hpp"
#include "text/nearest.hpp"
#include "text/whole_file.hpp"
#include "toymachine/language/library.hpp"

namespace flashlab::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".toy";

void on_signal(int signal) {
  remove_unfinished_file();
  _exit(exit_code_of_signal(signal));
}

thread_local const GivenFiles* given_files = nullptr;

std::vector<BundledProgram> sorted(std::span<const EmbeddedFile> files) {
  std::vector<BundledProgram> all;
  for (const EmbeddedFile& file : files) {
    std::string_view name = file.name;
    if (name.ends_with(kEnding)) name.remove_suffix(kEnding.size());
    all.push_back({name, file.text});
  }
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return all;
}

const BundledProgram* find_by_name(const std::vector<BundledProgram>& all, std::string_view name) {
  if (name.ends_with(kEnding)) name.remove_suffix(kEnding.size());
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const BundledProgram& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Returns the lines of a function that is written in a flag, with ; between them.
std::shared_ptr<const toy::SourceText> score_lines(std::string text) {
  std::replace(text.begin(), text.end(), ';', '\n');
  return std::make_shared<toy::SourceText>("--score", std::move(text));
}

/// Whether the file is a program of the exercise of this number: 08_online_softmax.toy of "8" and of "08".
bool is_of_exercise(const std::string& file, const std::string& number) {
  const auto without_zeros = [](const std::string& digits) {
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
  };
  const std::size_t end = file.find_first_not_of("0123456789");
  return end != std::string::npos && end > 0 && file[end] == '_' &&
         without_zeros(file.substr(0, end)) == without_zeros(number);
}

/// Similar names among bundled programs and programs in the same folder; of a number, the exercise's program.
std::string near_program(const std::string& name) {
  std::vector<std::string> names;
  if (name.find('/') == std::string::npos) {
    for (const BundledProgram& program : bundled_programs()) names.emplace_back(program.name);
  }
  if (given_files != nullptr) {
    for (const auto& [given, text] : given_files->texts()) names.push_back(given);
    return nearest(name, names).value_or("");
  }
  const fs::path folder = fs::path(name).parent_path();
  std::error_code code;
  fs::directory_iterator entries(folder.empty() ? fs::path(".") : folder, code);
  for (; !code && entries != fs::directory_iterator(); entries.increment(code)) {
    if (entries->path().extension() != kEnding) continue;
    const std::string file = entries->path().filename().string();
    if (is_of_exercise(file, name)) return file;
    names.push_back((folder / file).string());
  }
  return nearest(name, names).value_or("");
}

/// A program of the course under the path by which its pages name it, wherever one reads them; or null.
const EmbeddedFile* find_page_program(std::string_view path) {
  for (const EmbeddedFile& file : page_program_files) {
    if (file.name == path) return &file;
  }
  return nullptr;
}

std::shared_ptr<const toy::SourceText> bundled_or_fail(const std::string& name) {
  if (const EmbeddedFile* file = find_page_program(name)) {
    return std::make_shared<toy::SourceText>(name, std::string(file->text));
  }
  const bool may_be_bundled = name.find('/') == std::string::npos;
  const BundledProgram* bundled = find_bundled_program(name);
  if (bundled != nullptr) {
    return std::make_shared<toy::SourceText>(std::string(bundled->name) + std::string(kEnding),
                                             std::string(bundled->text));
  }
  throw request_failure("there is no file " + in_quotes(name) +
                            (may_be_bundled ? ", and no bundled program of that name" : ""),
                        may_be_bundled ? "a file, or a name that `flashlab programs` lists" : "",
                        near_program(name));
}

/// Whether the name is a file's. A folder that is called like a bundled text is not meant.
bool is_file_rather_than(const BundledProgram* bundled, const std::string& name) {
  if (given_files != nullptr) return given_files->texts().contains(name);
  std::error_code code;
  const fs::file_status status = fs::status(name, code);
  return fs::exists(status) && (bundled == nullptr || !fs::is_directory(status));
}

/// Returns the text among given_files, or null.
const std::string* given_text(const std::string& name, std::int64_t most_bytes) {
  const auto found = given_files->texts().find(name);
  if (found == given_files->texts().end()) return nullptr;
  if (static_cast<std::int64_t>(found->second.size()) > most_bytes) {
    throw too_long_failure(in_quotes(name), most_bytes);
  }
  return &found->second;
}

}  // namespace

std::string_view BundledProgram::title() const {
  const std::size_t start = text.find_first_not_of(";# \t\r\n");
  return start == std::string_view::npos ? "" : text.substr(start, text.find('\n', start) - start);
}

const std::vector<BundledProgram>& bundled_programs() {
  static const std::vector<BundledProgram> programs = sorted(toy::library_programs());
  return programs;
}

const std::vector<BundledProgram>& bundled_scores() {
  static const std::vector<BundledProgram> scores = sorted(toy::library_scores());
  return scores;
}

const BundledProgram* find_bundled_program(std::string_view name) {
  return find_by_name(bundled_programs(), name);
}

GivenFiles::GivenFiles(std::map<std::string, std::string> texts) : texts_(std::move(texts)) {
  given_files = this;
}
GivenFiles::~GivenFiles() { given_files = nullptr; }
const GivenFiles* GivenFiles::current() { return given_files; }

std::shared_ptr<const toy::SourceText> read_program(const std::string& name,
                                                    std::int64_t most_bytes) {
  if (given_files != nullptr) {
    if (const std::string* text = given_text(name, most_bytes)) {
      return std::make_shared<toy::SourceText>(name, *text);
    }
    return bundled_or_fail(name);
  }
  if (name == "-" || is_file_rather_than(find_bundled_program(name), name)) {
    return std::make_shared<toy::SourceText>(
        name == "-" ? "standard input" : name,
        read_text_file(name, most_bytes, "a program file, or - for standard input"));
  }
  return bundled_or_fail(name);
}

bool is_known_program(const std::string& name) {
  const BundledProgram* const bundled = find_bundled_program(name);
  return bundled != nullptr || is_file_rather_than(bundled, name);
}

std::shared_ptr<const toy::SourceText> read_score(const std::string& name_or_lines,
                                                  std::int64_t most_bytes) {
  const bool is_lines = name_or_lines.find_first_of(" \t\n;") != std::string::npos &&
                        !name_or_lines.ends_with(kEnding);
  if (is_lines) return score_lines(name_or_lines);
  const BundledProgram* bundled = find_by_name(bundled_scores(), name_or_lines);
  const bool is_file = is_file_rather_than(bundled, name_or_lines);
  if (!is_file && bundled != nullptr) {
    return std::make_shared<toy::SourceText>(std::string(bundled->name) + std::string(kEnding),
                                             std::string(bundled->text));
  }
  if (is_file || name_or_lines == "-") {
    return std::make_shared<toy::SourceText>(
        name_or_lines, read_text_file(name_or_lines, most_bytes, "a file with a score function"));
  }
  std::vector<std::string> names;
  for (const BundledProgram& one : bundled_scores()) names.emplace_back(one.name);
  throw request_failure(
      "there is no score function " + in_quotes(name_or_lines),
      "a file, a name that `flashlab programs` lists, or lines such as \"MUL S, 2, S\"",
      nearest(name_or_lines, names).value_or(""));
}

std::string read_text_file(const std::string& name, std::int64_t most_bytes,
                           const std::string& expected) {
  if (given_files != nullptr) {
    if (const std::string* text = given_text(name, most_bytes)) return *text;
    throw request_failure("there is no file " + in_quotes(name), expected);
  }
  return TextInput(name, most_bytes, expected).rest();
}

void write_file(const std::string& name, const std::function<void(std::ostream&)>& write) {
  if (name == "-") {
    write(std::cout);
    std::cout.flush();
    if (!std::cout) throw request_failure("standard output cannot be written");
    return;
  }
  try {
    write_whole_file(name, write);
  } catch (const NotWritten& problem) {
    throw request_failure(problem.what());
  }
}

void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number. Input that cannot be read, output that cannot be written; messages go
    // nowhere.
    const int how = descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (open("/dev/null", how) < 0) _exit(kExitRequestWrong);
  }
}

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;  // by nohup
    sigaction(signal, &action, nullptr);
  }
}

int exit_code_of_signal(int signal) {
  constexpr int kSignal = 128;  // as shells count
  return signal == SIGPIPE ? kExitGood : kSignal + signal;
}

}  // namespace flashlab::cli
