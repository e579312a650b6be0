#include "exercises/grader/exercise/source_lines.hpp"

#include "text/visible.hpp"

namespace flashlab::exercises {

void append_source_line(Finding& finding, const toy::SourceText& source, std::uint32_t line) {
  if (line == 0) return;
  std::string number = std::to_string(line);
  number.insert(0, number.size() < 5 ? 5 - number.size() : 0, ' ');
  finding.details.push_back(number + " | " + visible_start(source.line(line), 100));
}

}  // namespace flashlab::exercises
