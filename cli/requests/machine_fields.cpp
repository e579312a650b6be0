#include "cli/requests/machine_fields.hpp"

#include <algorithm>
#include <cctype>

#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

/// Returns the flag's text for a number, a range as text, or a list of numbers.
std::string parameter_text(const ObjectReader& fields, const std::string& key, const Json& value,
                           ParameterValues values) {
  const bool ranges = values == ParameterValues::kRanges;
  const std::string expected =
      ranges ? "a whole number, a range such as \"8..1024*2\", or a list of whole numbers"
             : "a whole number";
  if (value.is_number_integer()) return value.dump();
  if (ranges && value.is_string()) {
    const auto text = value.get<std::string>();
    fields.at(key, [&] { static_cast<void>(parse_values(key, text)); });
    return text;
  }
  const bool is_list = ranges && value.is_array() && !value.empty() &&
                       std::all_of(value.begin(), value.end(),
                                   [](const Json& one) { return one.is_number_integer(); });
  if (!is_list) throw fields.wrong(key, expected);
  std::string text;
  for (const Json& one : value) text += (text.empty() ? "" : ",") + one.dump();
  return text;
}

/// Returns a list of numbers, nested or not, as --input takes it.
void append_numbers(const ObjectReader& fields, const std::string& key, const Json& value,
                    std::string& text) {
  if (value.is_array()) {
    text += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) text += ',';
      append_numbers(fields, key, value[i], text);
    }
    text += ']';
  } else if (value.is_number()) {
    text += value.dump();
  } else if (value == "-inf") {
    text += "-inf";
  } else {
    throw fields.wrong(key, "a list of numbers and \"-inf\", or a text: \"random:7\"");
  }
}

void read_limit(ObjectReader& request, const std::string& key, std::int64_t& limit) {
  if (const auto value = request.whole(key, 1, std::int64_t{1} << 60)) limit = *value;
}

}  // namespace

std::vector<std::string> read_params(ObjectReader& request, ParameterValues values) {
  const Json* params = request.any("params");
  if (params == nullptr) return {};
  ObjectReader fields(*params, request.place_of("params"));
  std::vector<std::string> definitions;
  for (const auto& [name, value] : params->items()) {
    const bool is_name =
        !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 || c == '_';
        });
    if (!is_name) throw fields.wrong(name, "a parameter's name as the key");
    definitions.push_back(name + "=" + parameter_text(fields, name, value, values));
  }
  return definitions;
}

std::string read_registers(ObjectReader& request, ParameterValues values) {
  const Json* registers = request.any("registers");
  return registers == nullptr ? "" : parameter_text(request, "registers", *registers, values);
}

std::string read_cost(ObjectReader& request) {
  const Json* cost = request.any("cost");
  if (cost == nullptr) return {};
  std::string text;
  if (cost->is_string()) {
    text = cost->get<std::string>();
  } else if (cost->is_object()) {
    ObjectReader fields(*cost, request.place_of("cost"));
    for (const auto& [name, value] : cost->items()) {
      if (!value.is_number_integer() && !value.is_string()) {
        throw fields.wrong(name, "cycles: 4 or \"2/element\"");
      }
      text += (text.empty() ? "" : ",") + name + "=" +
              (value.is_string() ? value.get<std::string>() : value.dump());
    }
  } else {
    throw request.wrong("cost", "{\"LOAD\": 100} or \"LOAD=100\"");
  }
  request.at("cost", [&] {
    toy::CostTable table;
    static_cast<void>(value_or_fail(table.parse(text)));
  });
  return text;
}

void read_machine(ObjectReader& request, const CallLimits& limits, ParameterValues values,
                  MachineOptions& machine) {
  machine.definitions = read_params(request, values);
  machine.registers = read_registers(request, values);
  machine.operands = request.one_of("operands", {"any", "pinned"}).value_or("");
  machine.score = request.text("score");
  if (const Json* sram = request.any("sram")) {
    if (!sram->is_string() && !sram->is_number_unsigned()) {
      throw request.wrong("sram", "bytes, a size such as \"48KiB\", or a GPU: " + gpu_keys());
    }
    machine.sram = sram->is_string() ? sram->get<std::string>() : sram->dump();
    request.at("sram", [&] { static_cast<void>(parse_capacity(machine.sram)); });
  }
  machine.costs = read_cost(request);
  read_limit(request, "max_source", machine.limits.max_source_bytes);
  read_limit(request, "max_nesting", machine.limits.max_nesting);
  read_limit(request, "max_registers", machine.limits.max_registers);
  read_limit(request, "max_machines", machine.limits.max_machines);
  read_limit(request, "max_steps", machine.limits.max_steps);
  read_limit(request, "max_array_bytes", machine.limits.max_array_bytes);
  machine.limits.max_steps = std::min(machine.limits.max_steps, limits.steps);
}

void read_run(ObjectReader& request, RunOptions& run) {
  run.precision = request.one_of("precision", {"float", "double"}).value_or(run.precision);
  const Json* inputs = request.any("inputs");
  if (inputs == nullptr) return;
  ObjectReader fields(*inputs, request.place_of("inputs"));
  for (const auto& [name, value] : inputs->items()) {
    std::string text;
    if (value.is_string()) {
      text = value.get<std::string>();
    } else if (value.is_array()) {
      append_numbers(fields, name, value, text);
    } else {
      throw fields.wrong(name, "a list of numbers, or a text: \"random:7\", \"constant:0\"");
    }
    RunOptions one;
    one.inputs = {name + "=" + text};
    fields.at(name, [&] { static_cast<void>(one.input_sources()); });
    run.inputs.push_back(std::move(one.inputs.front()));
  }
}

}  // namespace flashlab::cli
