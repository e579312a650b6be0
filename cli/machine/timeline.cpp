// `flashlab timeline`: shows when each instruction runs, in sequence and on two units.
#include "toymachine/timeline/timeline.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/machine/lane_picture.hpp"
#include "cli/machine/page_size.hpp"
#include "cli/machine/requests.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/timeline/timeline_json.hpp"

namespace flashlab::cli {
namespace {

using toy::Cause;
using toy::Timeline;
using toy::Unit;

constexpr std::uint64_t kShownSteps = 40;  // default number of steps in the picture

struct TimelineFlags : TimelineRequest {
  std::string html;
  bool json = false, elide = false;
  TerminalOptions terminal;
};

std::string percent_text(std::int64_t part, std::int64_t whole) {
  if (part == 0) return "-";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return percent < 0.05 ? "< 0.1 %" : fixed_text(percent, 1) + " %";
}

std::string summary_table(const toy::BoundProgram& bound, const std::vector<Timeline>& timelines,
                          const Terminal& terminal) {
  TextTable table({{"Model"},
                   {"Cycles", Align::kRight},
                   {"Unit"},
                   {"Busy", Align::kRight},
                   {"Data", Align::kRight},
                   {"Buffer", Align::kRight},
                   {"Idle", Align::kRight}});
  for (const Timeline& timeline : timelines) {
    for (const Unit unit : toy::units_of(bound)) {
      const bool first = unit == Unit::kMemory;
      std::vector<std::string> cells{first ? to_string(timeline.model) : "",
                                     first ? grouped(std::to_string(timeline.cycles)) : "",
                                     std::string(to_string(unit))};
      for (const std::int64_t cycles : timeline.unit(unit)) {
        cells.push_back(percent_text(cycles, timeline.cycles));
      }
      table.row(std::move(cells));
    }
  }
  return table.to_string(terminal);
}

/// Returns when each machine ends and what its units do, under the last model.
std::string machines_table(const MachineTimelines& all, const Terminal& terminal) {
  constexpr std::size_t kMostMachines = 16;
  TextTable table({{"Machine", Align::kRight},
                   {"Ends, " + to_string(all.front().back().model), Align::kRight},
                   {"Compute busy", Align::kRight},
                   {"Compute waits", Align::kRight},
                   {"Link busy", Align::kRight}});
  for (std::size_t rank = 0; rank < std::min(all.size(), kMostMachines); ++rank) {
    const Timeline& timeline = all[rank].back();
    const auto cycles = [&](Unit unit, Cause cause) {
      return timeline.unit(unit)[static_cast<std::size_t>(cause)];
    };
    table.row(
        {std::to_string(rank), grouped(std::to_string(timeline.end)),
         percent_text(cycles(Unit::kCompute, Cause::kBusy), timeline.cycles),
         percent_text(cycles(Unit::kCompute, Cause::kData) + cycles(Unit::kCompute, Cause::kBuffer),
                      timeline.cycles),
         percent_text(cycles(Unit::kLink, Cause::kBusy), timeline.cycles)});
  }
  const std::size_t more = all.size() - std::min(all.size(), kMostMachines);
  return table.to_string(terminal) +
         (more == 0 ? "" : "and " + grouped(std::to_string(more)) + " more machines\n");
}

/// Returns the lines for which the units wait longest, under the last model.
std::string waits_table(const toy::BoundProgram& bound, const Timeline& timeline,
                        const Terminal& terminal) {
  constexpr std::size_t kMostLines = 5;
  const auto waits = [&](std::size_t site) {
    const toy::CauseCycles& cycles = timeline.sites[site];
    return cycles[static_cast<std::size_t>(Cause::kData)] +
           cycles[static_cast<std::size_t>(Cause::kBuffer)];
  };
  std::vector<std::size_t> sites;
  for (std::size_t site = 0; site < timeline.sites.size(); ++site) {
    if (waits(site) > 0) sites.push_back(site);
  }
  if (sites.empty()) return {};
  std::stable_sort(sites.begin(), sites.end(),
                   [&](std::size_t a, std::size_t b) { return waits(a) > waits(b); });
  sites.resize(std::min(sites.size(), kMostLines));
  TextTable table({{"Line", Align::kRight},
                   {"Who waits longest, " + to_string(timeline.model)},
                   {"Data", Align::kRight},
                   {"Buffer", Align::kRight},
                   {"Busy", Align::kRight}});
  for (const std::size_t site : sites) {
    const toy::BoundInstruction& instruction = bound.instructions[site];
    std::vector<std::string> cells{std::to_string(instruction.span.line),
                                   printable(toy::instruction_text(bound, instruction))};
    for (const Cause cause : {Cause::kData, Cause::kBuffer, Cause::kBusy}) {
      const std::int64_t cycles = timeline.sites[site][static_cast<std::size_t>(cause)];
      cells.push_back(cycles == 0 ? "-" : grouped(std::to_string(cycles)));
    }
    table.row(std::move(cells));
  }
  return "\n" + table.to_string(terminal);
}

/// Returns when the recorded first steps have ended, under one model.
std::int64_t end_of_first_steps(const Timeline& timeline) {
  std::int64_t end = 0;
  for (const toy::TimelineInterval& interval : timeline.intervals) {
    if (interval.step <= kShownSteps) end = std::max(end, interval.end);
  }
  return end;
}

void print_timeline_text(const TimelineFlags& options, const LoadedProgram& loaded,
                         const toy::Machines& machines, toy::TimelineOptions simulation) {
  const Terminal terminal = options.terminal.terminal();
  simulation.to = INT64_MAX;
  simulation.max_intervals = toy::kNumCauses * kShownSteps;
  if (machines.several() && options.rank) simulation.machine = *options.rank;
  const MachineTimelines all = simulated(machines, loaded, simulation);
  const std::size_t shown = shown_machine(options, all);
  const toy::BoundProgram& bound = machines.programs[shown];
  const std::vector<Timeline>& timelines = all[shown];
  std::cout << loaded.heading(terminal) << wrapped(setting(bound), terminal.width) << "\n";
  if (machines.several()) {
    std::cout << machines_table(all, terminal) << "\nMachine " << shown << "\n\n";
  }
  std::cout << summary_table(bound, timelines, terminal);
  std::int64_t longest = 0;
  for (const Timeline& timeline : timelines) longest = std::max(longest, timeline.cycles);
  simulation.from = options.from.value_or(0);
  if (simulation.from >= longest) {
    if (longest > 0) std::cout << "\nNothing runs after cycle " << longest << ".\n";
    return;
  }
  // By default the picture fills its lines; of several machines, it shows the whole run.
  const std::int64_t wanted = machines.several() ? longest - simulation.from
                                                 : std::min(end_of_first_steps(timelines.front()),
                                                            longest - simulation.from);
  const std::int64_t columns = LanePicture::columns(terminal);
  const std::int64_t filled = columns * LanePicture::cycles_of_column(wanted, terminal);
  const bool fits = longest - simulation.from <= filled;
  simulation.to = options.to.value_or(fits ? longest : simulation.from + filled);
  simulation.to = std::min(simulation.to, longest);
  LanePicture picture(bound, simulation.from, simulation.to, terminal);
  simulation.window_only = true;
  simulation.machine = static_cast<std::int64_t>(shown);
  simulation.sink = [&](std::size_t model, const toy::TimelineInterval& interval) {
    picture.add(model, interval);
  };
  static_cast<void>(simulated(machines, loaded, simulation));
  std::cout << "\n"
            << picture.to_string(timelines) << waits_table(bound, timelines.back(), terminal);
}

int show_timeline(const TimelineFlags& options) {
  options.check();
  if (options.elide && options.html.empty()) {
    throw request_failure("--elide is for a page", "--html FILE with it");
  }
  if (options.json && options.html.empty()) {
    std::cout << timeline_json(options).dump(2) << "\n";
    return kExitGood;
  }
  const LoadedProgram loaded = load_program(options.program, options.machine);
  const toy::Machines machines = loaded.bind_machines(options.machine.binding());
  if (options.html.empty()) {
    print_timeline_text(options, loaded, machines, options.options());
    return kExitGood;
  }
  if (machines.several()) {
    throw request_failure("line " + std::to_string(loaded.program->machines->span.line) +
                              ": the page shows one machine, and this program has several",
                          "no --html");
  }
  toy::TimelineOptions recording = options.options();
  recording.from = options.from.value_or(0);
  recording.to = options.to.value_or(INT64_MAX);
  recording.max_intervals = toy::kPageIntervals;
  recording.elide = options.elide;
  const std::vector<Timeline> timelines = simulated(machines, loaded, recording).front();
  write_file(options.html, [&](std::ostream& out) {
    const char* const advice = options.elide ? "--from and --to choose cycles"
                                             : "--elide keeps three iterations of each loop, "
                                               "--from and --to choose cycles";
    write_with_size_note(out, advice, [&](std::ostream& page) {
      toy::write_timeline_page(machines.first(), timelines, page);
    });
  });
  if (options.html != "-") std::cerr << "flashlab: wrote " << options.html << "\n";
  if (options.json) std::cout << timeline_json(options).dump(2) << "\n";
  return kExitGood;
}

}  // namespace

CommandAction add_timeline(CLI::App& app) {
  auto options = std::make_shared<TimelineFlags>();
  CLI::App& command = add_command(
      app, "timeline", "Show when each instruction runs: in turn, and with loads running ahead",
      "  flashlab timeline softmax_online --cost LOAD=4\n"
      "  flashlab timeline matmul_blocked --cost LOAD=10 --buffers 3\n"
      "  flashlab timeline my.toy --from 1000 --to 1200   these cycles, closely\n"
      "  flashlab timeline my.toy --html my.html          a page to zoom and point at\n"
      "  flashlab timeline flash2 --html my.html --elide  ... with the ends of long loops\n");
  add_program_argument(command, options->program);
  add_option(command, "--model", options->model, "serial, overlap, both")
      .one_of({"serial", "overlap", "both"})
      .type_name("MODEL")
      .capture_default_str();
  add_option(command, "--buffers", options->buffers,
             "buffers of every register, when units overlap")
      .between(std::int64_t{1}, toy::kMaxBuffers)
      .type_name("K")
      .capture_default_str();
  add_option(command, "--from", options->from, "first cycle shown")
      .between(std::int64_t{0}, INT64_MAX)
      .type_name("CYCLE");
  add_option(command, "--to", options->to, "the cycle before which the picture ends")
      .between(std::int64_t{0}, INT64_MAX)
      .type_name("CYCLE");
  add_flag(command, "--elide", options->elide,
           "in a page, of each loop: first, second, last iteration");
  add_option(command, "--rank", options->rank,
             "the machine to show, if there are several (the first that ends last)")
      .type_name("R");
  add_flag(command, "--json", options->json, "as JSON; intervals too with --from or --to");
  add_option(command, "--html", options->html, "write a page with the lanes to this file")
      .file(FileRole::kOutput)
      .type_name("FILE");
  options->machine.add_to(command, true);
  options->terminal.add_to(command);
  return [options] { return show_timeline(*options); };
}

}  // namespace flashlab::cli
