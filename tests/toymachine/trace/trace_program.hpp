// Traces of programs typed into tests.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/trace/trace.hpp"

namespace flashlab::test {

/// The DRAM of a float run: inputs are 1, 2, 3, ..., one array after the other.
inline std::vector<float> counted_inputs(const toy::BoundProgram& program) {
  std::vector<float> dram(static_cast<std::size_t>(program.dram_elements),
                          std::numeric_limits<float>::quiet_NaN());
  float next = 1;
  for (const toy::BoundArray& array : program.arrays) {
    if (array.role != toy::ArrayRole::kInput) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      dram[static_cast<std::size_t>(array.offset + i)] = next++;
    }
  }
  return dram;
}

inline toy::Result<toy::Execution> run_trace(const toy::BoundProgram& program, toy::TraceSink& sink,
                                             const toy::TraceOptions& options = {}) {
  std::vector<float> dram = counted_inputs(program);
  return toy::trace(program, std::span<float>(dram), options, sink);
}

inline std::string messages(const toy::Result<toy::Execution>& result) {
  std::string text;
  for (const toy::Diagnostic& diagnostic : result.diagnostics) text += diagnostic.what + "\n";
  return text;
}

}  // namespace flashlab::test
