#include "exercises/grader/grade/progress.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "exercises/grader/exercise/points.hpp"
#include "text/read_number.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::string_view kHeader =
    "# What flashlab remembers of your exercises. You may edit it while no command runs;\n"
    "# lines that flashlab cannot read are kept. `flashlab exercises reset ID` forgets one.\n"
    "\n";
constexpr std::string_view kCurrent = "current: ";
constexpr std::size_t kMostHints = 99;

/// Escapes bytes that would end a line (or a word, if `word`) as %0A.
std::string escaped(std::string_view text, bool word) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '%' || (word && (c == ' ' || c == ':' || c == '#'))) {
      result += {'%', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
    } else {
      result += c;
    }
  }
  return result;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, code] = read_number(digits, byte, 16);
    if (code != std::errc{} || end != digits.data() + 2) return std::nullopt;
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

/// Removes the next word of `line` and returns it.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

template <class Number>
bool read_at_most(std::string_view word, Number most, Number& value) {
  return read_whole(word, value) && value >= 0 && value <= most;
}

std::optional<ProgressState> parse_state(std::string_view word) {
  for (const auto state : {ProgressState::kStarted, ProgressState::kPassed, ProgressState::kFull}) {
    if (word == to_string(state)) return state;
  }
  return std::nullopt;
}

/// Reads one "key value" after the state. `line` starts after the key.
bool read_field(std::string_view key, std::string_view& line, ProgressEntry& entry) {
  if (key == "points") return read_at_most(take_word(line), 1e9, entry.points);
  if (key == "checks") {
    return read_at_most(take_word(line), std::int64_t{1} << 53, entry.checks);
  }
  if (key == "hints") return read_at_most(take_word(line), kMostHints, entry.hints);
  if (key == "solution") return entry.solution_seen = take_word(line) == "seen";
  if (key != "file") return false;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto file = unescaped(line);
  if (file) entry.file = *file;
  line = {};
  return file && !file->empty();
}

std::optional<ProgressEntry> read_entry(std::string_view line) {
  const auto id = unescaped(take_word(line));
  const auto state = parse_state(take_word(line));
  if (!id || id->empty() || !state) return std::nullopt;
  ProgressEntry entry;
  entry.id = *id;
  entry.state = *state;
  for (std::string_view key; !(key = take_word(line)).empty();) {
    if (!read_field(key, line, entry)) return std::nullopt;
  }
  if (entry.state != ProgressState::kFull) {  // versions before 0.2 wrote hundredths
    entry.points = rounded_points(entry.points, std::numeric_limits<double>::infinity(), false);
  }
  return entry;
}

std::string shortest(double value) {
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string entry_text(const ProgressEntry& entry, std::size_t id_width) {
  std::string text = padded(escaped(entry.id, true), id_width) + "  " +
                     padded(std::string(to_string(entry.state)), 7) + "  points " +
                     padded(shortest(entry.points), 4) + "  checks " +
                     padded(std::to_string(entry.checks), 3) + "  hints " +
                     std::to_string(entry.hints);
  if (entry.solution_seen) text += "  solution seen";
  if (!entry.file.empty()) text += "  file " + escaped(entry.file, false);
  return text;
}

}  // namespace

std::string_view to_string(ProgressState state) {
  constexpr std::array<std::string_view, 3> kNames{"started", "passed", "full"};
  return kNames[static_cast<std::size_t>(state)];
}

void Progress::parse_line(std::string_view text) {
  const bool comment = text.find_first_not_of(" \t\r") == std::string_view::npos ||
                       text[text.find_first_not_of(" \t")] == '#';
  if (!comment && text.starts_with(kCurrent)) {
    if (const auto id = unescaped(text.substr(kCurrent.size())); id && current_.empty()) {
      current_ = *id;
      return;  // to_text() writes it again at the top
    }
  }
  if (!comment) {
    if (auto entry = read_entry(text); entry && find(entry->id) == nullptr) {
      lines_.push_back({{}, entry->id});
      entries_.push_back(std::move(*entry));
      return;
    }
    damaged_.push_back(lines_.size() + 1 + (current_.empty() ? 0 : 1));
  }
  lines_.push_back({std::string(text), {}});
}

Progress Progress::parse(std::string_view text) {
  Progress progress;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    progress.parse_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return progress;
}

std::string Progress::to_text() const {
  std::size_t width = 0;
  for (const ProgressEntry& entry : entries_)
    width = std::max(width, escaped(entry.id, true).size());
  const auto is_other = [](const Line& line) { return line.id.empty(); };
  const bool untouched = std::any_of(lines_.begin(), lines_.end(), is_other);
  std::string text(untouched ? std::string_view{} : kHeader);
  bool current_written = current_.empty();
  const auto write_current = [&] {
    if (!current_written) text += std::string(kCurrent) + escaped(current_, true) + "\n";
    current_written = true;
  };
  for (const Line& line : lines_) {
    if (!line.id.empty()) write_current();
    text += (line.id.empty() ? line.text : entry_text(*find(line.id), width)) + "\n";
  }
  write_current();
  return text;
}

const ProgressEntry* Progress::find(std::string_view id) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [id](const ProgressEntry& entry) { return entry.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

bool Progress::passed(std::string_view id) const {
  const ProgressEntry* entry = find(id);
  return entry != nullptr && entry->state != ProgressState::kStarted;
}

ProgressEntry& Progress::entry(const std::string& id) {
  for (ProgressEntry& entry : entries_) {
    if (entry.id == id) return entry;
  }
  lines_.push_back({{}, id});
  entries_.push_back({.id = id, .file = {}});
  return entries_.back();
}

bool Progress::forget(std::string_view id) {
  if (current_ == id) current_.clear();
  std::erase_if(lines_, [id](const Line& line) { return line.id == id; });
  return std::erase_if(entries_, [id](const ProgressEntry& entry) { return entry.id == id; }) > 0;
}

}  // namespace flashlab::exercises
