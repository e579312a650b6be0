// `flashlab isa`: prints the instruction table, as text and for other tools.
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/editor_grammar.hpp"
#include "cli/machine/requests.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/width.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {
namespace {

using toy::InstructionSpec;
using toy::Level;

struct IsaFlags {
  std::string level;
  bool markdown = false, json = false, textmate = false;
  TerminalOptions terminal;
};

std::string syntax(const InstructionSpec& spec) {
  return std::string(spec.mnemonic) + " " + std::string(spec.operand_names);
}

std::string levels_of(const InstructionSpec& spec) {
  if (std::all_of(kLevels.begin(), kLevels.end(), [&](Level level) { return spec.in(level); })) {
    return "all";
  }
  std::string text;
  for (const Level level : kLevels) {
    if (spec.in(level)) text += (text.empty() ? "" : ", ") + std::string(toy::to_string(level));
  }
  if (!text.empty()) return text;
  return spec.is_link() ? "with .machines" : "by name";
}

/// FLOPs of one execution for each element; exponentials are counted separately. A reduction makes one
/// less than a row has columns.
std::string flops_of(const InstructionSpec& spec) {
  if (spec.flop_kind == toy::FlopKind::kReduction) return "c - 1";
  return spec.flop_kind == toy::FlopKind::kExponential ? "exp" : std::to_string(spec.flops);
}

/// Where all take one cycle, a line says so: the column would make the table wider than many
/// windows.
std::string as_table(const std::vector<InstructionSpec>& instructions, const Terminal& terminal) {
  const bool is_one = std::all_of(instructions.begin(), instructions.end(),
                                  [](const InstructionSpec& spec) { return spec.cycles == 1; });
  std::vector<Column> columns{{"instruction"}, {"operation"}};
  if (!is_one) columns.push_back({"cycles", Align::kRight});
  columns.push_back({"FLOPs", Align::kRight});
  columns.push_back({"levels"});
  TextTable table(columns);
  for (const InstructionSpec& spec : instructions) {
    std::vector<std::string> row{syntax(spec), effect_text(spec, terminal)};
    if (!is_one) row.push_back(std::to_string(spec.cycles));
    row.push_back(flops_of(spec));
    row.push_back(levels_of(spec));
    table.row(std::move(row));
  }
  if (!is_one) return table.to_string(terminal);
  return table.to_string(terminal) + "\n" +
         wrapped("Each takes one cycle, unless --cost of a command says otherwise.",
                 terminal.width);
}

std::string as_markdown(const std::vector<InstructionSpec>& instructions) {
  std::string text =
      "| Instruction | Operation | Meaning | Cycles | FLOPs | Levels "
      "|\n|---|---|---|---|---|---|\n";
  for (const InstructionSpec& spec : instructions) {
    text += "| `" + syntax(spec) + "` | `" + std::string(spec.effect) + "` | " +
            std::string(spec.meaning) + " | " + std::to_string(spec.cycles) + " | " +
            flops_of(spec) + " | " + levels_of(spec) + " |\n";
  }
  return text;
}

int print_instructions(const IsaFlags& options) {
  const std::vector<InstructionSpec> instructions = instructions_of_level(options.level);
  if (options.json) {
    std::cout << instructions_json(instructions).dump(2) << "\n";
  } else if (options.textmate) {
    std::cout << textmate_grammar(instructions).dump(2) << "\n";
  } else if (options.markdown) {
    std::cout << as_markdown(instructions);
  } else {
    std::cout << as_table(instructions, options.terminal.terminal());
  }
  return kExitGood;
}

}  // namespace

CommandAction add_isa(CLI::App& app) {
  auto options = std::make_shared<IsaFlags>();
  CLI::App& command = add_command(app, "isa", "The instruction table",
                                  "  flashlab isa                      every instruction\n"
                                  "  flashlab isa --level matmul       those of the first machine\n"
                                  "  flashlab isa --textmate > toy.tmLanguage.json\n");
  std::vector<std::string> levels;
  for (const Level level : kLevels) levels.emplace_back(toy::to_string(level));
  add_option(command, "--level", options->level, "only this machine: matmul, softmax or attention")
      .one_of(levels)
      .type_name("LEVEL");
  const Flag markdown = add_flag(command, "--markdown", options->markdown, "as a Markdown table");
  const Flag json = add_flag(command, "--json", options->json, "as JSON").excludes(markdown);
  add_flag(command, "--textmate", options->textmate, "as an editor's grammar")
      .excludes(markdown)
      .excludes(json);
  options->terminal.add_to(command);
  return [options] { return print_instructions(*options); };
}

}  // namespace flashlab::cli
