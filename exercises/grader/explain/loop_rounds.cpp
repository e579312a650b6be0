#include "exercises/grader/explain/loop_rounds.hpp"

#include <algorithm>
#include <iterator>

namespace flashlab::exercises {
namespace {

class RoundsWalk {
 public:
  RoundsWalk(const toy::BoundProgram& bound, std::uint32_t line)
      : bound_(bound), line_(line), values_(bound.loops.size(), 0) {}

  std::vector<LoopRounds> run() {
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
    constexpr std::int64_t kMostRounds = 20'000;
    const toy::BoundLoop& loop = bound_.loops[node.loop];
    const std::int64_t end = loop.upper(values_.data());
    LoopRounds rounds{loop.var, "", {}};
    if (loop.parent != toy::kNoLoop) rounds.at = bound_.loops_text(loop.parent, values_.data());
    for (std::int64_t value = loop.lower(values_.data()); value < end && ++rounds_ < kMostRounds;) {
      values_[node.loop] = value;
      rounds.values.push_back(value);
      nodes(body, node.partner);
      if (__builtin_add_overflow(value, loop.step, &value)) break;  // it would end there, too
    }
    if (loop.span.line == line_) found_.push_back(std::move(rounds));
  }

  const toy::BoundProgram& bound_;
  const std::uint32_t line_;
  std::vector<std::int64_t> values_;  // by loop
  std::int64_t rounds_ = 0;
  std::vector<LoopRounds> found_;
};

/// "j = 2", "j = 2 to 4", "j = 0, 3"
std::string values_text(const std::string& var, const std::vector<std::int64_t>& values) {
  const std::string first = var + " = " + std::to_string(values.front());
  if (values.size() == 1) return first;
  const bool is_range = values.back() - values.front() + 1 == std::ssize(values);
  return first +
         (is_range && values.size() > 2 ? " to "
          : values.size() > 2           ? ", ..., "
                                        : " and ") +
         std::to_string(values.back());
}

std::vector<std::int64_t> without(const std::vector<std::int64_t>& all,
                                  const std::vector<std::int64_t>& some) {
  std::vector<std::int64_t> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

std::vector<LoopRounds> rounds_of(const toy::BoundProgram& bound, std::uint32_t line) {
  return RoundsWalk(bound, line).run();
}

std::string other_rounds_text(const std::vector<LoopRounds>& mine,
                              const std::vector<LoopRounds>& right) {
  if (mine.size() != right.size()) return {};
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const auto many = without(mine[k].values, right[k].values),
               missing = without(right[k].values, mine[k].values);
    const std::string at = mine[k].at.empty() ? "" : "at " + mine[k].at + " ";
    std::string text;
    if (!many.empty()) {
      text = at +
             (many.size() == 1 ? "there is a round too many: " : "there are rounds too many: ") +
             values_text(mine[k].var, many);
    }
    if (!missing.empty()) {
      text += (text.empty() ? at : "; ") +
              (missing.size() == 1 ? "a round is missing: " : "rounds are missing: ") +
              values_text(mine[k].var, missing);
    }
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace flashlab::exercises
