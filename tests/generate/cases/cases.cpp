#include "tests/generate/cases/cases.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "generate/plan/element_types.hpp"
#include "generate/plan/fragment_plan.hpp"
#include "tests/generate/cases/strict_float.hpp"
#include "tests/toymachine/execute/random_tiles.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/interpret.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::test {
namespace {

namespace fs = std::filesystem;
using Parameters = std::map<std::string, std::int64_t>;

/// Values for parameters; a program takes those that it declares. Tiles of different sizes whose
/// last ones are smaller, single elements, one tile.
const std::vector<Parameters>& parameter_choices() {
  static const std::vector<Parameters> kChoices = {
      {},
      {{"n", 5}, {"nk", 7}, {"d", 3}, {"B", 2}, {"Bk", 3}, {"Bd", 2}, {"m", 3}, {"k", 4}},
      {{"n", 1}, {"nk", 1}, {"d", 1}, {"B", 1}, {"Bk", 1}, {"Bd", 1}, {"m", 1}, {"k", 1}},
      {{"n", 7}, {"nk", 5}, {"d", 4}, {"B", 3}, {"Bk", 2}, {"Bd", 3}, {"splits", 3}, {"m", 5}},
      {{"n", 9}, {"nk", 12}, {"d", 6}, {"B", 9}, {"Bk", 5}, {"Bd", 4}, {"splits", 1}, {"m", 2}}};
  return kChoices;
}

/// The same for fragments: one block of a tensor core or less, and several, with and without rests.
const std::vector<Parameters>& fragment_choices() {
  static const std::vector<Parameters> kChoices = {
      {{"n", 5}, {"nk", 7}, {"d", 3}, {"B", 2}, {"Bk", 3}, {"Bd", 2}, {"m", 3}, {"k", 4}},
      {{"n", 40}, {"nk", 72}, {"d", 20}, {"B", 16}, {"Bk", 32}, {"Bd", 16}, {"w", 21}},
      {{"n", 64}, {"nk", 32}, {"d", 16}, {"B", 32}, {"Bk", 16}, {"Bd", 16}, {"w", 40}}};
  return kChoices;
}

/// The same for warpgroups, which hold 64 rows: tiles of one panel and of several, rests, and columns of
/// fewer bytes than the places of a ring are apart.
const std::vector<Parameters>& warpgroup_choices() {
  static const std::vector<Parameters> kChoices = {
      {{"n", 100}, {"nk", 72}, {"d", 24}, {"B", 64}, {"Bk", 32}, {"w", 21}, {"m", 40}, {"k", 40}},
      {{"n", 192}, {"nk", 96}, {"d", 80}, {"B", 192}, {"Bk", 80}, {"w", 40}},
      {{"n", 64}, {"nk", 130}, {"d", 128}, {"B", 64}, {"Bk", 64}, {"Bd", 64}, {"w", 90}},
      {{"n", 196}, {"nk", 132}, {"d", 40}, {"B", 128}, {"Bk", 128}, {"w", 90}},
      {{"n", 112}, {"nk", 64}, {"d", 64}, {"B", 16}, {"Bk", 64}}};
  return kChoices;
}

constexpr unsigned kRandomNarrowPrograms = 200;  // drawn; a tenth has products of fragments
constexpr unsigned kRandomPrograms = 90;         // drawn; about half of them run
constexpr std::size_t kRandomSizes = 20;         // of each program of the course
constexpr int kMostDrawnSizes = 400;  // of which some do not bind, or have no tile of some kind

/// Values for all parameters. They are small, because every element is a step of the emulation.
Parameters drawn_parameters(std::mt19937& generator) {
  const auto from = [&](std::int64_t least, std::int64_t most) {
    // The standard's distributions differ between libraries, its generators do not.
    return least + static_cast<std::int64_t>(generator() % static_cast<unsigned>(most - least + 1));
  };
  Parameters choice;
  for (const char* const length : {"n", "nk"}) choice[length] = from(1, 12);
  for (const char* const width : {"d", "dm", "m", "k"}) choice[width] = from(1, 7);
  for (const char* const tile : {"B", "Bk", "Bd", "Bm"}) choice[tile] = from(1, 6);
  choice["w"] = from(1, 12);
  choice["s"] = from(1, 4);
  choice["splits"] = from(1, 3);
  return choice;
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string setting_of(const toy::BoundProgram& program) {
  std::string text;
  for (std::size_t i = 0; i < program.params.size(); ++i) {
    text += (i == 0 ? "" : " ") + program.program->params[i].name + "=" +
            std::to_string(program.params[i]);
  }
  return text;
}

std::optional<toy::BoundProgram> bound_if_it_fits(
    const std::shared_ptr<const toy::Program>& program, const Parameters& choice) {
  toy::Binding binding;
  for (const toy::ParamDeclaration& param : program->params) {
    if (const auto value = choice.find(param.name); value != choice.end())
      binding.params.insert(*value);
  }
  return std::move(toy::bind(program, binding).value);
}

std::shared_ptr<const toy::Program> assembled_program(const std::string& name,
                                                      const std::string& text) {
  auto assembled = toy::assemble(std::make_shared<const toy::SourceText>(name, text));
  if (!assembled) throw std::runtime_error(name + " does not assemble");
  return std::make_shared<const toy::Program>(std::move(*assembled));
}

/// Adds kRandomSizes cases, or one if the program has no parameters that could be drawn.
void add_random_cases(const std::string& name, const std::string& text,
                      std::vector<GenerateCase>& cases) {
  const auto program = assembled_program(name, text);
  std::mt19937 generator(static_cast<unsigned>(text.size()));
  std::set<std::string> settings;
  for (int drawn = 0; drawn < kMostDrawnSizes && settings.size() < kRandomSizes; ++drawn) {
    auto bound = bound_if_it_fits(program, drawn_parameters(generator));
    if (!bound || settings.contains(setting_of(*bound)) || !reference_run(*bound)) continue;
    const std::string setting = setting_of(*bound);
    settings.insert(setting);
    cases.push_back({"drawn_" + name,
                     setting,
                     std::make_shared<const toy::BoundProgram>(std::move(*bound)),
                     {}});
  }
}

void add_cases(const std::string& name, const std::string& text,
               const std::vector<Parameters>& choices, std::vector<GenerateCase>& cases,
               std::optional<toy::ElementType> factors = {}) {
  const auto program = assembled_program(name, text);
  std::set<std::string> settings;
  for (const Parameters& choice : choices) {
    auto bound = bound_if_it_fits(program, choice);
    if (bound && factors) generate::set_element_type(*bound, *factors);
    if (!bound || !settings.insert(setting_of(*bound)).second || !reference_run(*bound)) continue;
    const std::string setting = setting_of(*bound);
    cases.push_back(
        {name, setting, std::make_shared<const toy::BoundProgram>(std::move(*bound)), factors});
  }
}

void add_folder(const fs::path& folder, const std::vector<Parameters>& choices,
                std::vector<GenerateCase>& cases, std::optional<toy::ElementType> factors = {}) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path path = entry.is_directory() ? entry.path() / "solution.toy" : entry.path();
    if (path.extension() == ".toy" && fs::exists(path)) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const bool is_solution = path.stem() == "solution";
    const fs::path name = is_solution ? path.parent_path().filename() : path.stem();
    add_cases(name.string(), text_of_file(path), choices, cases, factors);
  }
}

