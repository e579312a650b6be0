// Reads the expressions of watch_expression.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/replay/watch_expression.hpp"

namespace flashlab::toy::detail {

/// Tests come last.
enum class WatchOp : std::uint8_t {
  kWhole,
  kReal,
  kParam,     // `index` into BoundProgram::params
  kLoop,      // `index` of the loop, or kAnyLoop: the one around the run that has this name
  kRegister,  // `index`: its number, or with an argument, of its named registers
  kCell,      // `index` of the array, args: its indices
  kElement,   // of a register's tile: as kRegister, and two more arguments, row and column
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kNegate,
  kLess,
  kAtMost,
  kGreater,
  kAtLeast,
  kEqual,
  kUnequal,
  kNot,
  kAnd,
  kOr,
};

inline constexpr std::size_t kAnyLoop = SIZE_MAX;

using WatchNode = std::shared_ptr<const WatchExpression::Node>;
Result<WatchNode> parse_watch(const BoundProgram& program, std::string_view text,
                              std::optional<std::uint32_t> site);

}  // namespace flashlab::toy::detail

namespace flashlab::toy {

struct WatchExpression::Node {
  detail::WatchOp op = detail::WatchOp::kWhole;
  std::int64_t whole = 0;
  double real = 0;
  std::size_t index = 0;
  std::vector<detail::WatchNode> args{};
  std::string text{};  // as written
};

}  // namespace flashlab::toy
