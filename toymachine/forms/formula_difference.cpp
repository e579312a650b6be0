#include "toymachine/forms/formula_difference.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "text/lists.hpp"

namespace flashlab::toy {
namespace {

constexpr std::size_t kShown = 140;  // of the terms that differ
constexpr std::size_t kLine = 60;    // as long as the rest of a line behind "it should hold"
constexpr std::size_t kLeast = 12;   // less room than this shows nothing of a formula
constexpr std::size_t kWhole = 24;   // a term of at most this length is not cut
constexpr int kDeepest = 8;  // of parentheses inside each other that are compared one by one

int depth_change(char c) {
  if (c == '(' || c == '[') return 1;
  return c == ')' || c == ']' ? -1 : 0;
}

/// A term with its sign, for comparisons: the first of a sum has no "+ ".
std::string with_sign(const std::string& term) {
  if (term.starts_with("+ ") || term.starts_with("- ")) return term;
  return term.starts_with("-") ? "- " + term.substr(1) : "+ " + term;
}

std::string without_plus(const std::string& term) {
  if (term.starts_with("+ ")) return term.substr(2);
  return term.starts_with("- ") ? "-" + term.substr(2) : term;
}

/// The terms of a sum, "+ a*b", "- c", or the arguments of a maximum.
struct Terms {
  bool are_arguments = false;
  std::vector<std::string> texts;
};

std::vector<std::string> arguments_of(const std::string& list) {
  std::vector<std::string> arguments;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    depth += depth_change(list[i]);
    if (depth > 0 || list[i] != ',') continue;
    arguments.push_back(list.substr(begin, i - begin));
    begin = i + 2;
  }
  arguments.push_back(list.substr(std::min(begin, list.size())));
  return arguments;
}

std::vector<std::string> summands_of(const std::string& sum) {
  std::vector<std::string> terms;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    depth += depth_change(sum[i]);
    const bool sign = sum[i] == ' ' && i + 2 < sum.size() && sum[i + 2] == ' ';
    if (depth > 0 || !sign) continue;
    terms.push_back(with_sign(sum.substr(begin, i - begin)));
    begin = i + 1;
    i += 2;
  }
  terms.push_back(with_sign(sum.substr(begin)));
  return terms;
}

Terms terms_of(const std::string& formula) {
  Terms terms{true, arguments_of(formula)};
  if (terms.texts.size() == 1) terms = {false, summands_of(formula)};
  return terms;
}

/// A term's text outside of its parentheses, "(", ")/(" and ")", and inside of them.
struct Groups {
  std::vector<std::string> outside, inside;  // one more outside

  std::size_t outside_size() const {
    std::size_t size = 0;
    for (const std::string& text : outside) size += text.size();
    return size;
  }

  std::string joined() const {
    std::string text = outside.front();
    for (std::size_t i = 0; i < inside.size(); ++i) text += inside[i] + outside[i + 1];
    return text;
  }
};

Groups groups_of(const std::string& term) {
  Groups groups;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < term.size(); ++i) {
    const bool opens = term[i] == '(' && depth == 0;
    depth += depth_change(term[i]);
    const bool closes = term[i] == ')' && depth == 0;
    if (!opens && !closes) continue;
    const std::size_t end = opens ? i + 1 : i;
    (opens ? groups.outside : groups.inside).push_back(term.substr(begin, end - begin));
    begin = end;
  }
  groups.outside.push_back(term.substr(begin));
  if (groups.outside.size() == groups.inside.size() + 1) return groups;
  return {{term}, {}};  // a text that was cut before has parentheses that are never closed
}

/// "3 more terms", "3 terms are the same".
std::string terms_text(std::size_t number, bool are_equal) {
  const std::string terms = number == 1 ? "term" : "terms";
  if (!are_equal) return std::to_string(number) + " more " + terms;
  return std::to_string(number) + " " + terms + (number == 1 ? " is the same" : " are the same");
}

/// The terms that a text leaves out.
struct LeftOut {
  std::size_t more = 0, equal = 0;

  std::string text(bool are_arguments) const {
    std::string result;
    if (more > 0) result = terms_text(more, false);
    if (equal > 0) result += (result.empty() ? "" : ", ") + terms_text(equal, true);
    if (result.empty()) return "";
    return (are_arguments ? ", ... (" : " + ... (") + result + ")";
  }
};

/// Where a text may be cut: before an operator or behind it, and not inside of an index, "[0]".
std::vector<std::size_t> boundaries_of(const std::string& text) {
  std::vector<std::size_t> places{0};
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == ']') depth += depth_change(text[i]);
    const bool is_operator = text[i] == '*' || text[i] == '/' || text[i] == ' ';
    if (depth == 0 && is_operator && i > 0) places.push_back(i);
  }
  places.push_back(text.size());
  return places;
}

