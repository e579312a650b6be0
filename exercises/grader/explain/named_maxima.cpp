#include "exercises/grader/explain/named_maxima.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "toymachine/forms/formula_difference.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::string_view kStart = "max(";

/// The end of the maximum that begins at `from`, behind its parenthesis.
std::size_t end_of_maximum(const std::string& text, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from + kStart.size() - 1; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return text.size();
}

/// Adds the outermost maxima that are not known yet.
void add_maxima(const std::string& text, std::vector<std::string>& maxima) {
  for (std::size_t at = text.find(kStart); at != std::string::npos;) {
    const std::size_t end = end_of_maximum(text, at);
    std::string one = text.substr(at, end - at);
    if (std::find(maxima.begin(), maxima.end(), one) == maxima.end()) {
      maxima.push_back(std::move(one));
    }
    at = text.find(kStart, end);
  }
}

void replace_all(std::string& text, const std::string& from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

}  // namespace

NamedMaxima name_maxima(const std::string& one, const std::string& other) {
  constexpr std::array<std::string_view, 2> kNames{"m", "m'"};
  constexpr std::size_t kRoom = 48;
  NamedMaxima named{one, other, ""};
  std::vector<std::string> maxima;
  add_maxima(one, maxima);
  add_maxima(other, maxima);
  const bool has_array =
      one.find("m[") != std::string::npos || other.find("m[") != std::string::npos;
  if (maxima.empty() || maxima.size() > kNames.size() || has_array) return named;
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    replace_all(named.one, maxima[i], kNames[i]);
    replace_all(named.other, maxima[i], kNames[i]);
    named.where += (i == 0 ? "" : " and ") + std::string(kNames[i]) + " = " +
                   toy::shortened_formula(maxima[i], kRoom);
  }
  return named;
}

}  // namespace flashlab::exercises
