// Reads lists of numbers from text: JSON lists and CSV tables. Used for the inputs of a run.
#pragma once

#include <string>
#include <string_view>

#include "toymachine/execute/dram.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

/// Parses one number in usual notation: `2`, `+1.5e-3`, `-inf`. Errors say what is wrong; NaN and
/// +inf are never values of this machine.
Result<double> parse_number(std::string_view text);

/// Parses `[1, 2.5, -inf]`, nested for more axes; all lists of one depth have the same length. -inf
/// may also be written "-inf" or -Infinity, because JSON has no word for it. In messages, `name`
/// precedes the place: `x.json:2:5: …`.
Result<ListInput> parse_json_list(std::string_view text, const std::string& name);

/// Parses rows of numbers, all of the same length, separated by commas, or by semicolons or tabs if the
/// first row has no comma. A number may stand in quotes. Blank lines and lines that start with # are
/// skipped. The shape is rows x columns.
Result<ListInput> parse_csv(std::string_view text, const std::string& name);

}  // namespace flashlab::toy::detail
