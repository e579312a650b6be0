// What the folders promise each other, read off the sources themselves.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attention/variants.hpp"
#include "tests/anonymous_names.hpp"
#include "tests/catch_shim.hpp"
#include "tests/string_literals.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace fs = std::filesystem;
using Names = std::set<std::string>;
using flashlab::test::anonymous_names;
using flashlab::test::declared_names;
using flashlab::test::DeclaredNames;

namespace {

const fs::path kRoot = FLASHLAB_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The C++ and CUDA sources of one folder, as paths relative to the repository.
std::vector<fs::path> sources_of(const std::string& folder) {
  static const Names kExtensions = {".hpp", ".cpp", ".cuh", ".cu"};
  std::vector<fs::path> result;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    if (kExtensions.contains(entry.path().extension().string())) {
      result.push_back(fs::relative(entry.path(), kRoot));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// The paths of `#include "path"` lines.
std::vector<fs::path> includes_of(const fs::path& source) {
  static const std::regex kInclude(R"re((?:^|\n)\s*#\s*include\s+"([^"]+)")re");
  const std::string text = read(kRoot / source);
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

bool is_benchmark(const fs::path& path) {
  return std::find(path.begin(), path.end(), fs::path("bench")) != path.end();
}

/// The words of a text: runs of letters, digits and underscores.
Names words_of(const std::string& text) {
  static const std::regex kWord("\\w+");
  return {std::sregex_token_iterator(text.begin(), text.end(), kWord), {}};
}

/// A folder and those in it that have sources, without its benchmarks.
std::vector<std::string> with_folders_inside(const std::string& folder) {
  std::vector<std::string> result = {folder};
  for (const fs::path& source : sources_of(folder)) {
    const std::string inner = source.parent_path().string();
    if (!is_benchmark(source) && inner != result.back()) result.push_back(inner);
  }
  return result;
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
  const std::string text = read(kRoot / folder / "CMakeLists.txt");
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

/// What each folder may include, link and read: itself, and what stands below it.
const std::map<std::string, Names>& may_use() {
  static const std::map<std::string, Names> kMayUse = {
      {"text", {"text"}},
      {"gpus", {"gpus"}},
      {"results", {"attention", "gpus", "results", "text"}},
      {"toymachine", {"text", "toymachine"}},
      {"attention", {"attention"}},
      {"attention_cpu", {"attention", "attention_cpu"}},
      {"attention_cuda", {"attention", "attention_cuda", "gpus"}},
      {"compare",
       {"attention", "attention_cuda", "compare", "gpus", "results", "text", "toymachine"}},
      {"optimal", {"optimal", "text", "toymachine"}},
      {"exercises", {"exercises", "optimal", "results", "text", "toymachine"}},
      {"cli",
       {"attention", "attention_cpu", "attention_cuda", "cli", "compare", "exercises", "gpus",
        "optimal", "results", "text", "toymachine"}},
  };
  return kMayUse;
}

/// The CMake text that makes a folder's targets, without comments: its own, and the modules that
/// only it includes.
std::string build_text(const std::string& folder) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    const fs::path path = fs::relative(entry.path(), kRoot);
    if (path.filename() == "CMakeLists.txt" && !is_benchmark(path)) text += read(kRoot / path);
  }
  static const std::regex kModule(R"re(\binclude\((\w+)\))re");
  for (std::sregex_iterator match(text.begin(), text.end(), kModule), end; match != end; ++match) {
    const fs::path module = kRoot / "cmake" / ((*match)[1].str() + ".cmake");
    if (fs::exists(module))
      return std::regex_replace(text + read(module), std::regex("#[^\n]*"), "");
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

/// The rooms of a folder, from the ground floor up: a room includes from those before it.
const std::map<std::string, std::vector<std::string>>& floors() {
  static const std::map<std::string, std::vector<std::string>> kFloors = {
      {"toymachine",
       {"budget", "language", "bind", "execute", "count/polynomial", "count", "run", "forms",
        "trace", "timeline"}},
      {"optimal", {"search", "problem", "products", "values", "solve"}},
      {"exercises/grader",
       {"exercise", "submission", "judge", "explain", "grade", "prove", "report"}},
      {"compare", {"model", "counters", "rows", "cuda/ptx", "cuda", "picture", "report"}},
      {"cli",
       {"terminal", "options", "machine", "help", "exercises", "grading", "attention", "compare",
        "optimal", "."}},
  };
  return kFloors;
}

/// The floor of a file; nothing for a file outside of the folder's rooms.
std::optional<std::size_t> floor_of(const std::string& folder, const fs::path& file) {
  const auto& rooms = floors().at(folder);
  const std::string room = file.parent_path().lexically_relative(folder).generic_string();
  const auto found = std::find(rooms.begin(), rooms.end(), room);
  if (found == rooms.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rooms.begin());
}

/// Files that may be compiled as one: the sources of a target, in one folder or a few.
std::vector<std::vector<std::string>> rooms() {
  return {
      with_folders_inside("text"),
      with_folders_inside("toymachine"),
      with_folders_inside("optimal"),
      with_folders_inside("exercises/grader"),
      {"exercises/isolation"},
      {"gpus"},
      {"results"},
      {"compare/model", "compare/counters", "compare/rows", "compare/picture", "compare/report"},
      {"compare/cuda"},
      with_folders_inside("cli"),
      {"attention", "attention/detail"},
      {"attention_cpu", "attention_cpu/detail"},
      {"attention_cpu/variants", "attention_cpu/detail"},
      {"attention_cuda", "attention_cuda/detail", "attention_cuda/device",
       "attention_cuda/kernels"},
      {"attention_cuda/emulation"},
      {"tests"},
      {"tests/toymachine", "tests/text"},
      {"tests/optimal"},
      {"tests/exercises"},
      {"tests/compare"},
      {"tests/cli"},
      {"tests/attention", "tests/attention_cpu"},
      {"tests/attention_cuda"}};
}

/// Whether a file is read for its declarations or compiled by itself.
bool is_header(const fs::path& path) {
  return path.extension() == ".hpp" || path.extension() == ".cuh";
}

/// The sources and headers of a room, without those of folders inside its folders.
std::vector<fs::path> files_of(const std::vector<std::string>& room) {
  std::vector<fs::path> result;
  for (const std::string& folder : room) {
    for (const fs::path& source : sources_of(folder)) {
      if (source.parent_path() == folder) result.push_back(source);
    }
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
          CHECK_FALSE(fs::exists(kRoot / source.parent_path() / included));
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
  for (const auto& [folder, rooms] : floors()) {
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
        CHECK(*lower <= *floor);
      }
    }
  }
}

TEST_CASE("no level of a folder holds more than thirty units", "[structure]") {
  constexpr std::size_t kMost = 30;
  for (const auto& [folder, rooms] : floors()) {
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

TEST_CASE("a variant has a file for the CPU and a row in its table", "[structure]") {
  const fs::path folder = kRoot / "attention_cpu" / "variants";
  const std::string table = read(folder / "rows.cpp");
  for (const auto& variant : flashlab::variants()) {
    INFO(variant.name);
    std::string file(variant.name);
    std::replace(file.begin(), file.end(), '-', '_');
    CHECK(fs::exists(folder / (file + ".cpp")));
    CHECK(table.find("{\"" + std::string(variant.name) + "\"") != std::string::npos);
  }
}

TEST_CASE("names in anonymous namespaces are unique in each room", "[structure]") {
  for (const auto& room : rooms()) {
    std::map<std::string, std::pair<std::string, fs::path>> owners;  // what is said, and where
    for (const fs::path& source : files_of(room)) {
      if (is_header(source)) continue;
      for (const auto& [name, repeatable] : anonymous_names(read(kRoot / source))) {
        const auto [owner, is_new] = owners.try_emplace(name, repeatable, source);
        if (is_new || owner->second.second == source) continue;
        INFO(name << " in " << owner->second.second << " and " << source);
        CHECK((!repeatable.empty() && owner->second.first == repeatable));
      }
    }
    INFO(room.front());
    CHECK_FALSE(owners.empty());
  }
}

TEST_CASE("names in anonymous namespaces are no names of the room's headers", "[structure]") {
  for (const auto& room : rooms()) {
    std::map<std::string, fs::path> declared;
    for (const fs::path& header : files_of(room)) {
      if (!is_header(header)) continue;
      for (const auto& known : declared_names(read(kRoot / header))) {
        if (known.repeatable.empty()) declared.emplace(known.name, header);
      }
    }
    for (const fs::path& source : files_of(room)) {
      if (is_header(source)) continue;
      for (const auto& own : anonymous_names(read(kRoot / source))) {
        if (!own.repeatable.empty()) continue;
        INFO(own.name << " in " << source << " and " << declared[own.name]);
        CHECK(declared[own.name].empty());
      }
    }
  }
}

TEST_CASE("every kind of name that a file has for itself is found", "[structure]") {
  const auto names = [](const DeclaredNames& found) {
    std::string text;
    for (const auto& [name, repeatable] : found) {
      text += (text.empty() ? "" : " ") + name + (repeatable.empty() ? "" : "*");
    }
    return text;
  };
  CHECK(names(anonymous_names(R"code(
#define MACRO(a) \
  a + in_a_macro
#define GONE 1
#undef GONE
namespace fs = std::filesystem;
using other::used;
using namespace std;
struct Forward;
struct Named { int member; };
template <> struct std::hash<Named> {};
extern const int kShared;
const int kShared = 1;
const char* shared = "int in_text;";
int shared_function(int a) { int local = 1; return local; }
const Named& shared_reference();
static int static_function() { return 0; }
static int counter = 0;
constexpr const char* kText = "";
extern "C" { void from_c(); }
)code")) == "MACRO* Named counter fs* kText static_function used*");
  CHECK(names(anonymous_names(R"code(
namespace flashlab::inner {
namespace {
// int commented;  /* int commented_too; */
int plain = 1'000;
const int first = 1, second{2}, third[3] = {1, 2, 3};
std::map<std::string, int> map;
int (*pointer)(int) = nullptr;
const auto lambda = [](int a) { int local = a; return local; };
auto [one, other] = pair();
char quote = '"', brace = '{';
const std::string raw = R"x(int in_raw; ")x";
bool function(int a, std::function<void(int)> b = {}) { return a < 1; }
std::map<std::string, std::vector<int>> function_over_lines(
    int a);
[[nodiscard]] inline auto trailing(int a) -> std::pair<int, int> { return {}; }
__global__ void __launch_bounds__(kThreads, 2) kernel(float* a) { a[0] = 1; }
decltype(auto) deduced(int a) { return a; }
std::ostream& operator<<(std::ostream& out, int) { return out; }
}  // namespace
int behind() { return 1; }
}  // namespace flashlab::inner
)code")) ==
        "brace deduced first function function_over_lines kernel lambda map one other plain "
        "pointer quote raw second third trailing");
  CHECK(names(anonymous_names(R"code(
namespace {
struct Struct { int a; } table_of_it[] = {{1}};
class Class final : public Base<int> { public: Class() : a_{1}, b_(2) { run(); } int a_; };
Class::Class(int a) : a_{a}, b_(2) { other(); }
void Class::method() {}
Class(int) -> Class;
union Union { int a; };
struct alignas(16) Aligned { int a; };
enum class Scoped { kOfScoped };
enum Plain { kOfPlain, kAlsoOfPlain = 3, };
using Alias = std::vector<int>;
template <class T> using AliasTemplate = std::map<T, int>;
template <class T> class ClassTemplate;
template <> struct ClassTemplate<int> {};
template <class T> concept Concept = requires(T t) { t + 1; };
template <std::size_t kRow> inline constexpr auto& kOfRow = std::get<kRow>(kRows);
template <class T, std::size_t kN = (1 < 2)>
requires std::integral<T> && (kN > 1) T constrained(T a) { return a; }
template void constrained<int>(int);
static_assert(sizeof(int) == 4);
TEST_CASE("a name", "[tag]") { int in_test = 1; }
}  // namespace
)code")) ==
        "Alias* AliasTemplate Aligned Class ClassTemplate Concept Plain Scoped Struct Union "
        "constrained kAlsoOfPlain kOfPlain kOfRow table_of_it");
  CHECK(names(declared_names(R"code(
#pragma once
namespace flashlab {
struct Forward;
struct Known {};
extern int variable;
inline constexpr int kConstant = 1;
int function(int a);
template <class T>
T function_template(T a) { return a; }
}  // namespace flashlab
)code")) == "Known function function_template kConstant variable");
}

TEST_CASE("a mnemonic stands in the instruction table and in no other source", "[structure]") {
  const Names names = mnemonics();
  for (const fs::path& source : sources_of("toymachine")) {
    if (source == "toymachine/language/instruction_rows.hpp") continue;
    for (const std::string& literal : flashlab::test::string_literals(read(kRoot / source))) {
      for (const std::string& word : words_of(literal)) {
        INFO(source << " has the string \"" << literal << '"');
        CHECK_FALSE(names.contains(word));
      }
    }
  }
}

TEST_CASE("numbers are read in one place, as libc++ before 20 reads no double", "[structure]") {
  static const Names kMayCall = {"read_number.hpp", "read_number.cpp", "fast_float_number.hpp"};
  for (const std::string folder : {"text", "toymachine", "optimal", "attention", "attention_cpu",
                                   "attention_cuda", "compare", "exercises", "cli"}) {
    for (const fs::path& source : sources_of(folder)) {
      if (kMayCall.contains(source.filename().string()) || is_benchmark(source)) continue;
      INFO(source << " calls it: toymachine/language/read_number.hpp has what to call");
      CHECK(read(kRoot / source).find("from_chars") == std::string::npos);
    }
  }
}

TEST_CASE("string literals are found, comments and characters are not", "[structure]") {
  const std::string code =
      "a = \"x\\\"y\"; // \"no\"\n/* \"no\" */ char q = '\"'; int n = 1'000; R\"(raw \"1\")\" "
      "R\"e(raw 2)e\"";
  const std::vector<std::string> expected = {"x\\\"y", "raw \"1\"", "raw 2"};
  CHECK(flashlab::test::string_literals(code) == expected);
}

TEST_CASE("the fuzzer's dictionary has every word of the language", "[structure]") {
  const std::string dictionary = read(kRoot / "fuzz" / "dictionary.txt");
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
