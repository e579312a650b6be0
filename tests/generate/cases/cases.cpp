#include "tests/generate/cases/cases.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "tests/generate/cases/strict_float.hpp"
#include "tests/toymachine/execute/random_tiles.hpp"
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

constexpr unsigned kRandomPrograms = 90;  // drawn; about half of them run

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

void add_cases(const std::string& name, const std::string& text,
               const std::vector<Parameters>& choices, std::vector<GenerateCase>& cases) {
  auto assembled = toy::assemble(std::make_shared<const toy::SourceText>(name, text));
  if (!assembled) throw std::runtime_error(name + " does not assemble");
  const auto program = std::make_shared<const toy::Program>(std::move(*assembled));
  std::set<std::string> settings;
  for (const Parameters& choice : choices) {
    auto bound = bound_if_it_fits(program, choice);
    if (!bound || !settings.insert(setting_of(*bound)).second || !reference_run(*bound)) continue;
    const std::string setting = setting_of(*bound);
    cases.push_back({name, setting, std::make_shared<const toy::BoundProgram>(std::move(*bound))});
  }
}

void add_folder(const fs::path& folder, std::vector<GenerateCase>& cases) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path path = entry.is_directory() ? entry.path() / "solution.toy" : entry.path();
    if (path.extension() == ".toy" && fs::exists(path)) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const bool is_solution = path.stem() == "solution";
    const fs::path name = is_solution ? path.parent_path().filename() : path.stem();
    add_cases(name.string(), text_of_file(path), parameter_choices(), cases);
  }
}

/// Runs and returns whether the end was reached.
bool execute(const toy::BoundProgram& program, ReferenceRun& run) {
  if (!program.tiled) {
    auto execution = toy::run(program, std::span<float>(run.after));
    if (execution) run.execution = std::move(*execution);
    return static_cast<bool>(execution);
  }
  std::vector<StrictFloat> dram(run.before.begin(), run.before.end());
  toy::NoObserver observer;
  auto execution = toy::detail::interpret<toy::detail::Tile<StrictFloat>>(
      program, std::span<StrictFloat>(dram), observer);
  if (!execution) return false;
  run.execution = std::move(*execution);
  std::transform(dram.begin(), dram.end(), run.after.begin(),
                 [](StrictFloat element) { return element.value; });
  return true;
}

}  // namespace

std::vector<GenerateCase> generate_cases() {
  std::vector<GenerateCase> cases;
  add_folder(fs::path(FLASHLAB_SOURCE_DIR) / "toymachine/programs", cases);
  add_folder(fs::path(FLASHLAB_SOURCE_DIR) / "exercises", cases);
  for (unsigned seed = 0; seed < kRandomPrograms; ++seed) {
    const std::int64_t n = 1 + seed % 7, m = 1 + seed % 5, B = 1 + seed % 4, C = 1 + seed % 3;
    add_cases("random_" + std::to_string(seed), RandomTiles(seed).text(),
              {{{"n", n}, {"m", m}, {"B", B}, {"C", C}}}, cases);
  }
  return cases;
}

std::string identifier_of(const GenerateCase& one) {
  std::string name = "case_" + one.program + "_" + one.setting;
  std::erase(name, '=');
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::optional<ReferenceRun> reference_run(const toy::BoundProgram& program) {
  const auto initial = toy::initial_dram(program, {});
  if (!initial) return std::nullopt;
  ReferenceRun run;
  run.before.assign(initial->begin(), initial->end());
  run.after = run.before;
  if (!execute(program, run)) return std::nullopt;
  return run;
}

}  // namespace flashlab::test
