// The tables of a report: a section for each variant, a line for each row, its steps folded away.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include "results/result_file.hpp"

namespace flashlab::compare {

/// Of anything that a file brings along.
inline constexpr std::size_t kMostText = 600;

/// What a link to the variant's section names.
std::string anchor_of(const std::string& variant);

/// Every row of the comparison, as HTML sections.
void write_rows(std::ostream& out, const Comparison& comparison);

}  // namespace flashlab::compare
