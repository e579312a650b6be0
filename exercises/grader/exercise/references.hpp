// Expected results without a reference program: textbook formulas in double.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace flashlab::exercises {

/// An array's elements, row-major, and its extents.
struct NamedArray {
  std::vector<std::int64_t> extents;
  std::vector<double> values;
};
using NamedArrays = std::map<std::string, NamedArray>;

std::vector<std::string> builtin_reference_names();

/// Computes the outputs of the reference. The exercise must use these names of arrays:
///   sum        x[n] -> s[1]
///   softmax    x[n] -> out[n]
///   variance   x[n] -> mean[1], variance[1], over n - 1
///   matmul     a[m][k], b[k][n] -> c[m][n]
///   attention  q(n,d), k(nk,d), v(nk,d) -> o(n,d), lse(n,1): scale 1/sqrt(d), no mask
/// Throws std::runtime_error naming the array that is missing or does not fit.
NamedArrays run_builtin_reference(const std::string& name, const NamedArrays& inputs);

}  // namespace flashlab::exercises
