// Requests of the Debug Adapter Protocol about breakpoints and the state of the run.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/debug/watch_text.hpp"
#include "cli/protocol/dap_server.hpp"
#include "cli/protocol/dap_variables.hpp"
#include "cli/protocol/json_members.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "text/file_uri.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

constexpr int kDapFrame = 1;
constexpr std::int64_t kMostChangedBytes =
    1 << 24;                            // of a file that is compared with its text at launch
constexpr std::int64_t kDapSource = 1;  // the program, for a client that cannot read its file
constexpr std::int64_t kDapOther = 2;   // its score function, or the program of a function

DapBreakpoints::Wanted wanted_in(const json& one, std::string text) {
  return {std::move(text), text_in(one, "hitCondition"), text_in(one, "logMessage"), {}};
}

/// Returns the breakpoints of a source. Old clients send only their lines.
std::vector<json> line_breakpoints_in(const json& arguments) {
  std::vector<json> result = objects_in(arguments, "breakpoints");
  const json* const lines = member_of(arguments, "lines");
  if (member_of(arguments, "breakpoints") != nullptr || lines == nullptr) return result;
  if (!lines->is_array()) throw wrong_member("lines", lines, "a list of whole numbers");
  for (const json& line : *lines) result.push_back({{"line", line}});
  return result;
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);  // what a pipe had has been read
}

}  // namespace

// Breakpoints -------------------------------------------------------------------------------------

json DapServer::breakpoints_answer(DapBreakpoints::Kind kind,
                                   const std::vector<DapBreakpoints::Wanted>& wanted) {
  json results = breakpoints_.replace(program(), kind, wanted);
  for (json& one : results) {
    if (one.contains("line")) one["line"] = to_client_line(one["line"].get<std::int64_t>());
  }
  search_.has_new_breakpoints = search_.is_running;
  return {{"breakpoints", std::move(results)}};
}

std::string DapServer::from_client_path(const std::string& path) const {
  return paths_are_uris_ ? path_of_uri(path) : path;
}

/// Whether a client's source is the program that runs. Without a path or a number it is.
bool DapServer::is_launched_source(const json& source) const {
  const std::string& name = launched_->loaded.source->name();
  if (number_in(source, "sourceReference", 0) == kDapSource) return true;
  const std::string path = from_client_path(text_in(source, "path"));
  if (path.empty()) {
    const std::string given = text_in(source, "name");
    return given.empty() || given == launched_->loaded.short_name() || given == name ||
           given == text_in(launched_source(), "name");
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(path, name, ignored)) return true;
  const auto whole = [&](const std::string& one) {
    return std::filesystem::absolute(one, ignored).lexically_normal();
  };
  return whole(path) == whole(name);
}

/// Returns, of the lines that the program's file has now, those of the text that runs; nothing: the file
/// is as it was, or there is none.
std::optional<UnchangedLines> DapServer::lines_since_launch() const {
  const toy::SourceText& launched = *launched_->loaded.source;
  if (!is_file(launched.name())) return std::nullopt;
  try {
    const toy::SourceText now(launched.name(), read_text_file(launched.name(), kMostChangedBytes,
                                                              "the program that was launched"));
    if (now.text() == launched.text()) return std::nullopt;
    return UnchangedLines(now, launched);
  } catch (const Failure&) {
    return std::nullopt;  // it cannot be read now
  }
}

json DapServer::set_breakpoints(const json& arguments) {
  const auto source = arguments.find("source");
  const bool is_ours =
      source == arguments.end() || !source->is_object() || is_launched_source(*source);
  const auto unchanged = is_ours ? lines_since_launch() : std::nullopt;
  std::vector<DapBreakpoints::Wanted> wanted;
  for (const json& one : line_breakpoints_in(arguments)) {
    const std::int64_t line = from_client_line(whole_number_of(one, "line"));
    const std::string condition = text_in(one, "condition");
    wanted.push_back(
        wanted_in(one, std::to_string(line) + (condition.empty() ? "" : " if " + condition)));
    if (unchanged &&
        unchanged->place_of(static_cast<std::uint32_t>(std::max<std::int64_t>(line, 0))) != line) {
      wanted.back().refusal = "the file has changed since the launch, and line " +
                              std::to_string(to_client_line(line)) +
                              " with it; launch the program again";
    }
  }
  if (is_ours) return breakpoints_answer(DapBreakpoints::Kind::kLine, wanted);
  // Of another file, beside those of this one, which stay.
  json results = json::array();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    results.push_back(
        {{"verified", false},
         {"message", "the program that runs is " + printable(launched_->loaded.source->name())}});
  }
  return {{"breakpoints", std::move(results)}};
}

