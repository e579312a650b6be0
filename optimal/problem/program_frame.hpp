// What stands around a witness's instructions: its level, its arrays, and what its cells are
// called.
#pragma once

#include <string>
#include <vector>

namespace flashlab::optimal {

struct ProgramFrame {
  std::string level;                      // "matmul": what .isa says
  std::vector<std::string> declarations;  // lines: ".param n = 2", ".input  x[n]"
  std::vector<std::string> input_cells;   // by number of the input: "x[0]"
  std::vector<std::string> output_cells;  // by number of the output: "o[0]"
};

}  // namespace flashlab::optimal
