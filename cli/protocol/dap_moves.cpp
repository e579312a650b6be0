// Requests of the Debug Adapter Protocol that move the run.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/protocol/dap_server.hpp"
#include "cli/protocol/json_members.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

constexpr auto kTimeUntilProgress = std::chrono::milliseconds(300);
// A short search is over before a client could mean it.
constexpr auto kTimeUntilInterrupted = std::chrono::milliseconds(100);

}  // namespace

/// Asked during a long move. What does not concern the run's state is answered now; the rest waits.
bool DapServer::goes_on(std::uint64_t step) {
  if (std::chrono::steady_clock::now() - search_.began < kTimeUntilInterrupted) return true;
  std::vector<Frame> arrived;
  if (!std::exchange(search_.has_looked, true)) arrived = stream_.take_returned();
  while (auto frame = stream_.read_arrived()) arrived.push_back(std::move(*frame));
  for (Frame& frame : arrived) {
    const auto row = table().find(loose_text(frame.body, "command"));
    const bool is_known = row != table().end();
    // A pause also means the requests before it that still wait, so that it waits behind them.
    const bool is_pause =
        is_known && row->second.handler == &DapServer::pause && stream_.has_returned();
    if (is_pause) search_.is_stopped = true;
    if (!frame.error.empty() || (is_known && row->second.during_search && !is_pause)) {
      serve(frame);
    } else {
      stream_.put_back(std::move(frame));
    }
  }
  if (stream_.is_abandoned()) search_.is_stopped = true;
  if (search_.is_stopped || search_.has_new_breakpoints) return false;
  report_progress(step);
  return true;
}

json DapServer::pause(const json&) {
  search_.is_stopped = true;
  return {};
}

/// Cancels the present search, but not because of a request that meant one that has ended.
json DapServer::cancel(const json& arguments) {
  const std::string progress = text_in(arguments, "progressId");
  const bool means_it = progress.empty()
                            ? number_in(arguments, "requestId", search_.request) == search_.request
                            : progress == search_.id;
  if (means_it) search_.is_stopped = true;
  return {};
}

void DapServer::report_progress(std::uint64_t step) {
  if (!wants_progress_ || std::chrono::steady_clock::now() - search_.began < kTimeUntilProgress) {
    return;
  }
  const std::uint64_t total = replay().total_steps();
  const bool is_forward = step >= search_.from;
  const auto done = static_cast<double>(is_forward ? step - search_.from : search_.from - step);
  const auto all = static_cast<double>(is_forward ? total - search_.from : search_.from);
  json body{{"progressId", search_.id},
            {"message", "step " + std::to_string(step) + " of " + std::to_string(total)},
            {"percentage", all > 0 ? std::floor(100 * done / all) : 100}};
  if (!search_.is_shown) {
    body.update({{"title", "Searching"}, {"requestId", search_.request}, {"cancellable", true}});
  }
  send_event(std::exchange(search_.is_shown, true) ? "progressUpdate" : "progressStart", body);
}

void DapServer::begin_search() {
  search_ = {};
  search_.id = "search " + std::to_string(request_);
  search_.request = request_;
  search_.from = replay().step();
  search_.began = std::chrono::steady_clock::now();
  search_.is_running = true;
}

/// Tells the end of a search once, before the event that says why it ended.
void DapServer::end_search() {
  search_.is_running = false;
  if (std::exchange(search_.is_shown, false)) {
    send_event("progressEnd", {{"progressId", search_.id}});
  }
}

json DapServer::move(std::function<toy::Stop(const toy::Progress&)> action, const char* reason) {
  after_response([this, action = std::move(action), reason] {
    begin_search();
    toy::Stop stop{toy::Stop::Reason::kCancelled, 0};
    do {
      search_.has_new_breakpoints = false;
      stop = action([this](std::uint64_t step) { return goes_on(step); });
    } while (search_.has_new_breakpoints && !search_.is_stopped &&
             stop.reason == toy::Stop::Reason::kCancelled);
    end_search();
    if (state_ == kLaunched && !has_ended_) report(stop, reason);
  });
  return json::object();
}

toy::Stop DapServer::search(bool back, bool includes_here,
                            const std::optional<toy::Breakpoint>& target) {
  const toy::Progress progress = [this](std::uint64_t step) { return goes_on(step); };
  for (;;) {
    search_.has_new_breakpoints = false;
    std::vector<toy::Breakpoint> all = breakpoints_.plain();
    if (target) all.push_back(*target);
    toy::Stop stop =
        back ? replay().backward(all, progress) : replay().forward(all, progress, includes_here);
    if (stop.reason == toy::Stop::Reason::kBreakpoint) {
      if (stops_at_hit(stop, all)) return stop;
      includes_here = false;
      if (!goes_on(replay().step()) && !search_.has_new_breakpoints) {
        return {toy::Stop::Reason::kCancelled, 0};
      }
      continue;
    }
    if (stop.reason != toy::Stop::Reason::kCancelled || search_.is_stopped ||
        !search_.has_new_breakpoints) {
      return stop;
    }
    // The client has set breakpoints meanwhile: forwards they hold from here on. Backwards the search
    // begins again, because it does not pass the steps in their order.
    if (back) replay().go_to(search_.from, progress);
    includes_here = !back;
  }
}

