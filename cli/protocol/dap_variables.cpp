#include "cli/protocol/dap_variables.hpp"

#include <algorithm>
#include <cmath>

#include "text/numbers.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

// Numbers of scopes and variables with parts.
constexpr std::int64_t kLoops = 1, kRegisters = 2, kArrays = 3, kCounters = 4;
constexpr std::int64_t kFirstArray = 1000, kFirstTile = 1'000'000;
constexpr std::int64_t kMostVariables = 1000;  // of one answer

json variable(const std::string& name, const std::string& value, std::int64_t reference = 0) {
  return {
      {"name", name}, {"value", value}, {"evaluateName", name}, {"variablesReference", reference}};
}

json register_variable(const toy::Replay& run, std::int64_t number, const std::string& symbol) {
  const toy::RegisterContents contents = run.register_contents(number);
  const std::string name = run.program().register_name(number);
  if (!contents.is_written()) return variable(name, "unwritten");
  json result;
  if (contents.elements.size() == 1) {
    result = variable(name, dap_number(contents.elements[0]));
  } else {
    result = variable(
        name, std::to_string(contents.rows) + " x " + std::to_string(contents.cols) + " tile",
        kFirstTile + number);
    result["indexedVariables"] = contents.elements.size();
  }
  if (!symbol.empty()) result["type"] = symbol;
  return result;
}

/// The part of [0, size) that an answer has.
std::pair<std::int64_t, std::int64_t> shown_part(std::int64_t size, std::int64_t first,
                                                 std::int64_t count) {
  first = std::clamp<std::int64_t>(first, 0, size);
  if (count <= 0 || count > kMostVariables) count = kMostVariables;
  return {first, std::min(size - first, count) + first};
}

json loop_variables(const toy::Replay& run) {
  const toy::BoundProgram& program = run.program();
  json result = json::array();
  const toy::RunPoint point = run.point();
  if (point.site < program.instructions.size()) {
    for (std::uint32_t loop = program.instructions[point.site].loop; loop != toy::kNoLoop;
         loop = program.loops[loop].parent) {
      result.push_back(variable(program.loops[loop].var, std::to_string(point.loop_values[loop])));
    }
    std::reverse(result.begin(), result.end());
  }
  for (std::size_t i = 0; i < program.params.size(); ++i) {
    result.push_back(variable(program.program->params[i].name, std::to_string(program.params[i])));
  }
  return result;
}

json array_variables(const toy::Replay& run) {
  const toy::BoundProgram& program = run.program();
  json result = json::array();
  for (std::size_t i = 0; i < program.arrays.size(); ++i) {
    std::string extents;
    for (const std::int64_t extent : program.arrays[i].extents) {
      extents += "[" + std::to_string(extent) + "]";
    }
    json array =
        variable(program.arrays[i].name, extents, kFirstArray + static_cast<std::int64_t>(i));
    array["indexedVariables"] = program.arrays[i].size;
    result.push_back(std::move(array));
  }
  return result;
}

}  // namespace

std::string dap_number(double value) {
  return std::isnan(value) ? "unwritten" : short_text(value, 9);
}

json dap_scopes(const toy::Replay& run) {
  const auto scope = [](const char* name, std::int64_t reference) {
    return json{{"name", name}, {"variablesReference", reference}, {"expensive", false}};
  };
  json registers = scope("Registers", kRegisters);
  registers["presentationHint"] = "registers";
  registers["indexedVariables"] = run.program().num_registers;
  return {scope("Loops and parameters", kLoops), std::move(registers), scope("Arrays", kArrays),
          scope("Counters", kCounters)};
}

json dap_variables(toy::Replay& run, const std::vector<std::string>& symbols,
                   const toy::CostTable& costs, std::int64_t reference, std::int64_t first,
                   std::int64_t count) {
  const toy::BoundProgram& program = run.program();
  json result = json::array();
  if (reference == kLoops) return loop_variables(run);
  if (reference == kArrays) return array_variables(run);
  if (reference == kRegisters) {
    const auto [begin, end] = shown_part(program.num_registers, first, count);
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      result.push_back(
          register_variable(run, i, at < symbols.size() ? symbols[at] : std::string()));
    }
  } else if (reference == kCounters) {
    const toy::Counters counters = toy::count(program, run.execution().executions, costs);
    for (const toy::CounterDescription& one : toy::counter_descriptions()) {
      result.push_back(variable(one.key, (counters.*one.value).get_str()));
    }
  } else if (reference >= kFirstTile && reference - kFirstTile < program.num_registers) {
    const toy::RegisterContents contents = run.register_contents(reference - kFirstTile);
    const auto [begin, end] = shown_part(std::ssize(contents.elements), first, count);
    for (std::int64_t i = begin; i < end; ++i) {
      result.push_back(variable(
          "[" + std::to_string(i / contents.cols) + "][" + std::to_string(i % contents.cols) + "]",
          dap_number(contents.elements[static_cast<std::size_t>(i)])));
    }
  } else if (reference >= kFirstArray && reference - kFirstArray < std::ssize(program.arrays)) {
    const auto& array = program.arrays[static_cast<std::size_t>(reference - kFirstArray)];
    const auto [begin, end] = shown_part(array.size, first, count);
    for (std::int64_t i = begin; i < end; ++i) {
      result.push_back(variable(array.element_name(i), dap_number(run.cell(array.offset + i))));
    }
  }
  return result;
}

}  // namespace flashlab::cli
