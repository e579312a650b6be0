// `flashlab exercises watch`: checks the learner's file whenever it is saved.
#include <chrono>
#include <filesystem>
#include <iostream>

#include "cli/exercises/checked_work.hpp"
#include "cli/exercises/failing_run_view.hpp"
#include "cli/exercises/hint.hpp"
#include "cli/exercises/start.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/exercises/worker_command.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/file_watch.hpp"
#include "cli/terminal/keyboard.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

struct WatchFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  std::vector<std::string> words;
  bool once = false, poll = false;
};

/// Watches one exercise. `n` switches to the next.
class Watch {
 public:
  explicit Watch(const WatchFlags& options)
      : options_(options),
        keyboard_(std::in_place),
        terminal_(options.terminal.terminal()),
        learner_(options.exercises) {
    begin(learner_.find_work(options.words));
  }

  int run() {
    check(true);
    for (;;) {
      std::cout.flush();
      if (keyboard_->resume()) show(shown_);
      std::cout.flush();
      switch (files_->wait(keyboard_->descriptor())) {
        case FileWatch::Event::kSaved:
          if (check(false) && options_.once) return code_;
          break;
        case FileWatch::Event::kInterrupted:
          break;
        case FileWatch::Event::kKey:
          if (!on_key(keyboard_->key().value_or(Key{Key::Kind::kOther}).letter())) return kExitGood;
          break;
      }
    }
  }

 private:
  void begin(Work work) {
    work_ = std::move(work);
    grader_ = isolated_grader(work_.exercise);
    files_ = std::make_unique<FileWatch>(work_.file, options_.poll);
    last_text_.reset();
    checked_.reset();
    said_.clear();
    if (!has_keys()) std::cout << headline() << "; Ctrl-C ends it.\n";
  }

  bool has_keys() const { return keyboard_->descriptor() >= 0; }

  std::string headline() const {
    return "Watching " + printable(work_.file) + " for " + printable(work_.exercise->id) +
           (files_->has_notices() ? "" : " (looking every 250 ms)");
  }

  /// Shows a text: for a person, on a cleared screen, with the keys in the last line.
  void show(const std::string& text) {
    shown_ = text;
    if (has_keys()) {
      constexpr const char* kHomeAndClear = "\x1b[H\x1b[2J";
      if (knows_escape_codes()) std::cout << kHomeAndClear;
      std::cout << headline() << "\n";
    }
    std::cout << "\n" << text;
    show_keys();
  }

  void show_keys() {
    if (!has_keys()) return;
    std::cout << "\n"
              << styled(std::string("h hint, ") + (can_debug() ? "d debug, " : "") +
                            "n next, Enter checks again, q quit",
                        Style::kDim, terminal_)
              << "\n";
  }

  /// Shows a message about the file, unless it equals the last message.
  void say(const std::string& text) {
    if (said_ != text) show(text);
    said_ = text;
  }

  /// Returns false if there was nothing to check: no file, an empty one (possibly half saved), or
  /// the text that was checked before, unless `again`.
  bool check(bool again) {
    std::shared_ptr<const toy::SourceText> source;
    try {
      source = read_work(work_);
    } catch (const Failure& failure) {
      last_text_.reset();
      say(failure.what());
      return false;
    }
    const std::string text(source->text());
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
      last_text_.reset();
      say("'" + printable(work_.file) + "' is empty; waiting for the next save\n");
      return false;
    }
    if (!again && last_text_ == text) return false;
    last_text_ = text;
    said_.clear();
    checked_ = Checked{source, grader_->grade(source->name(), text)};
    remember_verdict(learner_, work_, checked_->verdict);
    code_ = exit_code_of(checked_->verdict);
    show(check_text(learner_, work_, checked_->verdict, *source, Explanation::kBrief, terminal_));
    return true;
  }

  /// Returns false to end.
  bool on_key(char key) {
    if (key == 'q' || key == '\x04') return false;
    if (key == 'h') hint();
    if (key == 'd' && can_debug()) debug();
    if (key == 'n') next();
    if (key == '\n' || key == '\r' || key == 'c') check(true);
    return true;
  }

  bool can_debug() const { return checked_ && !debug_hint(work_, checked_->verdict).empty(); }

  /// Opens the debugger right before the guilty step, until it is left.
  void debug() {
    keyboard_.reset();
    std::string problem;
    try {
      const exercises::FailingRun run =
          find_failing_run(work_, *checked_->source, checked_->verdict);
      debug_failing_run(run, {}, options_.terminal);
    } catch (const Failure& failure) {
      problem = failure.what();
    }
    keyboard_.emplace();
    if (problem.empty()) {
      check(true);
    } else {
      show(problem);
    }
  }

  void hint() {
    const std::size_t level = hints_shown(learner_, *work_.exercise) + 1;
    std::cout << "\n";
    if (level < exercises::kHintLevels) {
      show_hint(learner_, work_, level, terminal_);
    } else {
      std::cout << "The last hint is the solution: `flashlab exercises solution "
                << printable(work_.exercise->id) << "`.\n";
    }
    show_keys();  // the verdict stays above the hint
  }

  /// Switches to the next exercise, with its file beside this one's.
  void next() {
    const std::string id = learner_.next_after(work_.exercise->id);
    if (id.empty() || id == work_.exercise->id) {
      return show(std::string(id.empty() ? kAllDone : "This is the only one left.") + "\n");
    }
    try {
      Work work{learner_.find(id), {}};
      const auto* entry = learner_.progress().find(id);
      work.file = entry != nullptr ? entry->file : "";
      if (work.file.empty()) {
        const auto folder = std::filesystem::path(work_.file).parent_path();
        work.file = (folder / work.exercise->work_file()).string();
        start_exercise(learner_, *work.exercise, work.file);
      }
      begin(std::move(work));
      check(true);
    } catch (const Failure& failure) {
      show(failure.what());  // stay with this exercise
    }
  }

  const WatchFlags& options_;
  std::optional<Keyboard> keyboard_;  // none while the debugger has its own
  Terminal terminal_;
  Learner learner_;
  Work work_;
  std::unique_ptr<exercises::IsolatedGrader> grader_;
  std::unique_ptr<FileWatch> files_;
  std::optional<std::string> last_text_;
  struct Checked {
    std::shared_ptr<const toy::SourceText> source;
    exercises::Verdict verdict;
  };
  std::optional<Checked> checked_;  // the last text that was checked
  std::string said_, shown_;
  int code_ = kExitGood;
};

int watch(const WatchFlags& options) { return Watch(options).run(); }

}  // namespace

CommandAction add_exercises_watch(CLI::App& exercises) {
  auto options = std::make_shared<WatchFlags>();
  CLI::App& command = add_command(
      exercises, "watch", "Checks whenever you save",
      "  flashlab exercises watch           the current exercise\n"
      "  flashlab exercises watch 2\n"
      "\nOn a terminal: h shows a hint, d opens the debugger at the guilty step, n goes "
      "on to the\nnext exercise, Enter checks again, q ends it. Without one it prints a verdict "
      "after each change.\n");
  add_work_argument(command, options->words);
  add_flag(command, "--once", options->once, "end after the first change, with check's exit code");
  add_flag(command, "--poll", options->poll, "look every 250 ms instead of waiting for notices");
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return [options] { return watch(*options); };
}

}  // namespace flashlab::cli
