// A program under the debugger: its run, its breakpoints, and the commands that both the screen and
// scripts give.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/machine.hpp"
#include "toymachine/replay/replay.hpp"
#include "toymachine/trace/register_symbols.hpp"

namespace flashlab::cli {

class DebugSession {
 public:
  DebugSession(std::unique_ptr<toy::Replay> run, toy::CostTable costs, toy::RegisterSymbols symbols)
      : run_(std::move(run)), costs_(std::move(costs)), symbols_(std::move(symbols)) {}

  /// Executes a command, such as "next 3" or "break R1 > 0", and returns what to say about it. A
  /// command that is wrong changes nothing and is explained. help_text() lists the commands.
  std::string execute(std::string_view command);
  static std::string help_text();
  /// Its lines, each at most `columns` wide; the commands take 24 of them.
  static std::vector<std::string> help_lines(std::size_t columns);
  bool has_quit() const { return has_quit_; }
  /// Whether the last command was wrong. A search without a result is not.
  bool was_refused() const { return was_refused_; }

  toy::Replay& run() { return *run_; }
  const toy::BoundProgram& program() const { return run_->program(); }
  const toy::CostTable& costs() const { return costs_; }

  struct NamedBreakpoint {
    toy::Breakpoint breakpoint;
    std::string text;
    std::uint64_t number = 0;  // from 1; stays when others are deleted
  };
  const std::vector<NamedBreakpoint>& breakpoints() const { return breakpoints_; }
  bool has_breakpoint_at(std::uint32_t line) const;

  /// Returns the contents of a register, in at most `width` columns: a value, or its formula if the
  /// user asked for formulas and it is known.
  std::string register_text(std::int64_t number, std::size_t width = 60);

  /// Returns "M = max(M@12, X@26)": what a step made, from what; empty if that is not known, and
  /// late in a run where nobody asked for formulas, because these take a trace of all steps before.
  std::string made_by(std::uint64_t step);

  /// Why the debugger was opened where it was, in lines; may be empty.
  void set_why(std::string why) { why_ = std::move(why); }
  const std::string& why() const { return why_; }

  /// Asked during long searches.
  void set_progress(toy::Progress progress) { progress_ = std::move(progress); }

  /// Returns "step 3 of 56, next: line 12: MAX r1, R0, r1 (i = 2)".
  std::string where() const;
  /// Returns the line of an instruction without its comment.
  std::string instruction_text(std::uint32_t site) const;
  /// Returns "i = 2, j = 0"; empty outside of loops.
  std::string loops_text(const toy::RunPoint& point) const;

 private:
  struct Words;
  std::string move(const Words& words);
  std::string to_line(const Words& words, bool back);
  std::string search(bool back);
  std::string out();
  std::string add_breakpoint(std::string_view text);
  std::string delete_breakpoint(const Words& words);
  std::string who_wrote(std::string_view text);
  std::string print(std::string_view text);
  std::string switch_symbols();
  std::string refuse(std::string why);
  std::string said_about(const toy::Stop& stop) const;
  std::vector<toy::Breakpoint> plain_breakpoints() const;

  std::unique_ptr<toy::Replay> run_;
  toy::CostTable costs_;
  toy::RegisterSymbols symbols_;
  bool shows_symbols_ = false;
  toy::Progress progress_;
  std::string why_;
  std::vector<NamedBreakpoint> breakpoints_;
  std::uint64_t last_breakpoint_ = 0;
  bool has_quit_ = false, was_refused_ = false;
};

}  // namespace flashlab::cli
