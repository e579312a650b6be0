// `flashlab programs`: lists the programs that are embedded in the command.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/machine/requests.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

struct ProgramsFlags {
  std::string name;
  bool json = false;
  TerminalOptions terminal;
};

int print_programs(const ProgramsFlags& options) {
  if (options.json) {
    std::cout << programs_json(options.name).dump(2) << "\n";
  } else if (options.name.empty()) {
    TextTable table({{"program"}, {"what it is"}});
    for (const BundledProgram& program : bundled_programs()) {
      table.row({std::string(program.name), std::string(program.title())});
    }
    TextTable scores({{"score function"}, {"what it is"}});
    for (const BundledProgram& score : bundled_scores()) {
      scores.row({std::string(score.name), std::string(score.title())});
    }
    const Terminal terminal = options.terminal.terminal();
    std::cout << table.to_string(terminal) << "\n" << scores.to_string(terminal);
  } else {
    std::cout << bundled_program(options.name).text;
  }
  return kExitGood;
}

}  // namespace

CommandAction add_programs(CLI::App& app) {
  auto options = std::make_shared<ProgramsFlags>();
  CLI::App& command =
      add_command(app, "programs", "The programs that come with flashlab: names, or one's text",
                  "  flashlab programs                          what there is\n"
                  "  flashlab programs softmax_safe > my.toy    a copy to change\n"
                  "  flashlab programs soft_cap                 a function for --score\n");
  add_option(command, "name", options->name, "print this program").type_name("NAME");
  add_flag(command, "--json", options->json, "as JSON");
  options->terminal.add_to(command);
  return [options] { return print_programs(*options); };
}

}  // namespace flashlab::cli