/// Numbers of 16 bits: rounded, subnormal, and read again.
constexpr const char* kNarrowTypes =
    ".isa attention\n.param n = 6, m = 5, B = 4, C = 2\n.const tiny = 0.00001\n"
    ".input x(n, m) tile (B, C) bf16\n.input y(n, m) tile (B, C) fp16\n"
    ".temp a(n, m) tile (B, C) bf16\n.temp b(n, m) tile (B, C) fp16\n"
    ".output c(n, m) tile (B, C) fp16\n.output d(n, m) tile (B, C) bf16\n.reg X, Y, T\n"
    ".pass Round\nfor i in 0..tiles(x)\nfor j in 0..tiles(x, 1)\nLOAD x[i][j], X\n"
    "LOAD y[i][j], Y\nMUL X, Y, X\nSTORE X, a[i][j]\nSTORE X, b[i][j]\nend\nend\n"
    ".pass Read again\nFILL tiny, T\nfor i in 0..tiles(x)\nfor j in 0..tiles(x, 1)\n"
    "LOAD a[i][j], X\nLOAD b[i][j], Y\nADD X, Y, X\nMUL X, T, X\nSTORE X, c[i][j]\n"
    "MUL X, Y, X\nSTORE X, d[i][j]\nend\nend\n";

/// What is stored is no fragment: numbers, where a fragment was stored before, and a loaded tile.
constexpr const char* kStoredNumbers =
    ".isa attention\n.param n = 128\n.const two = 2\n.input a(n, 64) tile (64, 64)\n"
    ".output o(n, 64) tile (64, 64)\n.output c(n, 64) tile (64, 64)\n"
    ".output s(n, 64) tile (64, 64)\n.reg A, P, X\n.pass Zero\nFILL 0, X\n"
    "for i in 0..tiles(s)\nSTORE X, s[i][0]\nend\n.pass Store\nfor i in 0..tiles(a)\n"
    "LOAD a[i][0], A\nMAC_Z A, A^T, P\nSTORE P, o[i][0]\nFILL two, X\nSTORE X, o[i][0]\n"
    "STORE A, c[i][0]\nATOMIC_ADD X, s[i][0]\nMAC_Z A, P, P\nATOMIC_ADD P, s[i][0]\nend\n";

