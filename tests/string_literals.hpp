// Finds the string literals of C++ source text, well enough for the tests that read our own.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

namespace flashlab::test {

/// The contents of all string literals, raw ones included, escapes as written.
inline std::vector<std::string> string_literals(const std::string& code) {
  std::vector<std::string> found;
  const auto at = [&](std::size_t i) { return i < code.size() ? code[i] : '\0'; };
  const auto past = [&](const std::string& end, std::size_t from) {  // just behind the next `end`
    const std::size_t place = code.find(end, from);
    return place == std::string::npos ? code.size() : place + end.size();
  };
  const auto quoted_end = [&](std::size_t open) {  // the closing quote
    std::size_t i = open + 1;
    while (i < code.size() && code[i] != code[open]) i += code[i] == '\\' ? 2 : 1;
    return i;
  };
  for (std::size_t i = 0; i < code.size();) {
    const bool after_word = i > 0 && std::isalnum(static_cast<unsigned char>(code[i - 1])) != 0;
    if (at(i) == '/' && at(i + 1) == '/') {
      i = past("\n", i);
    } else if (at(i) == '/' && at(i + 1) == '*') {
      i = past("*/", i + 2);
    } else if (at(i) == 'R' && at(i + 1) == '"' && !after_word) {
      const std::size_t open = code.find('(', i);
      if (open == std::string::npos) break;
      std::string end = ")";
      end.append(code, i + 2, open - i - 2).append("\"");
      i = past(end, open);
      found.push_back(code.substr(open + 1, i - end.size() - open - 1));
    } else if (at(i) == '"') {
      const std::size_t close = quoted_end(i);
      if (close > code.size()) break;
      found.push_back(code.substr(i + 1, close - i - 1));
      i = close + 1;
    } else if (at(i) == '\'' && !after_word) {  // not the separator of 1'000
      i = quoted_end(i) + 1;
    } else {
      ++i;
    }
  }
  return found;
}

}  // namespace flashlab::test
