#include "cli/protocol/dap_variables.hpp"

#include <algorithm>

#include "cli/debug/watch_text.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

// Numbers of scopes and variables with parts.
constexpr std::int64_t kLoops = 1, kRegisters = 2, kArrays = 3, kCounters = 4;
constexpr std::int64_t kFirstArray = 1000, kFirstTile = 1'000'000;
constexpr std::int64_t kUsualVariables = 1000;  // of an answer to a client that names no number
constexpr std::int64_t kMostVariables = 100'000;

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
    result = variable(name, value_text(contents.elements[0], run));
  } else {
    result = variable(
        name, std::to_string(contents.rows) + " x " + std::to_string(contents.cols) + " tile",
        dap_tile_reference(number));
    result["indexedVariables"] = contents.elements.size();
  }
  if (!symbol.empty()) result["type"] = symbol;
  return result;
}

/// Returns the elements that are wanted of `size`, each made by its number. A client that asks for no
/// number gets some, and is told of the others.
template <class Make>
json indexed(std::int64_t size, const DapVariablesWanted& wanted, const Make& make) {
  json result = json::array();
  if (wanted.filter == "named") return result;
  const std::int64_t first = std::clamp<std::int64_t>(wanted.first, 0, size);
  const bool asks = wanted.count > 0;
  const std::int64_t most = asks ? std::min(wanted.count, kMostVariables) : kUsualVariables;
  const std::int64_t end = std::min(size - first, most) + first;
  for (std::int64_t i = first; i < end; ++i) result.push_back(make(i));
  const std::int64_t wanted_end = asks ? std::min(size - first, wanted.count) + first : size;
  if (end < wanted_end) {
    json rest = variable("[" + std::to_string(end) + " to " + std::to_string(wanted_end - 1) + "]",
                         std::to_string(wanted_end - end) + " more are not shown");
    rest.erase("evaluateName");
    result.push_back(std::move(rest));
  }
  return result;
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

json array_variable(const toy::BoundProgram& program, std::size_t number) {
  std::string extents;
  for (const std::int64_t extent : program.arrays[number].extents) {
    extents += "[" + std::to_string(extent) + "]";
  }
  json array = variable(program.arrays[number].name, extents,
                        kFirstArray + static_cast<std::int64_t>(number));
  array["indexedVariables"] = program.arrays[number].size;
  return array;
}

json array_variables(const toy::Replay& run) {
  json result = json::array();
  for (std::size_t i = 0; i < run.program().arrays.size(); ++i) {
    result.push_back(array_variable(run.program(), i));
  }
  return result;
}

json counter_variables(const toy::Replay& run, const toy::CostTable& costs) {
  json result = json::array();
  const toy::Counters counters = toy::count(run.program(), run.execution().executions, costs);
  for (const toy::CounterDescription& one : toy::counter_descriptions()) {
    json counter = variable(one.key, (counters.*one.value).get_str());
    counter.erase("evaluateName");  // no expression names a counter
    result.push_back(std::move(counter));
  }
  return result;
}

}  // namespace

std::int64_t dap_tile_reference(std::int64_t number) { return kFirstTile + number; }

std::optional<json> dap_array(const toy::Replay& run, const std::string& name) {
  const auto& arrays = run.program().arrays;
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const toy::BoundArray& one) { return one.name == name; });
  if (found == arrays.end()) return std::nullopt;
  return array_variable(run.program(), static_cast<std::size_t>(found - arrays.begin()));
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

std::optional<json> dap_variables(toy::Replay& run, toy::RegisterSymbols& all_symbols,
                                  const toy::CostTable& costs, const DapVariablesWanted& wanted) {
  const toy::BoundProgram& program = run.program();
  const std::int64_t reference = wanted.reference;
  if (reference == kLoops || reference == kArrays || reference == kCounters) {
    if (wanted.filter == "indexed") return json::array();
    return reference == kLoops    ? loop_variables(run)
           : reference == kArrays ? array_variables(run)
                                  : counter_variables(run, costs);
  }
  if (reference == kRegisters) {
    const std::vector<std::string>& symbols = all_symbols.after(run.step());
    return indexed(program.num_registers, wanted, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      return register_variable(run, i, at < symbols.size() ? symbols[at] : std::string());
    });
  }
  if (reference >= kFirstTile && reference - kFirstTile < program.num_registers) {
    const toy::RegisterContents contents = run.register_contents(reference - kFirstTile);
    return indexed(std::ssize(contents.elements), wanted, [&](std::int64_t i) {
      const std::string place =
          "[" + std::to_string(i / contents.cols) + "][" + std::to_string(i % contents.cols) + "]";
      json element =
          variable(place, value_text(contents.elements[static_cast<std::size_t>(i)], run));
      element["evaluateName"] = program.register_name(reference - kFirstTile) + place;
      return element;
    });
  }
  if (reference >= kFirstArray && reference - kFirstArray < std::ssize(program.arrays)) {
    const auto& array = program.arrays[static_cast<std::size_t>(reference - kFirstArray)];
    return indexed(array.size, wanted, [&](std::int64_t i) {
      return variable(array.element_name(i), value_text(run.cell(array.offset + i), run));
    });
  }
  return std::nullopt;
}

}  // namespace flashlab::cli