/// Registers of doubles, of which some come from floats.
constexpr const char* kDoubles =
    ".isa attention\n.param n = 6\n.input x[n] double\n.input y[n]\n.output o[n] double\n"
    ".output p[n]\nfor i in 0..n\nLOAD x[i], R0\nLOAD y[i], R1\nEXP R0, R2\nMAC R0, R1, R2, R2\n"
    "DIV R2, R0, R1\nSTORE R1, p[i]\nMAX R1, R2, R1\nMASK R1, i, 2, R1\nSTORE R1, o[i]\nend\n";

/// Operations that no program of the course has: on numbers, on tiles, and on fragments.
constexpr const char* kOperationsOfNumbers =
    ".isa attention, MIN, ABS, TANH, RSQRT, RCP, EXP2, LOG2\n.param n = 6\n.const half = 0.5\n"
    ".input x[n]\n.input y[n]\n.output o[n]\nFILL half, R9\nfor i in 0..n\nLOAD x[i], R0\n"
    "LOAD y[i], R1\nMIN R0, R1, R2\nTANH R2, R2\nABS R1, R1\nADD R1, R9, R1\nRSQRT R1, R3\n"
    "RCP R1, R4\nLOG2 R1, R5\nEXP2 R0, R6\nADD R2, R3, R2\nADD R2, R4, R2\nADD R2, R5, R2\n"
    "ADD R2, R6, R2\nSTORE R2, o[i]\nend\n";
constexpr const char* kOperationsOfTiles =
    ".isa attention, MIN, ABS, TANH, RSQRT, RCP, EXP2, LOG2, LESS, SELECT, ROW, COL\n"
    ".operands constants\n.param n = 5, m = 6, B = 2, C = 4\n"
    ".const half = 0.5\n.input x(n, m) tile (B, C)\n.input y(n, m) tile (B, C)\n"
    ".output o(n, m) tile (B, C)\n.reg X, Y, Z, L, H\nFILL half, H\nfor i in 0..tiles(x)\n"
    "for j in 0..tiles(x, 1)\nLOAD x[i][j], X\nLOAD y[i][j], Y\nMIN X, Y, Z\nTANH Z, Z\n"
    "ABS Y, Y\nADD Y, H, Y\nROWSUM Y, L\nRSQRT L, L\nMUL Z, L, Z\nLOG2 Y, X\nRCP Y, Y\n"
    "EXP2 X, X\nADD X, Y, X\nADD X, Z, X\nROW X, i*B, Y\nCOL X, j*C, Z\nLESS Z, Y, L\n"
    "SUB 2, Z, Z\nSELECT L, X, Z, X\nMUL X, half, X\nSTORE X, o[i][j]\nend\nend\n";
