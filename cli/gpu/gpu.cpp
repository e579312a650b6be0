// `flashlab gpu`: a program of the machine as CUDA C++, run on a GPU.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/compare/options.hpp"
#include "cli/gpu/plan_report.hpp"
#include "cli/gpu/run_page.hpp"
#include "cli/gpu/run_program.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "generate/source/cuda_source.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

struct GpuProgramFlags {
  std::string program, html;
  std::vector<std::string> ranges;
  bool emit = false, plan = false, predict_only = false, json = false, no_counters = false;
  std::string dtype = "float", gpu = kUsualGpu;
  int level = 0;
  GpuRunRequest request;
  MachineOptions machine;
  TerminalOptions terminal;

  toy::ElementType type() const {
    if (dtype == "bf16") return toy::ElementType::kBf16;
    return dtype == "fp16" ? toy::ElementType::kFp16 : toy::ElementType::kFloat;
  }
};

void show_plan(const GpuProgramFlags& options, const LoadedProgram& loaded,
               const PlannedProgram& program) {
  if (options.json) {
    std::cout << plan_json(program).dump(2) << "\n";
    return;
  }
  const Terminal terminal = options.terminal.terminal();
  std::cout << loaded.heading(terminal) << wrapped(setting(program.bound), terminal.width)
            << plan_text(program, terminal);
}

void show_run(const GpuProgramFlags& options, const LoadedProgram& loaded,
              const GpuRunReport& report) {
  if (!options.html.empty()) {
    write_file(options.html, [&](std::ostream& out) {
      write_run_page(out, report, setting(report.program.bound));
    });
  }
  if (options.html == "-") return;
  if (options.json) {
    std::cout << run_json(report).dump(2) << "\n";
    return;
  }
  const Terminal terminal = options.terminal.terminal();
  std::cout << loaded.heading(terminal) << wrapped(setting(report.program.bound), terminal.width)
            << run_text(report, terminal);
}

int show_gpu_program(const GpuProgramFlags& options) {
  const LoadedProgram loaded = load_program(options.program, options.machine);
  PlannedProgram program = planned_program(options.machine, loaded, options.type(), options.level);
  GpuRunRequest request = options.request;
  request.counters = !options.no_counters;
  for (const std::string& range : options.ranges) {
    request.ranges.push_back(parse_input_range(range));
  }
  if (options.plan) {
    show_plan(options, loaded, program);
  } else if (options.emit) {
    (void)options.terminal.terminal();
    std::cout << generate::cuda_source(program.bound, program.plan, program.name);
  } else if (options.predict_only) {
    show_run(options, loaded, predicted_run(std::move(program), request, options.gpu));
  } else {
    show_run(options, loaded, run_on_gpu(std::move(program), request));
  }
  return kExitGood;
}

void add_run_flags(CLI::App& command, GpuProgramFlags& options) {
  GpuRunRequest& request = options.request;
  constexpr std::int64_t kMost = 65535;
  add_option(
      command, "--dtype", options.dtype,
      "type of inputs and outputs in DRAM; registers, temporaries and arrays with one number "
      "per row are float")
      .one_of({"float", "bf16", "fp16"})
      .capture_default_str();
  add_option(
      command, "--level", options.level,
      "0: ordinary arithmetic; 1: products on tensor cores, in the type of --dtype; 2: those of "
      "compute capability 9.0 (wgmma and TMA)")
      .between(0, 2)
      .capture_default_str();
  add_option(command, "--batch", request.batch, "batch entries, each with its own arrays")
      .between(std::int64_t{1}, kMost)
      .capture_default_str();
  add_option(command, "--heads", request.heads, "heads of a batch entry, each with its own arrays")
      .between(std::int64_t{1}, kMost)
      .capture_default_str();
  add_option(command, "--repeat", request.repeat, "timed calls, after one warm-up")
      .between(1, 1000)
      .capture_default_str();
  add_option(command, "--seed", request.seed, "of the inputs, which differ for each call")
      .capture_default_str();
  add_option(command, "--range", options.ranges,
             "draw the numbers of an input from there, such as l=1..8; the others are from -1 to 1")
      .allow_extra_args(false)
      .type_name("ARRAY=LOW..HIGH");
  add_option(command, "--check", request.num_checked,
             "batch entries times heads whose results are compared with the machine")
      .between(std::int64_t{1}, kMost)
      .capture_default_str();
  add_flag(command, "--no-counters", options.no_counters,
           "do not read the hardware's counters, which repeats the call");
  add_option(
      command, "--arch", request.architecture,
      "such as compute_75: compile to PTX for this compute capability, which the GPU's driver "
      "translates, instead of machine code for the GPU")
      .type_name("ARCH");
  add_option(command, "--time-limit", request.time_limit,
             "seconds after which the process that uses the GPU is ended")
      .between(0.1, 86400.0)
      .capture_default_str();
}

}  // namespace

CommandAction add_gpu(CLI::App& app) {
  auto options = std::make_shared<GpuProgramFlags>();
  CLI::App& command =
      add_command(app, "gpu", "Run a program on a GPU: generated CUDA C++, verified and timed",
                  "  flashlab gpu flash2 -D n=4096,d=64,B=32 --batch 4 --heads 32\n"
                  "  flashlab gpu flash2 -D n=4096,d=64,B=32 --dtype bf16 --predict-only\n"
                  "  flashlab gpu flash2 --plan                     without a GPU, like --emit\n"
                  "  flashlab gpu flash2 -D n=4096,d=64,B=32 --emit > flash2.cu\n"
                  "  flashlab gpu mine.toy -D B=64 --sram h100 --plan\n");
  add_program_argument(command, options->program);
  const Flag emit = add_flag(command, "--emit", options->emit,
                             "print the source: device functions, then a kernel for each launch");
  const Flag plan = add_flag(command, "--plan", options->plan,
                             "print what becomes a launch, a grid, and shared memory, and why")
                        .excludes(emit);
  add_flag(command, "--predict-only", options->predict_only,
           "count bytes and FLOPs and predict the time, without a GPU")
      .excludes(emit)
      .excludes(plan);
  add_option(command, "--gpu", options->gpu, "with --predict-only: a GPU of gpu/sheets/gpus.json")
      .capture_default_str();
  add_flag(command, "--json", options->json, "as JSON; with --plan, the plan").excludes(emit);
  add_option(command, "--html", options->html, "the report as one page, with the source")
      .file(FileRole::kOutput)
      .type_name("FILE")
      .excludes(emit)
      .excludes(plan);
  add_run_flags(command, *options);
  options->machine.add_to(command, true);
  options->terminal.add_to(command);
  return [options] { return show_gpu_program(*options); };
}

}  // namespace flashlab::cli
