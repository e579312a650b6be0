// Measures the interpreter's instructions per second on one core, together with the same program as
// a C++ loop at -O2 and in a simple Python interpreter, all in one run.
//
// A second column runs the same program one instruction at a time, with an observer that does
// nothing. It shows the gain from strips of iterations (execute/strip_plan.hpp).
//
// Interpreter and loop alternate, so that both run in the same state of the machine. Figures are
// medians. The timed work is values and counters in float: run(), from unwritten registers to known
// counts. The results of both must agree before a time counts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "toymachine/bench/measurement_context.hpp"
#include "toymachine/bench/native_loops.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/interpret.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/run/interpreter.hpp"

namespace {

using flashlab::bench::command_output;
using flashlab::bench::median;
using flashlab::bench::seconds;
using nlohmann::json;
namespace toy = flashlab::toy;
using Floats = std::vector<float>;

struct Case {
  std::string program;
  std::int64_t n = 0;         // size for the interpreter and the loop
  std::int64_t python_n = 0;  // smaller: Python is slow, and its rate does not depend on the size
  std::int64_t minimum_rate;  // million instructions per second that the project promises; 0: none
  std::function<void(const std::vector<Floats>& inputs, Floats& out, std::size_t n)> loop;
};

std::vector<Case> cases() {
  using namespace flashlab::bench;
  return {{"softmax_safe", 1'000'000, 20'000, 0,
           [](const auto& in, Floats& out, std::size_t n) {
             softmax_safe(in[0].data(), out.data(), n);
           }},
          {"softmax_online", 1'000'000, 20'000, 300,
           [](const auto& in, Floats& out, std::size_t n) {
             softmax_online(in[0].data(), out.data(), n);
           }},
          {"matmul_naive", 256, 24, 0, [](const auto& in, Floats& out, std::size_t n) {
             matmul_naive(in[0].data(), in[1].data(), out.data(), n);
           }}};
}

struct Watcher {
  static constexpr bool kPerStep = true;
  bool after(const toy::Step&, std::span<float>, std::span<float>) { return true; }
  void label(const toy::BoundLabel&, std::int64_t, const std::int64_t*, std::span<float>) {}
};

[[noreturn]] void fail(const std::string& message) {
  std::cerr << "interpreter_speed: " << message << "\n";
  std::exit(1);
}

toy::BoundProgram load(const Case& c) {
  const std::string path = std::string(FLASHLAB_PROGRAMS) + "/" + c.program + ".toy";
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto source = std::make_shared<const toy::SourceText>(path, std::move(text));
  auto program = toy::assemble(source);
  if (!program) fail(toy::format(program.diagnostics, *source));
  toy::Binding binding;
  for (const toy::ParamDeclaration& param : program->params) binding.params[param.name] = c.n;
  auto bound = toy::bind(std::make_shared<const toy::Program>(std::move(*program)), binding);
  if (!bound) fail(toy::format(bound.diagnostics, *source));
  return std::move(*bound);
}

/// The data of one case's measurement, with separate inputs.
class Measurement {
 public:
  Measurement(const Case& c, std::uint64_t seed) : case_(c), program_(load(c)) {
    std::map<std::string, toy::InputSource> sources;
    for (const toy::BoundArray& array : program_.arrays) {
      if (array.role == toy::ArrayRole::kInput)
        sources[array.name] = toy::RandomInput{seed++, -4, 4};
    }
    const auto image = toy::initial_dram(program_, sources);
    if (!image) fail(image.diagnostics[0].what);
    initial_.assign(image->begin(), image->end());
    for (const toy::BoundArray& array : program_.arrays) {
      const auto first = initial_.begin() + array.offset;
      if (array.role == toy::ArrayRole::kInput) inputs_.emplace_back(first, first + array.size);
      if (array.role == toy::ArrayRole::kOutput) output_ = &array;
    }
    native_.assign(static_cast<std::size_t>(output_->size), NAN);
  }

  double interpret() {
    dram_ = initial_;
    return seconds([&] {
      auto execution = toy::run(program_, std::span<float>(dram_));
      if (!execution) fail(execution.diagnostics[0].what);
      counters_ = toy::count(program_, execution->executions, toy::CostTable());
    });
  }

  double step_by_step() {
    dram_ = initial_;
    Watcher watcher;
    return seconds([&] {
      auto execution = toy::detail::interpret<float>(program_, std::span<float>(dram_), watcher);
      if (!execution) fail(execution.diagnostics[0].what);
    });
  }

