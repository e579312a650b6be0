#include "optimal/problem/matrix_product.hpp"

namespace flashlab::optimal {
namespace {

std::string matrix_cell(char array, int row, int column) {
  return std::string(1, array) + "[" + std::to_string(row) + "][" + std::to_string(column) + "]";
}

}  // namespace

std::int64_t scalar_cycles(const toy::CostTable& costs, std::string_view mnemonic) {
  const std::size_t row = *toy::find_instruction(mnemonic);
  return costs.cycles(row) + costs.per_work(row);
}

std::string MatrixProduct::input_name(int input) const {
  const int in_b = input - rows * inner;
  return in_b < 0 ? matrix_cell('a', input / inner, input % inner)
                  : matrix_cell('b', in_b / columns, in_b % columns);
}

std::string MatrixProduct::output_name(int output) const {
  return matrix_cell('c', output / columns, output % columns);
}

ProgramFrame product_frame(const MatrixProduct& product) {
  ProgramFrame frame;
  const auto declare = [&](const char* kind, int rows, int columns) {
    frame.declarations.push_back(std::string(kind) + "[" + std::to_string(rows) + "][" +
                                 std::to_string(columns) + "]");
  };
  frame.level = "matmul";
  declare(".input  a", product.rows, product.inner);
  declare(".input  b", product.inner, product.columns);
  declare(".output c", product.rows, product.columns);
  for (int i = 0; i < product.num_inputs(); ++i) frame.input_cells.push_back(product.input_name(i));
  for (int i = 0; i < product.num_outputs(); ++i) {
    frame.output_cells.push_back(product.output_name(i));
  }
  return frame;
}

ProductCosts product_costs(const toy::CostTable& costs) {
  return {scalar_cycles(costs, "LOAD"), scalar_cycles(costs, "STORE"),
          scalar_cycles(costs, "MAC_Z"), scalar_cycles(costs, "MAC")};
}

}  // namespace flashlab::optimal
