#include "toymachine/forms/formula_difference.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace flashlab::toy {
namespace {

constexpr std::size_t kShort = 100;  // shown as it is
constexpr std::size_t kShown = 140;  // of the terms that differ

/// The terms of a sum: "a*b", "- c", "+ d".
std::vector<std::string> terms_of(const std::string& sum) {
  std::vector<std::string> terms;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (sum[i] == '(' || sum[i] == '[') ++depth;
    if (sum[i] == ')' || sum[i] == ']') --depth;
    const bool sign = sum[i] == ' ' && i + 2 < sum.size() && sum[i + 2] == ' ';
    if (depth > 0 || !sign) continue;
    terms.push_back(sum.substr(begin, i - begin));
    begin = i + 1;
    i += 2;
  }
  terms.push_back(sum.substr(begin));
  return terms;
}

/// A term with its sign, for comparisons: the first of a sum has no "+ ".
std::string with_sign(const std::string& term) {
  if (term.starts_with("+ ") || term.starts_with("- ")) return term;
  return term.starts_with("-") ? "- " + term.substr(1) : "+ " + term;
}

std::vector<std::string> signed_terms(const std::string& sum) {
  std::vector<std::string> terms = terms_of(sum);
  for (std::string& term : terms) term = with_sign(term);
  return terms;
}

/// "(a + b)" and "(c + d)" of "(a + b)/(c + d)".
struct Quotient {
  std::string above, below;
};

std::optional<Quotient> quotient_of(const std::string& formula) {
  int depth = 0;
  std::optional<std::size_t> line;
  for (std::size_t i = 0; i < formula.size(); ++i) {
    if (formula[i] == '(' || formula[i] == '[') ++depth;
    if (formula[i] == ')' || formula[i] == ']') --depth;
    if (depth > 0) continue;
    if (formula[i] == ' ') return std::nullopt;  // a sum of quotients
    if (formula[i] == '/') line = i;
  }
  if (!line) return std::nullopt;
  const auto inside = [](const std::string& part) {
    const bool wrapped = part.starts_with("(") && part.ends_with(")");
    return wrapped ? part.substr(1, part.size() - 2) : part;
  };
  return Quotient{inside(formula.substr(0, *line)), inside(formula.substr(*line + 1))};
}

std::string parenthesised(const std::string& sum) {
  return sum.find(' ') == std::string::npos ? sum : "(" + sum + ")";
}

/// The term up to its end or, if it is long, to the place behind which it differs.
std::string cut(const std::string& term, std::size_t from) {
  if (term.size() <= kShown) return term;
  const std::size_t start = from > kShown / 2 ? from - kShown / 2 : 0;
  std::string text = term.substr(start, kShown);
  return (start > 0 ? "... " : "") + text + (start + kShown < term.size() ? " ..." : "");
}

/// "3 equal terms".
std::string terms_text(std::size_t number, const std::string& which) {
  return std::to_string(number) + " " + which + (number == 1 ? " term" : " terms");
}

/// The terms that a text leaves out.
struct LeftOut {
  std::size_t more = 0, equal = 0;

  std::string text() const {
    std::string result;
    if (more > 0) result = terms_text(more, "more");
    if (equal > 0) result += (result.empty() ? "" : ", ") + terms_text(equal, "equal");
    return result.empty() ? "" : " + ... (" + result + ")";
  }
};

/// The first terms, as far as there is room, and how many are not shown. Shows the first term from
/// near `from` on.
std::string terms_listed(const std::vector<std::string>& terms, std::size_t equal,
                         std::size_t from) {
  std::string text;
  std::size_t shown = 0;
  for (const std::string& term : terms) {
    if (shown > 0 && text.size() + term.size() > kShown) break;
    const std::string here = cut(term, shown == 0 ? from : 0);
    const bool first = shown == 0;
    text += first && here.starts_with("+ ")   ? here.substr(2)
            : first && here.starts_with("- ") ? "-" + here.substr(2)
                                              : (first ? "" : " ") + here;
    ++shown;
  }
  return text + LeftOut{terms.size() - shown, equal}.text();
}

std::size_t common_start(const std::string& a, const std::string& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end.first - a.begin());
}

FormulaDifference sums(const std::string& one, const std::string& other) {
  if (one == other) return {shortened_formula(one), shortened_formula(other)};
  std::vector<std::string> mine = signed_terms(one), theirs = signed_terms(other), common;
  for (auto term = mine.begin(); term != mine.end();) {
    const auto same = std::find(theirs.begin(), theirs.end(), *term);
    if (same == theirs.end()) {
      ++term;
      continue;
    }
    theirs.erase(same);
    common.push_back(*term);
    term = mine.erase(term);
  }
  const std::size_t from =
      mine.empty() || theirs.empty() ? 0 : common_start(mine.front(), theirs.front());
  const auto side = [&](std::vector<std::string>& terms) {
    if (!terms.empty()) return terms_listed(terms, common.size(), from);
    return terms_listed({common.front()}, common.size() - 1, 0);
  };
  return {side(mine), side(theirs)};
}

}  // namespace

FormulaDifference formula_difference(const std::string& one, const std::string& other) {
  if (one.size() <= kShort && other.size() <= kShort) return {one, other};
  const auto mine = quotient_of(one), theirs = quotient_of(other);
  if (!mine || !theirs) return sums(one, other);
  const FormulaDifference above = sums(mine->above, theirs->above);
  const FormulaDifference below = sums(mine->below, theirs->below);
  return {parenthesised(above.one) + "/" + parenthesised(below.one),
          parenthesised(above.other) + "/" + parenthesised(below.other)};
}

std::string shortened_formula(const std::string& formula) {
  if (formula.size() <= kShort) return formula;
  if (const auto quotient = quotient_of(formula)) {
    return parenthesised(shortened_formula(quotient->above)) + "/" +
           parenthesised(shortened_formula(quotient->below));
  }
  return terms_listed(signed_terms(formula), 0, 0);
}

}  // namespace flashlab::toy
