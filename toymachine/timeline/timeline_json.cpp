#include "toymachine/timeline/timeline_json.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "text/page.hpp"
#include "timeline_files.hpp"
#include "toymachine/count/count_json.hpp"

namespace flashlab::toy {
namespace {

using Json = nlohmann::ordered_json;

Json causes_json(const CauseCycles& cycles, bool with_idle) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kNumCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    if (cause != Cause::kIdle || with_idle) json[to_string(cause)] = count_json(cycles[i]);
  }
  return json;
}

Json instructions_json(const BoundProgram& program) {
  Json json = Json::array();
  for (const BoundInstruction& instruction : program.instructions) {
    const InstructionSpec& spec = instruction_set()[instruction.row];
    json.push_back({{"site", instruction.site},
                    {"line", instruction.span.line},
                    {"op", spec.mnemonic},
                    {"letter", std::string(1, instruction_letters()[instruction.row])},
                    {"unit", to_string(unit_of(spec))},
                    {"loads", spec.is_load()},
                    {"text", instruction_text(program, instruction)}});
  }
  return json;
}

Json by_op_json(const BoundProgram& program, const Timeline& timeline) {
  std::vector<std::int64_t> busy(instruction_set().size());
  for (const BoundInstruction& instruction : program.instructions) {
    busy[instruction.row] +=
        timeline.sites[instruction.site][static_cast<std::size_t>(Cause::kBusy)];
  }
  Json json = Json::object();
  for (std::size_t row = 0; row < busy.size(); ++row) {
    if (busy[row] > 0) json[instruction_set()[row].mnemonic] = count_json(busy[row]);
  }
  return json;
}

Json by_site_json(const Timeline& timeline) {
  Json json = Json::array();
  for (std::size_t site = 0; site < timeline.sites.size(); ++site) {
    Json entry{{"site", site}};
    entry.update(causes_json(timeline.sites[site], false));
    json.push_back(std::move(entry));
  }
  return json;
}

Json intervals_json(const Timeline& timeline) {
  Json json = Json::array();
  for (const TimelineInterval& interval : timeline.intervals) {
    Json entry{{"unit", to_string(interval.unit)},
               {"cause", interval.is_elided ? "elided" : to_string(interval.cause)},
               {"start", count_json(interval.start)},
               {"end", count_json(interval.end)}};
    if (interval.site != kNoSite) {
      entry["step"] = interval.step;
      entry["site"] = interval.site;
    }
    if (interval.is_elided) entry["steps"] = interval.num_elided;
    json.push_back(std::move(entry));
  }
  return json;
}

Json model_json(const BoundProgram& program, const Timeline& timeline, bool intervals) {
  const TimelineModel& model = timeline.model;
  Json json{{"model", model.overlap ? "overlap" : "serial"},
            {"buffers", model.overlap ? Json(model.buffers) : Json(nullptr)},
            {"cycles", count_json(timeline.cycles)}};
  for (const Unit unit : units_of(program)) {
    json[to_string(unit)] = causes_json(timeline.unit(unit), true);
  }
  json["by_op"] = by_op_json(program, timeline);
  json["by_site"] = by_site_json(timeline);
  if (intervals) {
    json["intervals"] = intervals_json(timeline);
    json["intervals_left_out"] = timeline.intervals_left_out;
  }
  return json;
}

/// The first intervals of some steps, with the idle ones between them.
class StepIntervals {
 public:
  StepIntervals(std::uint64_t from, std::uint64_t to, std::size_t models)
      : from_(from), to_(to), models_(models) {}

  void add(std::size_t model, const TimelineInterval& interval) {
    Model& kept = models_[model];
    bool& ended = kept.ended[static_cast<std::size_t>(interval.unit)];
    if (interval.step > to_) ended = true;
    if (interval.step >= from_) kept.begun = true;
    if (ended || !kept.begun || (interval.step != 0 && interval.step < from_)) return;
    if (kept.intervals.size() < kPageIntervals) {
      kept.intervals.push_back(interval);
    } else {
      ++kept.left_out;
    }
  }

  void move_into(std::vector<Timeline>& timelines) {
    for (std::size_t i = 0; i < timelines.size(); ++i) {
      timelines[i].intervals = std::move(models_[i].intervals);
      timelines[i].intervals_left_out = models_[i].left_out;
    }
  }

 private:
  struct Model {
    std::vector<TimelineInterval> intervals;
    std::uint64_t left_out = 0;
    bool begun = false;
    std::array<bool, kNumUnits> ended{};
  };
  std::uint64_t from_, to_;
  std::vector<Model> models_;
};

}  // namespace

std::string timeline_json(const BoundProgram& program, const std::vector<Timeline>& timelines,
                          bool intervals) {
  const std::filesystem::path name(program.program->source->name());
  Json json{{"flashlab", "timeline"},
            {"program", name.stem().string()},
            {"title", program.program->title},
            {"params", Json::object()},
            {"num_registers", program.num_registers},
            {"instructions", instructions_json(program)},
            {"models", Json::array()}};
  for (std::size_t i = 0; i < program.params.size(); ++i) {
    json["params"][program.program->params[i].name] = program.params[i];
  }
  for (const Timeline& timeline : timelines) {
    json["models"].push_back(model_json(program, timeline, intervals));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string timeline_of_steps_json(const BoundProgram& program, const CostTable& costs,
                                   std::uint64_t from, std::uint64_t to) {
  const auto missing = [](const std::string& why) {
    return Json{{"missing", why}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  const auto times = count_times(program);
  if (!times) return missing(times.diagnostics.front().what);
  Count steps = 0;
  for (const Count& count : *times) steps += count;
  if (steps > Count(static_cast<unsigned long>(kMostTimedSteps))) {
    return missing("a run of " + steps.get_str() + " steps is too long for a timeline in its page");
  }
  TimelineOptions options;
  options.costs = costs;
  options.to = INT64_MAX;
  StepIntervals kept(from, to, options.models.size());
  options.sink = [&](std::size_t model, const TimelineInterval& interval) {
    kept.add(model, interval);
  };
  auto timelines = simulate(program, options);
  if (!timelines) return missing(timelines.diagnostics.front().what);
  kept.move_into(*timelines);
  return timeline_json(program, *timelines, true);
}

void write_timeline_page(const BoundProgram& program, const std::vector<Timeline>& timelines,
                         std::ostream& out) {
  std::string page(file_text(timeline_files, "timeline.html"));
  const auto fill = [&page](std::string_view mark, std::string_view text) {
    page.replace(page.find(mark), mark.size(), text);
  };
  std::string rules;
  for (const std::string_view name : {"player.css", "lanes.css", "timeline.css"}) {
    rules += file_text(timeline_files, name);
  }
  fill("/* flashlab: style */", page_style(rules));
  std::string script;
  for (const std::string_view name : {"text.js", "lanes.js", "timeline.js"}) {
    script += file_text(timeline_files, name);
  }
  fill("/* flashlab: script */", script);
  // In JSON, "<" is only in strings; without it no text can end the script element.
  std::string json;
  for (const char byte : timeline_json(program, timelines, true)) {
    json += byte == '<' ? std::string("\\u003c") : std::string(1, byte);
  }
  fill("flashlab: timeline", json);
  out << page;
}

}  // namespace flashlab::toy
