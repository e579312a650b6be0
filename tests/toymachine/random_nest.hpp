// Programs with random loop nests, and the slow and certain way to count their iterations.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::test {

inline toy::BoundProgram bound(std::shared_ptr<const toy::Program> program,
                               const std::map<std::string, std::int64_t>& params = {}) {
  toy::Binding binding;
  binding.params = params;
  binding.limits.max_array_bytes = INT64_MAX;
  const auto source = program->source;
  auto result = toy::bind(std::move(program), binding);
  INFO(toy::format(result.diagnostics, *source));
  REQUIRE(result);
  return std::move(*result);
}

/// Walks through every iteration.
class Enumeration {
 public:
  explicit Enumeration(const toy::BoundProgram& program)
      : program_(program), values_(program.loops.size()), counts_(program.instructions.size()) {
    nodes(0, program.nodes.size());
  }
  const std::vector<toy::Count>& counts() const { return counts_; }

 private:
  void nodes(std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      const toy::Node& node = program_.nodes[n];
      if (node.kind == toy::Node::Kind::kBlock) {
        for (std::uint32_t i = node.first; i < node.last; ++i) ++counts_[i];
      } else if (node.kind == toy::Node::Kind::kLoopBegin) {
        const toy::BoundLoop& loop = program_.loops[node.loop];
        const std::int64_t upper = loop.upper(values_.data());
        for (std::int64_t i = loop.lower(values_.data()); i < upper; i += loop.step) {
          values_[node.loop] = i;
          nodes(n + 1, node.partner);
        }
        n = node.partner;
      }
    }
  }

  const toy::BoundProgram& program_;
  std::vector<std::int64_t> values_;
  std::vector<toy::Count> counts_;
};

/// Text of a program whose loops have random bounds. With `parameters`, the bounds also mention n,
/// m, and steps and divisors mention B.
class RandomNest {
 public:
  RandomNest(unsigned seed, bool parameters)
      : random_(test::seeded(seed)), parameters_(parameters) {}

  std::string text() {
    std::string result = ".isa softmax\n.registers 2\n";
    if (parameters_) result += ".param n, m, B\n";
    body(result, pick(1, 4));
    return result;
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  void body(std::string& text, int depth) {
    const std::string indent(2 * variables_.size(), ' ');
    if (depth == 0 || pick(0, 3) == 0) text += indent + "MOV R0, R1\n";
    if (depth == 0) return;
    for (int loops = pick(0, 6) == 0 ? 2 : 1; loops > 0; --loops) {
      const std::string name = "i" + std::to_string(++used_);
      text += indent + "for " + name + " in " + bound(2) + ".." + bound(2);
      if (pick(0, 2) == 0) text += " step " + step();
      text += "\n";
      variables_.push_back(name);
      body(text, depth - 1);
      variables_.pop_back();
      text += indent + "end\n";
    }
  }

  std::string step() { return parameters_ && pick(0, 2) == 0 ? "B" : std::to_string(pick(1, 4)); }

  std::string bound(int depth) {
    const int kind = depth == 0 ? 0 : pick(0, 9);
    if (kind == 6) return "min(" + bound(depth - 1) + ", " + bound(depth - 1) + ")";
    if (kind == 7) return "max(" + bound(depth - 1) + ", " + bound(depth - 1) + ")";
    if (kind == 8) return "ceildiv(" + bound(depth - 1) + ", " + std::to_string(pick(1, 4)) + ")";
    if (kind == 9) return "floordiv(" + bound(depth - 1) + ", " + std::to_string(pick(1, 4)) + ")";
    std::string text = std::to_string(pick(-3, 7));
    if (parameters_ && pick(0, 1) == 0) text += pick(0, 1) == 0 ? " + n" : " + m";
    if (!variables_.empty() && pick(0, 2) != 0) text += signed_factor() + any_variable();
    if (!variables_.empty() && pick(0, 5) == 0) text += signed_factor() + any_variable();
    return text;
  }

  std::string signed_factor() {
    static const char* const kFactors[] = {" + ", " + ", " + ", " - ", " + 2*", " - 2*", " + 3*"};
    return kFactors[pick(0, 6)];
  }

  const std::string& any_variable() {
    return variables_[static_cast<std::size_t>(pick(0, static_cast<int>(variables_.size()) - 1))];
  }

  std::mt19937 random_;
  bool parameters_;
  int used_ = 0;
  std::vector<std::string> variables_;
};

}  // namespace flashlab::test
