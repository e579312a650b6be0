// The breakpoints of a debug adapter's client: where they are, how often they were hit, what they log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/replay/replay.hpp"
#include "toymachine/replay/watch_expression.hpp"

namespace flashlab::cli {

/// "5", ">= 5", "% 5": at which hits a breakpoint stops, counted from 1 in both directions.
struct HitCondition {
  enum class Op : std::uint8_t { kEqual, kLess, kAtMost, kGreater, kAtLeast, kMultiple };
  Op op = Op::kEqual;
  std::uint64_t count = 1;

  static std::optional<HitCondition> parse(const std::string& text);
  bool holds(std::uint64_t hits) const;
};

/// "x is {x[i]}": texts, and expressions between braces. "\{" and "\}" are braces.
class LogMessage {
 public:
  static toy::Result<LogMessage> parse(const toy::BoundProgram& program, const std::string& text,
                                       std::optional<std::uint32_t> site);
  /// `loops`: the point whose loop values are meant.
  std::string text(toy::Replay& run, const toy::RunPoint& loops) const;

 private:
  struct Part {
    std::string text;
    std::optional<toy::WatchExpression> expression;
  };
  std::vector<Part> parts_;
};

class DapBreakpoints {
 public:
  enum class Kind : std::uint8_t { kLine, kFunction, kData };

  /// What a client asks for.
  struct Wanted {
    std::string text;  // as toy::parse_breakpoint() reads it
    std::string hits, log;
    std::string refusal;  // why it cannot be
  };

  /// Replaces all breakpoints of a kind, and returns the new ones as the protocol describes them, in
  /// order. Lines are those of the program. One that was there before keeps its number and its hits.
  nlohmann::json replace(const toy::BoundProgram& program, Kind kind,
                         const std::vector<Wanted>& wanted);
  void clear() { *this = {}; }

  std::size_t size() const { return all_.size(); }
  std::vector<toy::Breakpoint> plain() const;
  Kind kind(std::size_t number) const { return all_.at(number).kind; }
  std::int64_t id(std::size_t number) const { return all_.at(number).id; }

  /// Counts a hit of a breakpoint at which the run stands. Returns whether it stops there; otherwise its
  /// message, if it has one, goes to `log`.
  bool hit(std::size_t number, toy::Replay& run, const std::function<void(std::string)>& log);

 private:
  struct One {
    std::int64_t id = 0;
    Kind kind = Kind::kLine;
    Wanted wanted;
    toy::Breakpoint breakpoint;
    std::optional<HitCondition> hits;
    std::optional<LogMessage> log;
    std::uint64_t num_hits = 0;
  };
  std::string make(const toy::BoundProgram& program, One& one) const;

  std::vector<One> all_;
  std::int64_t last_id_ = 0;
};

}  // namespace flashlab::cli
