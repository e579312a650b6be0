// Writes JSON in a program that is built without a JSON library.
#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::bench {

/// A value that is already JSON.
struct JsonText {
  std::string text;
};

inline JsonText json_text(std::string_view words) {
  std::string text = "\"";
  for (const char c : words) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) >= ' ') {
      text += c;
    } else {
      text += c == '\n' ? "\\n" : " ";
    }
  }
  return {text + "\""};
}

/// NaN and infinity become null, because JSON lacks them.
inline JsonText json_text(double number) {
  if (!std::isfinite(number)) return {"null"};
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", number);
  return {text.data()};
}

inline JsonText json_text(JsonText text) { return text; }

/// [a, b, …] on one line, or with `lines` one element per line.
template <class Values>
JsonText json_array(const Values& values, bool lines = false) {
  std::string text;
  for (const auto& value : values) {
    text += (text.empty() ? "" : lines ? ",\n" : ", ") + json_text(value).text;
  }
  return {lines ? "[\n" + text + "\n]" : "[" + text + "]"};
}

/// {"key": value, …} in the order of the calls.
class JsonObject {
 public:
  template <class Value>
  JsonObject& add(std::string_view key, const Value& value) {
    text_ += (text_.empty() ? "" : ", ") + json_text(key).text + ": " + json_text(value).text;
    return *this;
  }
  JsonText text() const { return {"{" + text_ + "}"}; }

 private:
  std::string text_;
};

}  // namespace flashlab::bench
