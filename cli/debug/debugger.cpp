#include "cli/debug/debugger.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>

#include "cli/debug/debug_screen.hpp"
#include "cli/debug/debug_session.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/keyboard.hpp"
#include "cli/terminal/text_input.hpp"
#include "text/utf8.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

constexpr std::int64_t kMostCommandBytes = 1 << 20;
constexpr char kDeleteByte = '\x7f', kBackspace = '\b';
// Ctrl-A, Ctrl-E, Ctrl-U, Ctrl-K, Ctrl-W, as in a shell.
constexpr char kStartOfLine = '\x01', kEndOfLine = '\x05', kEraseLine = '\x15', kEraseRest = '\x0b',
               kEraseWord = '\x17';

/// Executes the commands of a file as they come, and prints each with what it did. A command that
/// is refused does not end the script, but the exit code tells of it.
int run_script(DebugSession& session, const std::string& file) {
  TextInput commands(file, kMostCommandBytes, "a file of commands");
  std::size_t line = 0, first_refused = 0, num_refused = 0;
  if (!session.why().empty()) std::cout << session.why() << "\n" << session.where() << "\n";
  while (!session.has_quit()) {
    std::cout << std::flush;  // another program may read this before it writes the next command
    const auto next = commands.line();
    if (!next) break;
    const std::string command(line++ == 0 ? without_byte_order_mark(*next) : *next);
    if (command.find_first_not_of(" \t\r") == std::string::npos || command[0] == '#') continue;
    const std::string said = session.execute(command);
    if (session.has_quit()) break;
    if (session.was_refused() && num_refused++ == 0) first_refused = line;
    std::cout << "> " << command << "\n"
              << said << (said.empty() || said.back() == '\n' ? "" : "\n") << session.where()
              << "\n";
  }
  if (num_refused == 0) return kExitGood;
  throw request_failure(
      std::to_string(num_refused) + (num_refused == 1 ? " command was" : " commands were") +
      " refused, the first in line " + std::to_string(first_refused) + " of the commands");
}

/// The screen and its keys.
class Screen {
 public:
  Screen(DebugSession& session, const Terminal& terminal)
      : session_(session),
        terminal_(terminal),
        keyboard_("\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"),
        message_(session.why()) {
    session_.set_progress([this](std::uint64_t step) { return show_progress(step); });
  }

  int run() {
    if (keyboard_.descriptor() < 0) {
      throw request_failure("the debugger's screen needs the terminal in the foreground");
    }
    draw();
    while (!session_.has_quit()) {
      const auto key = keyboard_.key();
      if (key && is_typing_) {
        type(*key);
      } else if (key) {
        press(*key);
      }
      draw();
    }
    return kExitGood;
  }

 private:
  void draw() {
    keyboard_.resume();
    std::string frame = debug_screen(
        session_, {message_, is_typing_ ? typed_line() : "", display_width(before_cursor())},
        screen_size(), terminal_);
    std::cout << "\x1b[H" << frame << "\x1b[J" << std::flush;
  }

  /// During a long search, q, Escape or Ctrl-C ends it.
  bool show_progress(std::uint64_t step) {
    keyboard_.resume();
    message_ = "searching, at step " + std::to_string(step) + "; q stops";
    std::cout << "\x1b[H " << message_ << "\x1b[K" << std::flush;
    return !keyboard_.pressed_meanwhile('q');
  }

  void execute(const std::string& command) {
    if (command == "help") return show_help();  // more lines than a message has
    const Keyboard::StopsWork stops;  // of a search that does not ask, the second Ctrl-C ends us
    message_ = session_.execute(command);
  }

  void begin_command(const std::string& start) {
    is_typing_ = true;
    typed_ = start;
    cursor_ = typed_.size();
    in_history_ = history_.size();
  }

  /// ":next 3_", with the mark where the next letter goes.
  std::string typed_line() const {
    return before_cursor() + "_" + printable(typed_.substr(cursor_));
  }
  std::string before_cursor() const { return ":" + printable(typed_.substr(0, cursor_)); }

  void press(const Key& key) {
    switch (key.kind) {
      case Key::Kind::kRight:
      case Key::Kind::kDown:
        return execute("next");
      case Key::Kind::kLeft:
      case Key::Kind::kUp:
        return execute("back");
      case Key::Kind::kCharacter:
        return press(key.character);
      case Key::Kind::kPaste:  // no keys, but perhaps a command
        begin_command("");
        return insert(key.text);
      default:
        break;  // other keys have no meaning here
    }
  }

  void press(char key) {
    switch (key) {
      case ':':
        begin_command("");
        break;
      case 'w':
        begin_command("who ");
        break;
      case 't':
        begin_command("break ");
        break;
      case 'l':
        begin_command("line ");
        break;
      case 'L':
        begin_command("back-line ");
        break;
      case 'g':
        begin_command("step ");
        break;
      case 'p':
        begin_command("print ");
        break;
      case 'd':
        begin_command("delete ");
        break;
      case '?':
        show_help();
        break;
      case ' ':
      case '\r':
      case '\n':
        execute("next");
        break;
      case '\x04':
        execute("quit");
        break;
      default:
        if (key > ' ' && key <= '~') execute(std::string(1, key));
    }
  }

