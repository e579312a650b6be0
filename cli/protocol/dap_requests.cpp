// Requests of the Debug Adapter Protocol about breakpoints and the state of the run.
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/protocol/dap_server.hpp"
#include "cli/protocol/dap_variables.hpp"
#include "cli/protocol/json_members.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

constexpr int kDapFrame = 1;

std::string sentence(const toy::Diagnostic& diagnostic) {
  return diagnostic.expected.empty() ? diagnostic.what
                                     : diagnostic.what + "; expected " + diagnostic.expected;
}

}  // namespace

// Breakpoints -------------------------------------------------------------------------------------

json DapServer::set(std::vector<std::pair<std::string, toy::Breakpoint>>& group,
                    const std::vector<std::string>& texts) {
  replay();
  group.clear();
  json results = json::array();
  for (const std::string& text : texts) {
    const auto parsed = toy::parse_breakpoint(*bound_, text);
    if (!parsed) {
      results.push_back({{"verified", false}, {"message", sentence(parsed.diagnostics.front())}});
      continue;
    }
    group.emplace_back(text, *parsed.value);
    json result{{"verified", true}};
    if (parsed.value->kind == toy::Breakpoint::Kind::kLine) {
      result["line"] = parsed.value->line - (lines_start_at_1_ ? 0 : 1);
    }
    results.push_back(std::move(result));
  }
  return {{"breakpoints", std::move(results)}};
}

json DapServer::set_breakpoints(const json& arguments) {
  std::vector<std::string> texts;
  for (const json& one : objects_in(arguments, "breakpoints")) {
    const std::int64_t line = number_in(one, "line", 0) + (lines_start_at_1_ ? 0 : 1);
    const std::string condition = text_in(one, "condition");
    texts.push_back(std::to_string(line) + (condition.empty() ? "" : " if " + condition));
  }
  return set(lines_, texts);
}

json DapServer::set_function_breakpoints(const json& arguments) {
  std::vector<std::string> texts;
  for (const json& one : objects_in(arguments, "breakpoints"))
    texts.push_back(text_in(one, "name"));
  return set(functions_, texts);
}

json DapServer::data_breakpoint_info(const json& arguments) {
  replay();
  const std::string name = text_in(arguments, "name");
  const auto place = toy::parse_place(*bound_, name);
  if (!place) {
    return {{"dataId", nullptr}, {"description", sentence(place.diagnostics.front())}};
  }
  return {{"dataId", toy::place_name(*bound_, *place.value)},
          {"description", toy::place_name(*bound_, *place.value)},
          {"accessTypes", json::array({"write"})}};
}

json DapServer::set_data_breakpoints(const json& arguments) {
  std::vector<std::string> texts;
  for (const json& one : objects_in(arguments, "breakpoints")) {
    const std::string condition = text_in(one, "condition");
    texts.push_back(text_in(one, "dataId") + " " + (condition.empty() ? "is written" : condition));
  }
  return set(data_, texts);
}

std::vector<toy::Breakpoint> DapServer::breakpoints() const {
  std::vector<toy::Breakpoint> all;
  for (const auto* group : {&lines_, &functions_, &data_}) {
    for (const auto& one : *group) all.push_back(one.second);
  }
  return all;
}

// State -------------------------------------------------------------------------------------------

json DapServer::threads(const json&) {
  const json thread{{"id", kDapThread}, {"name", "the machine"}};
  return {{"threads", json::array({thread})}};
}

json DapServer::stack_trace(const json&) {
  const toy::RunPoint point = replay().point();
  const bool at_end = point.site >= bound_->instructions.size();
  const std::uint32_t line = at_end ? static_cast<std::uint32_t>(loaded_.source->num_lines())
                                    : bound_->instructions[point.site].span.line;
  const std::string path = loaded_.source->name();
  json source{{"name", loaded_.short_name()}};
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    source["path"] = std::filesystem::absolute(path, ignored).string();
  }
  const json frame{
      {"id", kDapFrame},
      {"name", "step " + std::to_string(replay_->step()) + " of " +
                   std::to_string(replay_->total_steps()) + (at_end ? ", at the end" : "")},
      {"source", std::move(source)},
      {"line", line - (lines_start_at_1_ ? 0 : 1)},
      {"column", 1}};
  return {{"stackFrames", json::array({frame})}, {"totalFrames", 1}};
}

json DapServer::scopes(const json&) { return {{"scopes", dap_scopes(replay())}}; }

json DapServer::variables(const json& arguments) {
  return {{"variables",
           dap_variables(replay(), symbols_->after(replay_->step()), costs_,
                         number_in(arguments, "variablesReference", 0),
                         number_in(arguments, "start", 0), number_in(arguments, "count", 0))}};
}

/// "R1", "out[3]", or "who wrote out[3]", which goes there.
json DapServer::evaluate(const json& arguments) {
  replay();
  constexpr std::string_view kWho = "who wrote ";
  const std::string expression = text_in(arguments, "expression");
  const bool asks = expression.starts_with(kWho);
  const auto place = toy::parse_place(
      *bound_, asks ? std::string_view(expression).substr(kWho.size()) : expression);
  if (!place) throw Refused{sentence(place.diagnostics.front())};
  if (asks) {
    const auto step = replay_->writer_of(*place.value);
    if (!step) throw Refused{toy::place_name(*bound_, *place.value) + " was not written"};
    after_response([this, step] { report(replay_->go_to(*step), "goto"); });
    return {{"result", "step " + std::to_string(*step + 1)}, {"variablesReference", 0}};
  }
  if (place.value->is_cell) {
    return {{"result", dap_number(replay_->cell(place.value->number))}, {"variablesReference", 0}};
  }
  const toy::RegisterContents contents = replay_->register_contents(place.value->number);
  std::string text;
  for (const double one : contents.elements) text += (text.empty() ? "" : " ") + dap_number(one);
  return {{"result", contents.is_written() ? text : "unwritten"}, {"variablesReference", 0}};
}

}  // namespace flashlab::cli
