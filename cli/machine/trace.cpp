// `flashlab trace`: shows every step of a run as a table, as JSON, or as a page with a player.
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/page_size.hpp"
#include "cli/machine/requests.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/execution.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/numbers.hpp"
#include "text/width.hpp"
#include "toymachine/trace/trace_table.hpp"

namespace flashlab::cli {
namespace {

struct TraceFlags : TraceRequest {
  bool symbols = false, values = false, labels = false, changes = false;
  std::string ditto = "auto", shown, json, html;
  TerminalOptions terminal;
};

/// The registers of --show: R3,R5, M, or O for all of O[0], O[1], ….
std::vector<std::int64_t> shown_registers(const std::string& text, const toy::BoundProgram& bound) {
  constexpr std::size_t kMostListed = 32;
  if (text.empty()) return {};
  std::vector<std::string> names;
  std::string listed;
  for (std::int64_t i = 0; i < bound.num_registers; ++i) {
    names.push_back(bound.register_name(i));
    listed += (i == 0 ? "" : ", ") + names.back();
  }
  std::vector<std::int64_t> result;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    std::erase(word, ' ');
    bool is_known = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool is_it = names[i] == word || names[i].rfind(word + "[", 0) == 0;
      if (!is_it || word.empty()) continue;
      is_known = true;
      const auto number = static_cast<std::int64_t>(i);
      if (std::find(result.begin(), result.end(), number) == result.end()) result.push_back(number);
    }
    if (is_known) continue;
    throw request_failure(
        "--show " + in_quotes(text) + ": there is no register " + in_quotes(word),
        names.size() > kMostListed ? "registers of the program" : "some of " + listed,
        nearest(word, names).value_or(""));
  }
  return result;
}

toy::TraceTableOptions table_options(const TraceFlags& options, const toy::BoundProgram& bound,
                                     const Terminal& terminal) {
  toy::TraceTableOptions table;
  table.values = options.values;
  table.symbols = options.symbols || !options.values;
  table.labels = options.labels;
  table.changes = options.changes;
  table.shown = shown_registers(options.shown, bound);
  table.unicode = terminal.unicode;
  table.color = terminal.color;
  table.width = terminal.width;
  table.ditto = options.ditto == "always"  ? toy::Ditto::kAlways
                : options.ditto == "never" ? toy::Ditto::kNever
                                           : toy::Ditto::kAuto;
  return table;
}

Traced print_table(const TraceFlags& options, const LoadedProgram& loaded,
                   const toy::BoundProgram& bound) {
  const Terminal terminal = options.terminal.terminal();
  const toy::TraceTableOptions table = table_options(options, bound, terminal);
  std::cout << loaded.heading(terminal) << wrapped(setting(bound), terminal.width) << "\n";
  const auto sink = toy::make_trace_table(std::cout, table);
  toy::TraceOptions trace = options.options();
  trace.max_rows = static_cast<std::uint64_t>(options.machine.limits.max_trace_rows);
  Traced result = trace_to(*sink, loaded, bound, options.run, trace);
  if (result && !result->stopped) {
    const std::string cost = cost_sentence(bound, result->executions, options.machine.cost_table());
    std::cout << "\n" << wrapped(cost, terminal.width);
  }
  return result;
}

/// Writes the page, with a note if it gets large.
void write_page_file(const TraceFlags& options, const LoadedProgram& loaded,
                     const toy::BoundProgram& bound, Traced& result) {
  const std::string advice = options.elide || options.to != UINT64_MAX
                                 ? "--from and --to choose fewer steps"
                                 : "--elide keeps three iterations of each loop, --from and --to "
                                   "choose steps";
  std::uint64_t bytes = 0;
  write_file(options.html, [&](std::ostream& out) {
    bytes = write_with_size_note(out, advice, [&](std::ostream& page) {
      result = write_trace_page(options, loaded, bound, page);
    });
  });
  if (options.html == "-") return;
  std::cerr << "flashlab: wrote " << options.html
            << (bytes > 5'000'000 ? ", " + bytes_text(static_cast<double>(bytes)) : "") << "\n";
}

