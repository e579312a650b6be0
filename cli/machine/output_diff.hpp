// The comparison of two programs' outputs in `flashlab diff --outputs`.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"

namespace flashlab::cli {

/// A program and the parameters that it runs with.
struct ComparedProgram {
  LoadedProgram loaded;
  toy::Machines machines;

  const toy::BoundProgram& bound() const { return machines.joined; }
};

/// The first element of an output in which two programs differ.
struct DifferingElement {
  std::string name;  // "o[0][1]"
  double left = 0, right = 0;
  std::string left_formula, right_formula;  // empty: not known
};

/// One output that both programs have.
struct OutputComparison {
  std::string array;
  std::int64_t elements = 0;
  bool by_formulas = false;       // equal formulas: the results are equal for all inputs
  double largest_difference = 0;  // of the values
  double largest_value = 0;
  std::optional<DifferingElement> differing;  // nothing: the output agrees
};

struct OutputDiff {
  std::string left, right;  // names of the programs
  std::vector<OutputComparison> outputs;
  std::vector<std::string> left_only, right_only;  // outputs that only one program has
  std::string no_formulas;                         // why formulas were not compared; may be empty
  double tolerance = 0;                            // relative to an output's largest value

  bool agree() const;
};

/// Compares the outputs that both programs have. First compares their formulas, if elements are
/// numbers and the formulas are short enough; otherwise, and where formulas differ, compares the
/// values of a run on the same inputs. Throws Failure: the inputs differ in name or shape, no output
/// is common, an output has two shapes, an error in a run.
OutputDiff compare_outputs(const ComparedProgram& left, const ComparedProgram& right,
                           const RunOptions& run);

std::string output_diff_text(const OutputDiff& diff, const Terminal& terminal);
nlohmann::ordered_json output_diff_json(const OutputDiff& diff);

}  // namespace flashlab::cli
