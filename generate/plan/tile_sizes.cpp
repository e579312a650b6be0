#include "generate/plan/tile_sizes.hpp"

#include <algorithm>
#include <utility>

#include "generate/plan/register_numbers.hpp"
#include "toymachine/bind/ranges.hpp"
#include "toymachine/execute/effect_tree.hpp"

namespace flashlab::generate {
namespace {

using toy::EffectTree;
using toy::Operation;

constexpr std::int64_t kMostSizeVisits = 1'000'000;  // registers looked at before giving up

TileSize united(const TileSize& a, const TileSize& b) {
  return {std::max(a.rows, b.rows), std::max(a.cols, b.cols)};
}

class SizeWalk {
 public:
  explicit SizeWalk(const toy::BoundProgram& program)
      : program_(program),
        numbers_(program),
        sizes_(static_cast<std::size_t>(program.num_registers)) {
    result_.largest.assign(sizes_.size(), {});
    result_.sites.assign(sizes_.size(), 0);
    for (std::size_t row = 0; row < toy::instruction_set().size(); ++row) {
      effects_.push_back(toy::effect_tree(row));
    }
  }

  std::optional<TileSizes> run(std::size_t first, std::size_t last) {
    walk(first, last);
    if (visits_ > kMostSizeVisits) return std::nullopt;
    return std::move(result_);
  }

 private:
  void walk(std::size_t first, std::size_t last) {
    for (std::size_t at = first; at < last && visits_ <= kMostSizeVisits; ++at) {
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
    if (program_.loops[id].values.empty()) return;
    // Sizes only grow, so that this ends.
    std::vector<TileSize> before = sizes_;
    while (visits_ <= kMostSizeVisits) {
      walk(first, last);
      visits_ += static_cast<std::int64_t>(sizes_.size()) / 16;
      bool grew = false;
      for (std::size_t r = 0; r < sizes_.size(); ++r) {
        const TileSize both = united(before[r], sizes_[r]);
        grew = grew || both != before[r];
        before[r] = both;
      }
      sizes_ = before;
      if (!grew) return;
    }
  }

  void visit(const toy::BoundInstruction& instruction) {
    ++visits_;
    const TileSize size = size_of(effects_[instruction.row], instruction);
    const std::int64_t elements = size.elements();
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (operand.kind != toy::OperandKind::kDestination) continue;
      const toy::Interval range = numbers_.of(operand);
      for (std::int64_t r = range.low; r <= range.high; ++r, ++visits_) {
        const auto number = static_cast<std::size_t>(r);
        sizes_[number] = range.low == range.high ? size : united(sizes_[number], size);
        if (size.places() > result_.largest[number].places()) {
          result_.largest[number] = size;
          result_.sites[number] = instruction.site;
        }
      }
      if (needs_scratch(program_, instruction)) {
        result_.scratch = std::max(result_.scratch, elements);
      }
    }
    result_.most_written = std::max(result_.most_written, elements);
  }

  TileSize size_of(const EffectTree& tree, const toy::BoundInstruction& instruction) {
    if (!tree.operation) return operand(instruction.operands[tree.operand]);
    const TileSize first = size_of(tree.arguments[0], instruction);
    const toy::OperationSpec& spec = toy::spec_of(*tree.operation);
    switch (spec.shape) {
      case toy::ShapeRule::kElementwise: {
        if (spec.arity == 1) return first;
        const TileSize second = size_of(tree.arguments[1], instruction);
        // A sum of products keeps the product's size.
        if (tree.arguments[0].operation == Operation::kProduct) return first;
        const TileSize both = united(first, second);
        return spec.arity == 2 ? both : united(both, size_of(tree.arguments[2], instruction));
      }
      case toy::ShapeRule::kProduct:
        return {first.rows, size_of(tree.arguments[1], instruction).cols};
      case toy::ShapeRule::kColumn:
        return {first.rows, 1};
      case toy::ShapeRule::kMask:
        break;
    }
    return first;
  }

  TileSize operand(const toy::BoundOperand& operand) {
    if (toy::is_memory(operand.kind)) return cell(operand);
    if (!toy::is_register(operand.kind)) return {1, 1};
    const toy::Interval range = numbers_.of(operand);
    TileSize size;
    for (std::int64_t r = range.low; r <= range.high; ++r, ++visits_) {
      size = united(size, sizes_[static_cast<std::size_t>(r)]);
    }
    return operand.transposed ? TileSize{size.cols, size.rows} : size;
  }

  TileSize cell(const toy::BoundOperand& operand) const {
    const toy::BoundArray& array = program_.arrays[operand.array];
    const std::size_t rank = array.extents.size();
    TileSize size{1, largest(array, operand, rank - 1)};
    if (rank > 1) size.rows = largest(array, operand, rank - 2);
    return size;
  }

  /// Elements along the axis of the largest tile with one of the operand's indices.
  std::int64_t largest(const toy::BoundArray& array, const toy::BoundOperand& operand,
                       std::size_t axis) const {
    const std::int64_t tile = array.tile[axis], extent = array.extents[axis];
    const auto range = toy::detail::Ranges(program_.loops).of(operand.axes[axis]);
    const std::int64_t index =
        range ? std::clamp<std::int64_t>(range->low, 0, array.counts[axis]) : 0;
    return std::max<std::int64_t>(1, std::min(tile, extent - tile * index));
  }

  const toy::BoundProgram& program_;
  RegisterNumbers numbers_;
  std::vector<TileSize> sizes_;  // by register, at this point of the walk
  std::vector<EffectTree> effects_;
  TileSizes result_;
  std::int64_t visits_ = 0;
};

/// Whether elements of the operand are read in other places than the one that is written.
bool reads_elsewhere(const EffectTree& tree, std::size_t position, bool inside = false) {
  if (!tree.operation) return inside && tree.operand == position;
  const toy::ShapeRule shape = toy::spec_of(*tree.operation).shape;
  const bool mixes = shape == toy::ShapeRule::kProduct || shape == toy::ShapeRule::kColumn;
  return std::any_of(tree.arguments.begin(), tree.arguments.end(), [&](const EffectTree& argument) {
    return reads_elsewhere(argument, position, inside || mixes);
  });
}

}  // namespace

std::optional<TileSizes> tile_sizes(const toy::BoundProgram& program, std::size_t first,
                                    std::size_t last) {
  return SizeWalk(program).run(first, last);
}

bool needs_scratch(const toy::BoundProgram& program, const toy::BoundInstruction& instruction) {
  const auto destination = std::find_if(
      instruction.operands.begin(), instruction.operands.end(),
      [](const auto& operand) { return operand.kind == toy::OperandKind::kDestination; });
  if (destination == instruction.operands.end()) return false;
  const toy::detail::Ranges ranges(program.loops);
  const EffectTree effect = toy::effect_tree(instruction.row);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const toy::BoundOperand& operand = instruction.operands[i];
    if (!toy::is_register_read(operand.kind)) continue;
    if (!operand.transposed && !reads_elsewhere(effect, i)) continue;
    const auto a = ranges.of(operand.index), b = ranges.of(destination->index);
    if (!a || !b || (a->low <= b->high && b->low <= a->high)) return true;
  }
  return false;
}

}  // namespace flashlab::generate
