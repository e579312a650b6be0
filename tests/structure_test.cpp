// What the folders promise each other, read off the sources themselves.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attention/variants.hpp"
#include "tests/architecture_rules.hpp"
#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"
#include "tests/string_literals.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace fs = std::filesystem;
using flashlab::test::floor_of;
using flashlab::test::floors;
using flashlab::test::is_benchmark;
using flashlab::test::kSourceRoot;
using flashlab::test::left_includes;
using flashlab::test::may_use;
using flashlab::test::read_source;
using flashlab::test::sources_of;
using flashlab::test::with_folders_inside;
using Names = std::set<std::string>;

namespace {

/// The paths of `#include "path"` lines.
std::vector<fs::path> includes_of(const fs::path& source) {
  static const std::regex kInclude(R"re((?:^|\n)\s*#\s*include\s+"([^"]+)")re");
  const std::string text = read_source(kSourceRoot / source);
  std::vector<fs::path> result;
  for (std::sregex_iterator match(text.begin(), text.end(), kInclude), end; match != end; ++match) {
    result.emplace_back((*match)[1].str());
  }
  return result;
}

bool is_private(const fs::path& path) {
  static const Names kPrivate = {"detail", "device", "emulation", "ptx"};
  return std::any_of(path.begin(), path.end(),
                     [](const fs::path& part) { return kPrivate.contains(part.string()); });
}

/// The words of a text: runs of letters, digits and underscores.
Names words_of(const std::string& text) {
  static const std::regex kWord("\\w+");
  return {std::sregex_token_iterator(text.begin(), text.end(), kWord), {}};
}

/// What a folder's CMakeLists.txt says with flashlab_headers(): the headers that others may
/// include.
struct OfferedHeaders {
  Names for_everyone, for_this_project;
  bool empty() const { return for_everyone.empty() && for_this_project.empty(); }
  bool has(const std::string& path) const {
    return for_everyone.contains(path) || for_this_project.contains(path);
  }
};

const OfferedHeaders& offered_headers(const std::string& folder) {
  static std::map<std::string, OfferedHeaders> known;
  const auto [place, is_new] = known.try_emplace(folder);
  OfferedHeaders& result = place->second;
  if (!is_new) return result;
  const std::string text = read_source(kSourceRoot / folder / "CMakeLists.txt");
  std::smatch call;
  if (!std::regex_search(text, call,
                         std::regex("flashlab_headers\\(" + folder + "\\s([^)]*)\\)"))) {
    return result;
  }
  Names* list = nullptr;
  std::istringstream words(call[1].str());
  for (std::string word; words >> word;) {
    if (word == "PUBLIC") {
      list = &result.for_everyone;
    } else if (word == "PROJECT") {
      list = &result.for_this_project;
    } else {
      REQUIRE(list != nullptr);
      list->insert(folder + "/" + word);
    }
  }
  return result;
}

/// The CMake text that makes a folder's targets, without comments: its own, and the modules that
/// only it includes.
std::string build_text(const std::string& folder) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(kSourceRoot / folder)) {
    const fs::path path = fs::relative(entry.path(), kSourceRoot);
    if (path.filename() == "CMakeLists.txt" && !is_benchmark(path))
      text += read_source(kSourceRoot / path);
  }
  static const std::regex kModule(R"re(\binclude\((\w+)\))re");
  for (std::sregex_iterator match(text.begin(), text.end(), kModule), end; match != end; ++match) {
    const fs::path module = kSourceRoot / "cmake" / ((*match)[1].str() + ".cmake");
    if (fs::exists(module))
      return std::regex_replace(text + read_source(module), std::regex("#[^\n]*"), "");
  }
  return std::regex_replace(text, std::regex("#[^\n]*"), "");
}

/// The first groups of all matches.
Names found_in(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  Names result;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
       ++match) {
    result.insert((*match)[1].str());
  }
  return result;
}

