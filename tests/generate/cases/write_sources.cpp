// Writes the generated code of all cases into a few C++ sources, for the build of the tests:
//   write_generated_sources FILE…       level 2 in the last file, level 1 in the third before it, level 0
//                                       in the others
#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "generate/source/cuda_source.hpp"
#include "tests/generate/cases/cases.hpp"

namespace {

using flashlab::generate::Launch;
using flashlab::generate::Plan;
using flashlab::test::GenerateCase;

std::string element_text(flashlab::toy::ElementType type) {
  switch (type) {
    case flashlab::toy::ElementType::kFloat:
      return "float";
    case flashlab::toy::ElementType::kDouble:
      return "double";
    case flashlab::toy::ElementType::kBf16:
      return "toy::Bf16";
    case flashlab::toy::ElementType::kFp16:
      return "toy::Fp16";
  }
  return {};
}

/// "flashlab::test::map_of(arrays[1], true, 1, 72, 24, 32)"
std::string map_text(const flashlab::toy::BoundArray& array,
                     const flashlab::generate::BoxedArray& boxed) {
  const std::int64_t cols = array.extents.back(), rows = array.extents[array.extents.size() - 2];
  const bool is_bfloat16 = array.element_type == flashlab::toy::ElementType::kBf16;
  if (boxed.is_column) {
    return "flashlab::test::map_of_column(arrays[" + std::to_string(boxed.array) + "], " +
           std::to_string(array.size / rows) + ", " + std::to_string(rows) + ", " +
           std::to_string(boxed.rows) + ")";
  }
  return "flashlab::test::map_of(arrays[" + std::to_string(boxed.array) + "], " +
         (is_bfloat16 ? "true" : "false") + ", " + std::to_string(array.size / rows / cols) + ", " +
         std::to_string(rows) + ", " + std::to_string(cols) + ", " + std::to_string(boxed.rows) +
         ")";
}

/// A function that runs all launches.
std::string host_function(const GenerateCase& one, const Plan& plan) {
  const std::string name = identifier_of(one);
  std::string text = "static void run_" + name + "(void* const* arrays) {\n  (void)arrays;\n";
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    text += "  flashlab::test::launch_generated(" + std::to_string(launch.blocks) + ", " +
            std::to_string(launch.threads) + ", " + std::to_string(plan.shared_bytes(launch)) +
            ", " + flashlab::generate::kernel_name(name, i);
    for (const std::size_t array : launch.arrays) {
      text += ", (" + element_text(one.bound->arrays[array].element_type) + "*)arrays[" +
              std::to_string(array) + "]";
    }
    for (const flashlab::generate::BoxedArray& boxed : launch.boxed) {
      text += ", " + map_text(one.bound->arrays[boxed.array], boxed);
    }
    text += ");\n";
  }
  return text + "}\n";
}

void write(const std::string& path, const std::vector<GenerateCase>& cases, std::size_t first,
           std::size_t step, int level) {
  std::ofstream file(path);
  file << "#include \"tests/generate/generated_code.hpp\"\n"
       << (level == 2 ? "#include \"tests/generate/generated_warpgroups.hpp\"\n" : "")
       << flashlab::generate::device_functions(level);
  std::string table;
  for (std::size_t i = first; i < cases.size(); i += step) {
    const std::string name = identifier_of(cases[i]);
    const auto plan = flashlab::generate::plan(*cases[i].bound, cases[i].target());
    if (!plan) throw std::runtime_error(name + ": " + plan.diagnostics.front().what);
    file << flashlab::generate::cuda_kernels(*cases[i].bound, *plan, name)
         << host_function(cases[i], *plan);
    table += "    {\"" + name + "\", run_" + name + "},\n";
  }
  file << "static const flashlab::test::GeneratedCode kCases[] = {\n"
       << table << "};\nstatic const int kAdded = flashlab::test::add_generated_code(kCases);\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char** argv) try {
  const auto files = static_cast<std::size_t>(argc - 2), plain = files - files / 3;
  const std::vector<GenerateCase> cases = flashlab::test::generate_cases();
  for (std::size_t i = 0; i < plain; ++i) write(argv[i + 1], cases, i, plain, 0);
  const std::vector<GenerateCase> fragments = flashlab::test::fragment_cases();
  for (std::size_t i = plain; i < files; ++i) {
    write(argv[i + 1], fragments, i - plain, files - plain, 1);
  }
  write(argv[argc - 1], flashlab::test::warpgroup_cases(), 0, 1, 2);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "write_generated_sources: " << error.what() << "\n";
  return 1;
}
