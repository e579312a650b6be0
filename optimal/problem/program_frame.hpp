// The frame around a witness's instructions: its level, its arrays, and the names of its cells.
#pragma once

#include <string>
#include <vector>

namespace flashlab::optimal {

struct ProgramFrame {
  std::string level;                      // the argument of .isa: "matmul"
  std::vector<std::string> declarations;  // lines: ".param n = 2", ".input  x[n]"
  std::vector<std::string> input_cells;   // by input: "x[0]"
  std::vector<std::string> output_cells;  // by output: "o[0]"
};

}  // namespace flashlab::optimal
