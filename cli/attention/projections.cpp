// `flashlab projections`: the gradients of X and of the weights on the CPU, in two ways.
#include "attention_cpu/projections.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "cli/attention/report.hpp"
#include "cli/attention/tensors.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"

namespace flashlab::cli {
namespace {

struct ProjectionFlags {
  std::int64_t batch = 1, seqlen = 256, num_heads = 4, head_dim = 32, d_model = 0;
  int num_threads = 0;
  std::uint64_t seed = 1;
  TerminalOptions terminal;
};

/// The tensors of one layer. The results are those of one way of computing them.
struct Layer {
  OwnedTensor X, W_Q, W_K, W_V, Q, K, V, O, lse, dO;
  std::vector<OwnedTensor> gradients;  // dX, dW_Q, dW_K, dW_V

  explicit Layer(const ProjectionFlags& flags)
      : X("X", kType, {flags.batch, flags.seqlen, flags.d_model}),
        W_Q("W_Q", kType, weights(flags)),
        W_K("W_K", kType, weights(flags)),
        W_V("W_V", kType, weights(flags)),
        Q("Q", kType, heads(flags)),
        K("K", kType, heads(flags)),
        V("V", kType, heads(flags)),
        O("O", kType, heads(flags)),
        lse("lse", kType, {flags.batch, flags.num_heads, flags.seqlen}),
        dO("dO", kType, heads(flags)) {
    gradients.emplace_back("dX", kType,
                           std::vector<std::int64_t>{flags.batch, flags.seqlen, flags.d_model});
    for (const char* name : {"dW_Q", "dW_K", "dW_V"}) {
      gradients.emplace_back(name, kType, weights(flags));
    }
  }

  void draw(std::uint64_t seed, std::int64_t d_model) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    const double weight_scale = 1 / std::sqrt(static_cast<double>(d_model));
    X.generate([&] { return normal(random); });
    dO.generate([&] { return normal(random); });
    for (OwnedTensor* weight : {&W_Q, &W_K, &W_V}) {
      weight->generate([&] { return weight_scale * normal(random); });
    }
  }

  ProjectionTensors projection() const {
    return {X.view(), W_Q.view(), W_K.view(), W_V.view(), Q.view(), K.view(), V.view()};
  }
  ForwardTensors forward() const { return {Q.view(), K.view(), V.view(), O.view(), lse.view()}; }
  ProjectionBackwardTensors backward() const {
    return {X.view(),
            W_Q.view(),
            W_K.view(),
            W_V.view(),
            Q.view(),
            K.view(),
            V.view(),
            O.view(),
            lse.view(),
            dO.view(),
            gradients[0].view(),
            gradients[1].view(),
            gradients[2].view(),
            gradients[3].view()};
  }

 private:
  static constexpr DataType kType = DataType::kFloat32;
  static std::vector<std::int64_t> weights(const ProjectionFlags& flags) {
    return {flags.d_model, flags.num_heads * flags.head_dim};
  }
  static std::vector<std::int64_t> heads(const ProjectionFlags& flags) {
    return {flags.batch, flags.num_heads, flags.seqlen, flags.head_dim};
  }
};

/// One way of computing the gradients, and what it took.
struct Way {
  const char* name;
  std::int64_t flops = 0;
  std::function<cpu::Execution()> run;
  double seconds = 0;  // of the fastest run
  std::int64_t workspace_bytes = 0;
  std::vector<std::vector<double>> results = {};
};

void run_way(Way& way, Layer& layer) {
  constexpr int kRuns = 3;
  for (int run = 0; run < kRuns; ++run) {
    for (OwnedTensor& gradient : layer.gradients) gradient.fill_with_nan();
    const auto start = std::chrono::steady_clock::now();
    way.workspace_bytes = way.run().workspace_bytes;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    way.seconds = run == 0 ? took.count() : std::min(way.seconds, took.count());
  }
  for (const OwnedTensor& gradient : layer.gradients) way.results.push_back(gradient.values());
}

/// The largest difference of a gradient, relative to its largest value; NaN if there is one.
double relative_difference(const std::vector<double>& one, const std::vector<double>& other) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (std::isnan(one[i]) || std::isnan(other[i])) return std::nan("");
    largest = std::max(largest, std::abs(one[i]));
    apart = std::max(apart, std::abs(one[i] - other[i]));
  }
  return largest > 0 ? apart / largest : apart;
}

