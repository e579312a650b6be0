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
constexpr std::string_view kCurrent = "current: ", kResult = "result: ", kPredicted = "predicted: ";
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

/// Removes a path, the rest of the line. Returns nothing if it is none.
std::optional<std::string> take_path(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  auto path = unescaped(line);
  line = {};
  if (path && path->empty()) return std::nullopt;
  return path;
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
  const auto file = take_path(line);
  if (file) entry.file = *file;
  return file.has_value();
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

/// A count as to_string() writes it: digits alone.
bool read_count(std::string_view word, toy::Count& count) {
  constexpr std::size_t kLongest = 1000;
  const bool is_whole = !word.empty() && word.size() <= kLongest &&
                        word.find_first_not_of("0123456789") == std::string_view::npos;
  return is_whole && count.set_str(std::string(word), 10) == 0;
}

/// Whether this is a time as "2026-11-28T10:00:00Z".
bool is_time_stamp(std::string_view word) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  const auto fits = [](char form, char c) {
    return form == '0' ? c >= '0' && c <= '9' : c == form;
  };
  return word.size() == kForm.size() && std::equal(kForm.begin(), kForm.end(), word.begin(), fits);
}

/// `line` starts after kResult.
std::optional<ProgressResult> read_result(std::string_view line) {
  ProgressResult result;
  const auto id = unescaped(take_word(line));
  result.when = take_word(line);
  if (!id || id->empty() || !is_time_stamp(result.when)) return std::nullopt;
  result.id = *id;
  if (take_word(line) != "points" || !read_at_most(take_word(line), 1e9, result.points)) {
    return std::nullopt;
  }
  for (std::string_view key; !(key = take_word(line)).empty();) {
    if (key == "file") {
      auto file = take_path(line);
      if (!file) return std::nullopt;
      result.file = std::move(*file);
    } else if (const auto name = unescaped(key);
               !name || !read_count(take_word(line), result.costs[*name])) {
      return std::nullopt;
    }
  }
  return result;
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

std::string result_text(const ProgressResult& result) {
  std::string text = std::string(kResult) + escaped(result.id, true) + " " + result.when +
                     " points " + shortest(result.points);
  for (const auto& [key, count] : result.costs) {
    text += " " + escaped(key, true) + " " + count.get_str();
  }
  if (!result.file.empty()) text += " file " + escaped(result.file, false);
  return text;
}

std::string predictions_text(const std::string& id, const Predictions& predictions) {
  std::string text = std::string(kPredicted) + escaped(id, true);
  for (const auto& [key, answer] : predictions) {
    text += " " + escaped(key, true) + "=" + escaped(answer, true);
  }
  return text;
}

}  // namespace

bool is_better(const ProgressResult& a, const ProgressResult& b) {
  if (a.points != b.points) return a.points > b.points;
  for (const auto& [key, count] : a.costs) {
    const auto other = b.costs.find(key);
    if (other != b.costs.end() && other->second != count) return count < other->second;
  }
  return false;
}

std::string_view to_string(ProgressState state) {
  constexpr std::array<std::string_view, 3> kNames{"started", "passed", "full"};
  return kNames[static_cast<std::size_t>(state)];
}

bool Progress::parse_current(std::string_view text) {
  if (!text.starts_with(kCurrent) || !current_.empty()) return false;
  const auto id = unescaped(text.substr(kCurrent.size()));
  if (id) current_ = *id;  // to_text() writes it again at the top
  return id.has_value();
}

bool Progress::parse_entry(std::string_view text) {
  auto entry = read_entry(text);
  if (!entry || find(entry->id) != nullptr) return false;
  lines_.push_back({LineKind::kEntry, {}, entry->id});
  entries_.push_back(std::move(*entry));
  return true;
}

bool Progress::parse_result(std::string_view text) {
  if (!text.starts_with(kResult)) return false;
  auto result = read_result(text.substr(kResult.size()));
  if (!result) return false;
  lines_.push_back({LineKind::kResult, std::string(text), result->id, *result});
  return true;
}

