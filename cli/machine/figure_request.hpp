// The data of a figure that moves: a run for each choice of tile sizes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "toymachine/history/figure_json.hpp"

namespace flashlab::cli {

struct FigureRequest {
  std::string program;  // a name for load_program
  MachineOptions machine;
  RunOptions run;
};

struct Figure {
  LoadedProgram loaded;
  std::vector<std::unique_ptr<toy::BoundProgram>> programs;  // to which the runs refer
  std::vector<toy::FigureSlider> sliders;
  std::vector<toy::FigureChoice> choices;
  std::size_t opens = 0;  // the choice with the request's parameters

  const toy::FigureChoice& shown() const { return choices[opens]; }
  std::string json() const {
    return toy::figure_json(loaded.short_name(), sliders, choices, opens);
  }
};

/// Runs the program for each choice. Throws Failure: a program or a run that fails, and one that
/// has no figure with the request's own parameters.
Figure make_figure(const FigureRequest& request);

/// The run of a bound program as a figure, or why there is none. A run that fails is in the result.
toy::Result<toy::FigureChoice> figure_of_run(const LoadedProgram& loaded,
                                             const toy::BoundProgram& bound, const RunOptions& run,
                                             const toy::Limits& limits);

/// The traffic of a bundled program that solves the same problem with all matrices in DRAM; nothing
/// if there is none. Counted, not run.
std::optional<toy::FigureBeside> naive_beside(const toy::BoundProgram& bound,
                                              const toy::Limits& limits);

}  // namespace flashlab::cli
