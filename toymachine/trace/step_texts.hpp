// What each step makes, from what, and what registers hold: texts with names like S@9 for what
// earlier steps made. The table, the JSON, the page and the debugger show these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {

/// From more registers on, a trace shows what each step makes in place of all registers.
inline constexpr std::size_t kFewRegisters = 4;
/// Columns for what a step makes. In more of them it would be written out further, and read less
/// easily.
inline constexpr std::size_t kMostForChange = 32;

struct StepTextOptions {
  bool unicode = false;
  bool symbols = true;  // formulas
  bool values = false;  // numbers
};

class StepTexts {
 public:
  /// `by_position`: S@9 is of row 9 of a generic round, not of step 9. The header must outlive the
  /// object.
  void begin(const TraceHeader& header, bool by_position);
  /// Call these for every event of a trace, also for the steps that are not shown: begin_step()
  /// before the texts of a step are asked for, end_step() before those of registers after it.
  void begin_body(const TraceBody& body);
  void begin_step(const TraceRow& row);
  void end_step(const TraceRow& row);
  void label(const TraceLabel& label);

  /// Returns "S = q00*k00^T" with names or without, from the longest text to the shortest.
  std::vector<std::string> makes(const TraceRow& row, const StepTextOptions& options) const {
    return makes(row, options, 0);
  }
  /// Returns the longest of these that is read easily, else the shortest. No name is ever cut.
  std::string chosen(const TraceRow& row, const StepTextOptions& options) const;
  /// Returns a short formula, or the value's name.
  std::string short_text(const TraceRegister& reg, bool unicode) const;
  /// The same if there are many registers. Of few, the whole formula, or nothing if it has lost its
  /// meaning.
  std::string held(const TraceRegister& reg, bool unicode) const;
  /// A tile among texts: "2x3".
  static std::string tile_text(std::int64_t rows, std::int64_t cols, bool unicode);
  /// "S@9", the name of what the register got at step 9.
  std::string value_name(std::int64_t number, std::uint64_t position) const;

 private:
  struct Last {
    Symbol symbol;
    std::uint64_t written_at = 0;
    bool is_copy = false;  // MOV wrote it
  };
  /// None after one of at most `enough` columns.
  std::vector<std::string> makes(const TraceRow& row, const StepTextOptions& options,
                                 std::size_t enough) const;
  SymbolStyle style(bool unicode, std::size_t written_out) const;
  void update(std::int64_t number, std::span<const TraceRegister> registers);
  void forget_some();

  const TraceHeader* header_ = nullptr;
  const BoundProgram* program_ = nullptr;
  bool by_position_ = false;
  ValueNames names_;
  std::vector<Last> last_;  // by register
  /// Registers that got a value with a name, and not from MOV.
  std::unordered_map<const Symbol::Node*, std::vector<std::size_t>> holders_;
};

}  // namespace flashlab::toy
