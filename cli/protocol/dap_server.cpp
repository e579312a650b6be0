#include "cli/protocol/dap_server.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/debug/watch_text.hpp"
#include "cli/protocol/json_members.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "text/visible.hpp"
#include "toymachine/execute/dram.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostOutputs =
    1000;  // elements of an array that a run without a debugger prints

/// Whether a client shows why a request failed where it was asked: beside a watch, in the console. As a
/// notification it would come at every stop, and for every word under the mouse.
bool is_shown_in_place(const std::string& command) {
  return command == "evaluate" || command == "completions" || command == "variables" ||
         command == "source" || command == "setVariable" || command == "setExpression";
}

/// "y = 0.1 0.2 0.3\n".
std::string output_text(const toy::BoundArray& array, toy::Replay& run) {
  std::string text = array.name + " =";
  const auto count = std::min<std::int64_t>(array.size, kMostOutputs);
  for (std::int64_t i = 0; i < count; ++i)
    text += " " + value_text(run.cell(array.offset + i), run);
  return text + (count < array.size ? " ...\n" : "\n");
}

}  // namespace

/// Which requests there are, in which state they are served, and whether a search lets them pass.
const RequestTable<DapServer::Handler>& DapServer::table() {
  static const RequestTable<Handler> kTable = {
      {"initialize", {&DapServer::initialize, kReady}},
      {"launch", {&DapServer::launch, kReady | kLaunched}},
      {"configurationDone", {&DapServer::configuration_done, kLaunched}},
      {"terminate", {&DapServer::terminate, kAlways, true}},
      {"disconnect", {&DapServer::disconnect, kAlways, true}},
      {"setBreakpoints", {&DapServer::set_breakpoints, kLaunched, true}},
      {"setFunctionBreakpoints", {&DapServer::set_function_breakpoints, kLaunched, true}},
      {"setDataBreakpoints", {&DapServer::set_data_breakpoints, kLaunched, true}},
      {"setExceptionBreakpoints", {&DapServer::nothing, kAlways, true}},
      {"dataBreakpointInfo", {&DapServer::data_breakpoint_info, kLaunched}},
      {"pause", {&DapServer::pause, kLaunched, true}},
      {"cancel", {&DapServer::cancel, kAlways, true}},
      {"threads", {&DapServer::threads, kAlways, true}},
      {"source", {&DapServer::source, kLaunched, true}},
      {"stackTrace", {&DapServer::stack_trace, kLaunched}},
      {"scopes", {&DapServer::scopes, kLaunched}},
      {"variables", {&DapServer::variables, kLaunched}},
      {"evaluate", {&DapServer::evaluate, kLaunched}},
      {"setVariable", {&DapServer::set_value, kLaunched}},
      {"setExpression", {&DapServer::set_value, kLaunched}},
      {"completions", {&DapServer::completions, kLaunched}},
      {"next", {&DapServer::next, kLaunched}},
      {"stepIn", {&DapServer::next, kLaunched}},
      {"stepOut", {&DapServer::step_out, kLaunched}},
      {"stepBack", {&DapServer::step_back, kLaunched}},
      {"continue", {&DapServer::go_on, kLaunched}},
      {"reverseContinue", {&DapServer::reverse, kLaunched}},
      {"gotoTargets", {&DapServer::goto_targets, kLaunched}},
      {"goto", {&DapServer::go_to, kLaunched}},
  };
  return kTable;
}

std::string DapServer::why_refused(unsigned states) const {
  if (state_ == kEnded) return "the program was terminated; only disconnect follows";
  return (states & kLaunched) != 0 ? "no program was launched" : "a program was launched already";
}

int DapServer::run() {
  while (!has_ended_) {
    const auto frame = stream_.read();
    if (!frame) break;
    serve(*frame);
  }
  return has_ended_ ? kExitGood : stream_.exit_code_at_end();
}