json DapServer::set_function_breakpoints(const json& arguments) {
  std::vector<DapBreakpoints::Wanted> wanted;
  for (const json& one : objects_in(arguments, "breakpoints")) {
    const std::string condition = text_in(one, "condition");
    wanted.push_back(
        wanted_in(one, text_of(one, "name") + (condition.empty() ? "" : " if " + condition)));
  }
  return breakpoints_answer(DapBreakpoints::Kind::kFunction, wanted);
}

/// The place is named as everywhere, or as a variable of an array: "out[2]" with its reference.
json DapServer::data_breakpoint_info(const json& arguments) {
  const std::string name = text_of(arguments, "name");
  const auto no = [](const toy::Diagnostic& why) -> json {
    return {{"dataId", nullptr}, {"description", sentence(why)}};
  };
  const auto expression = toy::WatchExpression::parse(program(), name);
  if (!expression) return no(expression.diagnostics.front());
  const auto place = expression->place(replay());
  if (!place) return no(place.diagnostics.front());
  const std::string found = toy::place_name(program(), *place);
  return {{"dataId", found}, {"description", found}, {"accessTypes", json::array({"write"})}};
}

json DapServer::set_data_breakpoints(const json& arguments) {
  std::vector<DapBreakpoints::Wanted> wanted;
  for (const json& one : objects_in(arguments, "breakpoints")) {
    const std::string place = text_of(one, "dataId"), condition = text_in(one, "condition");
    const std::string access = text_in(one, "accessType");
    // A condition is as of a line's, "out[3] > 0 && i == 2", or what follows the place, "> 0".
    const std::size_t start = condition.find_first_not_of(" \t");
    const bool is_rest = start != std::string::npos &&
                         std::string_view("<>=!").find(condition[start]) != std::string::npos;
    wanted.push_back(wanted_in(
        one,
        place + " is written" +
            (start == std::string::npos ? "" : " if " + (is_rest ? place + " " : "") + condition)));
    if (!access.empty() && access != "write") {
      wanted.back().refusal =
          "a run stops at writes; it does not stop at reads of " + printable(place);
    }
  }
  return breakpoints_answer(DapBreakpoints::Kind::kData, wanted);
}

// State -------------------------------------------------------------------------------------------

json DapServer::threads(const json&) {
  const json thread{{"id", kDapThread}, {"name", "the machine"}};
  return {{"threads", json::array({thread})}};
}

json DapServer::launched_source() const {
  const std::string& path = launched_->loaded.source->name();
  json source{{"name", launched_->loaded.short_name()}};
  if (is_file(path)) {
    source["name"] = printable(std::filesystem::path(path).filename().string());
    std::error_code ignored;
    const std::string whole = std::filesystem::absolute(path, ignored).lexically_normal().string();
    source["path"] = paths_are_uris_ ? file_uri(whole) : whole;
  } else {  // it comes with flashlab, or its file has gone
    source["sourceReference"] = kDapSource;
  }
  return source;
}

json DapServer::source(const json& arguments) {
  auto number = number_in(arguments, "sourceReference", 0);
  if (const auto source = arguments.find("source");
      number == 0 && source != arguments.end() && source->is_object()) {
    number = is_launched_source(*source) ? kDapSource : 0;
  }
  const auto& other = launched_->loaded.source->other();
  if (number == kDapOther && other) return {{"content", other->text()}, {"mimeType", "text/plain"}};
  if (number != kDapSource) throw Refused{"there is no source " + std::to_string(number)};
  return {{"content", launched_->loaded.source->text()}, {"mimeType", "text/plain"}};
}

