#include "cli/protocol/dap_server.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/protocol/json_members.hpp"
#include "cli/terminal/failure.hpp"
#include "text/visible.hpp"
#include "toymachine/execute/dram.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

constexpr auto kTimeUntilProgress = std::chrono::milliseconds(300);

}  // namespace

const std::map<std::string, DapServer::Handler>& DapServer::handlers() {
  static const std::map<std::string, Handler> kHandlers = {
      {"initialize", &DapServer::initialize},
      {"launch", &DapServer::launch},
      {"configurationDone", &DapServer::configuration_done},
      {"disconnect", &DapServer::disconnect},
      {"terminate", &DapServer::disconnect},
      {"setBreakpoints", &DapServer::set_breakpoints},
      {"setFunctionBreakpoints", &DapServer::set_function_breakpoints},
      {"dataBreakpointInfo", &DapServer::data_breakpoint_info},
      {"setDataBreakpoints", &DapServer::set_data_breakpoints},
      {"setExceptionBreakpoints", &DapServer::nothing},
      {"pause", &DapServer::nothing},
      {"cancel", &DapServer::nothing},
      {"threads", &DapServer::threads},
      {"stackTrace", &DapServer::stack_trace},
      {"scopes", &DapServer::scopes},
      {"variables", &DapServer::variables},
      {"evaluate", &DapServer::evaluate},
      {"next", &DapServer::next},
      {"stepIn", &DapServer::next},
      {"stepOut", &DapServer::next},
      {"stepBack", &DapServer::step_back},
      {"continue", &DapServer::go_on},
      {"reverseContinue", &DapServer::reverse},
      {"gotoTargets", &DapServer::goto_targets},
      {"goto", &DapServer::go_to},
  };
  return kHandlers;
}

int DapServer::run() {
  while (!has_ended_) {
    const auto frame = stream_.read();
    if (!frame) break;
    serve(*frame);
  }
  return kExitGood;
}

