#include "toymachine/trace/trace_filter.hpp"

#include <algorithm>

#include "toymachine/bind/elision.hpp"

namespace flashlab::toy::detail {

bool encloses(const BoundProgram& program, std::uint32_t loop, std::uint32_t innermost) {
  while (innermost != kNoLoop && innermost != loop) innermost = program.loops[innermost].parent;
  return innermost == loop;
}

LoopIteration::LoopIteration(const BoundProgram& program, std::uint32_t loop,
                             const std::int64_t* values)
    : loop_(loop) {
  for (; loop != kNoLoop; loop = program.loops[loop].parent) values_.push_back(values[loop]);
}

bool LoopIteration::contains(const BoundProgram& program, const LoopPoint& point) const {
  if (!encloses(program, loop_, point.innermost)) return false;
  std::uint32_t loop = loop_;
  for (const std::int64_t value : values_) {
    if (point.values[loop] != value) return false;
    loop = program.loops[loop].parent;
  }
  return true;
}

BodyFinder::BodyFinder(const BoundProgram& program, const TraceOptions& options)
    : program_(program) {
  if (!options.body) return;
  for (const Node& node : program.nodes) {
    const bool wanted =
        node.kind == Node::Kind::kLoopBegin && program.loops[node.loop].var == *options.body;
    if (wanted) loops_.push_back(node.loop);
  }
  for (const std::uint32_t loop : loops_) pending_.push_back({loop, 0});
}

bool BodyFinder::is_target(std::uint32_t loop, const std::int64_t* values) const {
  const BoundLoop& bound = program_.loops[loop];
  const std::int64_t first = bound.lower(values);
  const bool has_second = bound.upper(values) - first > bound.step;
  return values[loop] == (has_second ? first + bound.step : first);
}

BodyFinder::Change BodyFinder::move_to(const LoopPoint& point, std::uint64_t next_step) {
  Change change;
  if (active() && !iteration_.front().contains(program_, point)) {
    change.ended = iteration_.front().loop();
    iteration_.clear();
  }
  if (active()) return change;
  for (auto entry = pending_.begin(); entry != pending_.end(); ++entry) {
    if (!encloses(program_, entry->loop, point.innermost)) continue;
    if (entry->began == 0) entry->began = next_step;
    if (!is_target(entry->loop, point.values)) continue;
    change.begun = entry->loop;
    loop_began_ = entry->began;
    iteration_.emplace_back(program_, entry->loop, point.values);
    pending_.erase(entry);
    break;
  }
  return change;
}

bool BodyFinder::changes_at(const LoopPoint& point) const {
  if (active()) return !iteration_.front().contains(program_, point);
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& entry) {
    return encloses(program_, entry.loop, point.innermost) && is_target(entry.loop, point.values);
  });
}

bool survives_elision(const BoundProgram& program, const LoopPoint& point, std::uint32_t within) {
  return toy::survives_elision(program, point.innermost, point.values, within);
}

}  // namespace flashlab::toy::detail
