// Values of a run as text: the shortest that reads back.
#pragma once

#include <string>

#include "toymachine/replay/replay.hpp"
#include "toymachine/replay/watch_expression.hpp"

namespace flashlab::cli {

/// Returns the shortest text that reads back as this number in the run's type; "unwritten" for NaN.
std::string value_text(double value, const toy::Replay& run);

/// Returns "0.5316", "unwritten", or of a tile "2 x 4: 0.1 0.2 0.3 ...", in at most `width` columns.
std::string contents_text(const toy::RegisterContents& contents, const toy::Replay& run,
                          std::size_t width = 60);

std::string value_text(const toy::WatchValue& value, const toy::Replay& run,
                       std::size_t width = 60);

/// Returns the expression's value where the run stands, or in brackets why it has none.
/// `loops`: the point whose loop values are meant.
std::string watch_text(const toy::WatchExpression& expression, toy::Replay& run,
                       const toy::RunPoint& loops);

/// Returns a message of one diagnostic: what is wrong, what was expected, a near miss.
std::string sentence(const toy::Diagnostic& diagnostic);

}  // namespace flashlab::cli
