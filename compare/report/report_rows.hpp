// Writes the tables of a report: a section for each variant, a line for each row with
// its steps folded.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include "results/result_file.hpp"

namespace flashlab::compare {

/// Maximum length of a text from a file.
inline constexpr std::size_t kMostText = 600;

/// Returns the anchor of the variant's section.
std::string anchor_of(const std::string& variant);

/// Writes every row of the comparison as HTML sections.
void write_rows(std::ostream& out, const Comparison& comparison);

}  // namespace flashlab::compare
