// `flashlab tour`: a tour of two minutes. The library computes every table and number while the
// tour runs; only the sentences between them are fixed. A person at a terminal walks from part to
// part, and guesses some numbers before they are shown.
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/program_diff.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/execution.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/keyboard.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/lists.hpp"
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

/// A bundled program and its cost.
struct TourExample {
  LoadedProgram loaded;
  toy::BoundProgram bound;
  toy::Executions executions;
  toy::Counters counters;
};

TourExample example(const std::string& name, const toy::CapacityBinding& binding = {}) {
  LoadedProgram loaded = load_program(name, toy::Limits{});
  toy::BoundProgram bound = loaded.bind(binding);
  auto executions = value_or_fail(toy::count_executions(bound), *loaded.source);
  toy::Counters counters = toy::count(bound, executions, {});
  return {std::move(loaded), std::move(bound), std::move(executions), std::move(counters)};
}

class Tour {
 public:
  /// Of a tour that a person walks, each part waits for a key.
  Tour(const Terminal& terminal, bool is_walked) : terminal_(terminal), is_walked_(is_walked) {}

  void show() {
    constexpr auto kParts =
        std::to_array<void (Tour::*)()>({&Tour::machine, &Tour::one_element, &Tour::more_registers,
                                         &Tour::softmax, &Tour::mistakes, &Tour::next});
    for (std::size_t i = 0; i < kParts.size() && !is_left_; ++i) {
      (this->*kParts[i])();
      if (i + 1 < kParts.size()) wait(i + 1, kParts.size());
    }
  }

 private:
  /// Waits until Enter goes on, or q ends the tour.
  void wait(std::size_t part, std::size_t parts) {
    if (!is_walked_ || is_left_) return;
    const std::string goes_on = styled(
        "[" + std::to_string(part) + " of " + std::to_string(parts) + "]  Enter goes on, q ends",
        Style::kDim, terminal_);
    std::cout << "\n" << goes_on << std::flush;
    Keyboard keyboard;
    for (bool waits = true; waits;) {
      const std::optional<Key> key = keyboard.key();
      if (!key && keyboard.resume()) std::cout << goes_on << std::flush;
      is_left_ = key && (key->letter() == 'q' || key->kind == Key::Kind::kEscape);
      waits = !is_left_ &&
              !(key && (key->letter() == '\r' || key->letter() == '\n' || key->letter() == ' '));
    }
    std::cout << "\n" << std::flush;
  }

  /// Asks a person for a number before it is shown. Returns false if the person leaves.
  bool guess(const std::string& question, const std::string& number) {
    if (!is_walked_) return true;
    std::cout << "\n";
    say(question);
    const auto answer = typed_line("Your guess (Enter shows it): ");
    if (!answer) is_walked_ = false;  // nobody is there any more
    const std::string typed(trimmed(answer.value_or("")));
    is_left_ = typed == "q";
    if (!typed.empty() && !is_left_) {
      std::cout << (typed == number ? styled("Right: " + number + ".", Style::kGreen, terminal_)
                                    : "It is " + number + ".")
                << "\n";
    }
    return !is_left_;
  }

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

