#include "generate/plan/reaching.hpp"

#include <map>
#include <utility>

namespace flashlab::generate {
namespace {

class ReachingSearch {
 public:
  ReachingSearch(const toy::BoundProgram& program, const std::vector<Step>& steps)
      : program_(program), steps_(steps) {
    result_.reads.resize(steps.size());
    result_.written.assign(steps.size(), SIZE_MAX);
  }

  Reaching run() {
    find_definitions();
    ByRegister nothing;
    walk(0, steps_.size(), nothing);
    return std::move(result_);
  }

 private:
  using ByRegister = std::map<std::int64_t, DefinitionSet>;

  const toy::BoundInstruction& instruction(std::size_t step) const {
    return program_.instructions[steps_[step].site];
  }

  void find_definitions() {
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      if (steps_[at].kind != Step::Kind::kInstruction) continue;
      result_.reads[at].resize(steps_[at].registers.size());
      const std::size_t written = written_operand(instruction(at));
      const std::int64_t number = steps_[at].registers[written];
      if (number < 0) continue;
      result_.written[at] = result_.definitions.size();
      result_.definitions.push_back({at, number, 0});
    }
  }

  /// Follows which definitions reach which reads.
  void walk(std::size_t first, std::size_t last, ByRegister& reaching) {
    for (std::size_t at = first; at < last; ++at) {
      const Step& step = steps_[at];
      if (step.kind == Step::Kind::kLoopBegin) {
        loop(at, step, reaching);
        at = step.partner;
      } else if (step.kind == Step::Kind::kInstruction) {
        for (std::size_t i = 0; i < step.registers.size(); ++i) {
          if (step.registers[i] < 0 || !toy::is_register_read(instruction(at).operands[i].kind)) {
            continue;
          }
          const DefinitionSet& found = reaching[step.registers[i]];
          result_.reads[at][i].insert(found.begin(), found.end());
        }
        if (result_.written[at] != SIZE_MAX) {
          reaching[result_.definitions[result_.written[at]].number] = {result_.written[at]};
        }
      }
    }
  }
  void loop(std::size_t at, const Step& step, ByRegister& reaching) {
    const ByRegister before = reaching;
    ByRegister begin = before;
    while (true) {
      reaching = begin;
      walk(at + 1, step.partner, reaching);
      ByRegister next = begin;
      for (const auto& [number, set] : reaching) next[number].insert(set.begin(), set.end());
      if (next == begin) break;
      begin = std::move(next);
    }
    if (program_.loops[step.loop].trips.low > 0) return;
    for (const auto& [number, set] : before) reaching[number].insert(set.begin(), set.end());
  }

  const toy::BoundProgram& program_;
  const std::vector<Step>& steps_;
  Reaching result_;
};

}  // namespace

Reaching reaching_definitions(const toy::BoundProgram& program, const std::vector<Step>& steps) {
  return ReachingSearch(program, steps).run();
}

}  // namespace flashlab::generate
