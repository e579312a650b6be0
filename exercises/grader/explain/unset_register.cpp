#include "exercises/grader/explain/unset_register.hpp"

#include <string_view>
#include <variant>
#include <vector>

#include "exercises/grader/explain/statement_parts.hpp"
#include "exercises/grader/repair/edit_parts.hpp"

namespace flashlab::exercises {
namespace {

/// "R2" in "step 9 (i = 0): R2 is read, but nothing was written there"; else empty.
std::string unset_name(const std::string& what) {
  const std::size_t end = what.find(" is read, but nothing was written");
  if (end == std::string::npos) return {};
  const std::size_t before = what.rfind(' ', end - 1);
  return what.substr(before == std::string::npos ? 0 : before + 1,
                     end - (before == std::string::npos ? 0 : before + 1));
}

/// "NUM" of "NUM[c]"
std::string_view without_index(std::string_view name) { return name.substr(0, name.find('[')); }

struct Lines {
  std::uint32_t first = 0, last = 0;
};

void add_loops_around(std::uint32_t line, const std::vector<toy::Statement>& body,
                      const toy::Program& program, std::vector<Lines>& loops) {
  for (const toy::Statement& statement : body) {
    const auto* loop = std::get_if<toy::LoopStatement>(&statement.node);
    if (loop == nullptr) continue;
    const Lines lines{loop->span.line, end_line(program, *loop)};
    if (line <= lines.first || line >= lines.last) continue;
    loops.push_back(lines);
    add_loops_around(line, loop->body, program, loops);
  }
}

}  // namespace

std::optional<UnsetRegister> unset_register(const FailedAttempt& failed) {
  if (!failed.attempt.failure || !failed.attempt.failure->error) return std::nullopt;
  const toy::Diagnostic& error = *failed.attempt.failure->error;
  const std::string name = unset_name(error.what);
  if (name.empty()) return std::nullopt;
  std::vector<Lines> loops;
  add_loops_around(error.span.line, failed.program->body, *failed.program, loops);
  for (; !loops.empty(); loops.pop_back()) {
    for (std::uint32_t line = loops.back().first + 1; line < loops.back().last; ++line) {
      const LineRegisters here(failed.text.line(line));
      if (without_index(here.written) != without_index(name)) continue;
      const std::uint32_t first = loops.back().first;
      return UnsetRegister{first, "something is missing before line " + std::to_string(first) +
                                      ": nothing sets " + name + " before this loop"};
    }
  }
  return std::nullopt;
}

}  // namespace flashlab::exercises