void DapServer::serve(const Frame& frame) {
  if (!frame.error.empty()) return say("stderr", frame.error + "\n");
  const std::string type = loose_text(frame.body, "type"),
                    command = loose_text(frame.body, "command");
  if (type == "response" || type == "event") return;  // we ask nothing
  const auto row = table().find(command);
  if (row == table().end()) {
    return respond(frame.body, false, {}, "there is no request '" + printable(command) + "'");
  }
  if ((row->second.states & state_) == 0) {
    return respond(frame.body, false, {}, why_refused(row->second.states));
  }
  json arguments = json::object();
  const auto given = frame.body.find("arguments");
  after_response_ = nullptr;
  request_ = loose_number(frame.body, "seq");
  try {
    if (given != frame.body.end() && !given->is_null()) {
      if (!given->is_object()) throw wrong_member("arguments", &*given, "an object");
      arguments = *given;
    }
    respond(frame.body, true, (this->*row->second.handler)(arguments), {});
    if (const auto action = std::exchange(after_response_, nullptr)) action();
  } catch (const Refused& refused) {
    respond(frame.body, false, {}, refused.why);
  } catch (const Failure& failure) {
    respond(frame.body, false, {}, failure.what());
  } catch (const std::exception& error) {  // whatever a client sends, the server goes on
    respond(frame.body, false, {}, error.what());
  }
}

void DapServer::respond(const json& request, bool success, const json& body,
                        const std::string& message) {
  const std::string command = loose_text(request, "command");
  json response{{"seq", ++sequence_},
                {"type", "response"},
                {"request_seq", loose_number(request, "seq")},
                {"success", success},
                {"command", command}};
  if (!body.is_null()) response["body"] = body;
  if (!success) {
    response["message"] = message;
    response["body"] = {
        {"error", {{"id", 1}, {"format", message}, {"showUser", !is_shown_in_place(command)}}}};
  }
  stream_.write(response);
}

void DapServer::send_event(const std::string& event, const json& body) {
  json message{{"seq", ++sequence_}, {"type", "event"}, {"event", event}};
  if (!body.is_null()) message["body"] = body;
  stream_.write(message);
}

void DapServer::say(const char* category, const std::string& text) {
  send_event("output", {{"category", category}, {"output", text}});
}

std::int64_t DapServer::from_client_line(std::int64_t line) const {
  constexpr std::int64_t kLargest = UINT32_MAX;
  return std::clamp<std::int64_t>(line, -kLargest, kLargest) + (lines_start_at_1_ ? 0 : 1);
}

// Beginning and end -------------------------------------------------------------------------------

json DapServer::initialize(const json& arguments) {
  constexpr const char* kFormats = "\"path\" or \"uri\"";
  const std::string format = text_in(arguments, "pathFormat", kFormats);
  if (!format.empty() && format != "path" && format != "uri") {
    throw wrong_member("pathFormat", member_of(arguments, "pathFormat"), kFormats);
  }
  paths_are_uris_ = format == "uri";
  lines_start_at_1_ = switch_in(arguments, "linesStartAt1", true);
  columns_start_at_1_ = switch_in(arguments, "columnsStartAt1", true);
  wants_progress_ = switch_in(arguments, "supportsProgressReporting", false);
  json capabilities = json::object();
  for (const char* one :
       {"supportsConfigurationDoneRequest", "supportsFunctionBreakpoints",
        "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints", "supportsLogPoints",
        "supportsStepBack", "supportsGotoTargetsRequest", "supportsDataBreakpoints",
        "supportsEvaluateForHovers", "supportsTerminateRequest", "supportsCancelRequest",
        "supportsDelayedStackTraceLoading", "supportsCompletionsRequest"}) {
    capabilities[one] = true;
  }
  return capabilities;
}

