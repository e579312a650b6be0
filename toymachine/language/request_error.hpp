// Errors of a request that are at no place of a program.
#pragma once

#include <string>
#include <utility>

#include "toymachine/language/source.hpp"

namespace flashlab::toy {

inline Diagnostic request_error(std::string what, std::string expected = {},
                                std::string suggestion = {}) {
  return {Severity::kError, Fault::kRequest,     {},
          std::move(what),  std::move(expected), std::move(suggestion)};
}

}  // namespace flashlab::toy