constexpr const char* kOperationsOfFragments =
    ".isa attention, MIN, ABS, TANH, RSQRT, RCP, EXP2, LOG2, LESS, SELECT, ROW, COL\n"
    ".operands constants\n.param n = 128\n.const half = 0.5\n"
    ".input a(n, 64) tile (64, 64)\n.output o(n, 64) tile (64, 64)\n.reg A, P, X, L, M, H, U\n"
    "for i in 0..tiles(a)\nLOAD a[i][0], A\nMAC_Z A, A^T, P\nFILL half, H\nMUL P, H, P\n"
    "TANH P, P\nABS P, X\nROWSUM X, L\nADD L, H, L\nRSQRT L, M\nRCP L, L\nMUL P, M, P\n"
    "MIN P, H, P\nEXP2 P, P\nLOG2 P, X\nMUL X, L, X\nADD P, X, P\nROW P, i*64 - 40, X\n"
    "COL P, 0, U\nLESS U, X, U\nSUB 2, X, X\nSELECT U, P, X, P\nMUL P, half, P\n"
    "STORE P, o[i][0]\nend\n";

/// A random program in a loop whose iterations fill their own registers and store their own tiles,
/// so that it often is a grid.
std::string in_a_grid(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("for z")) result += "for g in 0..tiles(a)\n";
    if (const auto cell = line.find(", o["); cell != std::string::npos) {
      const auto row = cell + 4;
      line.replace(row, line.find(']', row) - row, "g");
    }
    result += line + "\n";
  }
  return result + "end\n";
}

template <class Number>
bool execute_on_numbers(const toy::BoundProgram& program, ReferenceRun& run) {
  std::vector<Number> dram(run.before.begin(), run.before.end());
  auto execution = toy::run(program, std::span<Number>(dram));
  if (!execution) return false;
  run.execution = std::move(*execution);
  run.after.assign(dram.begin(), dram.end());
  return true;
}

bool execute_on_tiles(const toy::BoundProgram& program, ReferenceRun& run) {
  std::vector<StrictFloat> dram(run.before.begin(), run.before.end());
  toy::NoObserver observer;
  auto execution = toy::detail::interpret<toy::detail::Tile<StrictFloat>>(
      program, std::span<StrictFloat>(dram), observer);
  if (!execution) return false;
  run.execution = std::move(*execution);
  for (const StrictFloat element : dram) run.after.push_back(static_cast<double>(element));
  return true;
}

/// Runs and returns whether the end was reached.
bool execute(const toy::BoundProgram& program, ReferenceRun& run) {
  if (program.tiled) return execute_on_tiles(program, run);
  const bool doubles =
      toy::register_element_bytes(program) == toy::element_bytes(toy::ElementType::kDouble);
  if (!doubles) return execute_on_numbers<float>(program, run);
  if (!execute_on_numbers<double>(program, run)) return false;
  // A run in double keeps doubles in arrays of floats. No case reads such an array again.
  for (const toy::BoundArray& array : program.arrays) {
    if (array.element_type != toy::ElementType::kFloat) continue;
    for (auto at = run.after.begin() + array.offset;
         at != run.after.begin() + array.offset + array.size; ++at) {
      *at = static_cast<double>(static_cast<float>(*at));
    }
  }
  return true;
}

constexpr const char* kFolders[] = {"toymachine/programs", "exercises"};

/// Whether some launch is in fragments, and of warpgroups if the case is.
bool has_fragments(const GenerateCase& one) {
  const auto plan = generate::plan(*one.bound, one.target());
  return plan && std::any_of(plan->launches.begin(), plan->launches.end(),
                             [&](const generate::Launch& launch) {
                               return launch.fragments != nullptr &&
                                      launch.fragments->has_warpgroups >= one.has_warpgroups;
                             });
}

