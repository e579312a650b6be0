// To which tiles of which arrays the rows and columns of each register belong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {

/// The rows or columns of an array that have one tile index along one of its last two axes.
struct TileStrip {
  std::uint32_t array = 0;
  std::size_t axis = 0;
  std::int64_t index = 0;
  std::vector<std::int64_t> before;  // indices along the axes before the last two

  friend bool operator==(const TileStrip&, const TileStrip&) = default;
};

/// Of Q K^T, the rows belong to rows of q and the columns to rows of k. Of a row maximum, the rows
/// do.
struct TileOrigin {
  std::optional<TileStrip> rows, columns;
  /// If the value is made of one tile that was loaded, and of nothing else that depends on data.
  std::optional<TraceCell> tile;
};

/// Follows tiles through registers. Programs without tiles have no origins.
class TileOrigins {
 public:
  explicit TileOrigins(const BoundProgram& program);

  /// Call this for every step, in order.
  void follow(const TraceRow& row);
  TileOrigin of(std::int64_t register_number) const;
  /// If the last step multiplied two tiles that are each of one array: where their product belongs.
  const std::optional<TileOrigin>& meeting() const { return meeting_; }

 private:
  /// Rows or columns: of constants, of one strip, or of several that are not the same.
  struct Side {
    enum class Kind : std::uint8_t { kAny, kStrip, kSeveral };
    Kind kind = Kind::kAny;
    TileStrip strip;
  };
  struct Held {
    std::int64_t num_rows = 1, num_columns = 1;
    Side rows, columns;
    std::optional<TraceCell> tile;
  };
  Side side_of(const TraceCell& cell, std::size_t axis) const;
  Held loaded(const TraceCell& cell) const;
  void merge(Side& into, const Side& other) const;
  std::vector<Held> operands(const TraceRow& row) const;
  Held product(const std::vector<Held>& read);
  Held elementwise(const std::vector<Held>& read, const TraceValue& value) const;

  const BoundProgram& program_;
  std::vector<Held> held_;  // by register
  std::optional<TileOrigin> meeting_;
};

}  // namespace flashlab::toy
