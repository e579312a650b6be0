// Which data sheet is that of a device: the one rule, for C++. gpu_sheets.py has it for Python, and
// device_names.json has names that a test asks both.
//
// A device has a sheet's name if it contains all words of the name, and none of the words that only
// other models have: "NVIDIA GeForce RTX 3090" is an "RTX 3090", and with "Ti" it is another,
// faster GPU. Words are runs of letters and digits; upper and lower case are the same.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace flashlab::gpu {

/// Returns the words of a text in lower case.
inline std::set<std::string> words_of_name(std::string_view text) {
  std::set<std::string> result;
  std::string word;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      word += static_cast<char>(is_upper ? c - 'A' + 'a' : c);
    } else if (!word.empty()) {
      result.insert(std::exchange(word, {}));
    }
  }
  if (!word.empty()) result.insert(word);
  return result;
}

/// `other_models`: words of other models' names, separated by blanks.
inline bool has_name_of_sheet(std::string_view device, std::string_view sheet,
                              std::string_view other_models) {
  const std::set<std::string> of_device = words_of_name(device), of_sheet = words_of_name(sheet);
  if (of_sheet.empty() || !std::ranges::includes(of_device, of_sheet)) return false;
  return std::ranges::none_of(words_of_name(other_models),
                              [&](const std::string& word) { return of_device.contains(word); });
}

}  // namespace flashlab::gpu
