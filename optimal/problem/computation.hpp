// What a program is to compute at one size, whichever solver it is for.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/problem/program_frame.hpp"
#include "optimal/problem/value_algebra.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::optimal {

struct Computation {
  std::string name;   // "2x2x2", "softmax:3"
  std::string title;  // "The product of 2 x 2 and 2 x 2"
  /// Which programs a proof is about, as a sentence's middle: "sums in any order of their terms".
  std::string allowed;
  std::variant<MatrixProduct, ValueAlgebra> what;
  ProgramFrame frame;

  /// Null where it is a vector's sum, a softmax, …
  const MatrixProduct* product() const { return std::get_if<MatrixProduct>(&what); }
  const ValueAlgebra* algebra() const { return std::get_if<ValueAlgebra>(&what); }
};

/// Title, frame and what is allowed are the algebra's.
Computation with_algebra(std::string name, ValueAlgebra algebra);

/// The state of a product's search must fit: rows x inner x columns, plus the elements of A and B,
/// and those of C where partial sums may be stored.
inline constexpr int kMostProductBits = 64;
int product_bits(const MatrixProduct& product, bool spills);

/// "2x2x2 (rows x inner x columns), dot:8, sum:4, …", for messages and help.
std::string computation_names();

/// "2x2x2", "dot:8", "sum:4", "max:4", "softmax:2", "online:3", "attention:2", "merge:1". Errors:
/// no such name, no size, a size outside of what the solver can hold, all of fault kRequest.
toy::Result<Computation> named_computation(const std::string& text);

/// A machine's instructions and arrays, and what its outputs must hold at the end: the formulas of
/// one program stand for all that compute the same.
struct StatedProgram {
  std::string name, title;
  Instructions instructions;
  /// Lines for the witness: ".param n = 2", ".input  x[n]". Arrays are those of `bound`.
  std::vector<std::string> declarations;
  const toy::BoundProgram& bound;
  std::vector<std::string> outputs;  // arrays that count; empty: all outputs
};

/// What the program states. On the level of products (matmul) it must be a product, whatever its
/// arrays are called and however much of them it uses; softmax and attention of one query are
/// recognised by the equality of their formulas; everything else is taken apart (see
/// optimal/problem/decomposition.hpp). Errors: elements that are tiles or of a narrow type, a run
/// that is too long or fails (with its place in the program); more values or longer formulas than
/// can be solved, of fault kLimit.
toy::Result<Computation> stated_computation(const StatedProgram& program);

/// The input cells that a program's outputs depend on, and how many output cells it stores: what
/// every program that computes the same must load and store. Errors as above, but for values.
struct Compulsory {
  std::int64_t loads = 0, stores = 0;
};
toy::Result<Compulsory> compulsory_transfers(const StatedProgram& program);

}  // namespace flashlab::optimal
