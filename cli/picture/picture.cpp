// `flashlab picture`: draws what happened in a run as an SVG file.
#include <iostream>
#include <memory>

#include "cli/options/commands.hpp"
#include "cli/options/execution.hpp"
#include "cli/options/flags.hpp"
#include "cli/picture/pictures.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"

namespace flashlab::cli {
namespace {

constexpr int kMostPicturedPrograms = 4;
constexpr std::int64_t kMostPicturedSteps = 20'000;
constexpr std::uint64_t kMostLaneIntervals = 4000;

struct PictureFlags {
  std::string kind, svg = "-";
  std::vector<std::string> programs;
  MachineOptions machine;
  RunOptions run;
};

/// A loaded program with everything that a picture of it refers to.
struct PictureSource {
  LoadedProgram loaded;
  toy::BoundProgram bound;
};

toy::RecordedRun recorded(const PictureSource& source, const RunOptions& run) {
  toy::RunRecorder recorder;
  toy::TraceOptions options;
  options.max_rows = kMostPicturedSteps;
  value_or_fail(trace_to(recorder, source.loaded, source.bound, run, options),
                *source.loaded.source);
  return recorder.run();
}

const PicturedProgram& only(const std::vector<PicturedProgram>& programs, const std::string& kind) {
  if (programs.size() != 1) {
    throw request_failure(
        "the picture " + in_quotes(kind) + " got " + std::to_string(programs.size()) + " programs",
        "one");
  }
  return programs.front();
}

std::string timeline_picture(const PictureFlags& flags, const PictureSource& source,
                             const PicturedProgram& program) {
  toy::TimelineOptions options;
  options.costs = flags.machine.cost_table();
  options.to = INT64_MAX;
  options.max_intervals = kMostLaneIntervals;
  return timeline_svg(program,
                      value_or_fail(toy::simulate(source.bound, options), *source.loaded.source));
}

std::string draw_picture(const PictureFlags& flags) {
  flags.machine.cost_table();  // report wrong flags before a long run
  std::vector<std::unique_ptr<PictureSource>> sources;
  std::vector<PicturedProgram> programs;
  const bool needs_run = flags.kind != "memory" && flags.kind != "timeline";
  for (const std::string& name : flags.programs) {
    LoadedProgram loaded = load_program(name, flags.machine);
    toy::BoundProgram bound = loaded.bind(flags.machine.binding());
    sources.push_back(
        std::make_unique<PictureSource>(PictureSource{std::move(loaded), std::move(bound)}));
    const PictureSource& source = *sources.back();
    programs.push_back({source.loaded.short_name(), &source.bound, {}});
    if (needs_run) programs.back().run = recorded(source, flags.run);
  }
  if (flags.kind == "cells") return live_cells_svg(only(programs, flags.kind));
  if (flags.kind == "graph") return graph_svg(programs);
  if (flags.kind == "rescaled") return rescaled_sum_svg(only(programs, flags.kind));
  if (flags.kind == "timeline")
    return timeline_picture(flags, *sources.front(), only(programs, flags.kind));
  return flags.kind == "tiles" ? tiles_svg(programs) : memory_svg(programs);
}

int write_picture(const PictureFlags& flags) {
  const std::string picture = draw_picture(flags);
  write_file(flags.svg, [&](std::ostream& out) { out << picture; });
  if (flags.svg != "-") std::cerr << "flashlab: wrote " << flags.svg << "\n";
  return kExitGood;
}

}  // namespace

CommandAction add_picture(CLI::App& app) {
  auto options = std::make_shared<PictureFlags>();
  CLI::App& command = add_command(
      app, "picture", "Draw what happens in a run as an SVG file",
      "  flashlab picture cells matmul_outer --svg cells.svg      what each register holds, and "
      "when\n"
      "  flashlab picture rescaled softmax_online --svg sum.svg   the sum that is corrected\n"
      "  flashlab picture tiles flash2 flash1 --svg tiles.svg     the order of the tiles, and "
      "loads\n"
      "  flashlab picture graph naive flash2 --svg graph.svg      which arrays are computed from "
      "which\n"
      "  flashlab picture memory naive online -D n=64,d=8 --svg memory.svg   all arrays to scale\n"
      "  flashlab picture timeline flash2 --cost LOAD=20 --svg lanes.svg     who works, who "
      "waits\n");
  add_option(command, "kind", options->kind, "cells, rescaled, tiles, graph, memory, timeline")
      .one_of({"cells", "rescaled", "tiles", "graph", "memory", "timeline"})
      .type_name("KIND")
      .required();
  add_option(command, "programs", options->programs, "program files or bundled programs")
      .expected(1, kMostPicturedPrograms)
      .file(FileRole::kInput)
      .type_name("PROGRAM ...")
      .required();
  add_option(command, "--svg", options->svg, "write to this file, - for standard output")
      .file(FileRole::kOutput)
      .type_name("FILE")
      .capture_default_str();
  options->machine.add_to(command, true);
  options->run.add_to(command);
  return [options] { return write_picture(*options); };
}

}  // namespace flashlab::cli
