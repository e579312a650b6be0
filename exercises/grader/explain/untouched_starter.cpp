#include "exercises/grader/explain/untouched_starter.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exercises/grader/repair/line_differences.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "text/lists.hpp"

namespace flashlab::exercises {
namespace {

using Statements = std::vector<std::vector<std::string>>;

Statements statements_of(const toy::SourceText& text) {
  Statements all;
  for (std::uint32_t line = 1; line <= text.num_lines(); ++line) {
    std::vector<std::string> here = words(text.line(line));
    if (!here.empty()) all.push_back(std::move(here));
  }
  return all;
}

/// The lines that hold nothing but a comment, where the solution has lines that the text lacks.
std::vector<std::uint32_t> comments_at(const toy::SourceText& text, const LineDifference& place) {
  const auto last = static_cast<std::uint32_t>(text.num_lines());
  const std::uint32_t end = !place.mine.empty() ? place.mine.front()
                            : place.below != 0  ? place.below
                                                : last + 1;
  std::vector<std::uint32_t> lines;
  for (std::uint32_t line = place.above + 1; line < end; ++line) {
    const std::string_view there = text.line(line);
    if (words(there).empty() && there.find_first_of(";#") != there.npos) lines.push_back(line);
  }
  return lines;
}

/// What the comments in these lines say, as one text.
std::string comment_text(const toy::SourceText& text, const std::vector<std::uint32_t>& lines) {
  return joined(lines, " ", [&](std::uint32_t line) {
    const std::string_view there = text.line(line);
    return std::string(trimmed(there.substr(there.find_first_not_of(" \t;#"))));
  });
}

/// Whether a line is missing there that does something: directives name things.
bool lacks_statements(const toy::SourceText& solution, const LineDifference& place) {
  return std::any_of(place.other.begin(), place.other.end(), [&](std::uint32_t line) {
    return !words(solution.line(line)).front().starts_with('.');
  });
}

/// Where something is to be written: lines of the solution are missing, and a comment stands there.
struct OpenPlace {
  std::uint32_t above = 0, comment = 0;  // lines of the submission; comment 0: it was left out
  std::string says;                      // the starter's comment
};

std::vector<OpenPlace> open_places(const ProgramTask& task, const toy::SourceText& text) {
  const toy::SourceText starter("starter", task.starter);
  const toy::SourceText& solution = *task.solution->source;
  const auto given = line_differences(starter, solution, SIZE_MAX);
  const auto here = line_differences(text, solution, SIZE_MAX);
  if (!given || !here || given->size() != here->size()) return {};
  std::vector<OpenPlace> places;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const LineDifference& one = (*given)[i];
    const std::vector<std::uint32_t> comments = comments_at(starter, one);
    if (one.above == 0 || comments.empty() || !lacks_statements(solution, one)) continue;
    const std::vector<std::uint32_t> mine = comments_at(text, (*here)[i]);
    places.push_back(
        {(*here)[i].above, mine.empty() ? 0 : mine.front(), comment_text(starter, comments)});
  }
  return places;
}

/// "line 26", "below line 25"
std::string open_place_text(const OpenPlace& place) {
  return place.comment == 0 ? "below line " + std::to_string(place.above)
                            : "line " + std::to_string(place.comment);
}

bool is_starter(const ProgramTask& task, const toy::SourceText& text) {
  return statements_of(text) == statements_of(toy::SourceText("starter", task.starter));
}

}  // namespace

bool say_nothing_written(const ProgramTask& task, const toy::SourceText& text, Verdict& verdict) {
  if (!is_starter(task, text)) return false;
  const std::vector<OpenPlace> places = open_places(task, text);
  if (places.empty()) return false;
  const OpenPlace& first = places.front();
  Finding finding;
  finding.what = "nothing is written yet: this is the starter, unchanged";
  finding.details.push_back((first.comment == 0 ? "Begin " : "Begin at ") + open_place_text(first) +
                            ", where the starter says: \"" + first.says + "\"");
  std::string more;
  for (std::size_t i = 1; i < places.size(); ++i) {
    more += (i == 1 ? "" : i + 1 == places.size() ? " and " : ", ") + open_place_text(places[i]);
  }
  if (!more.empty()) finding.details.push_back("More is to be written at " + more + ".");
  finding.line = first.comment == 0 ? first.above : first.comment;
  verdict.findings = {std::move(finding)};
  return true;
}

void note_starter(const ProgramTask& task, const toy::SourceText& text, Verdict& verdict) {
  if (is_starter(task, text)) verdict.findings.front().details.emplace_back(kStarterUnchanged);
}

}  // namespace flashlab::exercises
