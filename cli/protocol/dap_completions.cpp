// The debugger's answer about what could be typed in its console.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/protocol/dap_server.hpp"
#include "cli/protocol/json_members.hpp"
#include "text/lists.hpp"
#include "text/utf8.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kWhoWrote = "who wrote ";
constexpr std::size_t kMostPlainRegisters = 256;  // without a name of their own

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/// Returns the byte of a place in units of UTF-16; behind the text, its end. `units` becomes what stands
/// before it.
std::size_t byte_at(std::string_view text, std::int64_t& units) {
  std::size_t at = 0;
  std::int64_t before = 0;
  while (at < text.size() && before < units) {
    const CodePoint point = code_point(text, at);
    before += point.code > 0xFFFF ? 2 : 1;
    at += point.bytes;
  }
  units = before;
  return at;
}

/// A name of the program, and its type for the client.
using ConsoleNames = std::vector<std::pair<std::string, const char*>>;

ConsoleNames console_names(const toy::BoundProgram& program, bool only_places) {
  ConsoleNames names;
  for (const toy::BoundArray& one : program.arrays) names.emplace_back(one.name, "variable");
  for (const toy::NamedRegisters& one : program.named_registers) {
    names.emplace_back(one.name, "property");
  }
  const auto count = std::min(static_cast<std::size_t>(program.num_registers), kMostPlainRegisters);
  for (std::size_t i = 0; i < count; ++i) names.emplace_back("R" + std::to_string(i), "property");
  if (only_places) return names;
  for (const toy::BoundLoop& one : program.loops) names.emplace_back(one.var, "value");
  for (const toy::ParamDeclaration& one : program.program->params) {
    names.emplace_back(one.name, "value");
  }
  names.emplace_back(std::string(kWhoWrote), "keyword");
  return names;
}

}  // namespace

/// The names that begin with the word before the cursor.
json DapServer::completions(const json& arguments) {
  const std::string all = text_in(arguments, "text");
  std::string_view text = all;
  for (auto line = from_client_line(number_in(arguments, "line", lines_start_at_1_ ? 1 : 0));
       line > 1 && text.find('\n') != std::string_view::npos; --line) {
    text.remove_prefix(text.find('\n') + 1);
  }
  text = text.substr(0, text.find('\n'));
  const std::int64_t first_column = columns_start_at_1_ ? 1 : 0;
  std::int64_t column = std::max(number_in(arguments, "column", 0), first_column) - first_column;
  text = text.substr(0, byte_at(text, column));
  std::size_t start = text.size();
  while (start > 0 && is_of_word(text[start - 1])) --start;
  const std::string_view word = text.substr(start), before = trimmed(text.substr(0, start));
  const bool is_number = !word.empty() && is_digit(word.front());
  json targets = json::array();
  if (is_number) return {{"targets", std::move(targets)}};
  std::vector<std::string_view> seen;
  const ConsoleNames names = console_names(program(), before == trimmed(kWhoWrote));
  for (const auto& [name, type] : names) {
    if (!std::string_view(name).starts_with(word)) continue;
    if (name == kWhoWrote && !before.empty()) continue;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    seen.push_back(name);
    targets.push_back({{"label", name},
                       {"type", type},
                       {"start", column - static_cast<std::int64_t>(word.size()) + first_column},
                       {"length", word.size()}});
  }
  return {{"targets", std::move(targets)}};
}

}  // namespace flashlab::cli
