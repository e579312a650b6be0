// Measures attention on this computer's cores: time, FLOP/s and share of the matrix product's rate,
// for variants, shapes, masks and numbers of threads, in one run.
//
// The product is measured before and after every row, so that both see the same state of the
// machine. Figures are medians. Every repetition draws new inputs, fills the outputs with NaN
// before the call and checks them afterwards.
#include <omp.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>

#include "attention_cpu/attention.hpp"
#include "attention_cpu/product_rate.hpp"
#include "toymachine/bench/measurement_context.hpp"

namespace {

using flashlab::bench::json;
using Floats = std::vector<float>;
namespace cpu = flashlab::cpu;

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "attention_speed: " << what << "\n";
  std::exit(1);
}

struct Shape {
  std::int64_t batch, num_heads, seqlen, head_dim;

  std::int64_t rows() const { return batch * num_heads * seqlen; }
  std::string text() const {
    return std::to_string(batch) + "," + std::to_string(num_heads) + "," + std::to_string(seqlen) +
           "," + std::to_string(head_dim);
  }
};

constexpr std::array<Shape, 3> kShapes = {{{1, 8, 2048, 64}, {1, 8, 2048, 128}, {4, 1, 8192, 64}}};

struct Settings {
  std::int64_t product_size = 2048;
  int runs = 5;
};

/// The tensors of one shape's calls.
class Tensors {
 public:
  explicit Tensors(const Shape& shape) : shape_(shape) {
    for (Floats* const floats : {&Q_, &K_, &V_, &dO_, &O_, &dQ_, &dK_, &dV_}) {
      floats->resize(static_cast<std::size_t>(shape.rows() * shape.head_dim));
    }
    lse_.resize(static_cast<std::size_t>(shape.rows()));
  }

  void draw(std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal;
    for (Floats* const floats : {&Q_, &K_, &V_, &dO_}) {
      for (float& value : *floats) value = normal(generator);
    }
  }

  flashlab::ForwardTensors forward() {
    return {view(Q_), view(K_), view(V_), view(O_), lse_view()};
  }
  flashlab::BackwardTensors backward() {
    return {view(Q_),  view(K_),  view(V_),  view(O_), lse_view(),
            view(dO_), view(dQ_), view(dK_), view(dV_)};
  }

  void poison(flashlab::Pass pass) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    for (Floats* const output : outputs(pass)) std::fill(output->begin(), output->end(), kNaN);
  }
  /// Checks that every element was written: inputs are finite, so a NaN was left over.
  void check(flashlab::Pass pass, const std::string& variant) {
    for (const Floats* const output : outputs(pass)) {
      if (std::any_of(output->begin(), output->end(), [](float x) { return !std::isfinite(x); })) {
        fail(variant + " produced NaN or an infinity, shape " + shape_.text());
      }
    }
  }

 private:
  std::vector<Floats*> outputs(flashlab::Pass pass) {
    if (pass == flashlab::Pass::kForward) return {&O_, &lse_};
    return {&dQ_, &dK_, &dV_};
  }
  flashlab::TensorView view(Floats& floats) const {
    return flashlab::view(floats.data(),
                          {shape_.batch, shape_.num_heads, shape_.seqlen, shape_.head_dim});
  }
  flashlab::TensorView lse_view() {
    return flashlab::view(lse_.data(), {shape_.batch, shape_.num_heads, shape_.seqlen});
  }

  Shape shape_;
  Floats Q_, K_, V_, dO_, O_, dQ_, dK_, dV_, lse_;
};

struct Row {
  std::string variant;
  Shape shape;
  bool is_causal;
  int num_threads;
};

/// Returns seconds and workspace bytes of one call on new inputs.
std::pair<double, std::int64_t> call(const Row& row, std::uint64_t seed, Tensors& tensors) {
  const flashlab::Pass pass = flashlab::find_variant(row.variant).pass;
  flashlab::AttentionOptions options;
  if (row.is_causal) options.mask = flashlab::Mask::kCausalTopLeft;
  cpu::ExecutionOptions execution;
  execution.num_threads = row.num_threads;
  tensors.draw(seed);
  if (pass == flashlab::Pass::kBackward) {
    cpu::attention_forward("flash2", tensors.forward(), options, execution);
  }
  tensors.poison(pass);
  cpu::Execution done;
  const double taken = flashlab::bench::seconds([&] {
    done = pass == flashlab::Pass::kForward
               ? cpu::attention_forward(row.variant, tensors.forward(), options, execution)
               : cpu::attention_backward(row.variant, tensors.backward(), options, execution);
  });
  tensors.check(pass, row.variant);
  return {taken, done.workspace_bytes};
}