/// Says which flags change nothing, and why.
void note_flags_without_effect(const TraceFlags& options) {
  std::vector<std::string> names;
  const auto collect = [&](std::initializer_list<std::pair<const char*, bool>> flags) {
    for (const auto& [name, is_given] : flags) {
      if (is_given) names.emplace_back(name);
    }
  };
  const bool has_ditto = options.ditto != "auto";
  std::string why;
  if (!options.json.empty() || !options.html.empty()) {
    collect({{"--symbols", options.symbols},
             {"--values", options.values},
             {"--labels", options.labels},
             {"--changes", options.changes},
             {"--show", !options.shown.empty()},
             {"--ditto", has_ditto}});
    why = std::string("only the table in the terminal has ") + (names.size() == 1 ? "it" : "them");
  } else if (has_ditto && (options.changes || !options.shown.empty())) {
    names = {"--ditto"};
    why = std::string(options.changes ? "--changes" : "--show") +
          " shows what each step makes, without ditto marks";
  }
  if (names.empty()) return;
  print_note(joined(names) + (names.size() == 1 ? " has" : " have") + " no effect here: " + why);
}

int trace_program(const TraceFlags& options) {
  options.check();
  note_flags_without_effect(options);
  const LoadedProgram loaded = load_program(options.program, options.machine);
  const toy::BoundProgram bound = loaded.bind(options.machine.binding());
  Traced result;
  if (!options.json.empty()) {
    write_file(options.json,
               [&](std::ostream& out) { result = write_trace_json(options, loaded, bound, out); });
    if (options.json != "-") std::cerr << "flashlab: wrote " << options.json << "\n";
  }
  if (!options.html.empty()) write_page_file(options, loaded, bound, result);
  if (options.json.empty() && options.html.empty()) result = print_table(options, loaded, bound);
  value_or_fail(std::move(result), *loaded.source);
  return kExitGood;
}

void add_view_flags(CLI::App& command, TraceFlags& options) {
  constexpr const char* kGroup = "What is shown";
  add_flag(command, "--symbols", options.symbols, "formulas: a00*b00 (what is shown anyway)")
      .group(kGroup);
  add_flag(command, "--values", options.values, "numbers; with --symbols both").group(kGroup);
  add_option(command, "--from", options.from, "first step shown").type_name("STEP").group(kGroup);
  add_option(command, "--to", options.to, "last step shown").type_name("STEP").group(kGroup);
  const Flag elide =
      add_flag(command, "--elide", options.elide, "of each loop: first, second, last");
  elide.group(kGroup);
  add_option(command, "--body", options.body,
             "one generic iteration of the loops over this variable")
      .excludes(elide)
      .type_name("VAR")
      .group(kGroup);
  add_flag(command, "--labels", options.labels, "a line for each .name").group(kGroup);
  add_flag(command, "--changes", options.changes,
           "what each step makes, which is shown anyway from 5 registers on")
      .group(kGroup);
  add_option(command, "--show", options.shown,
             "with what each step makes, these registers: R3,R5 or M,L")
      .type_name("REGISTERS")
      .group(kGroup);
  add_option(command, "--ditto", options.ditto,
             "all registers at each step, a value that stays as a ditto mark: always, never")
      .one_of({"auto", "always", "never"})
      .type_name("WHEN")
      .group(kGroup);
}

}  // namespace

CommandAction add_trace(CLI::App& app) {
  auto options = std::make_shared<TraceFlags>();
  CLI::App& command =
      add_command(app, "trace", "Show every step: the instruction and all registers",
                  "  flashlab trace matmul_c00\n"
                  "  flashlab trace softmax_online --body i      one step for any x[i]\n"
                  "  flashlab trace softmax_safe -D n=100 --elide\n"
                  "  flashlab trace my.toy --html my.html        a page with a player\n");
  add_program_argument(command, options->program);
  add_option(command, "--json", options->json, "write JSON to this file, - for standard output")
      .file(FileRole::kOutput)
      .type_name("FILE");
  add_option(command, "--html", options->html, "write a page with a player to this file")
      .file(FileRole::kOutput)
      .type_name("FILE");
  add_view_flags(command, *options);
  options->machine.add_to(command, true);
  options->run.add_to(command);
  options->terminal.add_to(command);
  return [options] { return trace_program(*options); };
}

}  // namespace flashlab::cli
