#include "generate/plan/register_use.hpp"

#include <algorithm>
#include <utility>

#include "generate/plan/register_numbers.hpp"

namespace flashlab::generate {
namespace {

constexpr std::int64_t kMostRegisterVisits = 1'000'000;  // registers looked at before giving up

class RegisterWalk {
 public:
  explicit RegisterWalk(const toy::BoundProgram& program)
      : program_(program),
        numbers_(program),
        defined_(static_cast<std::size_t>(program.num_registers), 0) {
    use_.taken_over.assign(defined_.size(), kNoSite);
    use_.written.assign(defined_.size(), kNoSite);
  }

  std::optional<RegisterUse> run(std::size_t first, std::size_t last) {
    walk(first, last);
    if (visits_ > kMostRegisterVisits) return std::nullopt;
    return std::move(use_);
  }

 private:
  void walk(std::size_t first, std::size_t last) {
    for (std::size_t at = first; at < last && visits_ <= kMostRegisterVisits; ++at) {
      const toy::Node& node = program_.nodes[at];
      if (node.kind == toy::Node::Kind::kBlock) {
        for (std::uint32_t site = node.first; site < node.last; ++site) {
          visit(program_.instructions[site]);
        }
      } else if (node.kind == toy::Node::Kind::kLoopBegin) {
        loop(node.loop, at + 1, node.partner);
        at = node.partner;
      }
    }
  }

  void loop(std::uint32_t id, std::size_t first, std::size_t last) {
    if (const auto iterations = numbers_.iterations(id)) {
      for (std::int64_t i = 0; i < iterations->count; ++i) {
        numbers_.enter(id, iterations->first + i * iterations->step);
        walk(first, last);
      }
      numbers_.leave(id);
      return;
    }
    const toy::BoundLoop& range = program_.loops[id];
    if (range.values.empty()) return;
    // Later iterations find no fewer registers written than the first.
    std::vector<char> before;
    if (range.trips.low == 0) before = defined_;
    walk(first, last);
    if (range.trips.low == 0) defined_ = std::move(before);
    visits_ += range.trips.low == 0 ? static_cast<std::int64_t>(defined_.size()) / 16 : 0;
  }

  void visit(const toy::BoundInstruction& instruction) {
    ++visits_;
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (!toy::is_register_read(operand.kind)) continue;
      const toy::Interval range = numbers_.of(operand);
      for (std::int64_t r = range.low; r <= range.high; ++r, ++visits_) {
        const auto number = static_cast<std::size_t>(r);
        if (!defined_[number] && use_.taken_over[number] == kNoSite) {
          use_.taken_over[number] = instruction.site;
        }
      }
    }
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (operand.kind != toy::OperandKind::kDestination) continue;
      const toy::Interval range = numbers_.of(operand);
      for (std::int64_t r = range.low; r <= range.high; ++r, ++visits_) {
        use_.written[static_cast<std::size_t>(r)] = instruction.site;
      }
      if (range.low == range.high) defined_[static_cast<std::size_t>(range.low)] = 1;
    }
  }

  const toy::BoundProgram& program_;
  RegisterNumbers numbers_;
  std::vector<char> defined_;  // by register: certainly written
  RegisterUse use_;
  std::int64_t visits_ = 0;
};

}  // namespace

std::optional<RegisterUse> register_use(const toy::BoundProgram& program, std::size_t first,
                                        std::size_t last) {
  return RegisterWalk(program).run(first, last);
}

}  // namespace flashlab::generate
