#include "generate/plan/cell_use.hpp"

#include <algorithm>
#include <vector>

#include "toymachine/bind/ranges.hpp"

namespace flashlab::generate {
namespace {

using BoundOp = toy::BoundExpression::Op;

constexpr std::size_t kMostPairs = 20'000;  // of accesses that are compared

struct Access {
  std::uint32_t site = 0;
  const toy::BoundOperand* cell = nullptr;
  bool writes() const { return toy::is_memory_write(cell->kind); }
  bool updates() const { return cell->kind == toy::OperandKind::kMemoryUpdate; }
};

std::vector<Access> accesses_of(const toy::BoundProgram& program, std::size_t first,
                                std::size_t last) {
  std::vector<Access> result;
  for (std::size_t at = first; at < last; ++at) {
    const toy::Node& node = program.nodes[at];
    if (node.kind != toy::Node::Kind::kBlock) continue;
    for (std::uint32_t site = node.first; site < node.last; ++site) {
      const toy::BoundInstruction& instruction = program.instructions[site];
      const bool runs =
          instruction.loop == toy::kNoLoop || !program.loops[instruction.loop].values.empty();
      for (const toy::BoundOperand& operand : instruction.operands) {
        if (runs && toy::is_memory(operand.kind)) result.push_back({site, &operand});
      }
    }
  }
  return result;
}

/// A way to write an index: coefficient * the loop's variable + the rest, which is in the interval.
struct SplitIndex {
  std::int64_t coefficient = 0;
  toy::Interval rest;
};

class IndexSplitter {
 public:
  IndexSplitter(const toy::BoundProgram& program, std::uint32_t loop)
      : program_(program), ranges_(program.loops), loop_(loop) {}

  /// The coefficient as written, and that through the bounds of inner loops: in
  /// `for j in 2*i..2*i + 2`, j goes with 2*i.
  std::vector<SplitIndex> split(const toy::Affine& index) const {
    const std::int64_t written = index.coefficient(loop_);
    std::vector<SplitIndex> result;
    add(index, written, result);
    const auto followed = followed_coefficient(index);
    if (followed && *followed != written) add(index, *followed, result);
    return result;
  }

 private:
  void add(const toy::Affine& index, std::int64_t coefficient,
           std::vector<SplitIndex>& result) const {
    if (coefficient == 0) return;
    toy::Affine rest{index.constant, {}};
    bool has_term = false;
    for (const auto& [loop, c] : index.terms) {
      has_term = has_term || loop == loop_;
      const std::int64_t left = loop == loop_ ? c - coefficient : c;
      if (left != 0) rest.terms.emplace_back(loop, left);
    }
    if (!has_term) {
      rest.terms.emplace_back(loop_, -coefficient);
      std::sort(rest.terms.begin(), rest.terms.end());
    }
    if (const auto range = ranges_.of(rest)) result.push_back({coefficient, *range});
  }

  /// Replaces inner variables by their lower bounds. Returns nothing if a bound is not affine or a
  /// number does not fit.
  std::optional<std::int64_t> followed_coefficient(toy::Affine index) const {
    std::int64_t sum = 0;
    for (std::size_t steps = 0; !index.terms.empty(); ++steps) {
      const auto [loop, coefficient] = index.terms.back();  // inner loops have larger numbers
      index.terms.pop_back();
      if (loop == loop_) {
        sum += coefficient;
        continue;
      }
      const toy::BoundExpression& lower = program_.loops[loop].lower;
      if (lower.op != BoundOp::kAffine || steps > kMostSteps) return std::nullopt;
      for (const auto& [outer, c] : lower.affine.terms) {
        std::int64_t product = 0;
        if (__builtin_mul_overflow(coefficient, c, &product)) return std::nullopt;
        const auto at =
            std::find_if(index.terms.begin(), index.terms.end(),
                         [outer = outer](const auto& term) { return term.first == outer; });
        if (at == index.terms.end()) {
          index.terms.emplace_back(outer, product);
        } else if (__builtin_add_overflow(at->second, product, &at->second)) {
          return std::nullopt;
        }
      }
      std::sort(index.terms.begin(), index.terms.end());
    }
    return sum;
  }

  static constexpr std::size_t kMostSteps = 1000;
  const toy::BoundProgram& program_;
  toy::detail::Ranges ranges_;
  std::uint32_t loop_;
};

/// Whether two indices are never equal in different iterations.
bool apart(const SplitIndex& a, const SplitIndex& b, std::int64_t step) {
  if (a.coefficient != b.coefficient) return false;
  const toy::detail::Int128 distance =
      toy::detail::Int128{a.coefficient < 0 ? -1 : 1} * a.coefficient * step;
  return toy::detail::Int128{a.rest.high} - b.rest.low < distance &&
         toy::detail::Int128{b.rest.high} - a.rest.low < distance;
}

bool apart(const IndexSplitter& splitter, const Access& a, const Access& b, std::int64_t step) {
  for (std::size_t axis = 0; axis < a.cell->axes.size(); ++axis) {
    const auto of_b = splitter.split(b.cell->axes[axis]);
    for (const SplitIndex& x : splitter.split(a.cell->axes[axis])) {
      for (const SplitIndex& y : of_b) {
        if (apart(x, y, step)) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::optional<CellConflict> conflict_of_iterations(const toy::BoundProgram& program,
                                                   std::uint32_t loop, std::size_t first,
                                                   std::size_t last) {
  const std::vector<Access> accesses = accesses_of(program, first, last);
  const IndexSplitter splitter(program, loop);
  std::size_t pairs = 0;
  for (const Access& write : accesses) {
    if (!write.writes()) continue;
    for (const Access& other : accesses) {
      if (other.cell->array != write.cell->array || (write.updates() && other.updates())) continue;
      if (++pairs > kMostPairs) return CellConflict{write.site, other.site, true};
      if (!apart(splitter, write, other, program.loops[loop].step)) {
        return CellConflict{write.site, other.site, false};
      }
    }
  }
  return std::nullopt;
}

std::optional<CellConflict> load_before_write(const toy::BoundProgram& program, std::size_t first,
                                              std::size_t last, std::size_t body_first,
                                              std::size_t body_last) {
  std::vector<std::uint32_t> writer(program.arrays.size(), toy::kNoLoop);  // by array
  for (const Access& access : accesses_of(program, body_first, body_last)) {
    if (access.writes()) writer[access.cell->array] = access.site;
  }
  for (const Access& access : accesses_of(program, first, last)) {
    const std::uint32_t site = writer[access.cell->array];
    if (site != toy::kNoLoop) return CellConflict{site, access.site, false};
  }
  return std::nullopt;
}

}  // namespace flashlab::generate