json DapServer::launch(const json& arguments) {
  // Whatever fails below, no program is there then.
  launched_.reset();
  breakpoints_.clear();
  state_ = kReady;
  std::string program = from_client_path(text_in(arguments, "program", "the path of a .toy file"));
  if (program.empty()) throw Refused{"launch needs \"program\": the path of a .toy file"};
  MachineOptions machine;
  if (const json* const params = member_of(arguments, "params")) {
    if (!params->is_object()) throw wrong_member("params", params, "an object such as {\"n\": 8}");
    for (const auto& [name, value] : params->items()) {
      if (!value.is_number_integer())
        throw wrong_member("params." + printable(name), &value, "a whole number");
      machine.definitions.push_back(name + "=" + value.dump());
    }
  }
  RunOptions run;
  if (const json* const inputs = member_of(arguments, "inputs")) {
    if (!inputs->is_object())
      throw wrong_member("inputs", inputs, "an object such as {\"x\": [1, 2]}");
    for (const auto& [name, value] : inputs->items()) {
      run.inputs.push_back(name + "=" +
                           (value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
  constexpr const char* kPrecisions = "\"float\" or \"double\"";
  const std::string precision = text_in(arguments, "precision", kPrecisions);
  if (!precision.empty() && precision != "float" && precision != "double") {
    throw wrong_member("precision", member_of(arguments, "precision"), kPrecisions);
  }
  std::error_code ignored;
  const auto in_folder =
      std::filesystem::path(from_client_path(text_in(arguments, "cwd"))) / program;
  const bool is_bundled =  // though a folder may be called so
      std::filesystem::is_directory(in_folder, ignored) && find_bundled_program(program) != nullptr;
  if (std::filesystem::exists(in_folder, ignored) && !is_bundled) program = in_folder.string();
  Launched made;
  made.is_debugged = !switch_in(arguments, "noDebug", false);
  made.stops_on_entry = made.is_debugged && switch_in(arguments, "stopOnEntry", true);
  made.loaded = load_program(program, machine);
  made.bound = std::make_unique<toy::BoundProgram>(made.loaded.bind(machine.binding()));
  const toy::SourceText& text = *made.loaded.source;
  auto dram = value_or_fail(toy::InitialDram::make(*made.bound, run.input_sources()), text);
  made.symbols = std::make_unique<toy::RegisterSymbols>(*made.bound, dram, true);
  toy::ReplayOptions options;
  options.double_precision = precision == "double";
  auto started = toy::Replay::start(*made.bound, std::move(dram), options);
  if (!started &&
      started.diagnostics.front().fault == toy::Fault::kLimit) {  // no flag changes it here
    throw Refused{started.diagnostics.front().what + "; this debugger follows at most " +
                  std::to_string(machine.limits.max_steps) + ". Launch it with smaller \"params\""};
  }
  made.replay = value_or_fail(std::move(started), text);
  const std::string steps = "a step from 0 to " + std::to_string(made.replay->total_steps());
  const auto step = member_of(arguments, "step") == nullptr
                        ? 0
                        : whole_number_of(arguments, "step", steps.c_str());
  if (step < 0 || static_cast<std::uint64_t>(step) > made.replay->total_steps()) {
    throw wrong_member("step", member_of(arguments, "step"), steps);
  }
  if (step > 0) made.replay->go_to(static_cast<std::uint64_t>(step));
  launched_ = std::move(made);
  state_ = kLaunched;
  // Breakpoints need the program, so that the client is asked for them only now.
  after_response([this] { send_event("initialized", {}); });
  return {};
}

json DapServer::configuration_done(const json&) {
  if (std::exchange(launched_->is_configured, true)) {
    throw Refused{"the configuration was done already"};
  }
  if (launched_->stops_on_entry) return move([](const auto&) { return toy::Stop{}; }, "entry");
  if (launched_->is_debugged)
    return move([this](const auto&) { return search(false, true); }, "entry");
  after_response([this] {  // to the end, and what came out
    begin_search();
    const toy::Stop stop = replay().forward({}, [this](std::uint64_t at) { return goes_on(at); });
    end_search();
    if (state_ != kLaunched || stop.reason == toy::Stop::Reason::kCancelled) {
      if (state_ == kLaunched) report(stop, "pause");
      return;
    }
    if (const toy::Diagnostic* const error = replay().error()) {
      say("stderr", toy::format({*error}, *launched_->loaded.source));
    } else {
      for (const toy::BoundArray& array : program().arrays) {
        if (array.role == toy::ArrayRole::kOutput) say("stdout", output_text(array, replay()));
      }
    }
    end_program(replay().error() == nullptr ? kExitGood : kExitProgramWrong);
  });
  return {};
}

/// The program ends; the session goes on until the client disconnects.
void DapServer::end_program(int code) {
  if (state_ == kEnded) return;
  end_search();
  if (state_ == kLaunched) send_event("exited", {{"exitCode", code}});
  send_event("terminated", {});
  state_ = kEnded;
}

json DapServer::terminate(const json&) {
  search_.is_stopped = true;
  after_response([this] { end_program(kExitGood); });
  return {};
}

json DapServer::disconnect(const json&) {
  search_.is_stopped = true;
  after_response([this] {
    end_search();
    if (state_ != kEnded) send_event("terminated", {});
    state_ = kEnded;
    has_ended_ = true;
  });
  return {};
}

json DapServer::nothing(const json&) { return {}; }

}  // namespace flashlab::cli
