#include "toymachine/count/nest_components.hpp"

#include <map>
#include <set>
#include <utility>

#include "toymachine/count/inequalities.hpp"

namespace flashlab::toy::detail {
namespace {

void add_loop_atoms(const NestExpression& expression, std::set<Atom>& atoms) {
  for (const Atom& atom : expression.polynomial.atoms()) {
    if (is_loop_atom(atom)) atoms.insert(atom);
  }
  for (const NestExpression& arg : expression.args) add_loop_atoms(arg, atoms);
}

/// Renames loop variables; old and new numbers may overlap.
Polynomial renamed(const Polynomial& polynomial, const std::map<Atom, Atom>& names) {
  Polynomial result;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    Polynomial term = coefficient;
    for (const auto& [atom, exponent] : monomial) {
      const auto place = names.find(atom);
      term *= power(place == names.end() ? atom : place->second, exponent);
    }
    result += term;
  }
  return result;
}

NestExpression renamed(NestExpression expression, const std::map<Atom, Atom>& names) {
  expression.polynomial = renamed(expression.polynomial, names);
  for (NestExpression& arg : expression.args) arg = renamed(std::move(arg), names);
  return expression;
}

std::string text_of(const NestExpression& expression) {
  std::string text =
      std::to_string(static_cast<int>(expression.op)) + ":" + to_string(expression.polynomial);
  for (const NestExpression& arg : expression.args)
    text.append("(").append(text_of(arg)).append(")");
  return text;
}

NestComponent component_of(const std::vector<NestLoop>& group) {
  NestComponent component;
  component.innermost = group.back().number;
  std::map<Atom, Atom> names;
  for (const NestLoop& loop : group) {
    const std::size_t number = component.loops.size();
    NestLoop& own = component.loops.emplace_back(
        NestLoop{number, renamed(loop.lower, names), renamed(loop.upper, names), loop.step});
    names.emplace(loop_atom(loop.number), loop_atom(number));
    component.key +=
        text_of(own.lower) + ".." + text_of(own.upper) + "|" + to_string(own.step) + ";";
  }
  return component;
}

}  // namespace

std::vector<NestComponent> components(const std::vector<NestLoop>& path) {
  std::map<Atom, std::size_t> group_of;  // merged groups share a number
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::set<Atom> used;
    add_loop_atoms(path[i].lower, used);
    add_loop_atoms(path[i].upper, used);
    std::set<std::size_t> merged;
    for (const Atom& atom : used) merged.insert(group_of.at(atom));
    for (auto& [atom, group] : group_of) {
      if (merged.contains(group)) group = i;
    }
    group_of[loop_atom(path[i].number)] = i;
  }
  std::map<std::size_t, std::vector<NestLoop>> groups;
  for (const NestLoop& loop : path) groups[group_of.at(loop_atom(loop.number))].push_back(loop);
  std::vector<NestComponent> result;
  for (const auto& [number, group] : groups) result.push_back(component_of(group));
  return result;
}

}  // namespace flashlab::toy::detail
