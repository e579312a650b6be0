// Compares the machine on tiles with the bare products that the program needs, on one core in one
// run: flash2, values and counters, against S = Q K^T and O += P V by Eigen for all pairs of tiles.
//
// Floor: 4 n nk d FLOPs of products. Everything else (loads, maxima, exponentials, scaling,
// checks for NaN and +inf) is overhead, which the share of the products shows. Both use the same
// build of Eigen.
#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <span>

#include "toymachine/bench/measurement_context.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/tile_kernels.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/run/interpreter.hpp"

namespace {

namespace toy = flashlab::toy;
using flashlab::bench::json;
using Floats = std::vector<float>;

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "tile_speed: " << what << "\n";
  std::exit(1);
}

toy::BoundProgram flash2(std::int64_t n, std::int64_t d, std::int64_t tile) {
  std::ifstream file(FLASHLAB_PROGRAMS "/flash2.toy");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto program = toy::assemble(std::make_shared<const toy::SourceText>("flash2.toy", text));
  if (!program) fail(program.diagnostics[0].what);
  toy::Binding binding;
  binding.params = {{"n", n}, {"d", d}, {"B", tile}};
  auto bound = toy::bind(std::make_shared<const toy::Program>(std::move(*program)), binding);
  if (!bound) fail(bound.diagnostics[0].what);
  return std::move(*bound);
}

/// Tiles in contiguous memory, as in registers.
class BareProducts {
 public:
  BareProducts(std::int64_t n, std::int64_t d, std::int64_t tile)
      : tiles_(n / tile),
        d_(d),
        tile_(tile),
        q_(random(n * d)),
        k_(random(n * d)),
        v_(random(n * d)),
        o_(static_cast<std::size_t>(n * d)),
        s_(static_cast<std::size_t>(tile * tile)) {}

  void run() {
    const auto& kernels = toy::detail::tile_kernels<float>();
    for (std::int64_t i = 0; i < tiles_; ++i) {
      const std::int64_t at = i * tile_ * d_;
      for (std::int64_t j = 0; j < tiles_; ++j) {
        const std::int64_t key = j * tile_ * d_;
        kernels.product({s_.data(), tile_, tile_, tile_}, {&q_[at], tile_, d_, d_, false},
                        {&k_[key], tile_, d_, d_, true}, false);
        kernels.product({&o_[at], tile_, d_, d_}, {s_.data(), tile_, tile_, tile_, false},
                        {&v_[key], tile_, d_, d_, false}, true);
      }
    }
  }
  float checksum() const { return o_.back(); }

 private:
  static Floats random(std::int64_t size) {
    Floats values(static_cast<std::size_t>(size));
    std::uint32_t state = 1;
    for (float& value : values) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(state >> 8) / 16777216.0F - 0.5F;
    }
    return values;
  }
  std::int64_t tiles_, d_, tile_;
  Floats q_, k_, v_, o_, s_;
};

json measure(std::int64_t n, std::int64_t d, std::int64_t tile, int runs) {
  const toy::BoundProgram program = flash2(n, d, tile);
  const auto initial = toy::initial_dram(program, {});
  if (!initial) fail(initial.diagnostics[0].what);
  const Floats inputs(initial->begin(), initial->end());
  BareProducts bare(n, d, tile);
  std::vector<double> machine, products;
  toy::Counters counters;
  for (int i = 0; i <= runs; ++i) {
    Floats dram = inputs;
    const double ours = flashlab::bench::seconds([&] {
      const auto execution = toy::run(program, std::span(dram));
      if (!execution) fail(execution.diagnostics[0].what);
      counters = toy::count(program, execution->executions, {});
    });
    const double floor = flashlab::bench::seconds([&] { bare.run(); });
    if (!std::isfinite(bare.checksum())) fail("the bare products overflowed");
    if (i == 0) continue;  // warm-up
    machine.push_back(ours);
    products.push_back(floor);
  }
  const double product_flops =
      4.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(d);
  const double ours = flashlab::bench::median(machine);
  const double floor = flashlab::bench::median(products);
  return {{"program", "flash2"},
          {"n", n},
          {"d", d},
          {"tile", tile},
          {"product_flops", product_flops},
          {"flops", counters.flops.get_d()},
          {"machine_ms", 1e3 * ours},
          {"products_ms", 1e3 * floor},
          {"machine_over_products", ours / floor},
          {"products_gflop_per_s", product_flops / floor / 1e9},
          {"machine_seconds", machine},
          {"products_seconds", products}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares the machine on tiles with the bare Eigen products that it needs.");
  int runs = 7;
  std::int64_t n = 8192, d = 64;
  std::vector<std::int64_t> tiles{64};
  std::string json_file;
  app.add_option("--runs", runs, "timed runs of each, taking turns")->check(CLI::Range(1, 1000));
  app.add_option("-n", n, "queries and keys; a multiple of every tile")->capture_default_str();
  app.add_option("-d", d, "head_dim")->capture_default_str();
  app.add_option("--tile", tiles, "rows of a tile")->delimiter(',')->capture_default_str();
  app.add_option("--json", json_file, "also write raw samples and context to this file");
  CLI11_PARSE(app, argc, argv);
  json rows = json::array();
  std::printf("flash2, n = %lld, d = %lld, float, one core\n\n", static_cast<long long>(n),
              static_cast<long long>(d));
  std::printf("%6s %12s %14s %8s %18s\n", "tile", "machine ms", "products ms", "ratio",
              "products GFLOP/s");
  for (const std::int64_t tile : tiles) {
    if (tile < 1 || n % tile != 0)
      fail("--tile " + std::to_string(tile) + ": expected a divisor of n, " + std::to_string(n));
    rows.push_back(measure(n, d, tile, runs));
    const json& row = rows.back();
    std::printf("%6lld %12.1f %14.1f %8.2f %18.1f\n", static_cast<long long>(tile),
                row["machine_ms"].get<double>(), row["products_ms"].get<double>(),
                row["machine_over_products"].get<double>(),
                row["products_gflop_per_s"].get<double>());
  }
  if (json_file.empty()) return 0;
  std::string command = "tile_speed --runs " + std::to_string(runs) + " -n " + std::to_string(n) +
                        " -d " + std::to_string(d) + " --tile ";
  for (const std::int64_t tile : tiles)
    command += (tile == tiles[0] ? "" : ",") + std::to_string(tile);
  json result = flashlab::bench::context(command);
  result["rows"] = rows;
  std::ofstream(json_file) << result.dump(1) << "\n";
  return 0;
}
