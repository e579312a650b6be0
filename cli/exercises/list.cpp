// `flashlab exercises list`: all exercises, the progress, and the next one. Also `reset`,
// which deletes progress.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/exercises/exercise_json.hpp"
#include "cli/exercises/learner.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/command_lines.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "exercises/grader/grade/course.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

using exercises::ProgressEntry;
using exercises::ProgressState;

struct ListFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  bool json = false;
};

/// One exercise as a line of the list.
struct ListedExercise {
  std::string mark, id, title, points, status;
  Style style = Style::kDim;
};

const char* mark_of(const ProgressEntry* entry, bool next, const Terminal& terminal) {
  if (entry != nullptr && entry->state == ProgressState::kFull) return terminal.unicode ? "✓" : "x";
  if (entry != nullptr && entry->state == ProgressState::kPassed)
    return terminal.unicode ? "✓" : "x";
  if (next) return terminal.unicode ? "›" : ">";
  return entry == nullptr ? " " : "-";
}

/// "full marks, 2 hints", "started", "next".
std::string status_of(const ProgressEntry* entry, bool next) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (next) add("next");
  if (entry == nullptr) return text;
  if (entry->state == ProgressState::kFull) add("full marks");
  if (entry->state == ProgressState::kPassed) add("right");
  if (entry->state == ProgressState::kStarted) add("started");
  if (entry->hints > 0) {
    add(std::to_string(entry->hints) + (entry->hints == 1 ? " hint" : " hints"));
  }
  return text;
}

ListedExercise row_of(const exercises::Exercise& exercise, const ProgressEntry* entry, bool next,
                      const Terminal& terminal) {
  const std::string most = exercises::points_text(exercise.max_points());
  ListedExercise row{
      mark_of(entry, next, terminal),
      printable(exercise.id),
      printable(exercise.title),
      (entry == nullptr ? "-" : exercises::points_text(exercises::best_points(entry, exercise))) +
          "/" + most,
      status_of(entry, next),
      Style::kDim};
  if (entry != nullptr && entry->state != ProgressState::kStarted) row.style = Style::kGreen;
  if (next) row.style = Style::kYellow;
  return row;
}

struct Widths {
  std::size_t id = 0, title = 0, points = 0, status = 0;
};

/// Room for each word of a title, "FlashAttention-2", and of what is said.
constexpr std::size_t kLeastTitle = 16, kLeastStatus = 10;

/// The columns that titles and what is said have.
std::size_t columns_left(const Widths& widths, const Terminal& terminal) {
  const std::size_t others = 3 + widths.id + 2 + 2 + widths.points + 2;
  return terminal.width > others ? terminal.width - others : 0;
}

/// The lines that a row takes.
std::size_t height_of(const ListedExercise& row, const Widths& widths) {
  return std::max(wrap(row.title, widths.title).size(), wrap(row.status, widths.status).size());
}

/// Titles and what is said about an exercise share the columns that are left, so that the list has
/// the fewest lines.
Widths widths_of(const std::vector<ListedExercise>& rows, const Terminal& terminal) {
  Widths widths;
  for (const ListedExercise& row : rows) {
    widths.id = std::max(widths.id, display_width(row.id));
    widths.title = std::max(widths.title, display_width(row.title));
    widths.points = std::max(widths.points, display_width(row.points));
    widths.status = std::max(widths.status, display_width(row.status));
  }
  const std::size_t left = columns_left(widths, terminal);
  if (widths.title + widths.status <= left) return widths;
  const Widths natural = widths;
  std::size_t fewest = SIZE_MAX;
  for (std::size_t status = std::min(natural.status, kLeastStatus); status <= natural.status;
       ++status) {
    Widths tried = natural;
    tried.status = status;
    tried.title = std::min(natural.title, std::max(left > status ? left - status : 0, kLeastTitle));
    std::size_t lines = 0;
    for (const ListedExercise& row : rows) lines += height_of(row, tried);
    if (lines >= fewest) continue;
    fewest = lines;
    widths = tried;
  }
  return widths;
}

/// Keeps only the numbers of names, with which commands find an exercise, too, if the window is too
/// narrow for names, and the numbers are different.
void shorten_names(std::vector<ListedExercise>& rows, const Terminal& terminal) {
  Widths widths;
  std::set<std::string> numbers;
  for (const ListedExercise& row : rows) {
    widths.id = std::max(widths.id, display_width(row.id));
    widths.points = std::max(widths.points, display_width(row.points));
    numbers.insert(row.id.substr(0, row.id.find_first_not_of("0123456789")));
  }
  const bool fits = columns_left(widths, terminal) >= kLeastTitle + kLeastStatus;
  if (fits || numbers.size() < rows.size() || numbers.contains("")) return;
  for (ListedExercise& row : rows) {
    row.id.erase(std::min(row.id.find_first_not_of("0123456789"), row.id.size()));
  }
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t columns = display_width(text);
  return text + std::string(columns < width ? width - columns : 0, ' ');
}

std::string list_lines(const ListedExercise& row, const Widths& widths, const Terminal& terminal) {
  const std::vector<std::string> title = wrap(row.title, widths.title);
  const std::vector<std::string> status = wrap(row.status, widths.status);
  const std::size_t points = display_width(row.points);
  std::string text;
  for (std::size_t i = 0; i < std::max(title.size(), status.size()); ++i) {
    const bool is_first = i == 0;
    std::string line = padded(i < title.size() ? title[i] : "", widths.title) + "  " +
                       std::string(widths.points - (is_first ? points : 0), ' ') +
                       (is_first ? row.points : "");
    if (i < status.size() && !status[i].empty()) {
      line += "  " + styled(status[i], row.style, terminal);
    } else {
      line.erase(line.find_last_not_of(' ') + 1);
    }
    text += is_first ? " " + styled(row.mark, row.style, terminal) + " " +
                           styled(padded(row.id, widths.id), row.style, terminal) + "  "
                     : std::string(3 + widths.id + 2, ' ');
    text += line + "\n";
  }
  return text;
}

