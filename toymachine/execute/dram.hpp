// The DRAM of a run: one cell per element; the arrays are stored one after the
// other, at BoundArray::offset.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
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

/// The DRAM before the first step, whose values are computed when they are asked for: a debugger
/// shows its first screen before millions of inputs are drawn. Inputs are rounded to their element
/// type, all other cells are unwritten (NaN).
class InitialDram {
 public:
  /// Reads and checks all inputs. An input without a source is random with a seed derived from its
  /// name. Errors: an undeclared input, a wrong number of values or shape, NaN, +inf, an unreadable
  /// file (with row and column), arrays above Limits::max_array_bytes. -inf is a legal value.
  static Result<InitialDram> make(const BoundProgram& program,
                                  const std::map<std::string, InputSource>& inputs);
  /// Returns these cells, BoundProgram::dram_elements of them.
  static InitialDram of_cells(const BoundProgram& program, const std::vector<double>& cells);

  /// Sets the cells to the elements of the array from `first` on. Random values are drawn one after
  /// the other, so `first` must be 0 or the end of the call before. Cell: float or double.
  template <class Cell>
  void fill(std::size_t array, std::int64_t first, std::span<Cell> cells);

 private:
  struct Unwritten {};
  struct Drawn {
    RandomInput random;
    ElementType type = ElementType::kFloat;
    std::mt19937_64 engine;
  };
  using Values = std::variant<Unwritten, ConstantInput, std::vector<double>, Drawn>;
  std::vector<Values> arrays_;  // as BoundProgram::arrays; rounded, except for those to be drawn
};

/// Returns all cells of InitialDram::make(), with the same errors.
Result<std::vector<double>> initial_dram(const BoundProgram& program,
                                         const std::map<std::string, InputSource>& inputs);

/// Returns a limit error if the arrays together take more than Limits::max_array_bytes. This limits
/// only runs, because counting needs no memory.
std::optional<Diagnostic> array_bytes_error(const BoundProgram& program);

/// Returns `value` rounded to the element type.
double round_to(ElementType type, double value);

}  // namespace flashlab::toy
