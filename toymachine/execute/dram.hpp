// The DRAM of a run: one cell per element; the arrays are stored one after the
// other, at BoundArray::offset.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// The source of an input array's values.
struct RandomInput {  // uniform in [low, high), the same on every platform
  std::uint64_t seed = 0;
  double low = -1;
  double high = 1;
};
struct ConstantInput {
  double value = 0;
};
struct FileInput {  // .csv or .json
  std::string path;
};
struct ListInput {  // values in row-major order, with their shape
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};
using InputSource = std::variant<RandomInput, ConstantInput, FileInput, ListInput>;

/// Parses the text after `--input NAME=`: `random:7`, `random:7:-100:100`, `constant:0`, `[1, 2.5,
/// -inf]` (JSON, nested for more axes), or a path that ends in .csv or .json.
Result<InputSource> parse_input_source(std::string_view text);

/// Returns the DRAM image before the first step: inputs are filled and rounded to their element
/// type, all other cells are unwritten (NaN). An input without a source is random with a seed
/// derived from its name. Errors: an undeclared input, a wrong number of values or shape, NaN,
/// +inf, an unreadable file (with row and column). -inf is a legal value.
Result<std::vector<double>> initial_dram(const BoundProgram& program,
                                         const std::map<std::string, InputSource>& inputs);

/// Returns a limit error if the arrays together take more than Limits::max_array_bytes. This limits
/// only runs, because counting needs no memory.
std::optional<Diagnostic> array_bytes_error(const BoundProgram& program);

/// Returns `value` rounded to the element type.
double round_to(ElementType type, double value);

}  // namespace flashlab::toy
