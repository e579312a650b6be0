// The tables of a report: a section for each variant, a line for each row, its steps folded away.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "compare/result_file.hpp"

namespace flashlab::compare {

/// Variants in the order of the rows, each once.
std::vector<std::string> variants_of(const Comparison& comparison);

/// What a link to the variant's section names.
std::string anchor_of(const std::string& variant);

/// Every row of the comparison, as HTML sections.
void write_rows(std::ostream& out, const Comparison& comparison);

}  // namespace flashlab::compare
