#include "cli/debug/debug_session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/debug/watch_text.hpp"
#include "text/nearest.hpp"
#include "text/read_number.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

enum class Verb : std::uint8_t {
  kNext,
  kBack,
  kContinue,
  kReverse,
  kOut,
  kStep,
  kLine,
  kBackLine,
  kBreak,
  kDelete,
  kList,
  kWho,
  kPrint,
  kSymbols,
  kWhy,
  kHelp,
  kQuit
};

struct VerbRow {
  Verb verb;
  std::string_view name, short_name, argument, does;
};

constexpr std::array<VerbRow, 17> kDebugVerbs{{
    {Verb::kNext, "next", "n", "[N]", "executes one instruction, or N"},
    {Verb::kBack, "back", "b", "[N]", "goes one instruction back, or N"},
    {Verb::kContinue, "continue", "c", "", "goes on to the next breakpoint or the end"},
    {Verb::kReverse, "reverse", "r", "", "goes back to the previous breakpoint or the start"},
    {Verb::kOut, "out", "o", "", "goes on to behind the innermost loop, or to the end"},
    {Verb::kStep, "step", "g", "N", "goes to the point after step N, before or behind"},
    {Verb::kLine, "line", "l", "N", "goes on to the next visit of line N"},
    {Verb::kBackLine, "back-line", "L", "N", "goes back to the previous visit of line N"},
    {Verb::kBreak, "break", "t", "WHERE",
     "12, 12 if R1 > 0 && i == 3, R1 > 0, out[3] is written [if ...]"},
    {Verb::kDelete, "delete", "d", "[N]", "deletes breakpoint N, or all"},
    {Verb::kList, "breakpoints", "i", "", "lists the breakpoints"},
    {Verb::kWho, "who", "w", "PLACE", "goes back to the step that wrote R1 or out[3]"},
    {Verb::kPrint, "print", "p", "VALUE", "prints R1, x[i], i, n, or x[i] - R1"},
    {Verb::kSymbols, "symbols", "s", "",
     "shows registers as formulas, or as values again; S@9 is what step 9 put into S"},
    {Verb::kWhy, "why", "y", "", "says why it was opened here, and what the value should be"},
    {Verb::kHelp, "help", "?", "", "lists the commands"},
    {Verb::kQuit, "quit", "q", "", "ends the debugger"},
}};

const VerbRow* find_verb(std::string_view word) {
  const auto found = std::find_if(kDebugVerbs.begin(), kDebugVerbs.end(), [&](const VerbRow& row) {
    return row.name == word || row.short_name == word;
  });
  return found == kDebugVerbs.end() ? nullptr : &*found;
}

std::string_view without_ends(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string fitted_if_longer(const std::string& text, std::size_t width) {
  return display_width(text) > width ? fitted(text, width, false) : text;
}

}  // namespace

/// A command in its parts.
struct DebugSession::Words {
  std::string_view verb, wanted;  // "next", "[N]"
  std::string_view argument;

  /// Returns the argument as a number, `otherwise` if there is none, or nothing.
  std::optional<std::uint64_t> number(std::optional<std::uint64_t> otherwise) const {
    if (argument.empty()) return otherwise;
    std::uint64_t value = 0;
    if (!read_whole(argument, value)) return std::nullopt;
    return value;
  }
  std::string wants_number() const {
    return "'" + printable(argument) + "' is no number; expected " + std::string(verb) + " " +
           std::string(wanted);
  }
};

std::vector<std::string> DebugSession::help_lines(std::size_t columns) {
  constexpr std::size_t kLeft = 24;
  std::vector<std::string> lines;
  for (const VerbRow& row : kDebugVerbs) {
    std::string left = std::string(row.short_name) + ", " + std::string(row.name) + " " +
                       std::string(row.argument);
    for (const std::string& does : paragraph_lines(row.does, columns - kLeft)) {
      lines.push_back(fitted(std::exchange(left, {}), kLeft, false) + does);
    }
  }
  return lines;
}

std::string DebugSession::help_text() {
  std::string text;
  for (const std::string& line : help_lines(SIZE_MAX)) text += line + "\n";
  return text;
}