Names mnemonics() {
  Names result;
  for (const auto& spec : flashlab::toy::instruction_set()) result.emplace(spec.mnemonic);
  return result;
}

}  // namespace

TEST_CASE("includes run one way: from the command down to the machine", "[structure]") {
  for (const auto& [folder, allowed] : may_use()) {
    for (const fs::path& source : sources_of(folder)) {
      if (is_benchmark(source)) continue;  // like tests: they see all, nothing sees them
      for (const fs::path& included : includes_of(source)) {
        INFO(source << " includes " << included);
        CHECK_FALSE(is_benchmark(included));
        if (!included.has_parent_path()) {  // generated by the build
          CHECK_FALSE(fs::exists(kSourceRoot / source.parent_path() / included));
          continue;
        }
        const std::string from = included.begin()->string();
        CHECK(allowed.contains(from));
        const OfferedHeaders& offered = offered_headers(from);
        CHECK((from == folder ||
               (offered.empty() ? !is_private(included) : offered.has(included.generic_string()))));
      }
    }
  }
}

TEST_CASE("`attention` reaches a GPU through the door alone", "[structure]") {
  const std::string door = "attention_cuda/door/";
  for (const fs::path& source : sources_of("cli/attention")) {
    for (const fs::path& included : includes_of(source)) {
      INFO(source << " includes " << included);
      CHECK(*included.begin() != "compare");
      CHECK((!included.generic_string().starts_with(door) || included == door + "door.hpp"));
    }
  }
}

TEST_CASE("what a folder links and reads when it is built, it may include", "[structure]") {
  std::map<std::string, std::string> owners;  // of targets
  for (const auto& [folder, allowed] : may_use()) {
    for (const std::string& target :
         found_in(build_text(folder), R"(add_(?:library|executable)\((flashlab\w*))")) {
      owners[target] = folder;
    }
  }
  CHECK(owners.at("flashlab_toymachine") == "toymachine");
  for (const auto& [folder, allowed] : may_use()) {
    const std::string text = build_text(folder);
    for (std::string target : found_in(text, R"((?:^|[^-\w])(flashlab(?:_|::)\w+))")) {
      if (const auto at = target.find("::"); at != std::string::npos) target.replace(at, 2, "_");
      const auto owner = owners.find(target);
      if (owner == owners.end()) continue;  // of the project: warnings, options
      INFO(folder << " is built with " << target << " of " << owner->second);
      CHECK(allowed.contains(owner->second));
    }
    for (const std::string& path : found_in(text, R"(\$\{PROJECT_SOURCE_DIR\}/(\w+)/)")) {
      INFO(folder << " reads from " << path);
      CHECK((allowed.contains(path) || path == "docs" || path == "cmake"));
    }
  }
}

TEST_CASE("a public header needs no private one", "[structure]") {
  for (const std::string folder :
       {"toymachine", "optimal", "attention", "attention_cpu", "attention_cuda"}) {
    const OfferedHeaders& offered = offered_headers(folder);
    CHECK_FALSE(offered.for_everyone.empty());
    for (const std::string& header : offered.for_everyone) {
      for (const fs::path& included : includes_of(header)) {
        INFO(header << " includes " << included);
        CHECK(offered_headers(included.begin()->string())
                  .for_everyone.contains(included.generic_string()));
      }
    }
  }
}

TEST_CASE("inside a folder includes run one way, from room to room", "[structure]") {
  auto unused = left_includes();
  for (const auto& [folder, rules] : may_use()) {
    REQUIRE(floors().contains(folder));
    for (const fs::path& source : sources_of(folder)) {
      if (is_benchmark(source)) continue;
      const auto floor = floor_of(folder, source);
      {
        INFO(source << " lies in none of the folder's rooms");
        REQUIRE(floor);
      }
      for (const fs::path& included : includes_of(source)) {
        if (!included.generic_string().starts_with(folder + "/")) continue;
        const auto lower = floor_of(folder, included);
        INFO(source << " includes " << included);
        REQUIRE(lower);
        const auto left = unused.find(source);
        if (*lower > *floor && left != unused.end() && left->second.erase(included) > 0) {
          if (left->second.empty()) unused.erase(left);
          continue;
        }
        CHECK(*lower <= *floor);
      }
    }
  }
  for (const auto& [source, included] : unused) {
    INFO(source << " includes nothing from a higher floor any more: take it off the list");
    CHECK(included.empty());
  }
}

