#include "exercises/grader/explain/empty_loops.hpp"

#include <algorithm>

namespace flashlab::exercises {
namespace {

class LoopWalk {
 public:
  explicit LoopWalk(const toy::BoundProgram& bound)
      : bound_(bound), values_(bound.loops.size(), 0), seen_(bound.loops.size(), 0) {}

  std::vector<EmptyLoop> run() {
    nodes(0, bound_.nodes.size());
    return std::move(found_);
  }

 private:
  void nodes(std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to; ++at) {
      const toy::Node& node = bound_.nodes[at];
      if (node.kind != toy::Node::Kind::kLoopBegin) continue;
      loop(node, at + 1);
      at = node.partner;
    }
  }

  void loop(const toy::Node& node, std::size_t body) {
    constexpr std::int64_t kMostIterations = 20'000;
    const toy::BoundLoop& loop = bound_.loops[node.loop];
    const std::int64_t first = loop.lower(values_.data()), end = loop.upper(values_.data());
    if (first >= end && seen_[node.loop] == 0) {
      seen_[node.loop] = 1;
      const bool is_outer = loop.parent == toy::kNoLoop;
      found_.push_back(
          {node.loop, is_outer ? "" : bound_.loops_text(loop.parent, values_.data()), first, end});
    }
    for (std::int64_t value = first; value < end && ++iterations_ < kMostIterations;) {
      values_[node.loop] = value;
      nodes(body, node.partner);
      if (__builtin_add_overflow(value, loop.step, &value)) break;  // it would end there, too
    }
  }

  const toy::BoundProgram& bound_;
  std::vector<std::int64_t> values_;  // by loop
  std::vector<char> seen_;            // by loop
  std::int64_t iterations_ = 0;
  std::vector<EmptyLoop> found_;
};

}  // namespace

std::vector<EmptyLoop> empty_loops(const toy::BoundProgram& bound) { return LoopWalk(bound).run(); }

}  // namespace flashlab::exercises
