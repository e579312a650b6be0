#include "exercises/grader/exercise/measurements.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "committed_result_files.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/read_number.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

template <class Names>
std::string listed(const Names& names) {
  const std::string list = joined(names, ", ", printable);
  return list.empty() ? "none" : list;
}

std::vector<std::string> keys_of(const nlohmann::json& value) {
  std::vector<std::string> keys;
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) keys.push_back(key);
  } else if (value.is_array()) {
    for (const nlohmann::json& entry : value) {
      if (entry.is_object() && entry.contains("name")) keys.push_back(entry["name"].dump());
    }
  }
  return keys;
}

/// Returns the member, or the array entry of that index or name, or null.
const nlohmann::json* child(const nlohmann::json& value, const std::string& key) {
  if (value.is_object()) {
    const auto found = value.find(key);
    return found == value.end() ? nullptr : &*found;
  }
  if (!value.is_array()) return nullptr;
  std::size_t index = 0;
  if (read_whole(key, index)) return index < value.size() ? &value[index] : nullptr;
  for (const nlohmann::json& entry : value) {
    if (entry.is_object() && entry.contains("name") && entry["name"] == key) return &entry;
  }
  return nullptr;
}

std::variant<double, LookupError> value_at_path(const nlohmann::json& start,
                                                const std::string& path) {
  const nlohmann::json* at = &start;
  std::size_t from = 0;
  while (from <= path.size()) {
    const std::size_t end = std::min(path.find('/', from), path.size());
    const std::string key = path.substr(from, end - from);
    const nlohmann::json* next = child(*at, key);
    if (next == nullptr) {
      const std::vector<std::string> keys = keys_of(*at);
      return LookupError{"value", "there is no '" + path + "': '" + key + "' is missing",
                         "one of " + listed(keys), nearest(key, keys).value_or("")};
    }
    at = next;
    from = end + 1;
  }
  if (!at->is_number()) {
    return LookupError{"value", "'" + path + "' is " + at->type_name(), "a number", {}};
  }
  return at->get<double>();
}

/// "variant = \"flash2\", head_dim = 64".
std::string where_text(const nlohmann::json& where) {
  std::string text;
  for (const auto& [key, value] : where.items()) {
    text += (text.empty() ? "" : ", ") + key + " = " + value.dump();
  }
  return text;
}

bool agrees(const nlohmann::json& row, const nlohmann::json& where) {
  for (const auto& [key, value] : where.items()) {
    const auto found = row.find(key);
    if (found == row.end() || *found != value) return false;
  }
  return true;
}

/// The error when no row agrees with `where`: lists the values of the first key that has no match.
LookupError no_row(const nlohmann::json& rows, const nlohmann::json& where) {
  for (const auto& [key, value] : where.items()) {
    std::set<std::string> there;
    std::set<std::string> keys;
    for (const nlohmann::json& row : rows) {
      if (row.contains(key)) there.insert(row[key].dump());
      for (const std::string& other : keys_of(row)) keys.insert(other);
    }
    if (there.contains(value.dump())) continue;
    if (there.empty()) {
      const std::vector<std::string> candidates(keys.begin(), keys.end());
      return {"where", "no row has a '" + key + "'", "one of " + listed(keys),
              nearest(key, candidates).value_or("")};
    }
    return {"where", "no row has " + key + " = " + value.dump(), "one of " + listed(there), {}};
  }
  return {
      "where", "no row has all of " + where_text(where), "values that one row has together", {}};
}

std::variant<const nlohmann::json*, LookupError> row_where(const nlohmann::json& file,
                                                           const nlohmann::json& where) {
  if (where.empty()) return &file;
  const auto rows = file.find("rows");
  if (rows == file.end() || !rows->is_array()) {
    return LookupError{"file", "the file has no rows", "a file of flashlab compare", {}};
  }
  const nlohmann::json* found = nullptr;
  std::size_t count = 0;
  for (const nlohmann::json& row : *rows) {
    if (!row.is_object() || !agrees(row, where)) continue;
    found = &row;
    ++count;
  }
  if (count == 1) return found;
  if (count == 0) return no_row(*rows, where);
  return LookupError{"where",
                     std::to_string(count) + " rows have " + where_text(where),
                     "further keys that tell them apart: " + listed(keys_of(*found)),
                     {}};
}

}  // namespace

const Files& committed_measurements() {
  static const Files kFiles = [] {
    Files files;
    for (const EmbeddedFile& file : committed_result_files) {
      files.emplace(file.name.substr(0, file.name.rfind('.')), file.text);
    }
    return files;
  }();
  return kFiles;
}

std::variant<const nlohmann::json*, LookupError> Measurements::parsed(const std::string& file) {
  const auto before = parsed_.find(file);
  if (before != parsed_.end()) return before->second.get();
  const auto text = files_.find(file);
  if (text == files_.end()) {
    std::vector<std::string> names;
    for (const auto& entry : files_) names.push_back(entry.first);
    const std::string shown = printable(file);
    return LookupError{"file", "there is no file '" + shown + "'",
                       names.empty() ? "docs/results/" + shown + ".json, which is not committed"
                                     : "one of " + listed(names),
                       nearest(file, names).value_or("")};
  }
  nlohmann::json content = nlohmann::json::parse(text->second, nullptr, false);
  if (!content.is_object()) {
    return LookupError{
        "file", "'" + file + "' is not a JSON object", "a file of flashlab compare", {}};
  }
  const auto kept = std::make_shared<const nlohmann::json>(std::move(content));
  return parsed_.emplace(file, kept).first->second.get();
}

std::variant<double, LookupError> Measurements::find(const Lookup& lookup) {
  const auto file = parsed(lookup.file);
  if (const auto* error = std::get_if<LookupError>(&file)) return *error;
  nlohmann::json where = nlohmann::json::object();
  for (const auto& [key, value] : lookup.where) {
    std::visit([&, &name = key](const auto& known) { where[name] = known; }, value);
  }
  const auto row = row_where(*std::get<const nlohmann::json*>(file), where);
  if (const auto* error = std::get_if<LookupError>(&row)) return *error;
  double sum = 0;
  for (const std::string& path : lookup.values) {
    const auto value = value_at_path(*std::get<const nlohmann::json*>(row), path);
    if (std::holds_alternative<LookupError>(value)) return value;
    sum += std::get<double>(value);
  }
  return sum;
}

std::string with_digits(double value, int digits) {
  constexpr double kLeastPlain = 1e-4, kMostPlain = 1e7;
  std::array<char, 64> text{};
  const auto scientific = std::to_chars(text.data(), text.data() + text.size(), value,
                                        std::chars_format::scientific, digits - 1);
  double rounded = 0;
  read_number({text.data(), scientific.ptr}, rounded);
  const double size = std::abs(rounded);
  if (rounded == 0) return "0";
  if (size < kLeastPlain || size >= kMostPlain) {
    const std::string whole(text.data(), scientific.ptr);  // "1.07e+09"
    const std::size_t exponent = whole.find('e') + 1;
    return whole.substr(0, exponent) + std::to_string(std::stoi(whole.substr(exponent)));
  }
  const auto plain = std::to_chars(text.data(), text.data() + text.size(), rounded,
                                   std::chars_format::fixed);  // the fewest digits that identify it
  return {text.data(), plain.ptr};
}

}  // namespace flashlab::exercises