/// All bundled programs and solutions in 16 bits, and random ones with these tiles.
std::vector<GenerateCase> narrow_cases(const std::vector<Parameters>& choices,
                                       const std::vector<Parameters>& random_tiles) {
  std::vector<GenerateCase> cases;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto factors = i % 2 == 0 ? toy::ElementType::kBf16 : toy::ElementType::kFp16;
    for (const char* const folder : kFolders) {
      add_folder(fs::path(FLASHLAB_SOURCE_DIR) / folder, {choices[i]}, cases, factors);
    }
  }
  add_cases("stored_numbers", kStoredNumbers, {{}}, cases, toy::ElementType::kBf16);
  add_cases("operations", kOperationsOfFragments, {{}}, cases, toy::ElementType::kBf16);
  for (unsigned seed = 0; seed < kRandomNarrowPrograms; ++seed) {
    add_cases("random_" + std::to_string(seed), RandomTiles(seed).text(),
              {random_tiles[seed % random_tiles.size()]}, cases, toy::ElementType::kBf16);
  }
  return cases;
}

}  // namespace

std::vector<GenerateCase> fragment_cases() {
  std::vector<GenerateCase> cases = narrow_cases(
      fragment_choices(),
      {{{"n", 40}, {"m", 32}, {"B", 16}, {"C", 16}}, {{"n", 32}, {"m", 24}, {"B", 32}, {"C", 16}}});
  std::erase_if(cases, [](const GenerateCase& one) { return !has_fragments(one); });
  return cases;
}

std::vector<GenerateCase> warpgroup_cases() {
  std::vector<GenerateCase> cases =
      narrow_cases(warpgroup_choices(), {{{"n", 68}, {"m", 128}, {"B", 64}, {"C", 64}},
                                         {{"n", 128}, {"m", 64}, {"B", 128}, {"C", 64}}});
  for (GenerateCase& one : cases) one.has_warpgroups = true;
  std::erase_if(cases, [](const GenerateCase& one) { return !has_fragments(one); });
  return cases;
}

std::vector<GenerateCase> generate_cases() {
  std::vector<GenerateCase> cases;
  for (const char* const folder : kFolders) {
    add_folder(fs::path(FLASHLAB_SOURCE_DIR) / folder, parameter_choices(), cases);
  }
  std::vector<fs::path> programs;
  for (const auto& entry : fs::directory_iterator(fs::path(FLASHLAB_SOURCE_DIR) / kFolders[0])) {
    if (entry.path().extension() == ".toy") programs.push_back(entry.path());
  }
  std::sort(programs.begin(), programs.end());
  for (const fs::path& path : programs) {
    add_random_cases(path.stem().string(), text_of_file(path), cases);
  }
  add_cases("narrow_types", kNarrowTypes, {{}, {{"n", 64}, {"m", 9}, {"B", 16}, {"C", 8}}}, cases);
  add_cases("doubles", kDoubles, {{}, {{"n", 20}}}, cases);
  add_cases("operations_of_numbers", kOperationsOfNumbers, {{}, {{"n", 20}}}, cases);
  add_cases("operations_of_tiles", kOperationsOfTiles,
            {{}, {{"n", 7}, {"m", 9}, {"B", 3}, {"C", 9}}}, cases);
  for (unsigned seed = 0; seed < kRandomPrograms; ++seed) {
    const std::int64_t n = 1 + seed % 7, m = 1 + seed % 5, B = 1 + seed % 4, C = 1 + seed % 3;
    const std::string text = RandomTiles(seed).text();
    add_cases("random_" + std::to_string(seed), text, {{{"n", n}, {"m", m}, {"B", B}, {"C", C}}},
              cases);
    add_cases("grid_" + std::to_string(seed), in_a_grid(text),
              {{{"n", 3 * B}, {"m", m}, {"B", B}, {"C", C}}}, cases);
  }
  return cases;
}

std::string identifier_of(const GenerateCase& one) {
  std::string name = (one.has_warpgroups ? "warpgroups_"
                      : one.factors      ? "fragments_"
                                         : "case_") +
                     one.program + "_" + one.setting;
  std::erase(name, '=');
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::optional<ReferenceRun> reference_run(const toy::BoundProgram& program) {
  const auto initial = toy::initial_dram(program, {});
  if (!initial) return std::nullopt;
  ReferenceRun run;
  run.before = *initial;
  if (!execute(program, run)) return std::nullopt;
  return run;
}

}  // namespace flashlab::test
