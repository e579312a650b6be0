// The flags of options.hpp. Apart from their meaning, because they need the command line's parser.
#include "cli/options/flags.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/ascii_output.hpp"
#include "cli/terminal/pager.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kMachineGroup = "Machine";
constexpr const char* kLimitGroup = "Limits";
constexpr const char* kTerminalGroup = "Terminal";

ColorChoice color_choice(const std::string& text) {
  if (text == "always") return ColorChoice::kAlways;
  return text == "never" ? ColorChoice::kNever : ColorChoice::kAuto;
}

}  // namespace

void TerminalOptions::add_to(CLI::App& command) {
  add_option(command, "--color", color, "auto, always or never")
      .one_of({"auto", "always", "never"})
      .type_name("WHEN")
      .group(kTerminalGroup);
  const Flag ascii_flag = add_flag(command, "--ascii", ascii, "ASCII only").group(kTerminalGroup);
  add_flag(command, "--unicode", unicode, "Unicode, whatever the locale says")
      .excludes(ascii_flag)
      .group(kTerminalGroup);
  add_option(command, "--width", width, "columns to use, instead of the terminal's")
      .between(20, 500)
      .type_name("COLUMNS")
      .group(kTerminalGroup);
  add_flag(command, "--no-pager", no_pager,
           "on a terminal, print long output as it is, not through $PAGER or less")
      .group(kTerminalGroup);
}

Terminal TerminalOptions::terminal() const {
  if (!no_pager) page_output();
  if (ascii) print_in_ascii();
  return detect_terminal({color_choice(color), ascii, unicode, width});
}

void MachineOptions::add_to(CLI::App& command, bool executes) {
  add_option(command, "-D,--define", definitions,
             "value of a parameter, or of a .const; may be repeated")
      .type_name("NAME=NUMBER")
      .allow_extra_args(false)
      .group(kMachineGroup);
  add_option(
      command, "--score", score,
      "a function of the scores, at the program's .score lines: a file, a name that `flashlab "
      "programs` lists, or lines with ; between them")
      .type_name("FUNCTION")
      .group(kMachineGroup);
  add_option(command, "--registers", registers,
             "registers of the machine, instead of the program's")
      .type_name("K")
      .group(kMachineGroup);
  add_option(command, "--operands", operands, "any, or pinned: products take R0 and R1 only")
      .one_of({"any", "pinned"})
      .type_name("RULE")
      .group(kMachineGroup);
  add_option(command, "--sram", sram,
             "bytes that the registers hold together: 48KiB, or a GPU's shared memory per block: " +
                 gpu_keys())
      .type_name("SIZE|GPU")
      .group(kMachineGroup);
  add_option(command, "--cost", costs,
             "cycles of instructions, 1 each unless set: LOAD=100,EXP=4; by the size of tiles: "
             "LOAD=400+2/element,MAC=1/flop")
      .type_name("OP=CYCLES,...")
      .group(kMachineGroup);
  const auto limit = [&](const char* flag, std::int64_t& value, const char* what) {
    add_option(command, flag, value, what)
        .between(std::int64_t{1}, std::int64_t{1} << 60)
        .type_name("N")
        .default_str(grouped(std::to_string(value)))
        .group(kLimitGroup);
  };
  limit("--max-source", limits.max_source_bytes, "bytes of the program's text");
  limit("--max-nesting", limits.max_nesting, "loops inside each other");
  limit("--max-registers", limits.max_registers, "registers of the machine");
  limit("--max-machines", limits.max_machines, "machines that run one program");
  add_option(command, "--max-seconds", max_seconds, "processor time of the command (no limit)")
      .between(0.001, 1e6)
      .type_name("SECONDS")
      .group(kLimitGroup);
  add_option(command, "--max-memory", max_memory, "memory of the command (no limit)")
      .type_name("SIZE")
      .group(kLimitGroup);
  if (!executes) return;
  limit("--max-steps", limits.max_steps, "steps of a run");
  limit("--max-array-bytes", limits.max_array_bytes, "bytes of all arrays together");
  limit("--max-trace-rows", limits.max_trace_rows, "rows of a trace in the terminal");
}

void RunOptions::add_to(CLI::App& command) {
  add_option(command, "--precision", precision, "what a register holds: float or double")
      .one_of({"float", "double"})
      .type_name("TYPE")
      .group(kMachineGroup);
  add_option(command, "--input", inputs,
             "values of an input array: random:SEED[:LOW:HIGH], constant:V, [1, 2, -inf], "
             "a .csv or .json file; may be repeated")
      .type_name("ARRAY=VALUES")
      .file(FileRole::kValues)
      .allow_extra_args(false)
      .group(kMachineGroup);
}

void add_program_argument(CLI::App& command, std::string& name, const std::string& flag) {
  add_option(command, flag, name, "a .toy file, - for standard input, or a bundled program's name")
      .required()
      .file(FileRole::kInput)
      .type_name("PROGRAM");
}

}  // namespace flashlab::cli
