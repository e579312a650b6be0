#include "cli/gpu/plan_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/machine/counter_report.hpp"
#include "generate/plan/fragment_plan.hpp"
#include "generate/source/cuda_source.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"
#include "toymachine/count/count_json.hpp"

namespace flashlab::cli {
namespace {

using generate::Launch;

/// The counters of the launch's passes together.
struct LaunchTraffic {
  toy::Count loaded, stored, updated;
};

LaunchTraffic traffic_of(const PlannedProgram& program, const Launch& launch) {
  LaunchTraffic traffic;
  for (const std::size_t pass : launch.passes) {
    const toy::Counters counters = toy::count_pass(program.bound, program.executions, {}, pass);
    traffic.loaded += counters.bytes_loaded;
    traffic.stored += counters.bytes_stored;
    traffic.updated += counters.bytes_updated;
  }
  traffic.loaded = loaded_bytes(program, launch);
  return traffic;
}

std::string line_of(const PlannedProgram& program, std::uint32_t site) {
  return "line " + std::to_string(program.bound.instructions[site].span.line);
}

std::string grid_text(const PlannedProgram& program, const Launch& launch) {
  if (!launch.grid_loop) return "one block: " + printable(launch.one_block->text);
  const toy::BoundLoop& loop = program.bound.loops[*launch.grid_loop];
  return std::to_string(launch.blocks) + (launch.blocks == 1 ? " block" : " blocks") +
         ", the iterations of the loop over " + printable(loop.var) + " in line " +
         std::to_string(loop.span.line);
}

std::string registers_text(const PlannedProgram& program, const Launch& launch) {
  return joined(launch.registers, ", ", [&](const generate::RegisterPlace& place) {
    return program.bound.register_name(place.number) + " " + std::to_string(place.largest.rows) +
           " x " + std::to_string(place.largest.cols);
  });
}

/// "O[0] 128 x 64, S 128 x 64 transposed": the values in places of one kind.
std::string values_text(const PlannedProgram& program, const generate::FragmentPlan& plan,
                        const std::vector<generate::Where>& kinds) {
  std::vector<std::string> entries;
  for (std::size_t v = 0; v < plan.places.size(); ++v) {
    const generate::ValuePlace& place = plan.places[v];
    if (std::find(kinds.begin(), kinds.end(), place.where) == kinds.end()) continue;
    const generate::Value& value = plan.values.values[v];
    std::string text = program.bound.register_name(value.number) + " " +
                       std::to_string(value.rows.size()) + " x " +
                       std::to_string(value.cols.size());
    if (place.is_turned) text += " transposed";
    if (place.prefetched_in) text += " twice";
    if (place.ring && place.shared->stages > 1) {
      text += " " + std::to_string(place.shared->stages) + " times";
    }
    const bool is_loaded = place.where == generate::Where::kSharedTile ||
                           place.where == generate::Where::kSharedColumn;
    if (!is_loaded && place.shared) text += " and a copy in shared memory";
    entries.push_back(std::move(text));
  }
  return joined(entries, ", ");
}

/// "  label   text", wrapped at words to the terminal's width.
std::string entry(const std::string& label, const std::string& text, const Terminal& terminal) {
  constexpr std::size_t kLabelColumns = 16;
  const std::string indent(kLabelColumns, ' ');
  std::string result, line = "  " + label + std::string(kLabelColumns - 2 - label.size(), ' ');
  for (const std::string_view word : split_at(text, ' ')) {
    if (line.size() > kLabelColumns && line.size() + word.size() > terminal.width) {
      result += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line = indent;
    }
    line += std::string(word) + " ";
  }
  return result + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string launch_text(const PlannedProgram& program, std::size_t number,
                        const Terminal& terminal) {
  const Launch& launch = program.plan.launches[number];
  std::string text = "Launch " + std::to_string(number + 1);
  const std::string titles = joined(launch.passes, ", ", [&](std::size_t pass) {
    return printable(program.bound.program->passes[pass]);
  });
  text = styled(text + (titles.empty() ? "" : ": " + titles), Style::kBold, terminal) + "\n";
  for (const generate::Reason& join : launch.joins) {
    text += entry("passes joined", printable(join.text), terminal);
  }
  const auto entries = [&](const std::string& label, const std::string& what) {
    text += entry(label, what, terminal);
  };
  entries("grid", grid_text(program, launch));
  const bool copies = launch.fragments != nullptr && launch.fragments->has_warpgroups;
  entries("block", std::to_string(launch.threads) + " threads, " +
                       (copies ? "of which one copies and 127 do nothing, " : "") +
                       std::to_string(program.plan.shared_bytes(launch)) + " of " +
                       std::to_string(program.target.shared_bytes) + " bytes of shared memory");
  if (!launch.registers.empty()) entries("registers", registers_text(program, launch));
  if (launch.fragments) {
    using generate::Where;
    const auto values = [&](const std::vector<Where>& kinds) {
      const std::string all = values_text(program, *launch.fragments, kinds);
      return all.empty() ? "nothing" : all;
    };
    entries("in registers", values({Where::kFragment, Where::kRowValues}));
    entries("in shared", values({Where::kSharedTile, Where::kSharedColumn}));
    if (launch.no_warpgroups) {
      entries("as at level 1", printable(launch.no_warpgroups->text));
    }
  } else if (launch.no_fragments) {
    entries("no fragments", printable(launch.no_fragments->text));
  }
  if (launch.scratch_elements > 0) {
    entries("scratch", std::to_string(launch.scratch_elements) +
                           " elements, for results that overwrite an operand of a product or a "
                           "row's sum or maximum");
  }
  const LaunchTraffic traffic = traffic_of(program, launch);
  std::string moved =
      traffic.loaded.get_str() + " bytes loaded, " + traffic.stored.get_str() + " stored";
  if (traffic.updated > 0)
    moved += ", " + traffic.updated.get_str() + " read and written atomically";
  entries("traffic", moved);
  for (const generate::RepeatedLoad& load : launch.repeated) {
    entries("repeated", line_of(program, load.site) +
                            " is before the grid's loop: each block loads " +
                            std::to_string(load.bytes) + " bytes, the machine only once");
  }
  return text;
}

nlohmann::ordered_json reason_json(const generate::Reason& reason) {
  nlohmann::ordered_json json{{"reason", printable(reason.text)}};
  json["line"] = nullptr;
  if (reason.span.line > 0) json["line"] = reason.span.line;
  return json;
}

nlohmann::ordered_json launch_json(const PlannedProgram& program, std::size_t number) {
  const Launch& launch = program.plan.launches[number];
  const toy::BoundProgram& bound = program.bound;
  const std::int64_t element_bytes = toy::element_bytes(program.plan.real);
  nlohmann::ordered_json json{{"kernel", generate::kernel_name(program.name, number)}};
  json["passes"] = nlohmann::ordered_json::array();
  for (const std::size_t pass : launch.passes) {
    json["passes"].push_back(printable(bound.program->passes[pass]));
  }
  json["joined"] = nlohmann::ordered_json::array();
  for (const generate::Reason& join : launch.joins) json["joined"].push_back(reason_json(join));
  json["blocks"] = launch.blocks;
  json["grid"] = nullptr;
  if (launch.grid_loop) {
    const toy::BoundLoop& loop = bound.loops[*launch.grid_loop];
    json["grid"] = {{"loop", printable(loop.var)}, {"line", loop.span.line}};
  }
  json["one_block"] = nullptr;
  if (launch.one_block) json["one_block"] = reason_json(*launch.one_block);
  json["threads"] = launch.threads;
  json["shared_bytes"] = program.plan.shared_bytes(launch);
  json["scratch_bytes"] = launch.scratch_elements * element_bytes;
  json["registers"] = nlohmann::ordered_json::array();
  for (const generate::RegisterPlace& place : launch.registers) {
    json["registers"].push_back({{"name", bound.register_name(place.number)},
                                 {"rows", place.largest.rows},
                                 {"cols", place.largest.cols},
                                 {"bytes", place.largest.places() * element_bytes},
                                 {"line", bound.instructions[place.site].span.line}});
  }
  json["fragments"] = launch.fragments != nullptr;
  json["no_fragments"] = nullptr;
  if (launch.no_fragments) json["no_fragments"] = reason_json(*launch.no_fragments);
  json["warpgroups"] = launch.fragments != nullptr && launch.fragments->has_warpgroups;
  json["no_warpgroups"] = nullptr;
  if (launch.no_warpgroups) json["no_warpgroups"] = reason_json(*launch.no_warpgroups);
  json["arrays"] = nlohmann::ordered_json::array();
  for (const std::size_t array : launch.arrays) json["arrays"].push_back(bound.arrays[array].name);
  const LaunchTraffic traffic = traffic_of(program, launch);
  json["bytes_loaded"] = toy::count_json(traffic.loaded);
  json["bytes_stored"] = toy::count_json(traffic.stored);
  json["bytes_updated"] = toy::count_json(traffic.updated);
  json["repeated"] = nlohmann::ordered_json::array();
  for (const generate::RepeatedLoad& load : launch.repeated) {
    json["repeated"].push_back(
        {{"line", bound.instructions[load.site].span.line}, {"bytes_per_block", load.bytes}});
  }
  return json;
}

}  // namespace

std::string plan_text(const PlannedProgram& program, const Terminal& terminal) {
  std::string text;
  for (std::size_t i = 0; i < program.plan.launches.size(); ++i) {
    text += "\n" + launch_text(program, i, terminal);
  }
  return text;
}

nlohmann::ordered_json plan_json(const PlannedProgram& program) {
  nlohmann::ordered_json json{{"program", printable(program.name)},
                              {"params", params_json(program.bound)},
                              {"element_bytes", toy::element_bytes(program.plan.real)},
                              {"shared_bytes_limit", program.target.shared_bytes}};
  json["launches"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < program.plan.launches.size(); ++i) {
    json["launches"].push_back(launch_json(program, i));
  }
  return json;
}

}  // namespace flashlab::cli
