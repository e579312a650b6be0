// `flashlab tour`: a tour of two minutes. The library computes every table and number while the
// tour runs; only the sentences between them are fixed.
#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/program_diff.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/execution.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/width.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/trace/trace_table.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kBrokenProgram =
    ".isa matmul\n"
    ".registers 3\n"
    ".input  a[2][2]\n"
    ".output c[2][2]\n"
    "LAOD  a[0][0], R0\n"
    "MAC_Z R0, R1\n"
    "STORE R3, c[0][2]\n";

/// A bundled program with its default parameters, and its cost.
struct TourExample {
  LoadedProgram loaded;
  toy::BoundProgram bound;
  toy::Executions executions;
  toy::Counters counters;
};

TourExample example(const std::string& name) {
  LoadedProgram loaded = load_program(name, {});
  toy::BoundProgram bound = loaded.bind({});
  auto executions = value_or_fail(toy::count_executions(bound), *loaded.source);
  toy::Counters counters = toy::count(bound, executions, {});
  return {std::move(loaded), std::move(bound), std::move(executions), std::move(counters)};
}

class Tour {
 public:
  explicit Tour(const Terminal& terminal) : terminal_(terminal) {}

  void show() {
    machine();
    one_element();
    more_registers();
    softmax();
    mistakes();
    next();
  }

 private:
  void heading(const std::string& text) {
    std::cout << "\n" << styled(text, Style::kBold, terminal_) << "\n\n";
  }

  void say(const std::string& text) {
    const std::size_t width = std::min(terminal_.width, kWidestText);
    for (const std::string& line : wrap(text, width)) std::cout << line << "\n";
  }

  /// Prints the command that shows the same again.
  void typed(const std::string& command) {
    std::cout << "\n" << styled("$ flashlab " + command, Style::kBlue, terminal_) << "\n";
  }

  void trace(const TourExample& shown, const toy::TraceOptions& options = {}) {
    const auto sink = toy::make_trace_table(
        std::cout,
        {.unicode = terminal_.unicode, .color = terminal_.color, .width = terminal_.width});
    value_or_fail(trace_to(*sink, shown.loaded, shown.bound, {}, options), *shown.loaded.source);
  }

  std::string cost(const TourExample& shown) const {
    return cost_sentence(shown.bound, shown.executions, {});
  }

  void machine() {
    heading("The machine");
    say("A few registers that are fast, a DRAM that holds the arrays, and a handful of "
        "instructions, each of which takes one cycle. Nothing else: no cache, no hidden "
        "parallelism. What a program costs is what you can count.");
    std::cout << "\n";
    TextTable table({{"instruction"}, {"what it does"}});
    for (const toy::InstructionSpec& spec : toy::instruction_set()) {
      if (!spec.in(toy::Level::kMatmul)) continue;
      table.row({std::string(spec.mnemonic) + " " + std::string(spec.operand_names),
                 effect_text(spec, terminal_)});
    }
    std::cout << table.to_string(terminal_);
  }

  void one_element() {
    const TourExample c00 = example("matmul_c00");
    heading("One element of a 2 x 2 product");
    say("Two registers bring the operands and one keeps the sum: the smallest machine that can "
        "multiply matrices. The table shows what each register holds after each step.");
    typed("trace matmul_c00");
    trace(c00);
    std::cout << "\n" << cost(c00) << "\n";
  }

  void more_registers() {
    const TourExample alone = example("matmul_inner_no_reuse"), inner = example("matmul_inner"),
                      outer = example("matmul_outer");
    heading("More registers, fewer loads");
    say("All four elements, one after the other, take " + alone.counters.cycles.get_str() +
        " cycles. An operand that stays where the next element needs it saves a load: " +
        inner.counters.cycles.get_str() + ". With " + std::to_string(outer.bound.num_registers) +
        " registers all four sums can grow at once, and each loaded value serves more of them:");
    typed("trace matmul_outer");
    trace(outer);
    std::cout << "\n" << cost(outer) << "\n\n";
    TextTable table({{"program"},
                     {"registers", Align::kRight},
                     {"loads", Align::kRight},
                     {"cycles", Align::kRight}});
    for (const TourExample* one : {&alone, &inner, &outer}) {
      table.row({one->loaded.short_name(), std::to_string(one->bound.num_registers),
                 one->counters.loads.get_str(), one->counters.cycles.get_str()});
    }
    std::cout << table.to_string(terminal_);
  }

  void softmax() {
    const TourExample safe = example("softmax_safe"), online = example("softmax_online");
    heading("Softmax, and the trick behind flash attention");
    say("Softmax needs the largest element before it can add up the exponentials, and the sum "
        "before it can divide: " +
        std::to_string(shown_passes(*safe.loaded.program).size()) +
        " passes over x. Online softmax keeps a running maximum m and a running sum s, and repairs "
        "the sum whenever the maximum moves. Its two loops, for any element:");
    typed("trace softmax_online --body i");
    toy::TraceOptions body;
    body.body = "i";
    trace(online, body);
    std::cout << "\n";
    say("One register more, one pass less. The counts are formulas, derived from the program's "
        "text and exact for every n:");
    typed("diff softmax_safe softmax_online");
    compare(safe, online);
  }

  void compare(const TourExample& left, const TourExample& right) {
    const auto side = [](const TourExample& one) {
      return Side{one.loaded, one.bound, one.executions, one.counters, {}};
    };
    Comparison comparison{side(left), side(right), {}};
    add_formulas(comparison);
    std::cout << property_table(comparison, terminal_) << "\n"
              << crossing_sentence(comparison, terminal_);
  }

  void mistakes() {
    heading("When a program is wrong");
    say("You are told where, and what would have been right. All of it at once:");
    const auto source = std::make_shared<const toy::SourceText>("broken.toy", kBrokenProgram);
    const auto result = toy::assemble(source);
    std::cout << "\n" << toy::format(result.diagnostics, *source);
  }

  void next() {
    heading("Where to go from here");
    TextTable table({{""}, {""}});
    table.row({"flashlab next", "the first exercise; later, the next one"});
    table.row({"flashlab programs", "what you can run and copy"});
    table.row({"flashlab run softmax_online -D n=64", "counters and outputs"});
    table.row({"flashlab trace softmax_safe --html s.html", "step through in a browser"});
    table.row({"flashlab cost matmul_blocked", "counts as formulas"});
    table.row({"flashlab sweep matmul_blocked --registers 3..32", "registers against loads"});
    table.row({"flashlab programs softmax_safe > my.toy", "start one of your own"});
    table.row({"flashlab exercises", "all exercises"});
    table.row({"flashlab --help", "everything else"});
    std::cout << table.to_string(terminal_) << "\n";
    say("In a clone of the repository, type ./lab where it says flashlab.");
  }

  Terminal terminal_;
};

}  // namespace

CommandAction add_tour(CLI::App& app) {
  auto options = std::make_shared<TerminalOptions>();
  CLI::App& command = add_command(app, "tour", "Two minutes: what this is about",
                                  "  flashlab tour\n"
                                  "  flashlab tour | less\n");
  options->add_to(command);
  return [options] {
    Tour(options->terminal()).show();
    return kExitGood;
  };
}

}  // namespace flashlab::cli
