// The matrix products count what the notes count, and compute what a plain double loop computes.
#include <cstdint>
#include <string>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT

struct Shape {
  std::int64_t m, k, n;
};

Values exact_product(const Values& a, const Values& b, const Shape& shape) {
  Values c(static_cast<std::size_t>(shape.m * shape.n), 0.0);
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      for (std::int64_t p = 0; p < shape.k; ++p) {
        c[static_cast<std::size_t>(i * shape.n + j)] +=
            a[static_cast<std::size_t>(i * shape.k + p)] *
            b[static_cast<std::size_t>(p * shape.n + j)];
      }
    }
  }
  return c;
}

/// Each of the k roundings of products and sums is at most epsilon/2 of a sum of k terms below 1.
double product_tolerance(std::int64_t k) {
  return kFloatEpsilon * static_cast<double>(k) * static_cast<double>(k);
}

struct Cost {
  std::string program;
  long registers, loads, stores, cycles;
};

}  // namespace

TEST_CASE("the 2 x 2 products cost what the notes count, and 20 cycles at best") {
  const auto [name, registers, loads, stores, cycles] =
      GENERATE(Cost{"matmul_c00", 3, 4, 1, 7}, Cost{"matmul_inner_no_reuse", 3, 16, 4, 28},
               Cost{"matmul_inner", 3, 13, 4, 25}, Cost{"matmul_outer", 6, 10, 4, 22},
               Cost{"matmul_inner_6_registers", 6, 8, 4, 20});
  INFO(name);
  const BoundProgram program = bundled(name);
  const Values a = random_values(4, 1), b = random_values(4, 2);
  const auto run = finish<float>(program, {{"a", a}, {"b", b}});
  CHECK(program.num_registers == registers);
  CHECK(run.counters.loads == loads);
  CHECK(run.counters.stores == stores);
  CHECK(run.counters.cycles == cycles);

  Values got = run.outputs.at("c"), expected = exact_product(a, b, {2, 2, 2});
  if (name == "matmul_c00") got.resize(1), expected.resize(1);
  require_near(got, expected, product_tolerance(2));
}

TEST_CASE("the triple loop loads both factors of every product") {
  const auto [m, k, n] = GENERATE(Shape{1, 1, 1}, Shape{2, 3, 5}, Shape{7, 1, 4}, Shape{9, 16, 8});
  const Values a = random_values(static_cast<std::size_t>(m * k), 3);
  const Values b = random_values(static_cast<std::size_t>(k * n), 4);
  const auto run = finish<float>(bundled("matmul_naive", params({{"m", m}, {"k", k}, {"n", n}})),
                                 {{"a", a}, {"b", b}});
  CHECK(run.counters.loads == 2 * m * k * n);
  CHECK(run.counters.compute == m * k * n);
  CHECK(run.counters.stores == m * n);
  require_near(run.outputs.at("c"), exact_product(a, b, {m, k, n}), product_tolerance(k));
}

TEST_CASE("the blocked product is right, and loads what its block says, for any size and machine") {
  const auto [m, k, n] = GENERATE(Shape{1, 1, 1}, Shape{2, 2, 2}, Shape{5, 3, 7}, Shape{6, 6, 6},
                                  Shape{13, 2, 1}, Shape{1, 4, 13}, Shape{17, 5, 11});
  const Values a = random_values(static_cast<std::size_t>(m * k), 5);
  const Values b = random_values(static_cast<std::size_t>(k * n), 6);
  for (std::int64_t registers = 3; registers <= 32; ++registers) {
    INFO(registers << " registers, " << m << " x " << k << " x " << n);
    std::int64_t c = 1;
    while (1 + (c + 1) + (c + 1) * (c + 1) <= registers) ++c;
    const std::int64_t r = (registers - 1 - c) / c;
    Binding binding = params({{"m", m}, {"k", k}, {"n", n}});
    binding.registers = registers;
    const auto run = finish<float>(bundled("matmul_blocked", binding), {{"a", a}, {"b", b}});
    CHECK(run.counters.loads == k * (n * ((m + r - 1) / r) + m * ((n + c - 1) / c)));
    CHECK(run.counters.compute == m * k * n);
    require_near(run.outputs.at("c"), exact_product(a, b, {m, k, n}), product_tolerance(k));
  }
}
