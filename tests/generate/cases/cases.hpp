// The programs, at several sizes, whose generated code the tests run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/execution.hpp"

namespace flashlab::test {

/// A program whose reference run reaches its end.
struct GenerateCase {
  std::string program;  // "flash2", "28_flash2", "random_3"
  std::string setting;  // "n=5 d=3 …"
  std::shared_ptr<const toy::BoundProgram> bound;
  std::optional<toy::ElementType> factors;  // of products on tensor cores: level 1
  bool has_warpgroups = false;              // and level 2

  generate::Target target() const {
    return {factors ? generate::kMostSharedBytes : generate::kSharedBytesEverywhere, factors,
            has_warpgroups};
  }
};

/// Returns all bundled programs, the solutions of all exercises, programs with all element types,
/// and programs drawn at random, each at several sizes. The same on every call.
std::vector<GenerateCase> generate_cases();

/// Returns the bundled programs and the solutions of which level 1 keeps some launch in fragments, in
/// 16 bits: tiles that are smaller than those of tensor cores, tiles that are larger, and last tiles
/// with fewer rows or columns.
std::vector<GenerateCase> fragment_cases();

/// Returns the same for launches whose products level 2 gives to warpgroups: one of them, and several.
std::vector<GenerateCase> warpgroup_cases();

/// Returns a GenerateCase's name in generated sources: "flash2_n5_d3".
std::string identifier_of(const GenerateCase& one);

struct ReferenceRun {
  std::vector<double> before, after;  // DRAM: numbers of the arrays' types
  toy::Execution execution;
};

/// Runs the program on random inputs in the type of its registers; in float and in a fixed order if
/// elements are tiles. Returns nothing if the run stops with an error.
std::optional<ReferenceRun> reference_run(const toy::BoundProgram& program);

}  // namespace flashlab::test
