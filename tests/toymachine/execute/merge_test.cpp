// The states (m, l, num) of tiles merge in any order and with any bracketing (toy-model notes, The
// tile abstraction).
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::toy {
namespace {

constexpr int kMergedTiles = 6;
constexpr int kKeys = 4;  // of a tile; tile 2 has none
constexpr int kColumns = 3;

/// What the machine gets: the states of the tiles; and what must come out.
struct Problem {
  std::vector<double> m, l, num, expected;
};

Problem random_problem(unsigned seed) {
  std::mt19937_64 random(test::seeded(seed));
  std::uniform_real_distribution<double> draw(-3, 3);
  Problem problem;
  std::vector<double> weighted(kColumns, 0);
  double all = 0;
  for (int t = 0; t < kMergedTiles; ++t) {
    std::vector<double> scores(t == 2 ? 0 : kKeys);
    for (double& score : scores) score = 10 * draw(random);
    double m = -1e30;  // of a tile without keys: finite, so that two such tiles can be merged
    for (const double score : scores) m = std::max(m, score);
    double l = 0;
    std::vector<double> num(kColumns, 0);
    for (const double score : scores) {
      l += std::exp(score - m);
      all += std::exp(score);
      for (int c = 0; c < kColumns; ++c) {
        const double value = draw(random);
        num[static_cast<std::size_t>(c)] += std::exp(score - m) * value;
        weighted[static_cast<std::size_t>(c)] += std::exp(score) * value;
      }
    }
    problem.m.push_back(m);
    problem.l.push_back(l);
    problem.num.insert(problem.num.end(), num.begin(), num.end());
  }
  for (const double sum : weighted) problem.expected.push_back(sum / all);
  return problem;
}

/// A program that merges random pairs of what is left until one state is.
std::string random_merges(unsigned seed) {
  std::mt19937 random(test::seeded(seed));
  const std::string tiles = std::to_string(kMergedTiles), columns = std::to_string(kColumns);
  std::string text = ".isa attention\n.reg M[" + tiles + "], L[" + tiles + "], N[" + tiles +
                     "], X, A, B\n.input m(" + tiles + ", 1) tile (1, 1)\n.input l(" + tiles +
                     ", 1) tile (1, 1)\n.input num(" + tiles + ", " + columns + ") tile (1, " +
                     columns + ")\n.output o(1, " + columns + ") tile (1, " + columns +
                     ")\nfor t in 0.." + tiles +
                     "\nLOAD m[t][0], M[t]\nLOAD l[t][0], L[t]\nLOAD num[t][0], N[t]\nend\n";
  std::vector<int> left(kMergedTiles);
  for (int t = 0; t < kMergedTiles; ++t) left[static_cast<std::size_t>(t)] = t;
  while (left.size() > 1) {
    std::shuffle(left.begin(), left.end(), random);
    const std::string a = "[" + std::to_string(left[left.size() - 2]) + "]";
    const std::string b = "[" + std::to_string(left.back()) + "]";
    left.pop_back();
    text += "MAX M" + a + ", M" + b + ", X\nSUB M" + a + ", X, A\nEXP A, A\nSUB M" + b +
            ", X, B\nEXP B, B\nMOV X, M" + a + "\n";
    for (const std::string state : {"L", "N"}) {
      text += "MUL " + state + a + ", A, " + state + a + "\nMUL " + state + b + ", B, " + state +
              b + "\nADD " + state + a + ", " + state + b + ", " + state + a + "\n";
    }
  }
  const std::string last = "[" + std::to_string(left[0]) + "]";
  return text + "DIV N" + last + ", L" + last + ", A\nSTORE A, o[0][0]\n";
}

TEST_CASE("tile states merge to the same output in any order and bracketing", "[tiles]") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Problem problem = random_problem(seed);
    const BoundProgram program = test::bound(random_merges(seed));
    const auto list = [](const std::vector<double>& values, std::int64_t columns) {
      return ListInput{{static_cast<std::int64_t>(values.size()) / columns, columns}, values};
    };
    auto dram = initial_dram(program, {{"m", list(problem.m, 1)},
                                       {"l", list(problem.l, 1)},
                                       {"num", list(problem.num, kColumns)}});
    REQUIRE(dram);
    // Float inputs were rounded; the states are wanted with all digits.
    for (std::size_t i = 0; i < problem.m.size(); ++i) (*dram)[i] = problem.m[i];
    for (std::size_t i = 0; i < problem.l.size(); ++i) (*dram)[kMergedTiles + i] = problem.l[i];
    for (std::size_t i = 0; i < problem.num.size(); ++i)
      (*dram)[2 * kMergedTiles + i] = problem.num[i];
    REQUIRE(run(program, std::span(*dram)));
    for (std::size_t c = 0; c < kColumns; ++c) {
      INFO("seed " << seed << ", column " << c);
      const double got = (*dram)[dram->size() - kColumns + c];
      REQUIRE(std::abs(got - problem.expected[c]) <= 1e-12 * 3);
    }
  }
}

}  // namespace
}  // namespace flashlab::toy