/// Returns "Chapter 4: softmax (docs/04_softmax.md)" for "docs/04_softmax.md".
std::string chapter_heading(const std::string& chapter) {
  if (chapter.empty()) return "Without a chapter";
  std::string name = chapter.substr(chapter.rfind('/') + 1);
  name = name.substr(0, name.find('.'));
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  std::replace(name.begin(), name.end(), '_', ' ');
  if (digits == 0) return printable(name + " (" + chapter + ")");
  const std::string number = name.substr(std::min(name.find_first_not_of('0'), digits - 1));
  const std::size_t space = std::min(number.find(' '), number.size());
  return printable("Chapter " + number.substr(0, space) + ":" + number.substr(space) + " (" +
                   chapter + ")");
}

void print_head(const std::vector<ExercisePointer>& all, const Learner& learner,
                const Terminal& terminal) {
  std::size_t done = 0;
  double points = 0, most = 0;
  for (const ExercisePointer& exercise : all) {
    most += exercise->max_points();
    const ProgressEntry* entry = learner.progress().find(exercise->id);
    if (entry == nullptr) continue;
    points += exercises::best_points(entry, *exercise);
    if (entry->state != ProgressState::kStarted) ++done;
  }
  const std::string text = std::to_string(done) + " of " + std::to_string(all.size()) +
                           " exercises done, " + exercises::points_text(points) + " of " +
                           points_text(most);
  std::cout << styled(text, Style::kBold, terminal) << "\n"
            << wrapped(
                   "The order is that of the chapters and of `flashlab next`; numbers are names.",
                   terminal.width);
}

void print_rows(const std::vector<ExercisePointer>& all, const Learner& learner,
                const Terminal& terminal) {
  const std::string next = learner.next();
  std::vector<ListedExercise> rows;
  for (const ExercisePointer& exercise : all) {
    rows.push_back(
        row_of(*exercise, learner.progress().find(exercise->id), exercise->id == next, terminal));
  }
  shorten_names(rows, terminal);
  const Widths widths = widths_of(rows, terminal);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || all[i]->chapter != all[i - 1]->chapter) {
      std::cout << "\n";
      for (const std::string& line : wrap(chapter_heading(all[i]->chapter), terminal.width)) {
        std::cout << line << "\n";
      }
    }
    std::cout << list_lines(rows[i], widths, terminal);
  }
}

/// Prints the next command to type.
void print_foot(const Learner& learner, const Terminal& terminal) {
  const std::string next = learner.next();
  if (next.empty()) {
    std::cout << "\n" << kAllDone << "\n";
    return;
  }
  const ProgressEntry* entry = learner.progress().find(next);
  if (entry != nullptr && !entry->file.empty()) {
    std::cout << "\n"
              << wrapped("Go on with: flashlab check (your file: " + shown_path(entry->file) + ")",
                         terminal.width);
  } else {
    std::cout << "\n" << fitted_lines("Go on with: flashlab start " + printable(next), terminal);
  }
}

int list(const ListFlags& options) {
  Learner learner(options.exercises);
  const std::vector<ExercisePointer> all = learner.all();
  if (options.json) {
    const Json json = exercise_list_json(all, learner.progress(), learner.next());
    print_json(json);
  } else {
    const Terminal terminal = options.terminal.terminal();
    print_head(all, learner, terminal);
    print_rows(all, learner, terminal);
    print_foot(learner, terminal);
  }
  learner.print_notes();
  return kExitGood;
}

int reset(const ExerciseOptions& options, const std::string& name) {
  Learner learner(options);
  std::string id = name;  // also allows an exercise that no longer exists
  if (learner.progress().find(name) == nullptr) id = learner.find(name)->id;
  std::string file;
  bool known = false;
  learner.remember([&](exercises::Progress& progress) {
    if (const ProgressEntry* entry = progress.find(id); entry != nullptr) file = entry->file;
    known = progress.forget(id);
  });
  std::cout << (known ? "Forgot what was done of " : "Nothing was remembered of ") << printable(id)
            << ".\n";
  if (!file.empty()) std::cout << "Your file stays: " << shown_path(file) << "\n";
  return kExitGood;
}

}  // namespace

CommandAction add_exercises_list(CLI::App& exercises) {
  auto options = std::make_shared<ListFlags>();
  CLI::App& command =
      add_command(exercises, "list", "List the exercises: what is done, what is next",
                  "  flashlab exercises list\n"
                  "  flashlab exercises list --json\n");
  add_flag(command, "--json", options->json, "as JSON");
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return [options] { return list(*options); };
}

CommandAction add_exercises_reset(CLI::App& exercises) {
  struct ResetOptions {
    ExerciseOptions exercises;
    std::string id;
  };
  auto options = std::make_shared<ResetOptions>();
  CLI::App& command =
      add_command(exercises, "reset", "Forget your progress in an exercise; your file stays",
                  "  flashlab exercises reset 2\n");
  add_option(command, "id", options->id, "number or name of an exercise")
      .required()
      .type_name("ID");
  options->exercises.add_to(command);
  return [options] { return reset(options->exercises, options->id); };
}

}  // namespace flashlab::cli