void DapServer::serve(const Frame& frame) {
  if (!frame.error.empty()) {
    return send_event("output", {{"category", "stderr"}, {"output", frame.error + "\n"}});
  }
  const std::string command = text_in(frame.body, "command");
  const auto handler = handlers().find(command);
  if (handler == handlers().end()) {
    return respond(frame.body, false, {}, "there is no request '" + printable(command) + "'");
  }
  json arguments = json::object();
  const auto given = frame.body.find("arguments");
  if (given != frame.body.end() && given->is_object()) arguments = *given;
  after_response_ = nullptr;
  request_ = number_in(frame.body, "seq", 0);
  try {
    respond(frame.body, true, (this->*handler->second)(arguments), {});
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
  json response{{"seq", ++sequence_},
                {"type", "response"},
                {"request_seq", number_in(request, "seq", 0)},
                {"success", success},
                {"command", text_in(request, "command")}};
  if (!body.is_null()) response["body"] = body;
  if (!success) {
    response["message"] = message;
    response["body"] = {{"error", {{"id", 1}, {"format", message}, {"showUser", true}}}};
  }
  stream_.write(response);
}

void DapServer::send_event(const std::string& event, const json& body) {
  json message{{"seq", ++sequence_}, {"type", "event"}, {"event", event}};
  if (!body.is_null()) message["body"] = body;
  stream_.write(message);
}

toy::Replay& DapServer::replay() {
  if (!replay_) throw Refused{"no program was launched"};
  return *replay_;
}

// Beginning and end -------------------------------------------------------------------------------

json DapServer::initialize(const json& arguments) {
  lines_start_at_1_ = switch_in(arguments, "linesStartAt1", true);
  wants_progress_ = switch_in(arguments, "supportsProgressReporting", false);
  json capabilities = json::object();
  for (const char* one :
       {"supportsConfigurationDoneRequest", "supportsFunctionBreakpoints",
        "supportsConditionalBreakpoints", "supportsStepBack", "supportsGotoTargetsRequest",
        "supportsDataBreakpoints", "supportsEvaluateForHovers", "supportsTerminateRequest",
        "supportsCancelRequest"}) {
    capabilities[one] = true;
  }
  return capabilities;
}

json DapServer::launch(const json& arguments) {
  const std::string program = text_in(arguments, "program");
  if (program.empty()) throw Refused{"launch needs \"program\": the path of a .toy file"};
  MachineOptions machine;
  if (const auto params = arguments.find("params"); params != arguments.end()) {
    if (!params->is_object()) throw Refused{"\"params\" is no object such as {\"n\": 8}"};
    for (const auto& [name, value] : params->items()) {
      if (!value.is_number_integer()) throw Refused{"\"params\": " + name + " is no whole number"};
      machine.definitions.push_back(name + "=" + value.dump());
    }
  }
  RunOptions run;
  if (const auto inputs = arguments.find("inputs"); inputs != arguments.end()) {
    if (!inputs->is_object()) throw Refused{"\"inputs\" is no object such as {\"x\": [1, 2]}"};
    for (const auto& [name, value] : inputs->items()) {
      run.inputs.push_back(name + "=" +
                           (value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
  stops_on_entry_ = switch_in(arguments, "stopOnEntry", true);
  replay_.reset();
  loaded_ = load_program(program, machine.limits);
  bound_ = std::make_unique<toy::BoundProgram>(loaded_.bind(machine.binding()));
  auto dram = value_or_fail(toy::InitialDram::make(*bound_, run.input_sources()), *loaded_.source);
  symbols_ = std::make_unique<toy::RegisterSymbols>(*bound_, dram, true);
  toy::ReplayOptions options;
  options.double_precision = text_in(arguments, "precision") == "double";
  replay_ = value_or_fail(toy::Replay::start(*bound_, std::move(dram), options), *loaded_.source);
  const auto step = number_in(arguments, "step", 0);
  if (step > 0) replay_->go_to(static_cast<std::uint64_t>(step));
  // Breakpoints need the program, so that the client is asked for them only now.
  after_response([this] { send_event("initialized", {}); });
  return {};
}

json DapServer::configuration_done(const json&) {
  replay();
  if (stops_on_entry_) return move([] { return toy::Stop{}; }, "entry");
  return move(
      [this] {
        return replay_->forward(breakpoints(),
                                [this](std::uint64_t step) { return is_wanted(step); });
      },
      "entry");
}

json DapServer::disconnect(const json&) {
  after_response([this] {
    send_event("terminated", {});
    has_ended_ = true;
  });
  return {};
}

json DapServer::nothing(const json&) { return {}; }

// Moves -------------------------------------------------------------------------------------------

/// During a long search the client may pause, cancel or end it; other requests wait.
bool DapServer::is_wanted(std::uint64_t step) {
  while (auto frame = stream_.read_arrived()) {
    const std::string command = text_in(frame->body, "command");
    const bool stops = command == "pause" || command == "disconnect" || command == "terminate" ||
                       (command == "cancel" && cancels(*frame));
    stream_.put_back(std::move(*frame));
    if (stops) return false;
  }
  report_progress(step);
  return true;
}

/// Whether a cancel request means the present search, not one that has ended.
bool DapServer::cancels(const Frame& frame) const {
  const auto arguments = frame.body.find("arguments");
  if (arguments == frame.body.end() || !arguments->is_object()) return true;
  const std::string progress = text_in(*arguments, "progressId");
  if (!progress.empty()) return progress == search_.id;
  return number_in(*arguments, "requestId", request_) == request_;
}

void DapServer::report_progress(std::uint64_t step) {
  if (!wants_progress_ || std::chrono::steady_clock::now() - search_.began < kTimeUntilProgress) {
    return;
  }
  const std::uint64_t total = replay_->total_steps();
  const bool is_forward = step >= search_.from;
  const auto done = static_cast<double>(is_forward ? step - search_.from : search_.from - step);
  const auto all = static_cast<double>(is_forward ? total - search_.from : search_.from);
  json body{{"progressId", search_.id},
            {"message", "step " + std::to_string(step) + " of " + std::to_string(total)},
            {"percentage", all > 0 ? std::floor(100 * done / all) : 100}};
  if (!search_.is_shown) {
    body.update({{"title", "Searching"}, {"requestId", request_}, {"cancellable", true}});
  }
  send_event(std::exchange(search_.is_shown, true) ? "progressUpdate" : "progressStart", body);
}

json DapServer::move(std::function<toy::Stop()> action, const char* reason) {
  replay();
  after_response([this, action = std::move(action), reason] {
    search_ = {"search " + std::to_string(request_), replay_->step(),
               std::chrono::steady_clock::now()};
    const toy::Stop stop = action();
    if (search_.is_shown) send_event("progressEnd", {{"progressId", search_.id}});
    report(stop, reason);
  });
  return json::object();
}

void DapServer::report(const toy::Stop& stop, const char* reason) {
  json body{{"threadId", kDapThread}, {"allThreadsStopped", true}, {"reason", reason}};
  switch (stop.reason) {
    case toy::Stop::Reason::kStep:
      break;
    case toy::Stop::Reason::kBreakpoint:
      body["reason"] = stop.breakpoint < lines_.size()                       ? "breakpoint"
                       : stop.breakpoint < lines_.size() + functions_.size() ? "function breakpoint"
                                                                             : "data breakpoint";
      break;
    case toy::Stop::Reason::kStart:
      body["description"] = "at the start";
      break;
    case toy::Stop::Reason::kEnd:  // not terminated: the client may go back from here
      body["description"] = "at the end";
      break;
    case toy::Stop::Reason::kError:
      body["reason"] = "exception";
      body["description"] = "the run failed";
      body["text"] = replay_->error()->what;
      break;
    case toy::Stop::Reason::kCancelled:
      body["reason"] = "pause";
      break;
  }
  send_event("stopped", body);
}

json DapServer::next(const json&) {
  return move([this] { return replay_->go_to(replay_->step() + 1); }, "step");
}

json DapServer::step_back(const json&) {
  return move(
      [this] {
        return replay_->go_to(replay_->step() - std::min<std::uint64_t>(replay_->step(), 1));
      },
      "step");
}

json DapServer::go_on(const json&) {
  move(
      [this] {
        return replay_->forward(breakpoints(),
                                [this](std::uint64_t step) { return is_wanted(step); });
      },
      "step");
  return {{"allThreadsContinued", true}};
}

json DapServer::reverse(const json&) {
  return move(
      [this] {
        return replay_->backward(breakpoints(),
                                 [this](std::uint64_t step) { return is_wanted(step); });
      },
      "step");
}

json DapServer::goto_targets(const json& arguments) {
  replay();
  const auto line = number_in(arguments, "line", 0) + (lines_start_at_1_ ? 0 : 1);
  const auto site = line < 0 || line > UINT32_MAX
                        ? std::nullopt
                        : toy::site_at_line(*bound_, static_cast<std::uint32_t>(line));
  json targets = json::array();
  if (site) {
    const std::uint32_t found = bound_->instructions[*site].span.line;
    const std::string label = "line " + std::to_string(found);
    // The two visits around the present step: 2 n is the previous one, 2 n + 1 the next one.
    targets.push_back({{"id", 2 * *site + 1},
                       {"label", "next visit of " + label},
                       {"line", found - (lines_start_at_1_ ? 0 : 1)}});
    targets.push_back({{"id", 2 * *site},
                       {"label", "previous visit of " + label},
                       {"line", found - (lines_start_at_1_ ? 0 : 1)}});
  }
  return {{"targets", std::move(targets)}};
}

json DapServer::go_to(const json& arguments) {
  const std::int64_t id = number_in(arguments, "targetId", -1);
  if (id < 0 || id / 2 >= std::ssize(replay().program().instructions)) {
    throw Refused{"there is no target " + std::to_string(id)};
  }
  const toy::WantedExecutions visits{static_cast<std::uint32_t>(id / 2), {}};
  const auto step =
      id % 2 == 0 ? replay_->last_execution({&visits, 1}) : replay_->next_execution({&visits, 1});
  if (!step) throw Refused{id % 2 == 0 ? "it was not executed before" : "it is not executed again"};
  return move([this, step] { return replay_->go_to(*step); }, "goto");
}

}  // namespace flashlab::cli
