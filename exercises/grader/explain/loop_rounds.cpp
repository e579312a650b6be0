#include "exercises/grader/explain/loop_rounds.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "text/lists.hpp"

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
    LoopRounds rounds{loop.var, "", {}, loop.lower(values_.data()), end};
    if (loop.parent != toy::kNoLoop) rounds.at = bound_.loops_text(loop.parent, values_.data());
    for (std::int64_t value = rounds.first; value < end && ++rounds_ < kMostRounds;) {
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

/// The parts of a loop's line as the learner wrote them: "for j in first..bound step step".
struct WrittenLoop {
  std::string first, bound, step;

  explicit WrittenLoop(std::string_view line) {
    line = line.substr(0, line.find_first_of(";#"));
    const auto cut_off = [&](std::string_view word) {
      const std::size_t at = line.find(word);
      const std::string_view head = line.substr(0, at);
      line = at == line.npos ? std::string_view{} : line.substr(at + word.size());
      return std::string(trimmed(head));
    };
    cut_off(" in ");
    first = cut_off("..");
    bound = cut_off(" step ");
    step = trimmed(line);
  }
};

/// "the bound i+1 is"; "the first value 1 is", if the rounds do not begin where they should.
std::string bound_text(const toy::Program& program, std::uint32_t line, const OtherRounds& other) {
  const WrittenLoop loop(program.source->line(line));
  const bool begins_elsewhere = other.mine.first != other.right.first,
             ends_elsewhere = other.mine.end != other.right.end;
  if (begins_elsewhere && ends_elsewhere) {
    return "the bounds " + loop.first + " and " + loop.bound + " are";
  }
  if (begins_elsewhere) return "the first value " + loop.first + " is";
  if (ends_elsewhere) return "the bound " + loop.bound + " is";
  return "the step " + loop.step + " is";
}

}  // namespace

std::vector<LoopRounds> rounds_of(const toy::BoundProgram& bound, std::uint32_t line) {
  return RoundsWalk(bound, line).run();
}

std::optional<OtherRounds> other_rounds(const std::vector<LoopRounds>& mine,
                                        const std::vector<LoopRounds>& right) {
  if (mine.size() != right.size()) return std::nullopt;
  for (std::size_t k = 0; k < mine.size(); ++k) {
    OtherRounds other{mine[k], right[k], without(mine[k].values, right[k].values),
                      without(right[k].values, mine[k].values)};
    if (!other.many.empty() || !other.missing.empty()) return other;
  }
  return std::nullopt;
}

std::string wrong_bound_text(const toy::Program& program, std::uint32_t line,
                             const OtherRounds& other) {
  std::string text = bound_text(program, line, other) + " wrong: ";
  if (!other.mine.at.empty()) text += "at " + other.mine.at + " ";
  if (!other.many.empty()) {
    text += other.many.size() == 1 ? "there is a round too many: " : "there are rounds too many: ";
    text += values_text(other.mine.var, other.many);
  }
  if (!other.missing.empty()) {
    text += other.many.empty() ? "" : "; ";
    text += other.missing.size() == 1 ? "a round is missing: " : "rounds are missing: ";
    text += values_text(other.mine.var, other.missing);
  }
  return text;
}

}  // namespace flashlab::exercises
