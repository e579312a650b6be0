#include "toymachine/trace/tile_origins.hpp"

#include <algorithm>
#include <utility>

namespace flashlab::toy {

TileOrigins::TileOrigins(const BoundProgram& program) : program_(program) {
  if (program.tiled) held_.resize(static_cast<std::size_t>(program.num_registers));
}

TileOrigins::Side TileOrigins::side_of(const TraceCell& cell, std::size_t axis) const {
  if (program_.arrays[cell.array].extents[axis] == 1) return {};  // the only one says nothing
  const std::size_t leading = std::max<std::size_t>(cell.indices.size(), 2) - 2;
  TileStrip strip{cell.array, axis, cell.indices[axis], {}};
  strip.before.assign(cell.indices.begin(),
                      cell.indices.begin() + static_cast<std::ptrdiff_t>(leading));
  return {Side::Kind::kStrip, std::move(strip)};
}

TileOrigins::Held TileOrigins::loaded(const TraceCell& cell) const {
  const std::size_t rank = cell.indices.size();
  Held held;
  if (rank > 1) held.rows = side_of(cell, rank - 2);
  if (rank > 0) held.columns = side_of(cell, rank - 1);
  held.tile = cell;
  return held;
}

/// Elements that are combined one by one belong together, so strips of arrays of the same shape do,
/// too, as those of Q K^T and dO V^T.
void TileOrigins::merge(Side& into, const Side& other) const {
  if (other.kind == Side::Kind::kAny) return;
  if (into.kind == Side::Kind::kAny) {
    into = other;
    return;
  }
  if (into.kind == Side::Kind::kSeveral) return;
  const TileStrip &a = into.strip, &b = other.strip;
  const BoundArray &x = program_.arrays[a.array], &y = program_.arrays[b.array];
  const bool is_same = other.kind == Side::Kind::kStrip && a.index == b.index &&
                       a.before == b.before && x.extents[a.axis] == y.extents[b.axis] &&
                       x.tile[a.axis] == y.tile[b.axis];
  if (!is_same) into.kind = Side::Kind::kSeveral;
}

std::vector<TileOrigins::Held> TileOrigins::operands(const TraceRow& row) const {
  std::vector<Held> result;
  for (const BoundOperand& operand : row.instruction->operands) {
    if (!is_register_read(operand.kind)) continue;
    Held held = held_[static_cast<std::size_t>(row.register_reads[result.size()])];
    if (operand.transposed) {
      std::swap(held.num_rows, held.num_columns);
      std::swap(held.rows, held.columns);
    }
    result.push_back(std::move(held));
  }
  return result;
}

TileOrigins::Held TileOrigins::product(const std::vector<Held>& read) {
  Held result;
  result.rows = read[0].rows;
  result.columns = read[1].columns;
  const bool are_tiles = read[0].tile && read[1].tile && result.rows.kind == Side::Kind::kStrip &&
                         result.columns.kind == Side::Kind::kStrip;
  if (are_tiles) meeting_ = {result.rows.strip, result.columns.strip, std::nullopt};
  for (std::size_t i = 2; i < read.size(); ++i) {
    merge(result.rows, read[i].rows);
    merge(result.columns, read[i].columns);
  }
  return result;
}

/// Rows and columns of which an operand has fewer than the result are repeated, so they do not say
/// where it belongs.
TileOrigins::Held TileOrigins::elementwise(const std::vector<Held>& read,
                                           const TraceValue& value) const {
  Held result;
  std::size_t of_data = 0;
  for (const Held& operand : read) {
    if (operand.num_rows == value.rows) merge(result.rows, operand.rows);
    if (operand.num_columns == value.cols) merge(result.columns, operand.columns);
    if (operand.tile) result.tile = operand.tile;
    of_data += operand.tile || operand.rows.kind != Side::Kind::kAny ||
                       operand.columns.kind != Side::Kind::kAny
                   ? 1
                   : 0;
  }
  if (of_data != 1) result.tile.reset();
  return result;
}

void TileOrigins::follow(const TraceRow& row) {
  meeting_.reset();
  if (held_.empty() || row.register_written < 0) return;
  const FlopKind kind = instruction_set()[row.instruction->row].flop_kind;
  Held result;
  if (row.read) {
    result = loaded(*row.read);
  } else if (kind == FlopKind::kProduct) {
    result = product(operands(row));
  } else if (kind == FlopKind::kReduction) {
    result.rows = operands(row).front().rows;
  } else {
    result = elementwise(operands(row), row.value);
  }
  result.num_rows = row.value.rows;
  result.num_columns = row.value.cols;
  held_[static_cast<std::size_t>(row.register_written)] = std::move(result);
}

TileOrigin TileOrigins::of(std::int64_t register_number) const {
  if (held_.empty()) return {};
  const Held& held = held_[static_cast<std::size_t>(register_number)];
  TileOrigin origin;
  if (held.rows.kind == Side::Kind::kStrip) origin.rows = held.rows.strip;
  if (held.columns.kind == Side::Kind::kStrip) origin.columns = held.columns.strip;
  origin.tile = held.tile;
  return origin;
}

}  // namespace flashlab::toy