std::string ways_table(const std::vector<Way>& ways, const Terminal& terminal) {
  TextTable table({{"way"},
                   {"ms", Align::kRight},
                   {"GFLOP", Align::kRight},
                   {"GFLOP/s", Align::kRight},
                   {"workspace", Align::kRight}});
  for (const Way& way : ways) {
    const double giga = 1e-9 * static_cast<double>(way.flops);
    table.row({way.name, three_digits(1e3 * way.seconds), three_digits(giga),
               three_digits(giga / way.seconds), byte_text(way.workspace_bytes)});
  }
  return table.to_string(terminal);
}

int projections(ProjectionFlags flags) {
  constexpr double kTolerance = 1e-4;  // of floats, with different orders of addition
  if (flags.d_model == 0) flags.d_model = flags.num_heads * flags.head_dim;
  Layer layer(flags);
  layer.draw(flags.seed, flags.d_model);
  cpu::ExecutionOptions execution;
  execution.num_threads = flags.num_threads;
  const int threads = cpu::project(layer.projection(), execution).num_threads;
  cpu::attention_forward("flash2", layer.forward(), {}, execution);
  const ProjectionProblem problem = check_projection_backward(layer.backward());
  std::vector<Way> ways = {
      {"dQ, dK, dV, then products",
       backward_flops(problem.attention) + projection_gradient_flops(problem),
       [&] { return cpu::project_backward("bwd-twopass", layer.backward(), {}, execution); }},
      {"streamed", streamed_backward_flops(problem),
       [&] { return cpu::project_backward_streamed(layer.backward(), {}, execution); }}};
  for (Way& way : ways) run_way(way, layer);
  const Terminal terminal = flags.terminal.terminal();
  const std::string heading =
      "dX, dW_Q, dW_K, dW_V on the CPU: batch " + std::to_string(flags.batch) + ", " +
      counted(flags.num_heads, "head") + ", n " + std::to_string(flags.seqlen) + ", d " +
      std::to_string(flags.head_dim) + ", d_model " + std::to_string(flags.d_model) + ", float, " +
      counted(threads, "thread");
  std::cout << in_lines(heading, terminal) << "\n" << ways_table(ways, terminal) << "\n";
  bool agree = true;
  for (std::size_t i = 0; i < layer.gradients.size(); ++i) {
    const double apart = relative_difference(ways[0].results[i], ways[1].results[i]);
    agree = agree && apart <= kTolerance;
    std::cout << layer.gradients[i].name() << ": largest difference " << short_text(apart)
              << " of its largest value\n";
  }
  std::cout << (agree ? "Both ways agree.\n" : "The two ways do not agree.\n");
  return agree ? kExitGood : kExitProgramWrong;
}

}  // namespace

CommandAction add_projections(CLI::App& app) {
  CLI::App& command =
      add_command(app, "projections", "Gradients of X and of the weights on the CPU, in two ways",
                  "  flashlab projections\n"
                  "  flashlab projections -N 1024 -H 8 -d 64        time, FLOPs, memory\n");
  auto options = std::make_shared<ProjectionFlags>();
  const auto size = [&](const char* names, std::int64_t& value, std::int64_t most,
                        const char* what) {
    add_option(command, names, value, what)
        .between(std::int64_t{1}, most)
        .type_name("SIZE")
        .capture_default_str();
  };
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  size("-B,--batch", options->batch, kMost, "batch entries");
  size("-N,--n", options->seqlen, kMost, "rows of X in a batch entry");
  size("-H,--heads", options->num_heads, kMost, "heads");
  size("-d,--head-dim", options->head_dim, 512, "columns of a head");
  add_option(command, "--d-model", options->d_model, "columns of X (heads x head-dim)")
      .between(std::int64_t{1}, kMost)
      .type_name("SIZE");
  add_option(command, "--threads", options->num_threads, "threads (one per core)")
      .between(1, 1024)
      .type_name("K");
  add_option(command, "--seed", options->seed, "seed of the random inputs")
      .capture_default_str()
      .type_name("N");
  options->terminal.add_to(command);
  return [options] {
    try {
      return projections(*options);
    } catch (const ProblemError& error) {
      throw request_failure(error.field + " " + error.value, error.expected);
    } catch (const std::bad_alloc&) {
      throw Failure(kExitLimit, "flashlab: error: no memory for these sizes\n");
    }
  };
}

}  // namespace flashlab::cli
