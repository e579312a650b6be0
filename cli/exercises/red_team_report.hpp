// Reports the results of the red team: strategies that want points without the idea of an exercise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/prove/red_team.hpp"

namespace flashlab::cli {

/// Returns a table of exercises, one of families, and the gains with their programs' changes.
std::string red_team_text(const std::vector<exercises::RedTeamReport>& reports,
                          const exercises::RedTeamOptions& options, const Terminal& terminal);
std::string red_team_json(const std::vector<exercises::RedTeamReport>& reports,
                          const exercises::RedTeamOptions& options);

/// Attacks the exercises, with progress on standard error, and prints the report. Returns the exit
/// code: 1 if a strategy gains a point. Throws Failure if an exercise is broken.
int report_red_team(const std::vector<std::shared_ptr<const exercises::Exercise>>& all,
                    exercises::RedTeamOptions options, bool json, const Terminal& terminal);

}  // namespace flashlab::cli