json DapServer::stack_trace(const json& arguments) {
  const toy::RunPoint point = replay().point();
  const bool at_end = point.site >= program().instructions.size();
  const std::uint32_t line = at_end
                                 ? static_cast<std::uint32_t>(launched_->loaded.source->num_lines())
                                 : program().instructions[point.site].span.line;
  const toy::SourceText& text = *launched_->loaded.source;
  const bool is_in_other = line > text.num_lines();
  const json other_source{{"name", text.name_of(line)}, {"sourceReference", kDapOther}};
  const json frame{
      {"id", kDapFrame},
      {"name", "step " + std::to_string(replay().step()) + " of " +
                   std::to_string(replay().total_steps()) + (at_end ? ", at the end" : "")},
      {"source", is_in_other ? other_source : launched_source()},
      {"line", to_client_line(text.number_in_part(line))},
      {"column", columns_start_at_1_ ? 1 : 0}};
  const bool is_wanted = number_in(arguments, "startFrame", 0) <= 0;
  return {{"stackFrames", is_wanted ? json::array({frame}) : json::array()}, {"totalFrames", 1}};
}

json DapServer::scopes(const json&) { return {{"scopes", dap_scopes(replay())}}; }

json DapServer::variables(const json& arguments) {
  DapVariablesWanted wanted;
  wanted.reference = whole_number_of(arguments, "variablesReference");
  wanted.first = number_in(arguments, "start", 0);
  wanted.count = number_in(arguments, "count", 0);
  wanted.filter = text_in(arguments, "filter");
  auto found = dap_variables(replay(), *launched_->symbols, costs_, wanted);
  if (!found) throw Refused{"there are no variables " + std::to_string(wanted.reference)};
  return {{"variables", std::move(*found)}};
}

/// "R1", "x[i] - R0", the name of an array; and "who wrote out[3]", which goes there in the console.
json DapServer::evaluate(const json& arguments) {
  constexpr std::string_view kWho = "who wrote ";
  const std::string expression = text_of(arguments, "expression");
  if (expression.starts_with(kWho)) {
    return evaluate_writer(expression.substr(kWho.size()), text_in(arguments, "context") == "repl");
  }
  if (auto array = dap_array(replay(), expression)) {
    return {{"result", (*array)["value"]},
            {"variablesReference", (*array)["variablesReference"]},
            {"indexedVariables", (*array)["indexedVariables"]}};
  }
  const auto parsed = toy::WatchExpression::parse(program(), expression);
  if (!parsed) throw Refused{sentence(parsed.diagnostics.front())};
  const auto value = parsed->value(replay());
  if (!value) throw Refused{sentence(value.diagnostics.front())};
  constexpr std::size_t kLongestResult = 1000;
  json result{{"result", value_text(*value, replay(), kLongestResult)}, {"variablesReference", 0}};
  if (value->kind == toy::WatchValue::Kind::kTile) {
    if (const auto place = parsed->place(replay())) {
      result["variablesReference"] = dap_tile_reference(place->number);
      result["indexedVariables"] = value->elements.size();
    }
  }
  return result;
}

/// Clients offer it only where it is announced. Some let the user ask all the same.
json DapServer::set_value(const json&) {
  throw Refused{std::string(toy::kNothingIsSet) +
                "; nothing can be set. Launch it with other \"inputs\" or \"params\""};
}

json DapServer::evaluate_writer(const std::string& text, bool moves) {
  const auto expression = toy::WatchExpression::parse(program(), text);
  if (!expression) throw Refused{sentence(expression.diagnostics.front())};
  const auto place = expression->place(replay());
  if (!place) throw Refused{sentence(place.diagnostics.front())};
  const auto step = replay().writer_of(*place);
  if (!step) throw Refused{toy::place_name(program(), *place) + " was not written"};
  if (moves)
    move([this, step](const auto& progress) { return replay().go_to(*step, progress); }, "goto");
  return {{"result", "step " + std::to_string(*step + 1)}, {"variablesReference", 0}};
}

}  // namespace flashlab::cli
