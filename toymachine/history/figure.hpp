// A run as a figure that moves: frames in which tiles are loaded, meet, change and are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/trace/tile_origins.hpp"
#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {

/// The two axes of the matrix of scores, and what does not belong to either.
enum class FigureSide : std::uint8_t { kNone, kRows, kColumns };

/// Where a value stands beside or in the matrix: tile numbers along its axes.
struct FigurePlace {
  std::optional<std::int64_t> row, column;
  std::optional<std::uint32_t> array;  // it is a tile of this array, as it was loaded
};

/// What a frame leaves in a register.
struct FigureWrite {
  std::int64_t register_number = 0;
  std::int64_t rows = 1, columns = 1;
  std::vector<double> elements;  // empty if there are more than kFigureElements
  FigurePlace place;
  std::size_t last_read = 0;  // the last frame that reads it; 0: none does
};

/// What happens in some steps that belong together.
struct FigureFrame {
  enum class Kind : std::uint8_t { kCompute, kLoad, kStore, kUpdate, kMeeting, kProduct };
  Kind kind = Kind::kCompute;
  std::uint32_t pass = 0;
  std::uint64_t last_step = 0;
  std::vector<std::size_t> texts;     // of its instructions, into FigureRun::texts
  std::uint32_t array = 0;            // of a load, store or update
  FigurePlace place;                  // of the tile that moves, or of the product
  std::int64_t register_number = -1;  // that is stored or added
  std::int64_t elements = 0;          // that move
  std::int64_t bytes = 0;             // that move; an update reads and writes, so it counts twice
  std::vector<FigureWrite> writes;
};

/// What a register is for in a pass: "row maximum so far", "tile of k". Found from the steps.
struct FigureRole {
  std::uint32_t pass = 0;
  std::int64_t register_number = 0;
  std::string text;
};

struct FigureArray {
  std::uint32_t array = 0;              // into BoundProgram::arrays
  bool is_matrix = false;               // over both axes: S or P in DRAM
  FigureSide side = FigureSide::kNone;  // of a strip beside the matrix
  std::int64_t bytes_loaded = 0, bytes_stored = 0, bytes_updated = 0;
};

struct FigureAxis {
  std::uint32_t array = 0;  // whose tiles are met
  std::int64_t extent = 0, tile = 1, count = 0;
  std::optional<std::size_t> param;  // that is the tile's size
};

struct FigureRun {
  const BoundProgram* program = nullptr;
  FigureAxis rows, columns;
  std::vector<FigureArray> arrays;  // those that are moved
  std::vector<FigureRole> roles;
  std::vector<std::string> texts;
  std::vector<FigureFrame> frames;  // frame k is frames[k - 1]: 0 is before the first

  /// The sums of all arrays.
  FigureArray totals() const;
  std::string role(std::uint32_t pass, std::int64_t register_number) const;
};

inline constexpr std::size_t kFigureElements = 64;  // of a tile whose numbers are shown
inline constexpr std::size_t kMostFrames = 4000;
inline constexpr std::uint64_t kMostFigureSteps = 100'000;
inline constexpr std::int64_t kMostFigureTiles = 16;  // along an axis

/// Receives a trace and makes the frames of it. The program must outlive the run.
class FigureRecorder : public TraceSink {
 public:
  bool begin(const TraceHeader& header) override;
  bool row(const TraceRow& row) override;
  void hidden(const TraceRow& row) override { follow(row, false); }

  /// Returns the run, or `why_not`: no two loaded tiles are multiplied, or it has too many frames
  /// or tiles for a figure.
  std::optional<FigureRun> finish(std::string& why_not);

 private:
  using Kind = FigureFrame::Kind;
  /// The rows or columns of an array.
  using Axis = std::pair<std::uint32_t, std::size_t>;
  struct RawPlace {
    std::optional<TileStrip> rows, columns;
    std::optional<std::uint32_t> array;
  };
  struct RawFrame {
    FigureFrame frame;
    RawPlace place;
    std::vector<RawPlace> writes;
  };
  /// How a register was written in a pass.
  struct Ways {
    std::map<std::uint16_t, std::string> texts;  // by row of the instruction set: "max(M, X)"
    std::string meeting, product, sum_of_products, exponential, loaded;
    std::optional<std::pair<Axis, Axis>> met, exponential_at;
    bool is_maximum = false, is_sum = false, is_column = true;
  };
  struct Holder {
    std::size_t frame = 0, write = 0;
  };

  void follow(const TraceRow& row, bool has_text);
  Kind kind_of(const TraceRow& row) const;
  RawFrame& frame_for(const TraceRow& row, Kind kind);
  void note_reads(const TraceRow& row);
  void note_links(const TraceRow& row);
  void note_write(const TraceRow& row, RawFrame& raw, std::size_t number);
  void note_way(const TraceRow& row);
  void note_move(const TraceRow& row, const TraceCell& cell, RawFrame& raw) const;
  std::string effect_text(const TraceRow& row) const;
  std::size_t text_number(const std::string& text);

  void spread_sides();
  FigureSide side_of(std::uint32_t array, std::size_t axis) const;
  FigurePlace placed(const RawPlace& raw) const;
  FigureAxis axis_of(const Axis& axis) const;
  std::vector<FigureArray> moved_arrays() const;
  bool is_pair(const Axis& a, const Axis& b) const;
  std::string role_text(const Ways& ways) const;

  const BoundProgram* program_ = nullptr;
  std::optional<TileOrigins> origins_;
  std::optional<std::pair<Axis, Axis>> axes_;   // of the first meeting: rows, columns
  std::vector<std::pair<Axis, Axis>> links_;    // axes whose elements belong together
  std::map<Axis, FigureSide> sides_;            // of linked axes
  std::vector<RawFrame> frames_;                // frame k is frames_[k - 1]
  std::optional<RawFrame> waiting_;             // constants, which belong to what comes next
  std::vector<std::optional<Holder>> holders_;  // by register
  std::map<std::pair<std::uint32_t, std::int64_t>, Ways> ways_;  // by pass and register
  std::map<std::string, std::size_t> text_numbers_;
  std::vector<std::string> texts_;
  bool is_too_long_ = false;
};

}  // namespace flashlab::toy
