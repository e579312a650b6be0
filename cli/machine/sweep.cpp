// `flashlab sweep`: prints a program's counts over a range of one parameter, as a table and a plot.
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/machine/requests.hpp"
#include "cli/machine/sweep_points.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

struct SweepFlags : SweepRequest {
  bool json = false, csv = false, no_plot = false;
  std::string y = "loads,cycles", log = "auto";
  TerminalOptions terminal;
};

int print_sweep(const SweepFlags& options) {
  std::vector<Metric> plotted;
  for (const std::string& key : split(options.y, ',')) {
    plotted.push_back(metric(std::string(trimmed(key))));
  }
  const Sweep sweep = make_sweep(options);
  if (options.json) {
    std::cout << sweep_json(sweep).dump(2) << "\n";
  } else if (options.csv) {
    std::cout << sweep_csv(sweep);
  } else {
    const Terminal terminal = options.terminal.terminal();
    std::cout << sweep.loaded.heading(terminal) << "\n" << sweep_table(sweep, plotted, terminal);
    if (!options.no_plot) std::cout << "\n" << sweep_plot(sweep, plotted, options.log, terminal);
  }
  std::cout.flush();
  std::cerr << sweep_problems(sweep);
  return kExitGood;
}

}  // namespace

CommandAction add_sweep(CLI::App& app) {
  auto options = std::make_shared<SweepFlags>();
  CLI::App& command =
      add_command(app, "sweep", "Counts over a range of one parameter: a table and a plot",
                  "  flashlab sweep matmul_blocked --registers 3..32\n"
                  "  flashlab sweep softmax_online -D n=8..1024*2 --y loads,EXP\n"
                  "  flashlab sweep flash2 -D n=4096,d=64,B=16..128*2 --y bytes_loaded\n"
                  "  flashlab sweep spectrum -D n=1024,d=64,B=16,s=0..64+8 --fit Bk --sram 512KiB\n"
                  "  flashlab sweep matmul_blocked --registers 3,7,13 -D m=12,n=12,k=12 --csv\n");
  add_program_argument(command, options->program);
  add_option(command, "--y", options->y, "counters to plot")
      .capture_default_str()
      .type_name("NAME,...");
  add_option(command, "--log", options->log, "logarithmic axes: auto, none, x, y or xy")
      .one_of({"auto", "none", "x", "y", "xy"})
      .type_name("AXES");
  add_option(command, "--fit", options->fit,
             "make this parameter as large as --sram allows, for each value")
      .type_name("NAME");
  add_flag(command, "--no-plot", options->no_plot, "the table only");
  const Flag json = add_flag(command, "--json", options->json, "as JSON");
  add_flag(command, "--csv", options->csv, "as CSV").excludes(json);
  options->machine.add_to(command, false);
  options->terminal.add_to(command);
  return [options] { return print_sweep(*options); };
}

}  // namespace flashlab::cli
