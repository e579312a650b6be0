// Measures how long a learner waits for a step into the past of a long run: for the previous visit of
// a line, the previous write of a cell and a step back, at random steps; the speed of tests of values
// beside the interpreter's; and the memory of the checkpoints.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "toymachine/bench/measurement_context.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/interpret.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/replay/replay.hpp"
#include "toymachine/run/interpreter.hpp"

namespace {

using flashlab::bench::median;
using flashlab::bench::seconds;
using nlohmann::json;
namespace toy = flashlab::toy;

struct Case {
  std::string program;
  std::map<std::string, std::int64_t> params;  // about a billion steps
  std::string rare, at_line;                   // tests that never pass; the second one at a line
  std::string cell;
};

std::vector<Case> cases() {
  return {{"softmax_online", {{"n", 52'600'000}}, "R2 > 1e30", "30 if R0 < 0", "out[1000]"},
          {"matmul_naive",
           {{"m", 694}, {"k", 694}, {"n", 694}},
           "R2 > 1e30",
           "21 if R2 > 1e30",
           "c[100][50]"},
          {"flash2",
           {{"n", 16'384}, {"d", 64}, {"B", 64}, {"Bk", 64}},
           "M > 1e30",
           "39 if S > 1e30",
           "o[1000][3]"}};
}

[[noreturn]] void fail(const std::string& message) {
  std::cerr << "replay_speed: " << message << "\n";
  std::exit(1);
}

template <class Value>
Value good(toy::Result<Value> result) {
  if (!result) fail(result.diagnostics[0].what + "; " + result.diagnostics[0].expected);
  return std::move(*result);
}

toy::BoundProgram load(const Case& c) {
  const std::string path = std::string(FLASHLAB_PROGRAMS) + "/" + c.program + ".toy";
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto program = good(toy::assemble(std::make_shared<const toy::SourceText>(path, text)));
  toy::Binding binding;
  binding.params = c.params;
  return good(toy::bind(std::make_shared<const toy::Program>(std::move(program)), binding));
}

struct Watcher {
  static constexpr bool kPerStep = true;
  bool after(const toy::Step&, std::span<float>, std::span<float>) { return true; }
  void label(const toy::BoundLabel&, std::int64_t, const std::int64_t*, std::span<float>) {}
};

json spread(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {{"median_ms", 1e3 * median(times)}, {"longest_ms", 1e3 * times.back()}};
}

double rate(const toy::Replay& replay, double time) {
  return static_cast<double>(replay.step()) / time / 1e6;
}

/// Times jumps from random steps to `target(replay)`.
template <class Target>
json jumps(toy::Replay& replay, int count, const Target& target) {
  std::mt19937_64 random(3);
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    replay.go_to(random() % replay.total_steps());
    times.push_back(seconds([&] {
      if (const auto step = target(replay)) replay.go_to(*step);
    }));
  }
  return spread(times);
}

json measure(const Case& c, int count) {
  const toy::BoundProgram program = load(c);
  json row;
  row["program"] = c.program;
  row["params"] = c.params;
  {
    const std::vector<double> dram = good(toy::initial_dram(program, {}));
    std::vector<float> narrow(dram.begin(), dram.end());
    std::uint64_t steps = 0;
    const double plain = seconds([&] { steps = good(toy::run(program, narrow)).steps; });
    row["steps"] = steps;
    row["interpreter_million_per_s"] = static_cast<double>(steps) / plain / 1e6;
    if (!program.tiled) {
      Watcher watcher;
      const double watched = seconds(
          [&] { good(toy::detail::interpret<float>(program, std::span(narrow), watcher)); });
      row["step_by_step_million_per_s"] = static_cast<double>(steps) / watched / 1e6;
    }
  }
  auto replay = good(toy::Replay::start(program, good(toy::InitialDram::make(program, {}))));
  const auto breakpoint = [&](const std::string& text) {
    return good(toy::parse_breakpoint(program, text));
  };
  const toy::Breakpoint rare = breakpoint(c.rare), at_line = breakpoint(c.at_line);
  const double first = seconds([&] { replay->forward({&rare, 1}); });
  if (!replay->at_end()) fail("a test that should never pass did");
  row["rare_test_million_per_s"] = rate(*replay, first);
  row["checkpoint_bytes"] = replay->checkpoint_bytes();
  row["array_bytes"] = program.dram_elements * 4;
  const double back = seconds([&] { replay->backward({&rare, 1}); });
  row["rare_test_back_seconds"] = back;
  replay->go_to(0);
  const double line = seconds([&] { replay->forward({&at_line, 1}); });
  if (!replay->at_end()) fail("a test that should never pass at its line did");
  row["line_test_million_per_s"] = rate(*replay, line);
  row["step_back"] = jumps(*replay, count, [](toy::Replay& run) {
    return std::optional(run.step() - std::min<std::uint64_t>(run.step(), 1));
  });
  std::mt19937_64 random(7);
  row["previous_visit"] = jumps(*replay, count, [&](toy::Replay& run) {
    const toy::WantedExecutions visits{
        static_cast<std::uint32_t>(random() % program.instructions.size()), {}};
    return run.last_execution({&visits, 1});
  });
  const toy::Place cell = good(toy::parse_place(program, c.cell));
  row["previous_write"] =
      jumps(*replay, count, [&](toy::Replay& run) { return run.writer_of(cell); });
  replay->go_to(replay->total_steps());
  std::vector<double> walk;
  for (int i = 0; i < 3000; ++i) {
    walk.push_back(seconds([&] { replay->go_to(replay->step() - 1); }));
  }
  row["walk_back"] = spread(walk);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  row["peak_bytes_of_process"] = usage.ru_maxrss * 1024;
  return row;
}

void print(const json& rows) {
  std::printf("%-14s %11s | %-35s | %-38s | %s\n", "", "", "million steps per second",
              "longest of the random jumps, ms", "MiB");
  std::printf("%-14s %11s | %8s %8s %8s %8s | %6s %6s %6s %8s | %6s %6s\n", "program", "steps",
              "run", "stepwise", "rare", "line", "back", "visit", "write", "walk, med.", "arrays",
              "saved");
  for (const json& row : rows) {
    const auto longest = [&](const char* key) { return row[key]["longest_ms"].get<double>(); };
    std::printf(
        "%-14s %11llu | %8.1f %8.1f %8.1f %8.1f | %6.1f %6.1f %6.1f %10.3f | %6.0f %6.0f\n",
        row["program"].get<std::string>().c_str(), row["steps"].get<unsigned long long>(),
        row["interpreter_million_per_s"].get<double>(),
        row.value("step_by_step_million_per_s", 0.0), row["rare_test_million_per_s"].get<double>(),
        row["line_test_million_per_s"].get<double>(), longest("step_back"),
        longest("previous_visit"), longest("previous_write"),
        row["walk_back"]["median_ms"].get<double>(), row["array_bytes"].get<double>() / (1 << 20),
        row["checkpoint_bytes"].get<double>() / (1 << 20));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures steps into the past of long runs.");
  int count = 100;
  std::string json_file, only;
  app.add_option("--jumps", count, "random jumps of each kind")->check(CLI::Range(1, 100'000));
  app.add_option("--program", only, "only this program");
  app.add_option("--json", json_file, "also write figures and context to this file");
  CLI11_PARSE(app, argc, argv);
  json rows = json::array();
  for (const Case& c : cases()) {
    if (only.empty() || only == c.program) rows.push_back(measure(c, count));
  }
  print(rows);
  if (json_file.empty()) return 0;
  json result = flashlab::bench::context("replay_speed --jumps " + std::to_string(count));
  result["rows"] = rows;
  std::ofstream(json_file) << result.dump(1) << "\n";
  return 0;
}
