// Looks up the measured figures that exercise.toml names: answers, and numbers in texts.
#include <algorithm>
#include <cmath>

#include "exercises/grader/exercise/read_program.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostFigures = 100;
constexpr std::size_t kMostSummands = 16;
constexpr int kUsualDigits = 3, kMostMeasuredDigits = 9;

void read_where(TomlTable& entry, Lookup& lookup) {
  const toml::table* where = entry.table("where");
  if (where == nullptr) return;
  for (const auto& [key, value] : *where) {
    const std::string name(key.str());
    if (const auto* text = value.as_string()) {
      lookup.where[name] = text->get();
    } else if (const auto* whole = value.as_integer()) {
      lookup.where[name] = whole->get();
    } else if (const auto* number = value.as_floating_point()) {
      lookup.where[name] = number->get();
    } else if (const auto* flag = value.as_boolean()) {
      lookup.where[name] = flag->get();
    } else {
      entry.wrong("where", "'" + name + "' is not a text, a number or a truth value",
                  "one of these");
    }
  }
}

/// Uses the entry's own `file`, or else `file`, that of the enclosing table.
std::optional<double> look_up(TomlTable& entry, const std::string& file, Measurements& data) {
  Lookup lookup;
  lookup.file = entry.line("file", file);
  if (lookup.file.empty()) entry.missing("file", "the name of a file: \"compare_h200\"");
  read_where(entry, lookup);
  const toml::node* value = entry.node("value");
  if (value != nullptr && value->is_array()) {
    lookup.values = entry.texts("value", kMostSummands);
  } else if (std::string path = entry.required_line("value"); !path.empty()) {
    lookup.values.push_back(std::move(path));
  }
  if (lookup.file.empty() || lookup.values.empty()) return std::nullopt;
  const auto found = data.find(lookup);
  if (const auto* error = std::get_if<LookupError>(&found)) {
    entry.wrong(error->key, error->what, error->expected, error->suggestion);
    return std::nullopt;
  }
  return std::get<double>(found);
}

}  // namespace

std::optional<std::string> PartReader::figure(const toml::table& table, const std::string& name) {
  TomlTable entry(table, name, errors);
  const std::size_t before = read_errors.size();
  std::optional<double> result = look_up(entry, {}, measurements);
  const std::string file = entry.line("file");
  const auto combine = [&](const char* key, auto operation) {
    const toml::table* other = entry.table(key);
    if (other == nullptr) return;
    TomlTable part(*other, key, errors);
    const auto value = look_up(part, file, measurements);
    part.finish();
    result = result && value ? std::optional(operation(*result, *value)) : std::nullopt;
  };
  combine("times", [](double a, double b) { return a * b; });
  combine("over", [](double a, double b) { return a / b; });
  const double factor = entry.number("factor", 1);
  const auto digits = static_cast<int>(entry.whole("digits", kUsualDigits, 1, kMostMeasuredDigits));
  entry.finish();
  if (!result || read_errors.size() > before) return std::nullopt;
  if (!std::isfinite(*result * factor)) {
    errors.add(table.source(), name + " is not a finite number", "a divisor that is not 0");
    return std::nullopt;
  }
  return with_digits(*result * factor, digits);
}

void PartReader::read_figures(TomlTable& top) {
  const toml::table* table = top.table("figures");
  if (table == nullptr) return;
  if (table->size() > kMostFigures) top.wrong("figures", "too many", "at most 100");
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    if (!is_name(name)) {
      errors.add(key.source(), "'" + name + "' is not a name for a figure",
                 "letters, digits and _");
    } else if (const toml::table* entry = value.as_table()) {
      figures[name] = {figure(*entry, "the figure " + name).value_or("0"), false};
    } else {
      errors.add(value.source(), "the figure " + name + " is not a table",
                 "{ file = \"…\", where = { … }, value = \"…\" }");
    }
  }
}

std::string PartReader::filled(std::string text, const Complain& complain) {
  constexpr std::size_t kShown = 40;
  std::size_t at = 0;
  while (!figures.empty() && (at = text.find("{{", at)) != std::string::npos) {
    const std::size_t end = std::min(text.find("}}", at), text.size());
    const std::string name = text.substr(at + 2, end - at - 2);
    const auto found = figures.find(name);
    if (end == text.size() || found == figures.end()) {
      std::vector<std::string> names;
      for (const auto& entry : figures) names.push_back(entry.first);
      complain("there is no figure '" + printable(on_one_line(name.substr(0, kShown))) + "'",
               "{{…}} around one of " + joined(names), nearest(name, names).value_or(""));
      return text;
    }
    found->second.used = true;
    text.replace(at, end + 2 - at, found->second.text);
    at += found->second.text.size();
  }
  return text;
}

std::string PartReader::filled(TomlTable& table, std::string_view key, std::string text) {
  return filled(std::move(text), [&](const std::string& what, const std::string& expected,
                                     const std::string& suggestion) {
    table.wrong(key, what, expected, suggestion);
  });
}

void PartReader::fill(const std::string& file, std::string& text) {
  text = filled(text, [&](const std::string& what, const std::string& expected,
                          const std::string& suggestion) {
    ErrorList(file, files.find(file)->second, read_errors)
        .add(toy::SourceSpan{}, what, expected, suggestion);
  });
}

void PartReader::fill_texts(const toml::table& top) {
  fill("problem.md", exercise.problem);
  for (std::string& hint : exercise.hints) fill("hints.md", hint);
  for (const auto& [name, entry] : figures) {
    if (entry.used) continue;
    errors.add(top["figures"].node()->source(), "no text uses the figure '" + name + "'",
               "{{" + name + "}} in a text");
  }
}

}  // namespace flashlab::exercises