std::string DebugSession::execute(std::string_view command) {
  was_refused_ = false;
  command = without_ends(command);
  if (command.empty()) return {};
  const auto space = command.find_first_of(" \t");
  const std::string_view word = command.substr(0, space);
  const VerbRow* const row = find_verb(word);
  if (row == nullptr) {
    std::vector<std::string> names;
    for (const VerbRow& one : kDebugVerbs) names.emplace_back(one.name);
    const auto near = nearest(word, names);
    return refuse("there is no command '" + printable(word) + "'" +
                  (near ? "; did you mean '" + *near + "'?" : "; help lists the commands"));
  }
  const Words words{
      row->name, row->argument,
      space == std::string_view::npos ? std::string_view{} : without_ends(command.substr(space))};
  switch (row->verb) {
    case Verb::kNext:
    case Verb::kBack:
    case Verb::kStep:
      return move(words);
    case Verb::kContinue:
      return search(false);
    case Verb::kReverse:
      return search(true);
    case Verb::kOut:
      return out();
    case Verb::kLine:
      return to_line(words, false);
    case Verb::kBackLine:
      return to_line(words, true);
    case Verb::kBreak:
      return add_breakpoint(words.argument);
    case Verb::kDelete:
      return delete_breakpoint(words);
    case Verb::kList: {
      std::string text = breakpoints_.empty() ? "no breakpoints" : "";
      for (std::size_t i = 0; i < breakpoints_.size(); ++i) {
        const NamedBreakpoint& one = breakpoints_[i];
        text += (i == 0 ? "" : ", ") + std::to_string(one.number) + ": " + one.text;
      }
      return text;
    }
    case Verb::kWho:
      return who_wrote(words.argument);
    case Verb::kPrint:
      return print(words.argument);
    case Verb::kSymbols:
      return switch_symbols();
    case Verb::kWhy:
      return why_.empty() ? "it was opened by hand: only `exercises debug` knows a wrong step"
                          : why_;
    case Verb::kHelp:
      return help_text();
    case Verb::kQuit:
      has_quit_ = true;
      return {};
  }
  return {};
}

std::string DebugSession::refuse(std::string why) {
  was_refused_ = true;
  return why;
}

std::string DebugSession::said_about(const toy::Stop& stop) const {
  switch (stop.reason) {
    case toy::Stop::Reason::kStep:
      break;
    case toy::Stop::Reason::kBreakpoint:
      return "breakpoint " + std::to_string(breakpoints_[stop.breakpoint].number) + ": " +
             breakpoints_[stop.breakpoint].text;
    case toy::Stop::Reason::kStart:
      return "at the start";
    case toy::Stop::Reason::kEnd:
      return "at the end";
    case toy::Stop::Reason::kError:
      return "error: " + run_->error()->what;
    case toy::Stop::Reason::kCancelled:
      return "interrupted";
  }
  return {};
}

std::string DebugSession::move(const Words& words) {
  const bool absolute = words.verb == "step";
  const auto count = words.number(absolute ? std::nullopt : std::optional<std::uint64_t>(1));
  if (!count) return refuse(words.wants_number());
  const std::uint64_t here = run_->step();
  std::uint64_t target = *count;
  if (words.verb == "next") target = here + std::min(*count, UINT64_MAX - here);
  if (words.verb == "back") target = here - std::min(*count, here);
  if (words.verb == "back" && here == 0) return "at the start";
  const toy::Stop stop = run_->go_to(target, progress_);
  if (stop.reason == toy::Stop::Reason::kStep && run_->at_end()) return "at the end";
  return said_about(stop);
}

std::vector<toy::Breakpoint> DebugSession::plain_breakpoints() const {
  std::vector<toy::Breakpoint> result;
  for (const NamedBreakpoint& one : breakpoints_) result.push_back(one.breakpoint);
  return result;
}

std::string DebugSession::search(bool back) {
  const auto all = plain_breakpoints();
  return said_about(back ? run_->backward(all, progress_) : run_->forward(all, progress_));
}

std::string DebugSession::out() {
  auto all = plain_breakpoints();
  const auto behind = run_->behind_loop();
  if (behind) all.push_back(*behind);
  const toy::Stop stop = run_->forward(all, progress_);
  const bool is_there =
      stop.reason == toy::Stop::Reason::kBreakpoint && stop.breakpoint == breakpoints_.size();
  return is_there ? std::string() : said_about(stop);
}

std::string DebugSession::to_line(const Words& words, bool back) {
  const auto line = words.number(std::nullopt);
  if (!line || *line > UINT32_MAX) return refuse(words.wants_number());
  const auto site = toy::site_at_line(program(), static_cast<std::uint32_t>(*line));
  if (!site) return refuse("there is no instruction at or after line " + std::to_string(*line));
  const toy::WantedExecutions visits{*site, {}};
  const auto step = back ? run_->last_execution({&visits, 1}) : run_->next_execution({&visits, 1});
  const std::string name = "line " + std::to_string(program().instructions[*site].span.line);
  if (!step) return name + (back ? " was not executed before" : " is not executed any more");
  return said_about(run_->go_to(*step, progress_));
}

std::string DebugSession::add_breakpoint(std::string_view text) {
  const auto parsed = toy::parse_breakpoint(program(), text);
  if (!parsed) return refuse(sentence(parsed.diagnostics.front()));
  std::string shown = printable(text);
  if (parsed.value->kind == toy::Breakpoint::Kind::kLine) {
    const auto condition = text.find("if ");
    shown = "line " + std::to_string(parsed.value->line) +
            (condition == std::string_view::npos ? "" : " " + printable(text.substr(condition)));
  }
  breakpoints_.push_back({*parsed.value, shown, ++last_breakpoint_});
  return "breakpoint " + std::to_string(last_breakpoint_) + ": " + shown;
}

