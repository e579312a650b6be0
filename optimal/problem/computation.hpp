// A computation of one size, in the form that all searches of optimal/ take.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/problem/program_frame.hpp"
#include "optimal/problem/value_algebra.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::optimal {

struct Computation {
  std::string name;   // "2x2x2", "softmax:3"
  std::string title;  // "The product of 2 x 2 and 2 x 2"
  /// The programs that a proof covers. The text completes "The proof is about programs in which
  /// ...": for example "every value is a maximum of elements, in any order".
  std::string allowed;
  std::variant<MatrixProduct, ValueAlgebra> what;
  ProgramFrame frame;

  /// Null if the computation is a vector's sum, a softmax, …
  const MatrixProduct* product() const { return std::get_if<MatrixProduct>(&what); }
  const ValueAlgebra* algebra() const { return std::get_if<ValueAlgebra>(&what); }
};

/// Returns a computation with the algebra's title, frame and text on allowed programs.
Computation with_algebra(std::string name, ValueAlgebra algebra);

/// The most bits that a state of the search for a product may have. Such a state has one bit for
/// each of the rows x inner x columns terms and for each element of A and B. If partial sums may be
/// stored, it also has one for each element of C.
inline constexpr int kMostProductBits = 64;
int product_bits(const MatrixProduct& product, bool spills);

/// Returns "2x2x2 (rows x inner x columns), dot:8, sum:4, …", for messages and help.
std::string computation_names();

/// Reads "2x2x2", "dot:8", "sum:4", "max:4", "softmax:2", "online:3", "attention:2",
/// "merge:1". Errors, all of fault kRequest: an unknown name, a missing size, a size that the
/// solver cannot hold.
toy::Result<Computation> named_computation(const std::string& text);

/// A program that states what is to be computed, and the instructions that its machine has. Only
/// the formulas of its outputs count, not how it computes them. (One exception: a decomposition
/// also contains the values that the program itself makes.)
struct StatedProgram {
  std::string name, title;
  Instructions instructions;
  /// Declarations for the witness (the program that a search finds, optimal/problem/answer.hpp):
  /// ".param n = 2", ".input  x[n]". The arrays are those of `bound`.
  std::vector<std::string> declarations;
  const toy::BoundProgram& bound;
  /// Names of the output arrays that must be stored; empty: all output arrays.
  std::vector<std::string> outputs;
};

/// Recognises what the program computes. At the matmul level it must be a matrix product; its
/// arrays may have any names and any part of them may be used. Softmax and attention of one query
/// are recognised by equal formulas. Every other program is decomposed (see
/// optimal/problem/decomposition.hpp). Errors: elements that are tiles or of a narrow type; a run
/// that is too long or fails (with its place in the program); more values or longer formulas than
/// can be solved, of fault kLimit.
toy::Result<Computation> stated_computation(const StatedProgram& program);

/// The number of input cells that a program's outputs depend on, and of output cells that it
/// stores. Every program that computes the same needs at least these loads and stores. Errors as
/// for stated_computation(), without the limit on values.
struct Compulsory {
  std::int64_t loads = 0, stores = 0;
};
toy::Result<Compulsory> compulsory_transfers(const StatedProgram& program);

}  // namespace flashlab::optimal