/// Counts the hits of all breakpoints at this place. Returns whether one of them stops: `stop` then names
/// the first, and `hit_ids_` all of them.
bool DapServer::stops_at_hit(toy::Stop& stop, const std::vector<toy::Breakpoint>& breakpoints) {
  std::vector<std::size_t> hit = replay().stops_here(breakpoints);
  if (std::find(hit.begin(), hit.end(), stop.breakpoint) == hit.end()) {
    hit.insert(hit.begin(), stop.breakpoint);
  }
  bool is_target = false;
  hit_ids_.clear();
  for (const std::size_t one : hit) {
    if (one >= breakpoints_.size()) {
      is_target = true;
      continue;
    }
    const bool this_stops = breakpoints_.hit(one, replay(), [this](const std::string& text) {
      json output{{"category", "console"}, {"output", text + "\n"}, {"source", launched_source()}};
      const toy::RunPoint point = replay().point();
      if (point.site < program().instructions.size()) {
        output["line"] = to_client_line(program().instructions[point.site].span.line);
      }
      send_event("output", output);
    });
    if (!this_stops) continue;
    if (hit_ids_.empty()) stop.breakpoint = one;
    hit_ids_.push_back(breakpoints_.id(one));
  }
  if (is_target && hit_ids_.empty()) stop = {toy::Stop::Reason::kStep, 0};
  return is_target || !hit_ids_.empty();
}

void DapServer::report(const toy::Stop& stop, const char* reason) {
  json body{{"threadId", kDapThread}, {"allThreadsStopped", true}, {"reason", reason}};
  switch (stop.reason) {
    case toy::Stop::Reason::kStep:
      break;
    case toy::Stop::Reason::kBreakpoint: {
      const auto kind = breakpoints_.kind(stop.breakpoint);
      body["reason"] = kind == DapBreakpoints::Kind::kLine       ? "breakpoint"
                       : kind == DapBreakpoints::Kind::kFunction ? "function breakpoint"
                                                                 : "data breakpoint";
      body["hitBreakpointIds"] = hit_ids_;
      break;
    }
    case toy::Stop::Reason::kStart:
      body["description"] = "at the start";
      break;
    case toy::Stop::Reason::kEnd:  // not terminated: the client may go back from here
      body["description"] = "at the end";
      break;
    case toy::Stop::Reason::kError:
      body["reason"] = "exception";
      body["description"] = "the run failed";
      body["text"] = replay().error()->what;
      break;
    case toy::Stop::Reason::kCancelled:
      body["reason"] = "pause";
      break;
  }
  send_event("stopped", body);
}

json DapServer::next(const json&) {
  return move(
      [this](const auto& progress) { return replay().go_to(replay().step() + 1, progress); },
      "step");
}

/// A function is what other debuggers step out of. Here it is the innermost loop, or outside of loops the
/// program.
json DapServer::step_out(const json&) {
  return move([this](const auto&) { return search(false, false, replay().behind_loop()); }, "step");
}

json DapServer::step_back(const json&) {
  return move(
      [this](const auto& progress) {
        const std::uint64_t here = replay().step();
        return here == 0 ? toy::Stop{toy::Stop::Reason::kStart, 0}
                         : replay().go_to(here - 1, progress);
      },
      "step");
}

json DapServer::go_on(const json&) {
  move([this](const auto&) { return search(false); }, "step");
  return {{"allThreadsContinued", true}};
}

json DapServer::reverse(const json&) {
  return move([this](const auto&) { return search(true); }, "step");
}

json DapServer::goto_targets(const json& arguments) {
  const auto line = from_client_line(whole_number_of(arguments, "line"));
  const auto site = line < 0 || line > UINT32_MAX
                        ? std::nullopt
                        : toy::site_at_line(program(), static_cast<std::uint32_t>(line));
  json targets = json::array();
  if (site) {
    const std::uint32_t found = program().instructions[*site].span.line;
    const std::string label = "line " + std::to_string(found);
    // The two visits around the present step: 2 n is the previous one, 2 n + 1 the next one.
    targets.push_back({{"id", 2 * *site + 1},
                       {"label", "next visit of " + label},
                       {"line", to_client_line(found)}});
    targets.push_back({{"id", 2 * *site},
                       {"label", "previous visit of " + label},
                       {"line", to_client_line(found)}});
  }
  return {{"targets", std::move(targets)}};
}

json DapServer::go_to(const json& arguments) {
  const std::int64_t id = whole_number_of(arguments, "targetId");
  if (id < 0 || id / 2 >= std::ssize(program().instructions)) {
    throw Refused{"there is no target " + std::to_string(id)};
  }
  const toy::WantedExecutions visits{static_cast<std::uint32_t>(id / 2), {}};
  const auto step =
      id % 2 == 0 ? replay().last_execution({&visits, 1}) : replay().next_execution({&visits, 1});
  if (!step) throw Refused{id % 2 == 0 ? "it was not executed before" : "it is not executed again"};
  return move([this, step](const auto& progress) { return replay().go_to(*step, progress); },
              "goto");
}

}  // namespace flashlab::cli