TEST_CASE("no file has more than 400 lines, except for a reason", "[structure]") {
  constexpr std::ptrdiff_t kMostLines = 400;
  const std::map<fs::path, std::string> reasons = {
      {"toymachine/execute/interpret.hpp", "one loop, which the compiler inlines as a whole"},
      {"attention_cuda/kernels/flash2_fp16x3_sm90.cuh", "a kernel and the account of its errors"},
      {"attention_cuda/kernels/bwd_onepass_pair_sm90.cuh", "two roles that wait for each other"},
      {"exercises/grader/repair/repair.cpp", "one search, whose steps share what was tried"}};
  Names folders = {"fuzz", "tests"};
  for (const auto& [folder, allowed] : may_use()) folders.insert(folder);
  for (const std::string& folder : folders) {
    for (const fs::path& source : sources_of(folder)) {
      const std::string text = read_source(kSourceRoot / source);
      const auto lines = std::count(text.begin(), text.end(), '\n');
      INFO(source << " has " << lines << " lines");
      CHECK((lines > kMostLines) == reasons.contains(source));
    }
  }
}

TEST_CASE("no chapter has more than 300 lines", "[structure]") {
  constexpr std::ptrdiff_t kMostLines = 300;
  for (const auto& entry : fs::directory_iterator(kSourceRoot / "docs")) {
    const std::string name = entry.path().filename().string();
    if (!std::regex_match(name, std::regex("\\d\\d[a-z]?_.*\\.md"))) continue;
    const std::string text = read_source(entry.path());
    const auto lines = std::count(text.begin(), text.end(), '\n');
    INFO(name << " has " << lines << " lines");
    CHECK(lines <= kMostLines);
  }
}

TEST_CASE("no level of a folder holds more than thirty units", "[structure]") {
  constexpr std::size_t kMost = 30;
  Names folders = {"fuzz", "tests"};
  for (const auto& [folder, allowed] : may_use()) folders.insert(folder);
  for (const std::string& folder : folders) {
    std::map<fs::path, Names> units;  // a source with its header is one
    for (const fs::path& source : sources_of(folder)) {
      units[source.parent_path()].insert(source.stem().string());
    }
    for (const auto& [level, names] : units) {
      INFO(level);
      CHECK(names.size() <= kMost);
    }
  }
}

TEST_CASE("a kernel file of the CPU begins with the name of its build", "[structure]") {
  for (const fs::path& source : sources_of("attention_cpu/variants")) {
    INFO(source);
    const std::vector<fs::path> included = includes_of(source);
    REQUIRE_FALSE(included.empty());
    const fs::path own_header = "attention_cpu/detail/" + source.stem().string() + ".hpp";
    CHECK((included.front() == "attention_cpu/detail/build.hpp" || included.front() == own_header));
  }
}

TEST_CASE("a variant has a file for the CPU, and its chapter names it", "[structure]") {
  const std::string chapter = read_source(kSourceRoot / "docs/09_on_a_cpu.md");
  for (const auto& variant : flashlab::variants()) {
    INFO(variant.name);
    std::string file(variant.name);
    std::replace(file.begin(), file.end(), '-', '_');
    CHECK(fs::exists(kSourceRoot / "attention_cpu/variants" / (file + ".cpp")));
    CHECK(chapter.find("`" + std::string(variant.name) + "`") != std::string::npos);
  }
}

