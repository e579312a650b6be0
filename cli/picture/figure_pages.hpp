// The figure that moves as a page, and as a row of stills.
#pragma once

#include <ostream>
#include <string>

#include "cli/machine/figure_request.hpp"

namespace flashlab::cli {

/// Draws the first pair of tiles, the next one, the first one with both tiles new, and the end.
std::string figure_stills_svg(const Figure& figure);

/// Writes a page that loads nothing: the figure, and without scripts the stills and the bytes of
/// every choice of tile sizes.
void write_figure_page(const Figure& figure, std::ostream& out);

}  // namespace flashlab::cli
