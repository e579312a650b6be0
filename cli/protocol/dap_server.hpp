// Answers the requests of the Debug Adapter Protocol with a debugger's run.
// Specification: https://microsoft.github.io/debug-adapter-protocol/specification
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/protocol/frames.hpp"
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
  static const std::map<std::string, Handler>& handlers();

  void serve(const Frame& frame);
  void respond(const Json& request, bool success, const Json& body, const std::string& message);
  void send_event(const std::string& event, const Json& body);
  void after_response(std::function<void()> action) { after_response_ = std::move(action); }

  Json initialize(const Json& arguments);
  Json launch(const Json& arguments);
  Json configuration_done(const Json& arguments);
  Json disconnect(const Json& arguments);
  Json set_breakpoints(const Json& arguments);
  Json set_function_breakpoints(const Json& arguments);
  Json data_breakpoint_info(const Json& arguments);
  Json set_data_breakpoints(const Json& arguments);
  Json nothing(const Json& arguments);
  Json threads(const Json& arguments);
  Json stack_trace(const Json& arguments);
  Json scopes(const Json& arguments);
  Json variables(const Json& arguments);
  Json evaluate(const Json& arguments);
  Json next(const Json& arguments);
  Json step_back(const Json& arguments);
  Json go_on(const Json& arguments);
  Json reverse(const Json& arguments);
  Json goto_targets(const Json& arguments);
  Json go_to(const Json& arguments);

  toy::Replay& replay();
  /// Moves after the response was sent, and reports where the run stopped.
  Json move(std::function<toy::Stop()> action, const char* reason);
  void report(const toy::Stop& stop, const char* reason);
  bool is_wanted(std::uint64_t step);
  bool cancels(const Frame& frame) const;
  void report_progress(std::uint64_t step);
  std::vector<toy::Breakpoint> breakpoints() const;
  Json set(std::vector<std::pair<std::string, toy::Breakpoint>>& group,
           const std::vector<std::string>& texts);

  ProtocolStream& stream_;
  std::int64_t sequence_ = 0, request_ = 0;  // of the last message and the request that is served
  bool has_ended_ = false, lines_start_at_1_ = true, wants_progress_ = false;
  /// What a request that moves searches for; shown to the client if it takes long.
  struct Search {
    std::string id;
    std::uint64_t from = 0;  // step
    std::chrono::steady_clock::time_point began;
    bool is_shown = false;
  };
  Search search_;
  std::function<void()> after_response_;

  LoadedProgram loaded_;
  std::unique_ptr<toy::BoundProgram> bound_;
  toy::CostTable costs_;
  std::unique_ptr<toy::RegisterSymbols> symbols_;  // with replay_
  std::unique_ptr<toy::Replay> replay_;
  bool stops_on_entry_ = true;
  /// Breakpoints with the text from which they were read.
  std::vector<std::pair<std::string, toy::Breakpoint>> lines_, functions_, data_;
};

}  // namespace flashlab::cli
