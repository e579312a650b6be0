// Conditions on messages, as the case files of cases/README.md write them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

namespace flashlab::test {

/// Values that a case has saved, by name.
using SavedValues = std::map<std::string, nlohmann::json>;

/// A list of lines is a text, each with a line end.
inline std::string case_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string text;
  for (const nlohmann::json& line : value) text += line.get<std::string>() + "\n";
  return text;
}

/// Returns `value` with {"$saved": NAME} and "${NAME}" replaced.
inline nlohmann::json with_saved(nlohmann::json value, const SavedValues& saved) {
  if (value.is_object() && value.size() == 1 && value.contains("$saved")) {
    return saved.at(value["$saved"].get<std::string>());
  }
  if (value.is_structured()) {
    for (nlohmann::json& one : value) one = with_saved(one, saved);
  } else if (value.is_string()) {
    auto text = value.get<std::string>();
    for (const auto& [name, content] : saved) {
      const std::string mark = "${" + name + "}";
      const std::string shown = content.is_string() ? content.get<std::string>() : content.dump();
      for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
        text.replace(at, mark.size(), shown);
        at += shown.size();
      }
    }
    value = text;
  }
  return value;
}

/// Compares values with patterns, and says where they differ.
class PatternMatch {
 public:
  explicit PatternMatch(SavedValues& saved) : saved_(saved) {}

  /// Returns why the value does not match; empty: it does.
  std::string problem(const nlohmann::json& value, const nlohmann::json& pattern,
                      const std::string& at = "the message") {
    if (is_operator(pattern)) {
      return operator_problem(value, pattern.begin().key(), pattern.begin().value(), at);
    }
    if (pattern.is_object()) {
      if (!value.is_object()) return differs(value, pattern, at);
      for (const auto& [key, inner] : pattern.items()) {
        const std::string place = at + "." + key;
        if (is_operator(inner) && inner.begin().key() == "$absent") {
          if (value.contains(key)) return place + " is there: " + brief(value[key]);
          continue;
        }
        if (!value.contains(key)) return place + " is missing in " + brief(value);
        if (auto why = problem(value[key], inner, place); !why.empty()) return why;
      }
      return {};
    }
    if (pattern.is_array()) {
      if (!value.is_array() || value.size() != pattern.size()) return differs(value, pattern, at);
      for (std::size_t i = 0; i < pattern.size(); ++i) {
        auto why = problem(value[i], pattern[i], at + "[" + std::to_string(i) + "]");
        if (!why.empty()) return why;
      }
      return {};
    }
    return value == pattern ? std::string() : differs(value, pattern, at);
  }

 private:
  static bool is_operator(const nlohmann::json& pattern) {
    return pattern.is_object() && pattern.size() == 1 && pattern.begin().key().starts_with("$");
  }
  static std::string brief(const nlohmann::json& value) {
    const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return text.size() > 600 ? text.substr(0, 600) + " ..." : text;
  }
  static std::string differs(const nlohmann::json& value, const nlohmann::json& pattern,
                             const std::string& at) {
    return at + " is " + brief(value) + ", expected " + brief(pattern);
  }
  static std::string text_of(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  std::string operator_problem(const nlohmann::json& value, const std::string& name,
                               const nlohmann::json& wanted, const std::string& at) {
    const auto no = [&](bool holds) {
      return holds ? std::string()
                   : at + " is " + brief(value) + ", expected " + name + " " + brief(wanted);
    };
    if (name == "$any") return {};
    if (name == "$save") return saved_[wanted.get<std::string>()] = value, std::string();
    if (name == "$size") return no(value.size() == wanted.get<std::size_t>());
    if (name == "$at_least") return no(value.is_number() && value >= wanted);
    if (name == "$at_most") return no(value.is_number() && value <= wanted);
    if (name == "$ascii") {
      for (const char c : text_of(value)) {
        if (static_cast<unsigned char>(c) >= 0x80) return no(false);
      }
      return {};
    }
    if (name == "$matches") {
      return no(std::regex_search(text_of(value), std::regex(wanted.get<std::string>())));
    }
    if (name == "$not") return no(!PatternMatch(saved_).problem(value, wanted).empty());
    if (name == "$all") {
      for (const nlohmann::json& one : wanted) {
        if (auto why = problem(value, one, at); !why.empty()) return why;
      }
      return {};
    }
    if (name == "$contains" || name == "$lacks") {
      const auto all = wanted.is_array() ? wanted : nlohmann::json::array({wanted});
      for (const nlohmann::json& one : all) {
        const bool holds = text_of(value).find(one.get<std::string>()) != std::string::npos;
        if (holds != (name == "$contains")) return no(false);
      }
      return {};
    }
    if (name == "$has") {  // some element matches each of these patterns
      const auto all = wanted.is_array() ? wanted : nlohmann::json::array({wanted});
      for (const nlohmann::json& one : all) {
        bool holds = false;
        for (const nlohmann::json& element : value) {
          holds = holds || PatternMatch(saved_).problem(element, one).empty();
        }
        if (!holds) return no(false);
      }
      return {};
    }
    return at + ": there is no condition " + name;
  }

  SavedValues& saved_;
};

}  // namespace flashlab::test
