#include "cli/grading/speed_ranking.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cli/gpu/speed.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

struct RankedTime {
  std::string student;
  const exercises::CostLine* time = nullptr;
};

std::vector<RankedTime> ranked_times(const exercises::ClassReport& report) {
  std::vector<RankedTime> ranked;
  for (const exercises::StudentResult& student : report.students) {
    if (!student.verdict->passed()) continue;
    for (const exercises::CostLine& line : student.verdict->costs) {
      if (line.key == kPredictedTime || line.key == kMeasuredTime) {
        ranked.push_back({student.name, &line});
      }
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedTime& a, const RankedTime& b) {
    return a.time->value < b.time->value;
  });
  return ranked;
}

}  // namespace

std::string speed_ranking(const exercises::ClassReport& report, const Terminal& terminal) {
  const std::vector<RankedTime> ranked = ranked_times(report);
  if (ranked.empty()) return {};
  constexpr double kNanosecondsOfMillisecond = 1e6;
  const bool is_measured = ranked.front().time->key == kMeasuredTime;
  TextTable table({{"place", Align::kRight},
                   {"student", Align::kLeft},
                   {is_measured ? "ms measured" : "ms predicted", Align::kRight},
                   {"full marks / yours", Align::kRight}});
  std::size_t place = 0;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    if (i == 0 || ranked[i].time->value != ranked[i - 1].time->value) place = i + 1;
    const double value = ranked[i].time->value.get_d();
    table.row({std::to_string(place), printable(ranked[i].student),
               three_digits(value / kNanosecondsOfMillisecond),
               value > 0 ? fixed_text(ranked[i].time->full.get_d() / value, 2) : ""});
  }
  return "\n" + table.to_string(terminal);
}

}  // namespace flashlab::cli