/// The text around the place `from`, where it differs from another: of a product, whole factors.
std::string cut(const std::string& text, std::size_t from, std::size_t room) {
  if (text.size() <= std::max(room, kWhole)) return text;
  std::size_t start = std::min(from > room / 2 ? from - room / 2 : 0, text.size() - room);
  std::size_t end = start + room;
  const std::vector<std::size_t> places = boundaries_of(text);
  auto first = std::lower_bound(places.begin(), places.end(), start);
  if (*first >= from && first != places.begin()) first = std::prev(first);
  auto last = std::prev(std::upper_bound(places.begin(), places.end(), end));
  if (*last <= std::min(from, text.size() - 1)) ++last;
  // Else one factor has more than there is room for.
  if (*last - *first <= 2 * std::max(room, kWhole)) {
    start = *first;
    end = *last;
  }
  return (start > 0 ? "... " : "") + std::string(trimmed(text.substr(start, end - start))) +
         (end < text.size() ? " ..." : "");
}

std::string shortened(const std::string& formula, std::size_t room);

/// "v[0]*e^(...)" shows more of a term than counting it.
std::string without_insides(const std::string& term) {
  Groups groups = groups_of(term);
  for (std::string& inside : groups.inside) inside = shortened(inside, 0);
  return groups.joined();
}

/// The first terms, as far as there is room.
struct ListedTerms {
  std::string text;
  std::size_t shown = 1;
};

/// `first` is the first term as it should be shown.
ListedTerms first_terms(const Terms& terms, const std::string& first, std::size_t room) {
  ListedTerms listed{terms.are_arguments ? first : without_plus(first)};
  for (; listed.shown < terms.texts.size(); ++listed.shown) {
    std::string term = terms.texts[listed.shown];
    if (listed.text.size() + term.size() > room) term = without_insides(term);
    if (listed.text.size() + term.size() > room) break;
    listed.text += (terms.are_arguments ? ", " : " ") + term;
  }
  return listed;
}

/// The same, and how many terms are not shown, and are equal.
std::string terms_listed(const Terms& terms, const std::string& first, std::size_t equal,
                         std::size_t room) {
  const ListedTerms listed = first_terms(terms, first, room);
  return listed.text + LeftOut{terms.texts.size() - listed.shown, equal}.text(terms.are_arguments);
}

/// Whether a text is several terms, as an argument of a maximum may be.
bool is_sum(const std::string& text) { return summands_of(text).size() > 1; }

/// One term with its parentheses closed: what is inside of them is shortened.
std::string shortened_term(const std::string& term, std::size_t room) {
  if (term.size() <= room) return term;
  Groups groups = groups_of(term);
  if (groups.inside.empty()) return is_sum(term) ? shortened(term, room) : cut(term, 0, room);
  const std::size_t outside = groups.outside_size();
  std::size_t left = room > outside ? room - outside : 0;
  for (std::size_t i = 0; i < groups.inside.size(); ++i) {
    std::string& inside = groups.inside[i];
    inside = shortened(inside, left / (groups.inside.size() - i));
    left -= std::min(left, inside.size());
  }
  return groups.joined();
}

std::string shortened(const std::string& formula, std::size_t room) {
  if (formula.size() <= std::max(room, kLeast)) return formula;
  if (room < kLeast) return "...";
  const Terms terms = terms_of(formula);
  const std::string text = terms_listed(terms, shortened_term(terms.texts.front(), room), 0, room);
  return text.size() < formula.size() ? text : formula;
}

std::size_t common_start(const std::string& a, const std::string& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end.first - a.begin());
}

FormulaDifference difference(const std::string& one, const std::string& other, std::size_t room,
                             int depth);

/// The factors of a term with the operators before them: "+ v[0]", "*e^(x - m)", "/l".
std::vector<std::string> factors_of(const std::string& term) {
  std::vector<std::string> factors;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < term.size(); ++i) {
    depth += depth_change(term[i]);
    if (depth > 0 || i == 0 || (term[i] != '*' && term[i] != '/')) continue;
    factors.push_back(term.substr(begin, i - begin));
    begin = i;
  }
  factors.push_back(term.substr(begin));
  return factors;
}

/// A factor as it is compared: the first has no operator.
std::string bare_factor(const std::string& factor) {
  const std::size_t start = factor.find_first_not_of("+-* ");
  return start == std::string::npos ? factor : factor.substr(start);
}

/// One term beside another: of the factors that both have, what is inside of parentheses is left out.
std::string term_beside(const std::string& term, const std::string& other, std::size_t room) {
  std::vector<std::string> theirs;
  for (const std::string& factor : factors_of(other)) theirs.push_back(bare_factor(factor));
  std::vector<std::string> factors = factors_of(term);
  std::vector<bool> are_own;
  std::size_t own = 0, common = 0;
  for (std::string& factor : factors) {
    const auto same = std::find(theirs.begin(), theirs.end(), bare_factor(factor));
    are_own.push_back(same == theirs.end());
    own += are_own.back() ? 1 : 0;
    if (are_own.back()) continue;
    theirs.erase(same);
    factor = without_insides(factor);
    common += factor.size();
  }
  const std::size_t left = room > common ? room - common : 0;
  std::string text;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    text += are_own[i] ? shortened_term(factors[i], left / own) : factors[i];
  }
  return text;
}

