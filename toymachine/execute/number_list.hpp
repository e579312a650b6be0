// Lists of numbers as text: JSON lists and CSV tables. Used for the inputs of a run.
#pragma once

#include <string>
#include <string_view>

#include "toymachine/execute/dram.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

/// One number as people write it: `2`, `+1.5e-3`, `-inf`. Errors say what is wrong with it: NaN and
/// +inf are never values of this machine.
Result<double> parse_number(std::string_view text);

/// `[1, 2.5, -inf]`, nested for more axes; every list of one depth has the same length. -inf may
/// also be written "-inf" or -Infinity, since JSON has no word for it. `name` stands before the
/// place in messages: `x.json:2:5: …`.
Result<ListInput> parse_json_list(std::string_view text, const std::string& name);

/// Rows of numbers with commas between them, all equally long; blank lines and lines that start
/// with # do not count. The shape is rows x columns.
Result<ListInput> parse_csv(std::string_view text, const std::string& name);

}  // namespace flashlab::toy::detail