  void trace(const TourExample& shown) {
    const auto sink = toy::make_trace_table(
        std::cout,
        {.unicode = terminal_.unicode, .color = terminal_.color, .width = terminal_.width});
    value_or_fail(trace_to(*sink, shown.loaded, shown.bound, {}, {}), *shown.loaded.source);
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
        "multiply matrices. The table shows what the registers hold after each step.");
    if (!guess("Four operands are loaded for two products, and one result is stored. How many "
               "cycles is that?",
               c00.counters.cycles.get_str())) {
      return;
    }
    typed("trace matmul_c00");
    trace(c00);
    std::cout << "\n" << cost(c00) << "\n";
  }

  void more_registers() {
    const TourExample blocked = example("matmul_blocked");
    toy::CapacityBinding same;
    std::string sizes;
    const std::vector<toy::ParamDeclaration>& names = blocked.loaded.program->params;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string& name = names[i].name;
      if (name != "m" && name != "k" && name != "n") continue;
      same.params[name] = blocked.bound.params[i];
      sizes += (sizes.empty() ? "" : ",") + name + "=" + std::to_string(blocked.bound.params[i]);
    }
    const TourExample naive = example("matmul_naive", same);
    heading("More registers, fewer loads");
    say("A product of matrices of any size loads two operands for each multiplication, if none "
        "stays in a register: " +
        naive.counters.loads.get_str() + " loads at " + sizes + ". With " +
        std::to_string(blocked.bound.num_registers) +
        " registers a block of four sums can grow at once, and each loaded value serves two of "
        "them.");
    if (!guess("How many operands does the product in blocks load?",
               blocked.counters.loads.get_str())) {
      return;
    }
    std::cout << "\n";
    say("The counts are formulas, derived from the programs' texts and exact for every size:");
    typed("diff matmul_naive matmul_blocked -D " + sizes);
    compare(naive, blocked);
  }

  /// How the passes are written, and what they cost, is what exercises ask for: it is not shown.
  void softmax() {
    const TourExample safe = example("softmax_safe"), online = example("softmax_online");
    heading("Softmax, and the trick behind flash attention");
    say("Softmax needs the largest element before it can add up the exponentials, and the sum "
        "before it can divide: " +
        std::to_string(shown_passes(*safe.loaded.program).size()) +
        " passes over x. Online softmax keeps a running maximum m and a running sum s, and repairs "
        "the sum whenever the maximum moves: if the new maximum is m', all of it is multiplied by "
        "e^(m - m').");
    if (!guess("How many passes over x are left?",
               std::to_string(shown_passes(*online.loaded.program).size()))) {
      return;
    }
    std::cout << "\n";
    TextTable table({{"program"}, {"registers", Align::kRight}, {"passes over x"}});
    for (const TourExample* one : {&safe, &online}) {
      const toy::Program& program = *one->loaded.program;
      table.row({one->loaded.short_name(), std::to_string(one->bound.num_registers),
                 joined(shown_passes(program), "; ",
                        [&](std::size_t pass) { return program.passes[pass]; })});
    }
    std::cout << table.to_string(terminal_) << "\n";
    say("One register more, one pass less. You write both programs in exercises 6 to 8, and "
        "predict "
        "there what each costs. Attention is built on the second one: it reads keys and values "
        "once, in the order in which they come.");
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

  /// Prints commands that can be copied: none is broken. What a command does stands beside it, or
  /// below it where all of them leave no room.
  void commands(const std::vector<std::pair<std::string, std::string>>& rows) {
    std::size_t widest = 0, longest = 0;
    for (const auto& [command, what] : rows) {
      widest = std::max(widest, display_width(command));
      longest = std::max(longest, display_width(what));
    }
    constexpr std::size_t kBlanks = 2;
    const bool is_beside = kBlanks + widest + kBlanks + longest <= terminal_.width;
    for (const auto& [command, what] : rows) {
      const std::size_t padding = is_beside ? widest - display_width(command) + kBlanks : 0;
      std::cout << std::string(kBlanks, ' ') << command
                << (is_beside ? std::string(padding, ' ') : "\n" + std::string(2 * kBlanks, ' '))
                << what << "\n";
    }
  }

  void next() {
    heading("Where to go from here");
    commands({{"flashlab read 1", "the course: chapter 1"},
              {"flashlab next", "the first exercise, or next"},
              {"flashlab programs", "what you can run and copy"},
              {"flashlab run softmax_online -D n=64", "counters and outputs"},
              {"flashlab trace softmax_safe --html s.html", "step through in a browser"},
              {"flashlab cost matmul_blocked", "counts as formulas"},
              {"flashlab sweep matmul_blocked --registers 3..30", "registers against loads"},
              {"flashlab programs softmax_safe > my.toy", "start one of your own"},
              {"flashlab exercises", "all exercises"},
              {"flashlab --help", "everything else"}});
    std::cout << "\n";
    say("In a clone of the repository, type ./lab where it says flashlab.");
    std::cout << "\nNow begin: flashlab next\n";
  }

  Terminal terminal_;
  bool is_walked_;
  bool is_left_ = false;
};

/// Whether a person reads this, on a terminal that can wait for keys.
bool is_at_terminal(const TerminalOptions& options) {
  return !options.no_pager && knows_escape_codes() && Keyboard().descriptor() >= 0;
}

}  // namespace

CommandAction add_tour(CLI::App& app) {
  auto options = std::make_shared<TerminalOptions>();
  CLI::App& command = add_command(app, "tour", "Two minutes: what this is about",
                                  "  flashlab tour               Enter goes on, q ends\n"
                                  "  flashlab tour --no-pager    all at once\n"
                                  "  flashlab tour | less\n");
  options->add_to(command);
  return [options] {
    const bool is_walked = is_at_terminal(*options);
    if (is_walked) options->no_pager = true;  // a part at a time is short enough
    Tour(options->terminal(), is_walked).show();
    return kExitGood;
  };
}

}  // namespace flashlab::cli
