// What a learner has done so far, in a text file that a person can read and edit.
//
//   current: 02_product
//   01_c00      full    points 10   checks 1  hints 0  file /home/ada/01_c00.toy
//   02_product  started points 0    checks 3  hints 2  solution seen  file /home/ada/02_product.toy
//
// Comments, blank lines and lines that are none of these stay where they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::exercises {

enum class ProgressState : std::uint8_t { kStarted, kPassed, kFull };
std::string_view to_string(ProgressState state);

struct ProgressEntry {
  std::string id;
  ProgressState state = ProgressState::kStarted;
  double points = 0;        // the best so far
  std::int64_t checks = 0;  // how often it was checked
  std::size_t hints = 0;    // how many were shown
  bool solution_seen = false;
  std::string file;  // where the learner's own is; empty: not known
};

class Progress {
 public:
  /// Any text; what is no entry is kept as it is.
  static Progress parse(std::string_view text);
  /// With a comment on top when there was no text at all.
  std::string to_text() const;

  const ProgressEntry* find(std::string_view id) const;
  /// The one that was started or checked last; empty: none.
  const std::string& current() const { return current_; }
  bool passed(std::string_view id) const;

  /// The exercise's entry, a new one if need be.
  ProgressEntry& entry(const std::string& id);
  void set_current(const std::string& id) { current_ = id; }
  /// False when there was nothing to forget.
  bool forget(std::string_view id);

  const std::vector<ProgressEntry>& entries() const { return entries_; }
  /// Numbers of the lines that could not be read.
  const std::vector<std::size_t>& damaged_lines() const { return damaged_; }

 private:
  static constexpr std::size_t kNoEntry = static_cast<std::size_t>(-1);
  /// A line that is an entry, by its id; any other as it is.
  struct Line {
    std::string text;
    std::string id;  // empty: `text` stands for itself
  };
  void parse_line(std::string_view text);

  std::vector<Line> lines_;
  std::vector<ProgressEntry> entries_;
  std::vector<std::size_t> damaged_;
  std::string current_;
};

/// $XDG_DATA_HOME/flashlab, or ~/.local/share/flashlab. Nothing when neither variable names an
/// absolute path.
std::optional<std::filesystem::path> progress_folder();

/// The file in its folder. Nothing here throws on account of the file: what stands in the way is
/// said in notes(), and the progress is then not remembered.
class ProgressFile {
 public:
  explicit ProgressFile(std::optional<std::filesystem::path> folder);

  /// As the file is now.
  Progress read();
  /// Reads the file, lets `change` work on it and writes it, while no other process can; the
  /// progress afterwards. A file that is no text is set aside under another name first.
  using Change = std::function<void(Progress&)>;
  Progress update(const Change& change);

  /// What the learner should know, a sentence each, each once: lines that cannot be read, a file
  /// that was set aside, why nothing is remembered.
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
