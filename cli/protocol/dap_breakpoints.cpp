#include "cli/protocol/dap_breakpoints.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/debug/watch_text.hpp"
#include "text/lists.hpp"
#include "text/read_number.hpp"
#include "text/visible.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::cli {

using nlohmann::json;

std::optional<HitCondition> HitCondition::parse(const std::string& text) {
  struct Row {
    std::string_view text;
    Op op;
  };
  constexpr std::array<Row, 8> kRows{{{"==", Op::kEqual},
                                      {">=", Op::kAtLeast},
                                      {"<=", Op::kAtMost},
                                      {"=", Op::kEqual},
                                      {">", Op::kGreater},
                                      {"<", Op::kLess},
                                      {"%", Op::kMultiple},
                                      {"", Op::kEqual}}};
  const std::string_view all = trimmed(text);
  for (const Row& row : kRows) {
    if (!all.starts_with(row.text)) continue;
    HitCondition result{row.op, 0};
    if (!read_whole(trimmed(all.substr(row.text.size())), result.count)) return std::nullopt;
    if (row.op == Op::kMultiple && result.count == 0) return std::nullopt;
    return result;
  }
  return std::nullopt;
}

bool HitCondition::holds(std::uint64_t hits) const {
  switch (op) {
    case Op::kEqual:
      return hits == count;
    case Op::kLess:
      return hits < count;
    case Op::kAtMost:
      return hits <= count;
    case Op::kGreater:
      return hits > count;
    case Op::kAtLeast:
      return hits >= count;
    case Op::kMultiple:
      return hits % count == 0;
  }
  return true;
}

toy::Result<LogMessage> LogMessage::parse(const toy::BoundProgram& program, const std::string& text,
                                          std::optional<std::uint32_t> site) {
  constexpr const char* kExpected =
      "text, and expressions in braces: x[i] is {x[i]}; \\{ and \\} print a brace";
  LogMessage message;
  std::string plain;
  const auto end_plain = [&] {
    if (!plain.empty()) message.parts_.push_back({std::exchange(plain, {}), std::nullopt});
  };
  for (std::size_t at = 0; at < text.size();) {
    const bool is_escaped =
        text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '{' || text[at + 1] == '}');
    if (is_escaped || text[at] != '{') {
      at += is_escaped ? 1 : 0;
      plain += text[at++];
      continue;
    }
    end_plain();
    const std::size_t open = at, close = text.find('}', open);
    if (close == std::string::npos) {
      return toy::request_error("the message '" + printable(text) + "' has no closing brace",
                                kExpected);
    }
    if (text[open + 1] == '{') {
      return toy::request_error("the message '" + printable(text) + "' has two braces together",
                                kExpected);
    }
    auto expression =
        toy::WatchExpression::parse(program, text.substr(open + 1, close - open - 1), site);
    if (!expression) return std::move(expression.diagnostics);
    message.parts_.push_back({{}, std::move(*expression)});
    at = close + 1;
  }
  end_plain();
  return message;
}

std::string LogMessage::text(toy::Replay& run, const toy::RunPoint& loops) const {
  std::string result;
  for (const Part& part : parts_) {
    result += part.expression ? watch_text(*part.expression, run, loops) : part.text;
  }
  return result;
}

/// Returns why it cannot be; empty: it is made.
std::string DapBreakpoints::make(const toy::BoundProgram& program, One& one) const {
  if (!one.wanted.refusal.empty()) return one.wanted.refusal;
  const auto parsed = toy::parse_breakpoint(program, one.wanted.text);
  if (!parsed) return sentence(parsed.diagnostics.front());
  one.breakpoint = *parsed.value;
  if (!one.wanted.hits.empty()) {
    one.hits = HitCondition::parse(one.wanted.hits);
    if (!one.hits) {
      return "'" + printable(one.wanted.hits) + "' is no number of hits; expected 5, >= 5 or % 5";
    }
  }
  if (!one.wanted.log.empty()) {
    const bool is_line = one.breakpoint.kind == toy::Breakpoint::Kind::kLine;
    auto log = LogMessage::parse(program, one.wanted.log,
                                 is_line ? std::optional(one.breakpoint.site) : std::nullopt);
    if (!log) return sentence(log.diagnostics.front());
    one.log = std::move(*log);
  }
  return {};
}

json DapBreakpoints::replace(const toy::BoundProgram& program, Kind kind,
                             const std::vector<Wanted>& wanted) {
  std::vector<One> before;
  for (One& one : all_) {
    if (one.kind == kind) before.push_back(std::move(one));
  }
  std::erase_if(all_, [&](const One& one) { return one.kind == kind; });
  json results = json::array();
  for (const Wanted& text : wanted) {
    One one;
    one.kind = kind;
    one.wanted = text;
    const auto same = std::find_if(before.begin(), before.end(), [&](const One& old) {
      return old.wanted.text == text.text && old.wanted.hits == text.hits &&
             old.wanted.log == text.log && old.wanted.refusal == text.refusal;
    });
    one.id = same == before.end() ? ++last_id_ : same->id;
    if (same != before.end()) {
      one.num_hits = same->num_hits;
      before.erase(same);
    }
    json result{{"id", one.id}};
    if (const std::string why = make(program, one); !why.empty()) {
      result.update({{"verified", false}, {"message", why}});
    } else {
      result["verified"] = true;
      if (one.breakpoint.kind == toy::Breakpoint::Kind::kLine) {
        result["line"] = one.breakpoint.line;
      }
      all_.push_back(std::move(one));
    }
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<toy::Breakpoint> DapBreakpoints::plain() const {
  std::vector<toy::Breakpoint> result;
  for (const One& one : all_) result.push_back(one.breakpoint);
  return result;
}

bool DapBreakpoints::hit(std::size_t number, toy::Replay& run,
                         const std::function<void(std::string)>& log) {
  One& one = all_.at(number);
  ++one.num_hits;
  if (one.hits && !one.hits->holds(one.num_hits)) return false;
  if (!one.log) return true;
  log(one.log->text(run, run.point_of(one.breakpoint)));
  return false;
}

}  // namespace flashlab::cli
