// The documentation's tables, traces and listings are what its commands print and its files hold.
//
// A block is a comment line and the fence (or, up to `<!-- end -->`, the text) after it:
//   <!-- $ flashlab run matmul_c00 -->
//       the command's output; `(exit 1)` before the arrow: with that exit code, and its messages
//   <!-- picture: pictures/x.svg $ flashlab picture tiles flash2 -->
//       the picture, whose file in docs/ is the command's output; its alternative text is the
//       description inside that file
//   <!-- $ attention_cuda/bench/tables.py run -->
//       a Python script of the repository, the same
//   <!-- file: toymachine/programs/x.toy -->
//       the file
//   <!-- file: attention_cpu/x.cpp, function: f -->
//       the function's definition in it
//   <!-- home $ flashlab exercises list -->
//       the command's output in a folder of the page's own, empty at first, its home folder, too
//   <!-- home write: x.toy -->
//       the block is written to that file there
// FLASHLAB_UPDATE_DOCS=1 in the environment rewrites the blocks instead of comparing them.
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "toymachine/language/assembler.hpp"

namespace {

using Lines = std::vector<std::string>;

const std::filesystem::path kRepository = FLASHLAB_SOURCE_DIR;

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Lines split(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string join(const Lines& lines, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) text += lines[i] + "\n";
  return text;
}

std::vector<std::filesystem::path> pages() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(kRepository / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  found.push_back(kRepository / "README.md");
  std::sort(found.begin(), found.end());
  return found;
}

/// One block of a page: lines [first, last) are what the command or file must give.
struct Block {
  std::string command;  // empty: a file
  std::string file;
  std::string function;  // of the file; empty: all of it
  std::string picture;   // the file that holds the command's output
  bool in_home = false;  // a file is written then, not read
  int exit_code = 0;
  std::size_t marker = 0;
  std::size_t first = 0, last = 0;
};

/// The block behind the marker on line `at`; nothing when the marker has no end.
bool find_content(const Lines& lines, Block& block) {
  std::size_t next = block.marker + 1;
  while (next < lines.size() && lines[next].empty()) ++next;
  const bool fenced = next < lines.size() && lines[next].starts_with("```");
  block.first = fenced ? next + 1 : block.marker + 1;
  block.last = block.first;
  const std::string closing = fenced ? "```" : "<!-- end -->";
  while (block.last < lines.size() && lines[block.last] != closing) ++block.last;
  return block.last < lines.size();
}

constexpr const char* kFunction = ", function: ";

std::vector<Block> blocks(const Lines& lines) {
  static const std::regex marker(
      R"(<!-- (?:picture: (\S+) )?(home )?(\$|file:|write:) (.*?)( \(exit (\d+)\))? -->)");
  std::vector<Block> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(lines[i], match, marker)) continue;
    Block block;
    block.marker = i;
    block.picture = match[1];
    block.in_home = match[2].matched;
    (match[3] == "$" ? block.command : block.file) = match[4];
    if (match[6].matched) block.exit_code = std::stoi(match[6]);
    if (const std::size_t comma = block.file.find(kFunction); comma != std::string::npos) {
      block.function = block.file.substr(comma + std::string(kFunction).size());
      block.file.resize(comma);
    }
    INFO("line " << i + 1 << ": " << lines[i]);
    REQUIRE((match[3] == "write:") == (block.in_home && block.command.empty()));
    REQUIRE(find_content(lines, block));
    found.push_back(block);
    i = block.last;
  }
  return found;
}

/// The definition of a function, as clang-format lays it out; empty if there is none.
std::string definition(const Lines& lines, const std::string& function) {
  const std::regex first_line("( {0,2})[^ /].*\\b" + function + "\\(.*[^;]");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(lines[i], match, first_line)) continue;
    const std::string indent = match[1];
    const auto last =
        std::find(lines.begin() + static_cast<std::ptrdiff_t>(i), lines.end(), indent + "}");
    if (last == lines.end()) continue;
    const bool is_template = i > 0 && lines[i - 1].starts_with(indent + "template");
    return join(lines, is_template ? i - 1 : i, static_cast<std::size_t>(last - lines.begin()) + 1);
  }
  return "";
}

struct Output {
  int exit_code = -1;
  std::string text;
};

