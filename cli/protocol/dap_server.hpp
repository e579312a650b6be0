// Answers the requests of the Debug Adapter Protocol with a debugger's run.
// Specification: https://microsoft.github.io/debug-adapter-protocol/specification
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/machine/line_costs.hpp"
#include "cli/options/options.hpp"
#include "cli/protocol/dap_breakpoints.hpp"
#include "cli/protocol/frames.hpp"
#include "cli/protocol/session_state.hpp"
#include "toymachine/replay/replay.hpp"
#include "toymachine/trace/register_symbols.hpp"

namespace flashlab::cli {

/// The only thread of a run.
inline constexpr int kDapThread = 1;

class DapServer {
 public:
  explicit DapServer(ProtocolStream& stream) : stream_(stream) {}

  /// Serves until the client disconnects or its stream ends, and returns the exit code.
  int run();

 private:
  using Json = nlohmann::json;
  /// Returns the response's body. Throws Refused or Failure: the response then says why not.
  using Handler = Json (DapServer::*)(const Json& arguments);
  struct Refused {
    std::string why;
  };
  /// A launched program. Its parts refer to each other.
  struct Launched {
    LoadedProgram loaded;
    std::unique_ptr<toy::BoundProgram> bound;
    std::unique_ptr<toy::RegisterSymbols> symbols;
    std::unique_ptr<toy::Replay> replay;
    bool stops_on_entry = true, is_debugged = true, is_configured = false;
  };
  static const RequestTable<Handler>& table();
  std::string why_refused(unsigned states) const;

  void serve(const Frame& frame);
  void respond(const Json& request, bool success, const Json& body, const std::string& message);
  void send_event(const std::string& event, const Json& body);
  void say(const char* category, const std::string& text);
  void after_response(std::function<void()> action) { after_response_ = std::move(action); }

  // dap_server.cpp: beginning and end
  Json initialize(const Json& arguments);
  Json launch(const Json& arguments);
  Json configuration_done(const Json& arguments);
  Json terminate(const Json& arguments);
  Json disconnect(const Json& arguments);
  Json nothing(const Json& arguments);
  void end_program(int code);

  // dap_moves.cpp
  Json next(const Json& arguments);
  Json step_out(const Json& arguments);
  Json step_back(const Json& arguments);
  Json go_on(const Json& arguments);
  Json reverse(const Json& arguments);
  Json goto_targets(const Json& arguments);
  Json go_to(const Json& arguments);
  Json pause(const Json& arguments);
  Json cancel(const Json& arguments);

  // dap_requests.cpp: breakpoints and state
  Json set_breakpoints(const Json& arguments);
  Json set_function_breakpoints(const Json& arguments);
  Json data_breakpoint_info(const Json& arguments);
  Json set_data_breakpoints(const Json& arguments);
  Json threads(const Json& arguments);
  Json stack_trace(const Json& arguments);
  Json source(const Json& arguments);
  Json scopes(const Json& arguments);
  Json variables(const Json& arguments);
  Json evaluate(const Json& arguments);
  Json set_value(const Json& arguments);
  Json completions(const Json& arguments);  // dap_completions.cpp
  Json evaluate_writer(const std::string& place, bool moves);

  toy::Replay& replay() { return *launched_->replay; }
  const toy::BoundProgram& program() const { return *launched_->bound; }
  // Lines and columns count from 1 here, and from 0 for some clients.
  std::int64_t to_client_line(std::int64_t line) const {
    return line - (lines_start_at_1_ ? 0 : 1);
  }
  std::int64_t from_client_line(std::int64_t line) const;
  /// A path as the client sends it.
  std::string from_client_path(const std::string& path) const;
  bool is_launched_source(const Json& source) const;
  std::optional<UnchangedLines> lines_since_launch() const;
  Json launched_source() const;
  Json breakpoints_answer(DapBreakpoints::Kind kind,
                          const std::vector<DapBreakpoints::Wanted>& wanted);

  /// Moves after the response was sent, and reports where the run stopped.
  Json move(std::function<toy::Stop(const toy::Progress&)> action, const char* reason);
  /// Searches for a breakpoint, forwards or back. Hits that do not stop are counted and logged.
  /// `includes_here`: one at the next instruction stops there. `target`: where it ends, if no breakpoint stops
  /// it before.
  toy::Stop search(bool back, bool includes_here = false,
                   const std::optional<toy::Breakpoint>& target = std::nullopt);
  bool stops_at_hit(toy::Stop& stop, const std::vector<toy::Breakpoint>& breakpoints);
  void begin_search();
  void end_search();
  void report(const toy::Stop& stop, const char* reason);
  bool goes_on(std::uint64_t step);
  void report_progress(std::uint64_t step);

  ProtocolStream& stream_;
  unsigned state_ = kReady;
  std::int64_t sequence_ = 0, request_ = 0;  // of the last message and the request that is served
  bool has_ended_ = false, wants_progress_ = false;
  bool lines_start_at_1_ = true, columns_start_at_1_ = true, paths_are_uris_ = false;
  /// What a request that moves searches for; shown to the client if it takes long.
  struct Search {
    std::string id;
    std::int64_t request = 0;
    std::uint64_t from = 0;  // step
    std::chrono::steady_clock::time_point began;
    bool is_shown = false;
    bool has_looked = false;  // at the requests that were put back before
    bool is_running = false, is_stopped = false;
    bool has_new_breakpoints = false;
  };
  Search search_;
  std::vector<std::int64_t> hit_ids_;  // of the breakpoints at which the last search stopped
  std::function<void()> after_response_;

  std::optional<Launched> launched_;
  toy::CostTable costs_;
  DapBreakpoints breakpoints_;
};

}  // namespace flashlab::cli
