// Which tile of one array meets which tile of another in a product, in which order, and what is
// loaded and stored for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/history/recorded_run.hpp"

namespace flashlab::toy {

/// A product of tile `row` of one array and tile `column` of another. `hidden`: the elements that
/// masks replaced by -inf, row by row; empty if there was no mask.
struct Meeting {
  std::int64_t row = 0, column = 0;
  std::int64_t hidden_rows = 0, hidden_columns = 0;
  std::vector<bool> hidden;
};

/// How often each tile of an array was moved, by its index along the rows or columns of the matrix
/// of meetings. If a tile row has several tiles, each of them was moved this often.
struct TileMoves {
  enum class Kind : std::uint8_t { kLoad, kStore, kUpdate };
  std::uint32_t array = 0;
  Kind kind = Kind::kLoad;
  bool is_on_rows = true;
  std::vector<std::int64_t> times;
};

/// The meetings of one pass of the program, in order. Repeated products of the same two tiles, over
/// the columns of the tiles, are one meeting.
struct PassMeetings {
  std::uint32_t pass = 0;
  std::vector<Meeting> path;
  std::vector<TileMoves> moves;
};

struct Meetings {
  std::uint32_t row_array = 0, column_array = 0;
  std::int64_t num_rows = 0, num_columns = 0;
  std::vector<PassMeetings> passes;  // those with a meeting
};

/// Finds the meetings of the two arrays whose tiles are multiplied first. Returns nothing if no
/// product has two loaded factors.
std::optional<Meetings> meetings(const RecordedRun& run);

}  // namespace flashlab::toy