/// The folder that a page's `home` blocks share.
class HomeFolder {
 public:
  HomeFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "flashlab-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~HomeFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  HomeFolder(const HomeFolder&) = delete;
  HomeFolder& operator=(const HomeFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The first word of a block's command; nothing of a file's.
std::string program_of(const Block& block) {
  return block.command.substr(0, block.command.find(' '));
}

/// A Python script of the repository, which runs in the root as it is printed: it is executable.
bool is_script(const Block& block) { return program_of(block).ends_with(".py"); }

/// python3-minimal has no json, which the scripts need.
bool has_python() { return std::system("python3 -c 'import json' >/dev/null 2>&1") == 0; }

Output run(const Block& block, const HomeFolder& home) {
  const std::string program = program_of(block);
  REQUIRE((program == "flashlab" || is_script(block)));
  const std::filesystem::path folder = block.in_home ? home.path() : kRepository;
  const std::string command =
      "cd '" + folder.string() +
      "' && unset XDG_DATA_HOME XDG_STATE_HOME FLASHLAB_EXERCISES && HOME='" +
      home.path().string() + "' COLUMNS=80 NO_COLOR=1 LC_ALL=C.UTF-8 " +
      (is_script(block) ? "PYTHONDONTWRITEBYTECODE=1 " + program : "'" FLASHLAB_BINARY "'") +
      block.command.substr(program.size()) + (block.exit_code == 0 ? "" : " 2>&1");
  Output output;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.text.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
  return output;
}

bool updating() {
  const char* flag = std::getenv("FLASHLAB_UPDATE_DOCS");
  return flag != nullptr && std::string(flag) == "1";
}

/// Compares the picture's file with the command's output, or writes it. Returns the line that shows
/// it on the page.
std::string picture_line(const Block& block, const std::string& svg) {
  const std::filesystem::path file = kRepository / "docs" / block.picture;
  if (updating()) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << svg;
  }
  CHECK(text_of_file(file) == svg);
  static const std::regex description("<desc>([^<]+)</desc>");
  std::smatch match;
  REQUIRE(std::regex_search(svg, match, description));
  return "[<img src=\"" + block.picture + "\" width=\"480\" alt=\"" + match[1].str() + "\">](" +
         block.picture + ")\n";
}

std::string content(const Lines& lines, const Block& block, const HomeFolder& home) {
  if (block.command.empty() && block.in_home) {
    const std::string text = join(lines, block.first, block.last);
    std::ofstream(home.path() / block.file, std::ios::binary) << text;
    return text;
  }
  if (block.command.empty() && !block.function.empty()) {
    const std::string text =
        definition(split(text_of_file(kRepository / block.file)), block.function);
    CHECK_FALSE(text.empty());
    return text;
  }
  if (block.command.empty()) return text_of_file(kRepository / block.file);
  const Output output = run(block, home);
  CHECK(output.exit_code == block.exit_code);
  CHECK_FALSE(output.text.empty());  // a pattern that finds nothing any more
  return block.picture.empty() ? output.text : picture_line(block, output.text);
}

/// Leaves what scripts print as it is where they cannot run.
void rewrite(const std::filesystem::path& page) {
  static const bool kHasPython = has_python();
  const Lines lines = split(text_of_file(page));
  const HomeFolder home;
  std::string text;
  std::size_t at = 0;
  for (const Block& block : blocks(lines)) {
    if (is_script(block) && !kHasPython) continue;
    text += join(lines, at, block.first) + content(lines, block, home);
    at = block.last;
  }
  std::ofstream(page, std::ios::binary) << text << join(lines, at, lines.size());
}

/// The anchor that a heading gets, as GitHub makes it: lower case, words joined by hyphens.
std::string anchor(const std::string& heading) {
  std::string result;
  for (const char c : heading.substr(heading.find_first_not_of("# "))) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0 || c == '-' || c == '_') {
      result += static_cast<char>(byte < 0x80 ? std::tolower(byte) : c);
    } else if (c == ' ') {
      result += '-';
    }
  }
  return result;
}

std::set<std::string> anchors(const std::filesystem::path& page) {
  std::set<std::string> found;
  bool fenced = false;
  for (const std::string& line : split(text_of_file(page))) {
    if (line.starts_with("```")) fenced = !fenced;
    if (!fenced && line.starts_with("#")) found.insert(anchor(line));
  }
  return found;
}

/// A listing of a source or a file, a command of flashlab, or a script.
enum class Kind { kListing, kCommand, kScript };

Kind kind_of(const Block& block) {
  if (is_script(block)) return Kind::kScript;
  return block.command.empty() && !block.in_home ? Kind::kListing : Kind::kCommand;
}

void check_blocks(Kind kind) {
  for (const std::filesystem::path& page : pages()) {
    const Lines lines = split(text_of_file(page));
    const HomeFolder home;
    for (const Block& block : blocks(lines)) {
      if (kind_of(block) != kind) continue;
      INFO(page.filename().string()
           << ", line " << block.marker + 1 << ": " << lines[block.marker]);
      CHECK(join(lines, block.first, block.last) == content(lines, block, home));
    }
  }
}

}  // namespace