TEST_CASE("a mnemonic stands in the instruction table and in no other source", "[structure]") {
  const Names names = mnemonics();
  for (const fs::path& source : sources_of("toymachine")) {
    if (source == "toymachine/language/instruction_table.hpp") continue;
    for (const std::string& literal :
         flashlab::test::string_literals(read_source(kSourceRoot / source))) {
      for (const std::string& word : words_of(literal)) {
        INFO(source << " has the string \"" << literal << '"');
        CHECK_FALSE(names.contains(word));
      }
    }
  }
}

TEST_CASE("numbers are read in one place, as libc++ before 20 reads no double", "[structure]") {
  static const Names kMayCall = {"read_number.hpp", "read_number.cpp", "fast_float_number.hpp"};
  for (const std::string folder :
       {"text", "toymachine", "optimal", "generate", "attention", "attention_cpu", "attention_cuda",
        "compare", "exercises", "cli"}) {
    for (const fs::path& source : sources_of(folder)) {
      if (kMayCall.contains(source.filename().string()) || is_benchmark(source)) continue;
      INFO(source << " calls it: text/read_number.hpp has what to call");
      CHECK(read_source(kSourceRoot / source).find("from_chars") == std::string::npos);
    }
  }
}

// CMake reads names of tests as a list, and a bracket in one of them joins all that follow to one test,
// which ctest cannot run.
TEST_CASE("no test's name has a bracket or a semicolon", "[structure]") {
  std::size_t tests = 0;
  for (const fs::path& source : sources_of("tests")) {
    const std::string text = read_source(kSourceRoot / source);
    static const std::regex kName(R"re(\bTEST_CASE\(\s*"([^"]*)")re");
    for (std::sregex_iterator it(text.begin(), text.end(), kName), end; it != end; ++it) {
      INFO(source << ": " << (*it)[1]);
      CHECK((*it)[1].str().find_first_of("[];") == std::string::npos);
      ++tests;
    }
  }
  CHECK(tests > 1000);
}

TEST_CASE("string literals are found, comments and characters are not", "[structure]") {
  const std::string code =
      "a = \"x\\\"y\"; // \"no\"\n/* \"no\" */ char q = '\"'; int n = 1'000; R\"(raw \"1\")\" "
      "R\"e(raw 2)e\"";
  const std::vector<std::string> expected = {"x\\\"y", "raw \"1\"", "raw 2"};
  CHECK(flashlab::test::string_literals(code) == expected);
}

TEST_CASE("the fuzzer's dictionary begins with the instructions, from the table", "[structure]") {
  const fs::path file = kSourceRoot / "fuzz" / "dictionary.txt";
  const std::string text = read_source(file);
  std::string words = "# instructions\n";
  for (const flashlab::toy::InstructionSpec& spec : flashlab::toy::instruction_set()) {
    words += '"' + std::string(spec.mnemonic) + "\"\n";
  }
  const std::size_t first = text.find("# instructions\n"), last = text.find("\n# directives");
  REQUIRE(first < last);
  REQUIRE(last != std::string::npos);
  const std::string updated = text.substr(0, first) + words + text.substr(last);
  const char* const flag = std::getenv("FLASHLAB_UPDATE_DOCS");
  if (flag != nullptr && std::string(flag) == "1") std::ofstream(file, std::ios::binary) << updated;
  CHECK(read_source(file) == updated);
}

TEST_CASE("the fuzzer's dictionary has every word of the language", "[structure]") {
  const std::string dictionary = read_source(kSourceRoot / "fuzz" / "dictionary.txt");
  Names words = mnemonics();
  const auto& language = flashlab::toy::language_words();
  for (const auto* list : {&language.directives, &language.keywords, &language.functions}) {
    words.insert(list->begin(), list->end());
  }
  for (const std::string& word : words) {
    INFO(word);
    const std::string quoted = "\"" + word + "\"";
    CHECK(dictionary.find(quoted) != std::string::npos);
  }
}
