// Names in anonymous namespaces are unique in a room, so that its sources may be compiled as one.
#include "tests/anonymous_names.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"

namespace {

namespace fs = std::filesystem;
using flashlab::test::anonymous_names;
using flashlab::test::declared_names;
using flashlab::test::DeclaredNames;
using flashlab::test::kSourceRoot;
using flashlab::test::read_source;
using flashlab::test::sources_of;
using flashlab::test::with_folders_inside;

/// Files that may be compiled as one: the sources of a target, in one folder or a few.
std::vector<std::vector<std::string>> rooms() {
  std::vector<std::string> machine_tests = with_folders_inside("tests/toymachine");
  machine_tests.emplace_back("tests/text");
  return {
      with_folders_inside("text"),
      with_folders_inside("toymachine"),
      with_folders_inside("optimal"),
      with_folders_inside("generate"),
      with_folders_inside("exercises/grader"),
      {"exercises/isolation"},
      {"system"},
      {"gpu/sheets"},
      {"results"},
      {"compare/model", "compare/counters", "compare/rows", "compare/picture", "compare/report"},
      {"compare/cuda"},
      with_folders_inside("cli"),
      {"attention", "attention/detail"},
      {"attention_cpu", "attention_cpu/detail"},
      {"attention_cpu/variants", "attention_cpu/detail"},
      {"attention_cuda", "attention_cuda/detail", "attention_cuda/device", "attention_cuda/kernels",
       "attention_cuda/ranks", "attention_cuda/ranks/processes"},
      {"attention_cuda/door"},
      {"attention_cuda/emulation", "attention_cuda/emulation/async"},
      {"tests"},
      machine_tests,
      {"tests/optimal"},
      with_folders_inside("tests/generate"),
      {"tests/exercises"},
      {"tests/compare", "tests/compare/rows"},
      {"tests/cli", "tests/cli/gpu"},
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

}  // namespace

TEST_CASE("names in anonymous namespaces are unique in each room", "[structure]") {
  for (const auto& room : rooms()) {
    std::map<std::string, std::pair<std::string, fs::path>> owners;  // what is said, and where
    for (const fs::path& source : files_of(room)) {
      if (is_header(source)) continue;
      for (const auto& [name, repeatable] : anonymous_names(read_source(kSourceRoot / source))) {
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
      for (const auto& known : declared_names(read_source(kSourceRoot / header))) {
        if (known.repeatable.empty()) declared.emplace(known.name, header);
      }
    }
    for (const fs::path& source : files_of(room)) {
      if (is_header(source)) continue;
      for (const auto& own : anonymous_names(read_source(kSourceRoot / source))) {
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
