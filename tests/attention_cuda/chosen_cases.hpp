// Which cases a test of many runs, by two variables of the environment. So it can run in parts side by side:
// parts first = 0 … step - 1 have every case once. Such tests have the tag [parts].
#pragma once

#include <cstdlib>

namespace flashlab::test {

/// Cases first, first + step, ...
struct ChosenCases {
  int first, step;
};

/// FLASHLAB_FIRST_CASE, or 0, and FLASHLAB_CASE_STEP, or `step`.
inline ChosenCases chosen_cases(int step) {
  const auto number = [](const char* name, int otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
  };
  return {number("FLASHLAB_FIRST_CASE", 0), number("FLASHLAB_CASE_STEP", step)};
}

}  // namespace flashlab::test
