#include "tests/compare/xml_check.hpp"

#include <regex>
#include <set>
#include <vector>

namespace flashlab::test {
namespace {

std::string reference_error(std::string_view text) {
  static const std::regex kReference("^&(amp|lt|gt|quot|#39);");
  for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
    const std::string rest(text.substr(at, 8));
    if (!std::regex_search(rest, kReference)) return "no reference: " + rest;
  }
  return {};
}

/// The inside of a tag, without "/" at its end.
std::string attributes_error(std::string_view inside, const std::string& name) {
  static const std::regex kAttribute(R"re(^\s+([A-Za-z_][\w:-]*)="([^"<]*)")re");
  std::string rest(inside.substr(name.size()));
  std::set<std::string> names;
  for (std::smatch match; std::regex_search(rest, match, kAttribute); rest = match.suffix().str()) {
    if (!names.insert(match[1].str()).second) return "twice: " + match[1].str();
    const std::string value = match[2].str();
    if (const std::string error = reference_error(value); !error.empty()) return error;
  }
  return rest.empty() ? "" : "no attribute: " + rest;
}

std::string name_of(std::string_view inside) {
  const std::size_t end = inside.find_first_of(" \t\n");
  return std::string(inside.substr(0, end));
}

}  // namespace

std::string xml_error(std::string_view text) {
  std::vector<std::string> open;
  bool had_root = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return "control character";
  }
  for (;;) {
    const std::size_t begin = text.find('<');
    const std::string_view between = text.substr(0, begin);
    if (const std::string error = reference_error(between); !error.empty()) return error;
    if (open.empty() && between.find_first_not_of(" \n") != between.npos) return "text outside";
    if (begin == text.npos) break;
    const std::size_t end = text.find('>', begin);
    if (end == text.npos) return "a tag without an end";
    std::string_view inside = text.substr(begin + 1, end - begin - 1);
    text.remove_prefix(end + 1);
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return "closes: " + std::string(inside);
      open.pop_back();
      continue;
    }
    if (open.empty() && had_root) return "two roots";
    had_root = true;
    const bool is_empty = inside.ends_with('/');
    if (is_empty) inside.remove_suffix(1);
    const std::string name = name_of(inside);
    if (const std::string error = attributes_error(inside, name); !error.empty()) return error;
    if (!is_empty) open.push_back(name);
  }
  if (!open.empty()) return "open at the end: " + open.back();
  return had_root ? "" : "no element";
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

}  // namespace flashlab::test
