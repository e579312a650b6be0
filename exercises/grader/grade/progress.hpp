// A learner's progress, in a text file that a person can read and edit.
//
//   current: 02_product
//   01_c00      full    points 10   checks 1  hints 0  file /home/ada/01_c00.toy
//   02_product  started points 0    checks 3  hints 2  solution seen  file /home/ada/02_product.toy
//   predicted: 02_product cycles=28 loads=16
//   result: 01_c00 2026-11-28T10:00:00Z points 10 cycles 7 loads 4 file /home/ada/01_c00.toy
//
// Comments, blank lines and all other lines are kept in place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/count/counters.hpp"

namespace flashlab::exercises {

enum class ProgressState : std::uint8_t { kStarted, kPassed, kFull };
std::string_view to_string(ProgressState state);

struct ProgressEntry {
  std::string id;
  ProgressState state = ProgressState::kStarted;
  double points = 0;        // best result so far
  std::int64_t checks = 0;  // number of checks
  std::size_t hints = 0;    // number of hints that were shown
  bool solution_seen = false;
  std::string file;  // path of the learner's file; empty: not known
};

/// A result that earned points. Results are kept in the order of their checks.
struct ProgressResult {
  std::string id;
  std::string when;  // "2026-11-28T10:00:00Z"
  double points = 0;
  std::map<std::string, toy::Count> costs;  // by key; empty for questions
  std::string file;                         // may be empty
};

/// How many results of one exercise are kept. Then the oldest goes that is not the best of its file.
inline constexpr std::size_t kMostResults = 200;

/// Returns whether `a` is better: more points, or as many and a lower cost. The first key of the
/// alphabet that differs decides, as cycles before loads.
bool is_better(const ProgressResult& a, const ProgressResult& b);

/// Answers to `flashlab predict`, by key, as they were typed.
using Predictions = std::map<std::string, std::string>;

class Progress {
 public:
  /// Parses any text. Keeps lines that are not entries.
  static Progress parse(std::string_view text);
  /// Returns the file's text. Adds a comment at the top if the original was empty.
  std::string to_text() const;

  const ProgressEntry* find(std::string_view id) const;
  /// Returns the id of the exercise that was started or checked last; empty: none.
  const std::string& current() const { return current_; }
  bool passed(std::string_view id) const;

  /// Returns the exercise's entry. Adds one if necessary.
  ProgressEntry& entry(const std::string& id);
  void set_current(const std::string& id) { current_ = id; }
  /// Also forgets results and predictions. Returns false if there was no entry.
  bool forget(std::string_view id);

  /// Adds a result, unless it has the points, costs and file of the exercise's last one.
  void add_result(const ProgressResult& result);
  /// Returns the exercise's results, newest last.
  std::vector<ProgressResult> results_of(std::string_view id) const;

  /// Replaces the predictions for an exercise.
  void predict(const std::string& id, Predictions predictions);
  /// Empty if there are none.
  Predictions predictions_of(std::string_view id) const;

  const std::vector<ProgressEntry>& entries() const { return entries_; }
  /// Returns the numbers of lines that could not be parsed.
  const std::vector<std::size_t>& damaged_lines() const { return damaged_; }

 private:
  enum class LineKind : std::uint8_t { kOther, kEntry, kResult, kPrediction };
  /// A line of an entry is written from the entry; any other line is its text.
  struct Line {
    LineKind kind = LineKind::kOther;
    std::string text;
    std::string id{};         // unless kOther
    ProgressResult result{};  // kResult
    Predictions predictions{};
  };
  bool parse_current(std::string_view text);
  bool parse_entry(std::string_view text);
  bool parse_result(std::string_view text);
  bool parse_predictions(std::string_view text);
  void parse_line(std::string_view text);
  void drop_oldest_result(const std::string& id);

  std::vector<Line> lines_;
  std::vector<ProgressEntry> entries_;
  std::vector<std::size_t> damaged_;
  std::string current_;
};

/// Returns $XDG_DATA_HOME/flashlab, or ~/.local/share/flashlab. Nothing if neither variable holds
/// an absolute path.
std::optional<std::filesystem::path> progress_folder();

/// The progress file in its folder. No function throws because of the file. notes() gives the
/// reason why progress cannot be stored.
class ProgressFile {
 public:
  explicit ProgressFile(std::optional<std::filesystem::path> folder);

  /// Returns the current content of the file.
  Progress read();
  /// Reads the file, applies `change` and writes the file, while it is locked against other
  /// processes. Returns the new progress. A file that is not text is renamed first.
  using Change = std::function<void(Progress&)>;
  Progress update(const Change& change);

  /// Returns messages for the learner, one sentence each, without repetition: lines that cannot be
  /// parsed, a file that was renamed, why progress is not stored.
  const std::vector<std::string>& notes() const { return notes_; }
  std::filesystem::path path() const;

 private:
  void note(std::string text);
  std::optional<std::string> text();
  void note_damage(const Progress& progress);
  std::optional<Progress> take(std::string& reason);
  Progress unremembered(const std::string& reason, const Change& change);

  std::optional<std::filesystem::path> folder_;
  std::vector<std::string> notes_;
};

}  // namespace flashlab::exercises