  double loop() {
    std::fill(native_.begin(), native_.end(), NAN);
    return seconds([&] { case_.loop(inputs_, native_, static_cast<std::size_t>(case_.n)); });
  }

  void compare() const {
    double difference = 0;
    double size = 0;
    for (std::size_t i = 0; i < native_.size(); ++i) {
      const double ours = dram_[static_cast<std::size_t>(output_->offset) + i];
      difference += (ours - native_[i]) * (ours - native_[i]);
      size += static_cast<double>(native_[i]) * native_[i];
    }
    // Sums of n floats; each side rounds differently.
    const double bound = 1e-6 * std::sqrt(static_cast<double>(case_.n));
    if (!(std::sqrt(difference / size) < bound))
      fail(case_.program + ": results differ from the loop's");
  }

  double instructions() const { return counters_.steps.get_d(); }

 private:
  const Case& case_;
  toy::BoundProgram program_;
  Floats initial_, dram_, native_;
  std::vector<Floats> inputs_;
  const toy::BoundArray* output_ = nullptr;
  toy::Counters counters_;
};

/// Million instructions per second, or null without Python.
json python_rate(const Case& c, const toy::Program& program) {
  std::string command = "python3 '" + std::string(FLASHLAB_PYTHON_INTERPRETER) + "' '" +
                        std::string(FLASHLAB_PROGRAMS) + "/" + c.program + ".toy'";
  for (const auto& param : program.params)
    command += " " + param.name + "=" + std::to_string(c.python_n);
  const json result = json::parse(command_output(command + " 2>/dev/null"), nullptr, false);
  if (!result.is_object()) return nullptr;
  return result["steps"].get<double>() / result["seconds"].get<double>() / 1e6;
}

json measure(const Case& c, int runs) {
  Measurement measurement(c, 7);
  measurement.interpret();  // warm up both
  measurement.loop();
  measurement.compare();
  measurement.step_by_step();
  measurement.compare();
  std::vector<double> ours, loops, steps;
  for (int i = 0; i < runs; ++i) {
    ours.push_back(measurement.interpret());
    loops.push_back(measurement.loop());
    if (i % 3 == 0) steps.push_back(measurement.step_by_step());
  }
  measurement.compare();
  const double instructions = measurement.instructions();
  json row;
  row["program"] = c.program;
  row["n"] = c.n;
  row["instructions"] = instructions;
  row["interpreter_million_per_s"] = instructions / median(ours) / 1e6;
  row["step_by_step_million_per_s"] = instructions / median(steps) / 1e6;
  row["loop_million_per_s"] = instructions / median(loops) / 1e6;
  row["share_of_loop"] = median(loops) / median(ours);
  row["python_n"] = c.python_n;
  row["python_million_per_s"] = python_rate(c, *load(c).program);
  row["promised_million_per_s"] = c.minimum_rate;
  row["interpreter_seconds"] = ours;
  row["step_by_step_seconds"] = steps;
  row["loop_seconds"] = loops;
  return row;
}

void print(const json& rows) {
  std::printf("million instructions per second, one core\n\n");
  std::printf("%-14s %8s %12s %8s %8s %7s %8s %6s\n", "program", "n", "interpreter", "stepwise",
              "C++ -O2", "share", "Python", "times");
  for (const json& row : rows) {
    const double ours = row["interpreter_million_per_s"].get<double>();
    std::printf("%-14s %8lld %12.0f %8.0f %8.0f %6.0f%%", row["program"].get<std::string>().c_str(),
                row["n"].get<long long>(), ours, row["step_by_step_million_per_s"].get<double>(),
                row["loop_million_per_s"].get<double>(), 100 * row["share_of_loop"].get<double>());
    if (row["python_million_per_s"].is_null()) {
      std::printf(" %8s %6s\n", "none", "");
    } else {
      const double python = row["python_million_per_s"].get<double>();
      std::printf(" %8.2f %6.0f\n", python, ours / python);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Measures instructions per second of the interpreter, a C++ loop and a Python interpreter.");
  int runs = 15;
  std::string json_file;
  app.add_option("--runs", runs, "timed runs of each, taking turns")->check(CLI::Range(1, 1000));
  app.add_option("--json", json_file, "also write raw samples and context to this file");
  CLI11_PARSE(app, argc, argv);
  json rows = json::array();
  for (const Case& c : cases()) rows.push_back(measure(c, runs));
  print(rows);
  if (json_file.empty()) return 0;
  json result = flashlab::bench::context("interpreter_speed --runs " + std::to_string(runs));
  result["rows"] = rows;
  std::ofstream(json_file) << result.dump(1) << "\n";
  return 0;
}
