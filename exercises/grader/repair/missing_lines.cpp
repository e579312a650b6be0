#include "exercises/grader/repair/missing_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exercises/grader/submission/statement_lines.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {
namespace {

/// How often each instruction occurs in the text.
std::map<std::string, int> occurrences(const toy::SourceText& text) {
  std::map<std::string, int> found;
  for (std::uint32_t line = 1; line <= text.num_lines(); ++line) {
    const std::vector<std::string> here = words(text.line(line));
    if (!here.empty()) ++found[here.front()];
  }
  return found;
}

/// The registers that the program names, without an index: "R0", "NUM".
std::set<std::string> registers_of(const toy::Program& program, std::int64_t num_registers) {
  std::set<std::string> names;
  for (std::int64_t i = 0; i < num_registers; ++i) names.insert("R" + std::to_string(i));
  std::set<std::string> used;
  for (std::uint32_t line = 1; line <= program.source->num_lines(); ++line) {
    for (const std::string& word : words(program.source->line(line))) {
      if (names.contains(word)) used.insert(word);
    }
  }
  return used.empty() ? names : used;
}

bool has_only_registers(const toy::InstructionSpec& spec) {
  const auto kinds = spec.kinds();
  return std::all_of(kinds.begin(), kinds.end(), [](toy::OperandKind kind) {
    return toy::is_register_read(kind) || kind == toy::OperandKind::kDestination;
  });
}

/// The program's lines that declare names.
std::string declarations_of(const toy::Program& program) {
  std::string text;
  for (std::uint32_t line = 1; line <= program.source->num_lines(); ++line) {
    const std::vector<std::string> here = words(program.source->line(line));
    const bool declares = !here.empty() && here.front().front() == '.' && here.front() != ".name" &&
                          here.front() != ".score" && here.front() != ".pass";
    if (declares) text += std::string(program.source->line(line)) + "\n";
  }
  return text;
}

/// The line with all registers in the place of those that it reads, but for one that is transposed.
std::vector<std::string> with_registers(const std::vector<std::string>& line,
                                        const std::vector<std::string>& registers) {
  const auto rows = toy::instruction_set();
  const auto spec = std::find_if(rows.begin(), rows.end(), [&](const toy::InstructionSpec& one) {
    return !line.empty() && one.mnemonic == line.front();
  });
  if (spec == rows.end() || line.size() != spec->num_operands + 1) return {};
  std::vector<std::string> found{line.front()};
  std::size_t num_read = 0;
  for (std::size_t i = 0; i < spec->num_operands; ++i) {
    std::vector<std::string> choices{line[i + 1]};
    if (toy::is_register_read(spec->operands[i])) {
      if (++num_read > 2) return {};
      if (line[i + 1].find('^') == std::string::npos) choices = registers;
    }
    std::vector<std::string> longer;
    for (const std::string& start : found) {
      for (const std::string& one : choices) longer.push_back(start + (i > 0 ? ", " : " ") + one);
    }
    found = std::move(longer);
  }
  return num_read > 0 ? found : std::vector<std::string>{};
}

/// The lines that store, by the array.
std::map<std::string, std::vector<std::uint32_t>> stores_of(const toy::SourceText& text) {
  std::map<std::string, std::vector<std::uint32_t>> found;
  for (std::uint32_t line = 1; line <= text.num_lines(); ++line) {
    const std::vector<std::string> here = words(text.line(line));
    if (here.size() != 3 || here.front() != "STORE") continue;
    found[here.back().substr(0, here.back().find('['))].push_back(line);
  }
  return found;
}

}  // namespace

std::shared_ptr<const toy::Program> missing_lines(const toy::Program& solution,
                                                  const toy::Program& program,
                                                  std::int64_t num_registers) {
  const std::set<std::string> registers = registers_of(program, num_registers);
  const auto mine = occurrences(*program.source), wanted = occurrences(*solution.source);
  std::string text = declarations_of(program);
  std::size_t count = 0;
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    const std::string name(spec.mnemonic);
    const auto here = mine.find(name), there = wanted.find(name);
    const int lacking =
        (there == wanted.end() ? 0 : there->second) - (here == mine.end() ? 0 : here->second);
    if (lacking <= 0 || !has_only_registers(spec)) continue;
    std::vector<std::string> lines{name};
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      std::vector<std::string> longer;
      for (const std::string& line : lines) {
        for (const std::string& one : registers)
          longer.push_back(line + (i > 0 ? ", " : " ") + one);
      }
      lines = std::move(longer);
      if (count + lines.size() > kMostMissingLines) return nullptr;
    }
    count += lines.size();
    for (const std::string& line : lines) text += line + "\n";
  }
  if (count == 0) return nullptr;
  auto assembled = toy::assemble(std::make_shared<const toy::SourceText>("missing", text));
  return assembled ? std::make_shared<const toy::Program>(std::move(*assembled)) : nullptr;
}

std::shared_ptr<const toy::Program> lines_with_registers(const toy::Program& model,
                                                         const std::vector<std::uint32_t>& lines,
                                                         const toy::Program& program) {
  std::vector<std::string> registers;
  for (const toy::RegisterDeclaration& one : program.register_names) {
    if (one.count == nullptr) registers.push_back(one.name);
  }
  std::string text;
  for (const std::uint32_t line : lines) {
    for (const std::string& one : with_registers(words(model.source->line(line)), registers)) {
      text += one + "\n";
    }
  }
  if (text.empty()) return nullptr;
  std::string loops, ends;  // a line may use any of the loop variables
  for (const std::string& name :
       std::set<std::string>(program.loop_vars.begin(), program.loop_vars.end())) {
    loops += "for " + name + " in 0..1\n";
    ends += "end\n";
  }
  text = declarations_of(program) + loops + text + ends;
  auto assembled = toy::assemble(std::make_shared<const toy::SourceText>("missing", text));
  return assembled ? std::make_shared<const toy::Program>(std::move(*assembled)) : nullptr;
}

bool lacks_store(const toy::Program& solution, const toy::Program& program,
                 const std::string& array) {
  return stores_of(*solution.source)[array].size() > stores_of(*program.source)[array].size();
}

std::shared_ptr<const toy::Program> missing_stores(const toy::Program& solution,
                                                   const toy::Program& program,
                                                   const std::string& only) {
  std::vector<std::uint32_t> lines;
  auto mine = stores_of(*program.source);
  for (const auto& [array, theirs] : stores_of(*solution.source)) {
    if (!only.empty() && array != only) continue;
    if (theirs.size() > mine[array].size()) lines.insert(lines.end(), theirs.begin(), theirs.end());
  }
  return lines_with_registers(solution, lines, program);
}

}  // namespace flashlab::exercises