json measure(const Row& row, const Settings& settings, Tensors& tensors) {
  cpu::ExecutionOptions execution;
  execution.num_threads = row.num_threads;
  std::vector<double> rates = {cpu::product_flops_per_s(settings.product_size, execution)};
  std::vector<double> seconds;
  std::int64_t workspace_bytes = 0;
  for (int run = 0; run <= settings.runs; ++run) {
    const auto [taken, bytes] = call(row, static_cast<std::uint64_t>(run), tensors);
    workspace_bytes = bytes;
    if (run > 0) seconds.push_back(taken);  // run 0 is the warm-up
  }
  rates.push_back(cpu::product_flops_per_s(settings.product_size, execution));

  const Shape& s = row.shape;
  const double n = static_cast<double>(s.seqlen),
               pairs = static_cast<double>(s.rows()) * (row.is_causal ? (n + 1) / 2 : n);
  const bool is_forward = flashlab::find_variant(row.variant).pass == flashlab::Pass::kForward;
  const double flops = (is_forward ? 4 : 10) * pairs * static_cast<double>(s.head_dim),
               rate = flops / flashlab::bench::median(seconds), product = (rates[0] + rates[1]) / 2;
  return {{"variant", row.variant},
          {"shape", {s.batch, s.num_heads, s.seqlen, s.head_dim}},
          {"is_causal", row.is_causal},
          {"threads", row.num_threads},
          {"flops", flops},
          {"seconds", seconds},
          {"median_seconds", flashlab::bench::median(seconds)},
          {"flops_per_s", rate},
          {"product_flops_per_s", rates},
          {"share_of_product", rate / product},
          {"workspace_bytes", workspace_bytes}};
}

void print_row(const json& r, const Shape& shape) {
  std::printf("%7d %12s %6s %12s %10.2f %9.1f %9.0f %%\n", r["threads"].get<int>(),
              shape.text().c_str(), r["is_causal"].get<bool>() ? "causal" : "full",
              r["variant"].get<std::string>().c_str(), 1e3 * r["median_seconds"].get<double>(),
              r["flops_per_s"].get<double>() / 1e9, 100 * r["share_of_product"].get<double>());
  std::fflush(stdout);
}

json measure_all(const std::vector<std::string>& variants, const std::vector<int>& threads,
                 const Settings& settings) {
  std::printf("%7s %12s %6s %12s %10s %9s %11s\n", "threads", "B,H,N,d", "mask", "variant", "ms",
              "GFLOP/s", "of product");
  json rows = json::array();
  for (const Shape& shape : kShapes) {
    Tensors tensors(shape);
    for (const int num_threads : threads) {
      for (const bool is_causal : {false, true}) {
        for (const std::string& variant : variants) {
          rows.push_back(measure({variant, shape, is_causal, num_threads}, settings, tensors));
          print_row(rows.back(), shape);
        }
      }
    }
  }
  return rows;
}

std::vector<int> usual_threads() {
  std::vector<int> threads = {1};
  const int all = omp_get_max_threads();
  if (all > 1) threads.push_back(2);
  if (all > 2) threads.push_back(all);
  return threads;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares attention on this computer's cores with the rate of a matrix product.");
  Settings settings;
  std::vector<std::string> variants = {"flash2", "split-kv", "bwd-onepass", "bwd-twopass"};
  std::vector<int> threads = usual_threads();
  std::string json_file;
  app.add_option("--runs", settings.runs, "measured runs of each")->check(CLI::Range(1, 1000));
  app.add_option("--variants", variants, "names")->delimiter(',')->capture_default_str();
  app.add_option("--threads", threads, "such as 1,2,16")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--product-size", settings.product_size, "rows of the product")
      ->capture_default_str();
  app.add_option("--json", json_file, "also write raw samples and context to this file");
  CLI11_PARSE(app, argc, argv);
  std::string command = "attention_speed";
  for (int k = 1; k < argc; ++k) command += std::string(" ") + argv[k];
  try {
    json result = flashlab::bench::context(command);
    result["format_version"] = 1;
    result["instruction_set"] = to_string(cpu::best_instruction_set());
    result["product_size"] = settings.product_size;
    result["rows"] = measure_all(variants, threads, settings);
    if (!json_file.empty()) std::ofstream(json_file) << result.dump(1) << "\n";
  } catch (const std::exception& error) {
    fail(error.what());
  }
  return 0;
}
