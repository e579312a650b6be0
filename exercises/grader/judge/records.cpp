#include "exercises/grader/judge/records.hpp"

#include <algorithm>

#include "text/lists.hpp"
#include "text/numbers.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::string_view kNanoseconds = "_ns";
constexpr double kNanosecondsOfOneMillisecond = 1e6;

bool is_time(std::string_view key) { return key.ends_with(kNanoseconds); }

std::string time_words(const toy::Count& nanoseconds) {
  return time_text(nanoseconds.get_d() / kNanosecondsOfOneMillisecond);
}

std::string record_words(const Record& record) {
  const toy::Count less = record.beaten - record.value;
  const std::string than = record.is_of_solution ? "our solution" : "full marks allow";
  const std::string by = is_time(record.key) ? time_words(less) + " less"
                         : less == 1         ? "one fewer"
                                             : less.get_str() + " fewer";
  const std::string where = record.key == kRegisters ? " in use at once" : "";
  return count_words(record.key, record.value) + where + ": " + by + " than " + than;
}

}  // namespace

std::vector<Record> records_of(const Verdict& verdict) {
  std::vector<Record> records;
  if (verdict.outcome != Outcome::kFull) return records;
  for (const CostLine& line : verdict.costs) {
    if (line.value < line.solution) {
      records.push_back({line.key, line.value, line.solution, true});
    } else if (line.value < line.full) {
      records.push_back({line.key, line.value, line.full, false});
    }
  }
  if (verdict.registers && verdict.registers->value < verdict.registers->solution) {
    records.push_back({std::string(kRegisters), toy::Count(verdict.registers->value),
                       toy::Count(verdict.registers->solution), true});
  }
  return records;
}

std::string record_sentence(const Verdict& verdict) {
  const std::vector<Record> records = records_of(verdict);
  return records.empty() ? "" : joined(records, "; ", record_words) + ".";
}

std::string counted_things(std::string_view key) {
  if (is_time(key)) {
    key.remove_suffix(kNanoseconds.size());
    return std::string(key) + " time";
  }
  if (key == "dram_bytes") return "DRAM bytes";
  if (const std::size_t dot = key.find('.'); dot != std::string_view::npos) {
    const std::string_view array = key.substr(0, dot);
    return std::string(key.substr(dot + 1)) + " of " +
           (array == "temp" ? ".temp arrays" : std::string(array));
  }
  std::string words(key);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string count_words(std::string_view key, const toy::Count& value) {
  if (is_time(key)) return time_words(value);
  std::string things = counted_things(key);
  const std::size_t end = std::min(things.find(' '), things.size());
  if (value == 1 && things[end - 1] == 's') things.erase(end - 1, 1);
  return value.get_str() + " " + things;
}

}  // namespace flashlab::exercises
