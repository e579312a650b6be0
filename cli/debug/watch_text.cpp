#include "cli/debug/watch_text.hpp"

#include <cmath>

#include "text/numbers.hpp"
#include "text/width.hpp"

namespace flashlab::cli {

std::string value_text(double value, const toy::Replay& run) {
  if (std::isnan(value)) return "unwritten";
  return run.is_double() ? shortest_text(value) : shortest_text(static_cast<float>(value));
}

std::string contents_text(const toy::RegisterContents& contents, const toy::Replay& run,
                          std::size_t width) {
  if (!contents.is_written()) return "unwritten";
  std::string text;
  if (contents.elements.size() != 1) {
    text = std::to_string(contents.rows) + " x " + std::to_string(contents.cols) + ":";
  }
  for (const double element : contents.elements) {
    if (text.size() > width) break;
    text += (text.empty() ? "" : " ") + value_text(element, run);
  }
  return text.size() > width ? fitted(text, width, false) : text;
}

std::string value_text(const toy::WatchValue& value, const toy::Replay& run, std::size_t width) {
  switch (value.kind) {
    case toy::WatchValue::Kind::kWhole:
      return std::to_string(value.whole);
    case toy::WatchValue::Kind::kNumber:
      return value_text(value.number, run);
    case toy::WatchValue::Kind::kTile:
      return contents_text({value.rows, value.cols, value.elements}, run, width);
    case toy::WatchValue::Kind::kUnwritten:
      return "unwritten";
    case toy::WatchValue::Kind::kTruth:
      return value.holds() ? "true" : "false";
  }
  return {};
}

std::string watch_text(const toy::WatchExpression& expression, toy::Replay& run,
                       const toy::RunPoint& loops) {
  const auto value = expression.value(run, loops);
  return value ? value_text(*value, run) : "(" + sentence(value.diagnostics.front()) + ")";
}

std::string sentence(const toy::Diagnostic& diagnostic) {
  std::string text = diagnostic.what;
  if (!diagnostic.expected.empty()) text += "; expected " + diagnostic.expected;
  if (!diagnostic.suggestion.empty()) text += "; did you mean '" + diagnostic.suggestion + "'?";
  return text;
}

}  // namespace flashlab::cli
