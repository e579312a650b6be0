// Draws what happened in a run as SVG files, in the style of `compare --svg`.
#pragma once

#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/history/recorded_run.hpp"
#include "toymachine/timeline/timeline.hpp"

namespace flashlab::cli {

/// A program as the pictures need it.
struct PicturedProgram {
  std::string name;
  const toy::BoundProgram* bound = nullptr;
  toy::RecordedRun run;
};

// Each function returns the text of an SVG file. It throws Failure if the picture would be too
// large to read, or if the program has nothing to show.

/// Draws the registers over the steps: where a value waits for its next use, and where only a
/// leftover lies.
std::string live_cells_svg(const PicturedProgram& program);
/// Draws the terms of a sum that is corrected by factors, a row after each input.
std::string rescaled_sum_svg(const PicturedProgram& program);
/// Draws the matrix of tiles in the order in which they are visited, and how often the tiles beside
/// it are loaded and stored.
std::string tiles_svg(const std::vector<PicturedProgram>& programs);
/// Draws all arrays of the programs, and the most that their registers hold, to one scale.
std::string memory_svg(const std::vector<PicturedProgram>& programs);
/// Draws which arrays are computed from which others: the computational graph, as far as it goes
/// through DRAM.
std::string graph_svg(const std::vector<PicturedProgram>& programs);
/// Draws the lanes of both units under each model of time.
std::string timeline_svg(const PicturedProgram& program,
                         const std::vector<toy::Timeline>& timelines);

}  // namespace flashlab::cli
