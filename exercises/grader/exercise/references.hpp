// Expected results that need no program: textbook formulas in double.
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

/// Fills the outputs of the reference from the inputs. Arrays by the names that the exercise must
/// use:
///   sum        x[n] -> s[1]
///   softmax    x[n] -> out[n]
///   variance   x[n] -> mean[1], variance[1], over n - 1
///   matmul     a[m][k], b[k][n] -> c[m][n]
///   attention  q(n,d), k(nk,d), v(nk,d) -> o(n,d), lse(n,1): scale 1/sqrt(d), no mask
/// Throws std::runtime_error naming the array that is missing or does not fit.
NamedArrays run_builtin_reference(const std::string& name, const NamedArrays& inputs);

}  // namespace flashlab::exercises
