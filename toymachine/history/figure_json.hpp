// A figure that moves, as JSON for the pages that show it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/history/figure.hpp"

namespace flashlab::toy {

/// Another program's traffic for the same problem, in bytes.
struct FigureBeside {
  std::string program;
  std::int64_t loaded = 0, stored = 0;
};

/// One choice of the sliders: a run, or why there is none.
struct FigureChoice {
  std::vector<std::int64_t> values;  // of the sliders
  std::optional<FigureRun> run;
  std::string why_not;
  std::optional<FigureBeside> beside;
};

/// A parameter that the reader changes.
struct FigureSlider {
  std::string param;
  std::vector<std::int64_t> values;
};

/// One object without a line break:
///   program, title, sliders: [{name, values}], runs: [{values, missing}, {values, params, rows,
///   columns, passes, arrays, registers, roles, texts, beside, frames}], opens: number of the run
///   that is shown first
/// rows, columns: {array, extent, tile, count}. arrays: {name, role, side, rows, columns, tile,
/// bytes_loaded, bytes_stored, bytes_updated}. roles: [pass, register, text]. A frame is a list:
///   [kind, pass, last step, texts, array, row, column, elements, bytes, writes, register]
/// and a write [register, rows, columns, last frame that reads it, row, column, array, elements].
/// The register of a frame is the one that is stored. Row and column are numbers of tiles along the
/// matrix. What is not known is -1.
std::string figure_json(const std::string& program, const std::vector<FigureSlider>& sliders,
                        const std::vector<FigureChoice>& choices, std::size_t opens);

}  // namespace flashlab::toy
