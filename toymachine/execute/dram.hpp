// The DRAM of a run: one cell per element, all arrays one after the other as BoundArray::offset
// says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// Where an input array's values come from.
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
struct ListInput {  // values in row-major order, with the shape they came in
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};
using InputSource = std::variant<RandomInput, ConstantInput, FileInput, ListInput>;

/// Reads the text behind `--input NAME=`: `random:7`, `random:7:-100:100`, `constant:0`,
/// `[1, 2.5, -inf]` (JSON, nested for more axes), or a path ending in .csv or .json.
Result<InputSource> parse_input_source(std::string_view text);

/// The DRAM image before the first step: inputs filled and rounded to their element type, all other
/// cells unwritten (NaN). An input without a source is random with a seed derived from its name.
/// Errors: an input nobody declared, a wrong number of values or shape, NaN, +inf, unreadable file
/// (with its row and column). -inf is a legal value.
Result<std::vector<double>> initial_dram(const BoundProgram& program,
                                         const std::map<std::string, InputSource>& inputs);

/// A limit when the arrays take more than Limits::max_array_bytes together. Counting needs no
/// memory, running does: this limits what a run would take.
std::optional<Diagnostic> array_bytes_error(const BoundProgram& program);

/// `value` rounded to what the element type can hold.
double round_to(ElementType type, double value);

}  // namespace flashlab::toy
