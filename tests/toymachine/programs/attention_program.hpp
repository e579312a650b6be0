// Binds attention programs to a size, gives them inputs, and knows what they should give.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "tests/toymachine/programs/attention_reference.hpp"

namespace flashlab::test {

/// A problem and how it is cut into tiles.
struct Size {
  std::int64_t n = 8, nk = 8, d = 4, B = 1, Bk = 1, Bd = 1;
};

inline std::ostream& operator<<(std::ostream& out, const Size& size) {
  return out << "n = " << size.n << ", nk = " << size.nk << ", d = " << size.d << ", B = " << size.B
             << ", Bk = " << size.Bk << ", Bd = " << size.Bd;
}

using Params = std::map<std::string, std::int64_t>;

inline toy::BoundProgram attention_program(const std::string& name, const Size& size,
                                           const Params& more = {}) {
  Params all{{"n", size.n}, {"nk", size.nk}, {"d", size.d},
             {"B", size.B}, {"Bk", size.Bk}, {"Bd", size.Bd}};
  all.insert(more.begin(), more.end());
  return bundled(name, params(all));
}

/// Uniform in [-1, 1).
inline Matrix random_matrix(std::int64_t rows, std::int64_t cols, unsigned seed) {
  const auto r = static_cast<std::size_t>(rows), c = static_cast<std::size_t>(cols);
  return {r, c, random_values(r * c, seed)};
}

/// Inputs and all that can be made of them. In float, O and lse are rounded before a program gets
/// them; everything else can be held exactly.
struct AttentionProblem {
  Matrix Q, K, V, dO;
  double scale = 1;
  AttentionResult forward;
  AttentionGradients backward;

  AttentionProblem(const Size& size, bool is_causal)
      : Q(random_matrix(size.n, size.d, 1)),
        K(random_matrix(size.nk, size.d, 2)),
        V(random_matrix(size.nk, size.d, 3)),
        dO(random_matrix(size.n, size.d, 4)),
        scale(1 / std::sqrt(static_cast<double>(size.d))),
        forward(attention(Q, K, V, scale, is_causal)),
        backward(attention_gradients(Q, K, V, dO, scale, is_causal)) {}

  std::map<std::string, Values> inputs() const {
    return {{"q", Q.values},   {"k", K.values},         {"v", V.values},
            {"do", dO.values}, {"o", forward.O.values}, {"lse", forward.lse.values}};
  }

  std::map<std::string, Values> expected() const {
    return {{"o", forward.O.values},
            {"lse", forward.lse.values},
            {"dq", backward.dQ.values},
            {"dk", backward.dK.values},
            {"dv", backward.dV.values}};
  }
};

/// Self-attention of projections of X, all gradients.
struct ProjectedProblem {
  Matrix X, Wq, Wk, Wv, Q, K, V, dO;
  AttentionResult forward;
  ProjectionGradients backward;

  ProjectedProblem(std::int64_t n, std::int64_t d, std::int64_t dm)
      : X(random_matrix(n, dm, 1)),
        Wq(random_matrix(dm, d, 2)),
        Wk(random_matrix(dm, d, 3)),
        Wv(random_matrix(dm, d, 4)),
        Q(product(X, Wq)),
        K(product(X, Wk)),
        V(product(X, Wv)),
        dO(random_matrix(n, d, 5)) {
    const double scale = 1 / std::sqrt(static_cast<double>(d));
    forward = attention(Q, K, V, scale, false);
    backward = projection_gradients(X, Wq, Wk, Wv, attention_gradients(Q, K, V, dO, scale, false));
  }

  std::map<std::string, Values> inputs() const {
    return {{"x", X.values},   {"wq", Wq.values},
            {"wk", Wk.values}, {"wv", Wv.values},
            {"q", Q.values},   {"k", K.values},
            {"v", V.values},   {"o", forward.O.values},
            {"do", dO.values}, {"lse", forward.lse.values}};
  }

  std::map<std::string, Values> expected() const {
    return {{"dx", backward.dX.values},
            {"dwq", backward.dWq.values},
            {"dwk", backward.dWk.values},
            {"dwv", backward.dWv.values}};
  }
};

/// Every output of the program that `expected` knows is near it; there is at least one.
inline void require_outputs(const std::map<std::string, Values>& outputs,
                            const std::map<std::string, Values>& expected, double tolerance) {
  int compared = 0;
  for (const auto& [array, values] : outputs) {
    if (!expected.contains(array)) continue;
    const double error = relative_error(values, expected.at(array));
    INFO(array << " is off by " << error);
    REQUIRE(error <= tolerance);  // a NaN fails
    ++compared;
  }
  REQUIRE(compared > 0);
}

constexpr double kFloatTolerance = 1e-5, kDoubleTolerance = 1e-12;

/// Runs the program in float and in double.
inline void require_right(const toy::BoundProgram& program,
                          const std::map<std::string, Values>& inputs,
                          const std::map<std::string, Values>& expected) {
  require_outputs(finish<float>(program, inputs).outputs, expected, kFloatTolerance);
  require_outputs(finish<double>(program, inputs).outputs, expected, kDoubleTolerance);
}

/// Loads and stores of one array, in instructions; with `pass`, of that pass only.
struct Traffic {
  toy::Count loads, stores, updates;
};

inline Traffic traffic(const toy::BoundProgram& program, const std::string& array,
                       std::size_t pass = SIZE_MAX) {
  const auto executions = toy::count_executions(program);
  REQUIRE(executions);
  const toy::Counters counters = pass == SIZE_MAX ? toy::count(program, *executions, {})
                                                  : toy::count_pass(program, *executions, {}, pass);
  for (std::size_t i = 0; i < program.arrays.size(); ++i) {
    if (program.arrays[i].name != array) continue;
    const toy::ArrayTraffic& of_array = counters.by_array[i];
    return {of_array.loads, of_array.stores, of_array.updates};
  }
  FAIL("there is no array " << array);
  return {};
}

}  // namespace flashlab::test