bool Progress::parse_predictions(std::string_view text) {
  if (!text.starts_with(kPredicted)) return false;
  std::string_view rest = text.substr(kPredicted.size());
  const auto id = unescaped(take_word(rest));
  if (!id || id->empty() || !predictions_of(*id).empty()) return false;
  Predictions predictions;
  for (std::string_view word; !(word = take_word(rest)).empty();) {
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) return false;
    const auto key = unescaped(word.substr(0, sign)), answer = unescaped(word.substr(sign + 1));
    if (!key || !answer || key->empty() || answer->empty()) return false;
    predictions[*key] = *answer;
  }
  lines_.push_back({LineKind::kPrediction, std::string(text), *id, {}, std::move(predictions)});
  return true;
}

void Progress::parse_line(std::string_view text) {
  const bool comment = text.find_first_not_of(" \t\r") == std::string_view::npos ||
                       text[text.find_first_not_of(" \t")] == '#';
  if (!comment) {
    if (parse_current(text) || parse_result(text) || parse_predictions(text) || parse_entry(text)) {
      return;
    }
    damaged_.push_back(lines_.size() + 1 + (current_.empty() ? 0 : 1));
  }
  lines_.push_back({LineKind::kOther, std::string(text)});
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
  const auto is_other = [](const Line& line) { return line.kind == LineKind::kOther; };
  const bool untouched = std::any_of(lines_.begin(), lines_.end(), is_other);
  std::string text(untouched ? std::string_view{} : kHeader);
  bool current_written = current_.empty();
  const auto write_current = [&] {
    if (!current_written) text += std::string(kCurrent) + escaped(current_, true) + "\n";
    current_written = true;
  };
  for (const Line& line : lines_) {
    if (!is_other(line)) write_current();
    text += (line.kind == LineKind::kEntry ? entry_text(*find(line.id), width) : line.text) + "\n";
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
  lines_.push_back({LineKind::kEntry, {}, id});
  entries_.push_back({.id = id, .file = {}});
  return entries_.back();
}

bool Progress::forget(std::string_view id) {
  if (current_ == id) current_.clear();
  std::erase_if(lines_, [id](const Line& line) { return line.id == id; });
  return std::erase_if(entries_, [id](const ProgressEntry& entry) { return entry.id == id; }) > 0;
}

void Progress::add_result(const ProgressResult& result) {
  const std::vector<ProgressResult> before = results_of(result.id);
  if (!before.empty()) {
    const ProgressResult& last = before.back();
    if (last.points == result.points && last.costs == result.costs && last.file == result.file) {
      return;
    }
  }
  if (before.size() >= kMostResults) drop_oldest_result(result.id);
  lines_.push_back({LineKind::kResult, result_text(result), result.id, result});
}

void Progress::drop_oldest_result(const std::string& id) {
  const std::vector<ProgressResult> all = results_of(id);
  const auto is_best_of_file = [&](const ProgressResult& result) {
    return std::none_of(all.begin(), all.end(), [&](const ProgressResult& other) {
      return other.file == result.file && is_better(other, result);
    });
  };
  const auto is_one = [&](const Line& line) {
    return line.kind == LineKind::kResult && line.id == id;
  };
  auto dropped = std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) {
    return is_one(line) && !is_best_of_file(line.result);
  });
  if (dropped == lines_.end()) dropped = std::find_if(lines_.begin(), lines_.end(), is_one);
  if (dropped != lines_.end()) lines_.erase(dropped);
}

std::vector<ProgressResult> Progress::results_of(std::string_view id) const {
  std::vector<ProgressResult> results;
  for (const Line& line : lines_) {
    if (line.kind == LineKind::kResult && line.id == id) results.push_back(line.result);
  }
  return results;
}

void Progress::predict(const std::string& id, Predictions predictions) {
  std::string text = predictions_text(id, predictions);
  std::erase_if(lines_, [&](const Line& line) {
    return line.kind == LineKind::kPrediction && line.id == id;
  });
  if (predictions.empty()) return;
  lines_.push_back({LineKind::kPrediction, std::move(text), id, {}, std::move(predictions)});
}

Predictions Progress::predictions_of(std::string_view id) const {
  for (const Line& line : lines_) {
    if (line.kind == LineKind::kPrediction && line.id == id) return line.predictions;
  }
  return {};
}

}  // namespace flashlab::exercises