  void type(const Key& key) {
    switch (key.kind) {
      case Key::Kind::kEscape:
        is_typing_ = false;
        break;
      case Key::Kind::kLeft:
        cursor_ = start_of_cell(typed_, cursor_);
        break;
      case Key::Kind::kRight:
        cursor_ = end_of_cell(typed_, cursor_);
        break;
      case Key::Kind::kHome:
        cursor_ = 0;
        break;
      case Key::Kind::kEnd:
        cursor_ = typed_.size();
        break;
      case Key::Kind::kDelete:
        typed_.erase(cursor_, end_of_cell(typed_, cursor_) - cursor_);
        break;
      case Key::Kind::kUp:
        if (in_history_ > 0) recall(in_history_ - 1);
        break;
      case Key::Kind::kDown:
        if (in_history_ < history_.size()) recall(in_history_ + 1);
        break;
      case Key::Kind::kCharacter:
        type(key.character);
        break;
      case Key::Kind::kLetter:
      case Key::Kind::kPaste:
        insert(key.text);
        break;
      default:
        break;
    }
  }

  /// Whatever it is: the command says what does not belong to it.
  void insert(std::string_view text) {
    typed_.insert(cursor_, text);
    cursor_ += text.size();
  }

  void type(char key) {
    if (key == '\r' || key == '\n') {
      is_typing_ = false;
      if (!typed_.empty()) history_.push_back(typed_);
      execute(typed_);
    } else if (key == '\x04') {
      is_typing_ = false;
    } else if (key == kStartOfLine) {
      cursor_ = 0;
    } else if (key == kEndOfLine) {
      cursor_ = typed_.size();
    } else if (key == kEraseLine) {
      typed_.erase(0, std::exchange(cursor_, 0));
    } else if (key == kEraseRest) {
      typed_.erase(cursor_);
    } else if (key == kEraseWord) {
      std::size_t start = cursor_;
      while (start > 0 && typed_[start - 1] == ' ') --start;
      while (start > 0 && typed_[start - 1] != ' ') --start;
      typed_.erase(start, std::exchange(cursor_, start) - start);
    } else if (key == kDeleteByte || key == kBackspace) {
      if (typed_.empty()) {
        is_typing_ = false;
      } else if (cursor_ > 0) {
        const std::size_t start = start_of_cell(typed_, cursor_);
        typed_.erase(start, std::exchange(cursor_, start) - start);
      }
    } else if (key >= ' ') {  // not a control character that has no meaning here
      insert({&key, 1});
    }
  }

  /// An earlier command in the line; after the last one, an empty line.
  void recall(std::size_t number) {
    in_history_ = number;
    typed_ = number < history_.size() ? history_[number] : "";
    cursor_ = typed_.size();
  }

  /// In pages, if the window is small.
  void show_help() {
    std::size_t first = 0;
    for (;;) {
      const WindowSize window = screen_size();  // which may change meanwhile
      std::vector<std::string> lines =
          DebugSession::help_lines(std::max(window.columns, kSmallestWindow.columns));
      lines.emplace_back();
      for (std::string& line :
           paragraph_lines("Of these, a key starts the command; arrows are back and next. In a "
                           "command they move "
                           "in the line and to earlier commands, and Escape leaves it.",
                           window.columns)) {
        lines.push_back(std::move(line));
      }
      const std::size_t end =
          std::min(lines.size(), first + std::max<std::size_t>(window.rows, 2) - 1);
      std::cout << "\x1b[H";
      for (std::size_t at = first; at < end; ++at) std::cout << lines[at] << "\x1b[K\n";
      const bool is_last = end == lines.size();
      std::cout << (is_last ? "Any key goes on." : "Any key shows more, q leaves the help.")
                << "\x1b[K\x1b[J" << std::flush;
      const auto key = keyboard_.key();
      if (!key) {
        keyboard_.resume();
      } else if (is_last || key->letter() == 'q' || key->kind == Key::Kind::kEscape) {
        return;
      } else {
        first = end;
      }
    }
  }

  DebugSession& session_;
  Terminal terminal_;
  Keyboard keyboard_;
  std::string message_, typed_;
  std::vector<std::string> history_;  // of typed commands
  std::size_t in_history_ = 0, cursor_ = 0;
  bool is_typing_ = false;
};

}  // namespace

void DebuggerRequest::add_to(CLI::App& command) {
  add_option(
      command, "--commands", commands,
      "execute the commands of this file instead of showing the screen; - is standard input; "
      "exit code 2 if one is refused")
      .type_name("FILE");
}

int open_debugger(const toy::BoundProgram& program, toy::InitialDram dram,
                  const DebuggerRequest& request, const TerminalOptions& terminal) {
  const bool on_screen = request.commands.empty();
  const bool has_output = isatty(STDOUT_FILENO) == 1;
  if (on_screen && (!has_output || !keys_come_from_a_terminal())) {
    throw request_failure("the debugger's screen needs a terminal, and standard " +
                              std::string(has_output ? "input" : "output") + " is none",
                          "--commands FILE, for commands from a file (- is standard input)");
  }
  if (on_screen && !knows_escape_codes()) {
    throw request_failure("the debugger's screen needs a terminal with escape codes, and TERM is " +
                              (std::getenv("TERM") == nullptr ? std::string("not set")
                                                              : in_quotes(std::getenv("TERM"))),
                          "--commands FILE, for commands from a file (- is standard input)");
  }
  toy::ReplayOptions options;
  options.double_precision = request.double_precision;
  toy::RegisterSymbols symbols(program, dram, on_screen && terminal.terminal().unicode);
  DebugSession session(value_or_fail(toy::Replay::start(program, std::move(dram), options),
                                     *program.program->source),
                       request.costs, std::move(symbols));
  for (const std::string& command : request.first) session.execute(command);
  session.set_why(request.why);
  if (!on_screen) return run_script(session, request.commands);
  TerminalOptions without_pager = terminal;
  without_pager.no_pager = true;
  return Screen(session, without_pager.terminal()).run();
}

}  // namespace flashlab::cli
