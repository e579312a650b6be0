#include "exercises/bench/class_maker.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "toymachine/language/instruction_set.hpp"

namespace flashlab::bench {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The places of register numbers in a line, "R12" and "r12", outside comments.
std::vector<std::pair<std::size_t, std::size_t>> register_numbers(const std::string& line) {
  std::vector<std::pair<std::size_t, std::size_t>> found;  // position, length
  const std::size_t end = std::min(line.find_first_of(";#"), line.size());
  for (std::size_t i = 0; i + 1 < end; ++i) {
    const bool begins = (line[i] == 'R' || line[i] == 'r') && (i == 0 || !is_word(line[i - 1]));
    if (!begins || !is_digit(line[i + 1])) continue;
    std::size_t length = 1;
    while (i + 1 + length < end && is_digit(line[i + 1 + length])) ++length;
    found.emplace_back(i + 1, length);
  }
  return found;
}

std::set<std::string> registers_of(const std::string& line) {
  std::set<std::string> all;
  for (const auto& [at, length] : register_numbers(line)) all.insert(line.substr(at, length));
  return all;
}

std::string first_word(const std::string& line) {
  const std::size_t start = std::min(line.find_first_not_of(" \t"), line.size());
  std::size_t end = start;
  while (end < line.size() && is_word(line[end])) ++end;
  return line.substr(start, end - start);
}

bool is_instruction(const std::string& line) {
  const std::string word = first_word(line);
  const auto& rows = toy::instruction_set();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row.mnemonic == word; });
}

/// Whether the lines share no register and at most one of them accesses memory.
bool independent(const std::string& a, const std::string& b) {
  const bool memory = a.find('[') != std::string::npos && b.find('[') != std::string::npos;
  const std::set<std::string> mine = registers_of(a), theirs = registers_of(b);
  return !memory && std::none_of(mine.begin(), mine.end(),
                                 [&](const std::string& one) { return theirs.contains(one); });
}

}  // namespace

ClassMaker::ClassMaker(const std::string& solution, std::uint64_t seed) : generator_(seed) {
  std::istringstream stream(solution);
  for (std::string line; std::getline(stream, line);) {
    for (const auto& [at, length] : register_numbers(line)) {
      num_registers_ = std::max(num_registers_, std::stoul(line.substr(at, length)) + 1);
    }
    solution_.push_back(line);
  }
}

void ClassMaker::rename_registers(Lines& lines) {
  std::vector<std::size_t> names(num_registers_);
  std::iota(names.begin(), names.end(), std::size_t{0});
  for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[below(i)]);
  for (std::string& line : lines) {
    const auto numbers = register_numbers(line);
    for (auto place = numbers.rbegin(); place != numbers.rend(); ++place) {
      const std::size_t old = std::stoul(line.substr(place->first, place->second));
      line.replace(place->first, place->second, std::to_string(names[old]));
    }
  }
}

void ClassMaker::reorder(Lines& lines) {
  constexpr std::size_t kTries = 20;
  for (std::size_t i = 0; i < kTries; ++i) {
    const std::size_t at = below(lines.size() - 1);
    if (is_instruction(lines[at]) && is_instruction(lines[at + 1]) &&
        independent(lines[at], lines[at + 1])) {
      std::swap(lines[at], lines[at + 1]);
    }
  }
}

ClassMaker::Lines ClassMaker::shuffled() {
  Lines lines = solution_;
  rename_registers(lines);
  reorder(lines);
  return lines;
}

std::string ClassMaker::finished(const Lines& lines) {
  std::string text = "; student " + std::to_string(num_made_++) + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string ClassMaker::right() { return finished(shuffled()); }

std::string ClassMaker::edited() {
  Lines lines = shuffled();
  std::size_t at = below(lines.size());
  while (!is_instruction(lines[at])) at = below(lines.size());
  const auto offset = static_cast<Lines::difference_type>(at);
  const auto numbers = register_numbers(lines[at]);
  switch (below(5)) {
    case 0:
      lines.erase(lines.begin() + offset);
      break;
    case 1:
      lines.insert(lines.begin() + offset, std::string(lines[at]));
      break;
    case 2:
      if (!numbers.empty()) {
        const auto& [place, length] = numbers[below(numbers.size())];
        lines[at].replace(place, length, std::to_string(below(num_registers_)));
      }
      break;
    case 3: {
      const auto& rows = toy::instruction_set();
      const std::string word = first_word(lines[at]);
      lines[at].replace(lines[at].find(word), word.size(), rows[below(rows.size())].mnemonic);
      break;
    }
    default:
      if (at + 1 < lines.size()) std::swap(lines[at], lines[at + 1]);
  }
  return finished(lines);
}

}  // namespace flashlab::bench