/// Two terms that differ: what both have inside of their parentheses is left out.
FormulaDifference terms_difference(const std::string& one, const std::string& other,
                                   std::size_t room, int depth) {
  if (std::max(one.size(), other.size()) <= std::min(room, kLine)) return {one, other};
  Groups mine = groups_of(one), theirs = groups_of(other);
  if (mine.inside.size() != theirs.inside.size()) {
    return {term_beside(one, other, room), term_beside(other, one, room)};
  }
  if (mine.inside.empty() && depth < kDeepest && (is_sum(one) || is_sum(other))) {
    return difference(one, other, room, depth + 1);
  }
  if (mine.inside.empty() || depth == kDeepest) {
    const std::size_t from = common_start(one, other);
    return {cut(one, from, room), cut(other, from, room)};
  }
  std::size_t differing = 0;
  for (std::size_t i = 0; i < mine.inside.size(); ++i) {
    differing += mine.inside[i] == theirs.inside[i] ? 0 : 1;
  }
  const std::size_t outside = std::max(mine.outside_size(), theirs.outside_size());
  const std::size_t inside = room > outside ? room - outside : 0;
  for (std::size_t i = 0; i < mine.inside.size(); ++i) {
    if (mine.inside[i] == theirs.inside[i]) {
      mine.inside[i] = theirs.inside[i] = shortened(mine.inside[i], 0);
      continue;
    }
    auto both = difference(mine.inside[i], theirs.inside[i], std::max(inside / differing, kLeast),
                           depth + 1);
    mine.inside[i] = std::move(both.one);
    theirs.inside[i] = std::move(both.other);
  }
  return {mine.joined(), theirs.joined()};
}

/// Removes the terms that both have from both, and returns them.
std::vector<std::string> take_common(std::vector<std::string>& mine,
                                     std::vector<std::string>& theirs) {
  std::vector<std::string> common;
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
  return common;
}

/// Where one side has all terms of the other and more: "-m + a + ... (8 terms are the same)" beside "a + ... (8 terms
/// are the same)". Without a term, what is left out would be all of it.
FormulaDifference with_one_common(const Terms& mine, const Terms& theirs,
                                  const std::vector<std::string>& common, std::size_t room) {
  const std::string shown = shortened_term(common.front(), std::max(room / 2, kLeast));
  const auto side = [&](const Terms& own) {
    const std::string rest = LeftOut{0, common.size() - 1}.text(own.are_arguments);
    if (own.texts.empty()) return (own.are_arguments ? shown : without_plus(shown)) + rest;
    const std::string first = shortened_term(own.texts.front(), room);
    const ListedTerms listed = first_terms(own, first, room);
    if (listed.shown < own.texts.size()) return terms_listed(own, first, common.size(), room);
    return listed.text + (own.are_arguments ? ", " : " ") + shown + rest;
  };
  return {side(mine), side(theirs)};
}

FormulaDifference difference(const std::string& one, const std::string& other, std::size_t room,
                             int depth) {
  if (one == other) return {shortened(one, room), shortened(other, room)};
  if (std::max(one.size(), other.size()) <= std::min(room, kLine)) return {one, other};
  Terms mine = terms_of(one), theirs = terms_of(other);
  if (mine.are_arguments != theirs.are_arguments) {
    return {shortened(one, room), shortened(other, room)};
  }
  const std::vector<std::string> common = take_common(mine.texts, theirs.texts);
  if (mine.texts.empty() || theirs.texts.empty()) {
    return with_one_common(mine, theirs, common, room);
  }
  const FormulaDifference first =
      terms_difference(mine.texts.front(), theirs.texts.front(), room, depth);
  return {terms_listed(mine, first.one, common.size(), room),
          terms_listed(theirs, first.other, common.size(), room)};
}

}  // namespace

namespace {

/// With more room while what differs is among what is left out.
FormulaDifference visible_difference(const std::string& one, const std::string& other,
                                     std::size_t room) {
  const std::size_t longest = std::max(one.size(), other.size());
  FormulaDifference both = difference(one, other, room, 0);
  while (one != other && both.one == both.other && room < longest) {
    room = std::min(2 * room, longest);
    both = room < longest ? difference(one, other, room, 0) : FormulaDifference{one, other};
  }
  return both;
}

}  // namespace

FormulaDifference formula_difference(const std::string& one, const std::string& other) {
  if (one.size() <= kShortFormula && other.size() <= kShortFormula) return {one, other};
  return visible_difference(one, other, kShown);
}

FormulaDifference formula_difference(const std::string& one, const std::string& other,
                                     std::size_t room) {
  if (one.size() <= room && other.size() <= room) return {one, other};
  return visible_difference(one, other, room);
}

std::string shortened_formula(const std::string& formula, std::size_t room) {
  return formula.size() <= room ? formula : shortened(formula, room);
}

}  // namespace flashlab::toy