std::string DebugSession::delete_breakpoint(const Words& words) {
  if (words.argument.empty()) {
    breakpoints_.clear();
    return "no breakpoints";
  }
  const auto number = words.number(std::nullopt);
  if (!number) return refuse(words.wants_number());
  if (std::erase_if(breakpoints_, [&](const auto& one) { return one.number == *number; }) == 0) {
    return refuse("there is no breakpoint " + std::to_string(*number));
  }
  return "deleted breakpoint " + std::to_string(*number);
}

std::string DebugSession::who_wrote(std::string_view text) {
  const auto expression = toy::WatchExpression::parse(program(), text);
  if (!expression) return refuse(sentence(expression.diagnostics.front()));
  const auto place = expression->place(*run_);
  if (!place) return refuse(sentence(place.diagnostics.front()));
  const std::string name = toy::place_name(program(), *place);
  const auto step = run_->writer_of(*place);
  if (step) {
    run_->go_to(*step, progress_);
    return name + " was written by step " + std::to_string(*step + 1);
  }
  const bool is_input =
      place->is_cell && program().array_at(place->number).role == toy::ArrayRole::kInput;
  return name + (is_input ? " is an input: no step wrote it" : " was not written before this step");
}

std::string DebugSession::print(std::string_view text) {
  const auto expression = toy::WatchExpression::parse(program(), text);
  if (!expression) return refuse(sentence(expression.diagnostics.front()));
  const auto value = expression->value(*run_);
  if (!value) return refuse(sentence(value.diagnostics.front()));
  // "x[i]" becomes x[3]; a register may be shown as a formula.
  const auto place = expression->place(*run_);
  const std::string name =
      place ? toy::place_name(program(), *place) : std::string(without_ends(text));
  return printable(name) + " = " +
         (place && !place->is_cell ? register_text(place->number) : value_text(*value, *run_));
}

std::string DebugSession::switch_symbols() {
  shows_symbols_ = !shows_symbols_;
  if (!shows_symbols_) return "registers are values";
  if (symbols_.are_known_after(run_->step())) return "registers are formulas";
  return "registers are values here: formulas are known for runs on at most " +
         std::to_string(toy::RegisterSymbols::kMostCells) + " elements, after at most " +
         std::to_string(toy::RegisterSymbols::kMostSteps) + " steps";
}

std::string DebugSession::register_text(std::int64_t number, std::size_t width) {
  if (shows_symbols_ && symbols_.are_known_after(run_->step())) {
    const std::string& symbol = symbols_.after(run_->step())[static_cast<std::size_t>(number)];
    // "M@28 = max(M@12, X@26)": rather the name alone than a formula that ends inside of a name.
    const bool fits = display_width(symbol) <= width;
    const std::string text = fits ? symbol : symbol.substr(0, symbol.find(" = "));
    if (!text.empty()) return fitted_if_longer(text, width);
  }
  return contents_text(run_->register_contents(number), *run_, width);
}

std::string DebugSession::made_by(std::uint64_t step) {
  constexpr std::uint64_t kMostStepsUnasked = 4096;
  return shows_symbols_ || step <= kMostStepsUnasked ? symbols_.made_by(step) : std::string();
}

bool DebugSession::has_breakpoint_at(std::uint32_t line) const {
  return std::any_of(breakpoints_.begin(), breakpoints_.end(), [&](const NamedBreakpoint& one) {
    return one.breakpoint.kind == toy::Breakpoint::Kind::kLine && one.breakpoint.line == line;
  });
}

std::string DebugSession::instruction_text(std::uint32_t site) const {
  const toy::SourceSpan& span = program().instructions[site].span;
  const std::string_view line = program().program->source->line(span.line);
  std::string text(without_ends(line.substr(0, line.find(';'))));
  std::replace(text.begin(), text.end(), '\t', ' ');
  return printable(text);
}

std::string DebugSession::loops_text(const toy::RunPoint& point) const {
  if (point.site >= program().instructions.size()) return {};
  const std::uint32_t loop = program().instructions[point.site].loop;
  if (loop == toy::kNoLoop) return {};
  return program().loops_text(loop, point.loop_values.data());
}

std::string DebugSession::where() const {
  std::string text =
      "step " + std::to_string(run_->step()) + " of " + std::to_string(run_->total_steps());
  if (run_->at_end()) return text + ", at the end";
  const toy::RunPoint point = run_->point();
  text += run_->error() ? ", failed: line " : ", next: line ";
  text += std::to_string(program().instructions[point.site].span.line) + ": " +
          instruction_text(point.site);
  const std::string loops = loops_text(point);
  return loops.empty() ? text : text + " (" + loops + ")";
}

}  // namespace flashlab::cli