TEST_CASE("every block of the docs is what its command prints") {
  if (updating()) {
    for (const std::filesystem::path& page : pages()) rewrite(page);
  }
  check_blocks(Kind::kCommand);
}

TEST_CASE("every listing in the docs is what its file holds") {
  if (updating()) FLASHLAB_SKIP("the test of the commands rewrites these, too");
  check_blocks(Kind::kListing);
}

TEST_CASE("every block of the docs that a script makes is what it prints") {
  if (!has_python()) FLASHLAB_SKIP("there is no python3 (with its standard library)");
  if (updating()) FLASHLAB_SKIP("the test of the commands rewrites these, too");
  check_blocks(Kind::kScript);
}

TEST_CASE("the docs show the reader every command whose output they print") {
  for (const std::filesystem::path& page : pages()) {
    const Lines lines = split(text_of_file(page));
    std::string visible;
    for (const std::string& line : lines) {
      if (!line.starts_with("<!--")) visible += line + "\n";
    }
    for (const Block& block : blocks(lines)) {
      if (block.command.empty()) continue;
      INFO(page.filename().string() << " prints " << block.command << " without naming it");
      // `./lab trace x` is how the README says `flashlab trace x`.
      const std::string arguments = block.command.substr(block.command.find(' '));
      CHECK(visible.find(arguments) != std::string::npos);
    }
  }
}

TEST_CASE(
    "chapters 3 to 8, 10 and 10a have two pictures each, 9a five, and the folder has no other") {
  std::set<std::string> shown;
  for (const std::filesystem::path& page : pages()) {
    std::size_t count = 0;
    for (const Block& block : blocks(split(text_of_file(page)))) {
      if (block.picture.empty()) continue;
      shown.insert(std::filesystem::path(block.picture).filename().string());
      ++count;
    }
    INFO(page.filename().string());
    const std::string name = page.filename().string();
    if ((name >= "03" && name < "09") || name.starts_with("10")) CHECK(count >= 2);
    if (name.starts_with("09a")) CHECK(count >= 5);
  }
  for (const auto& entry : std::filesystem::directory_iterator(kRepository / "docs/pictures")) {
    INFO(entry.path());
    CHECK(shown.count(entry.path().filename().string()) == 1);
  }
}

TEST_CASE("the docs print the instruction table and every bundled program has its place in them") {
  std::string all;
  for (const std::filesystem::path& page : pages()) all += text_of_file(page);
  CHECK_THAT(all, flashlab::test::contains("<!-- $ flashlab isa --markdown -->"));
  for (const auto& entry :
       std::filesystem::directory_iterator(kRepository / "toymachine/programs")) {
    const std::string name = entry.path().stem().string();
    INFO(name);
    CHECK(all.find(name) != std::string::npos);
  }
}

TEST_CASE("the language chapter has every word of the language") {
  const std::string chapter = text_of_file(kRepository / "docs/02_the_language.md");
  const auto& words = flashlab::toy::language_words();
  for (const Lines& list : {words.directives, words.keywords, words.functions}) {
    for (const std::string& word : list) CHECK_THAT(chapter, flashlab::test::contains(word));
  }
}

TEST_CASE("the functions that the chapter on a CPU names are in the code") {
  static const std::regex named(R"(`forward::(\w+)`)");
  const std::string chapter = text_of_file(kRepository / "docs/09_on_a_cpu.md");
  const std::string code = text_of_file(kRepository / "attention_cpu/detail/forward_group.hpp");
  std::sregex_iterator it(chapter.begin(), chapter.end(), named);
  REQUIRE(it != std::sregex_iterator());
  for (; it != std::sregex_iterator(); ++it) {
    CHECK_THAT(code, flashlab::test::contains(" " + (*it)[1].str() + "("));
  }
}

TEST_CASE("links between the pages of the docs lead somewhere") {
  static const std::regex link(R"(\]\(([^)#:]*)(#([^)]*))?\))");
  for (const std::filesystem::path& page : pages()) {
    const std::string text = text_of_file(page);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      const std::filesystem::path target =
          (*it)[1].length() == 0 ? page : page.parent_path() / (*it)[1].str();
      INFO(page.filename().string() << ": " << it->str());
      CHECK(std::filesystem::exists(target));
      if ((*it)[3].matched) CHECK(anchors(target).count((*it)[3].str()) == 1);
    }
  }
}
