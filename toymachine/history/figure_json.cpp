#include "toymachine/history/figure_json.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "text/read_number.hpp"

namespace flashlab::toy {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kRoles{"input", "temp", "output"};
constexpr std::array<std::string_view, 3> kSides{"none", "rows", "columns"};

/// Three digits: what a figure has room for.
Json short_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  double rounded = value;
  read_number(text.data(), rounded);
  if (rounded == std::floor(rounded) && std::abs(rounded) < 1e9) {
    return static_cast<std::int64_t>(rounded);
  }
  return rounded;
}

Json number(const std::optional<std::int64_t>& index) { return index.value_or(-1); }
Json number(const std::optional<std::uint32_t>& array) {
  return array ? static_cast<std::int64_t>(*array) : std::int64_t{-1};
}

Json axis_json(const FigureRun& run, const FigureAxis& axis) {
  return {{"array", run.program->arrays[axis.array].name},
          {"extent", axis.extent},
          {"tile", axis.tile},
          {"count", axis.count}};
}

Json arrays_json(const FigureRun& run) {
  Json list = Json::array();
  for (const FigureArray& one : run.arrays) {
    const BoundArray& array = run.program->arrays[one.array];
    const std::size_t rank = array.extents.size();
    list.push_back({{"number", one.array},
                    {"name", array.name},
                    {"role", kRoles[static_cast<std::size_t>(array.role)]},
                    {"side", one.is_matrix ? "matrix" : kSides[static_cast<std::size_t>(one.side)]},
                    {"rows", rank > 0 ? array.extents[0] : 1},
                    {"columns", rank > 1 ? array.extents[1] : 1},
                    {"tile", array.tile},
                    {"bytes_loaded", one.bytes_loaded},
                    {"bytes_stored", one.bytes_stored},
                    {"bytes_updated", one.bytes_updated}});
  }
  return list;
}

Json write_json(const FigureWrite& write) {
  Json elements = Json::array();
  for (const double value : write.elements) elements.push_back(short_number(value));
  return Json::array({write.register_number, write.rows, write.columns, write.last_read,
                      number(write.place.row), number(write.place.column),
                      number(write.place.array), std::move(elements)});
}

Json frame_json(const FigureFrame& frame) {
  Json writes = Json::array();
  for (const FigureWrite& write : frame.writes) writes.push_back(write_json(write));
  const bool moves = frame.bytes > 0;
  return Json::array({static_cast<int>(frame.kind), frame.pass, frame.last_step, frame.texts,
                      moves ? static_cast<std::int64_t>(frame.array) : std::int64_t{-1},
                      number(frame.place.row), number(frame.place.column), frame.elements,
                      frame.bytes, std::move(writes), frame.register_number});
}

Json run_json(const FigureRun& run) {
  const BoundProgram& bound = *run.program;
  Json json;
  for (std::size_t i = 0; i < bound.params.size(); ++i) {
    json["params"][bound.program->params[i].name] = bound.params[i];
  }
  json["rows"] = axis_json(run, run.rows);
  json["columns"] = axis_json(run, run.columns);
  json["passes"] = bound.program->passes;
  json["arrays"] = arrays_json(run);
  json["registers"] = Json::array();
  for (std::int64_t i = 0; i < bound.num_registers; ++i) {
    json["registers"].push_back(bound.register_name(i));
  }
  json["roles"] = Json::array();
  for (const FigureRole& role : run.roles) {
    json["roles"].push_back({role.pass, role.register_number, role.text});
  }
  json["texts"] = run.texts;
  json["frames"] = Json::array();
  for (const FigureFrame& frame : run.frames) json["frames"].push_back(frame_json(frame));
  return json;
}

}  // namespace

std::string figure_json(const std::string& program, const std::vector<FigureSlider>& sliders,
                        const std::vector<FigureChoice>& choices, std::size_t opens) {
  Json json{{"program", program}, {"title", ""}, {"sliders", Json::array()}};
  for (const FigureSlider& slider : sliders) {
    json["sliders"].push_back({{"name", slider.param}, {"values", slider.values}});
  }
  json["runs"] = Json::array();
  for (const FigureChoice& choice : choices) {
    Json entry{{"values", choice.values}};
    if (choice.run) {
      json["title"] = choice.run->program->program->title;
      entry.update(run_json(*choice.run));
    } else {
      entry["missing"] = choice.why_not;
    }
    if (choice.beside) {
      entry["beside"] = {{"program", choice.beside->program},
                         {"loaded", choice.beside->loaded},
                         {"stored", choice.beside->stored}};
    }
    json["runs"].push_back(std::move(entry));
  }
  json["opens"] = opens;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace flashlab::toy
