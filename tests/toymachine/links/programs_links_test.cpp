// The bundled programs on several machines against the same attention on one, and their formulas.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/count/cost_formula.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/links/machines.hpp"

namespace flashlab::toy {
namespace {

using Inputs = std::map<std::string, InputSource>;
using Params = std::map<std::string, std::int64_t>;

struct MachineCase {
  std::int64_t ranks, n, d, tile, tile_d;
};
// One machine, an odd number, ragged tiles in both directions, tiles of 1, tiles longer than a shard.
constexpr MachineCase kMachineCases[] = {{1, 4, 4, 2, 4}, {2, 3, 4, 2, 2}, {3, 5, 3, 2, 3},
                                         {5, 4, 3, 3, 1}, {7, 2, 2, 1, 1}, {4, 1, 4, 4, 4}};

Params params_of_case(const MachineCase& c) {
  return {{"ranks", c.ranks}, {"n", c.n}, {"d", c.d}, {"B", c.tile}, {"Bd", c.tile_d}};
}

std::shared_ptr<const Program> text_of_program(const std::string& name) {
  return test::assembled(test::read_source(std::filesystem::path(FLASHLAB_SOURCE_DIR) /
                                           "toymachine" / "programs" / (name + ".toy")));
}

Machines bound_machines(const std::string& name, const Params& params) {
  CapacityBinding binding;
  binding.params = params;
  auto machines = bind_machines(text_of_program(name), binding);
  REQUIRE(machines);
  return std::move(*machines);
}

/// The outputs o and lse, one after the other.
std::vector<double> outputs_of_all(const Machines& machines, const Inputs& inputs) {
  auto dram = initial_dram(machines.joined, inputs);
  REQUIRE(dram);
  REQUIRE(run_machines(machines, *dram));
  std::vector<double> all;
  for (const BoundArray& array : machines.joined.arrays) {
    if (array.role != ArrayRole::kOutput) continue;
    all.insert(all.end(), dram->begin() + array.offset, dram->begin() + array.offset + array.size);
  }
  return all;
}

/// Global row of each local row, machine by machine.
std::vector<std::int64_t> rows_of(const MachineCase& c, bool zigzag) {
  std::vector<std::int64_t> rows;
  for (std::int64_t rank = 0; rank < c.ranks; ++rank) {
    const std::vector<std::int64_t> chunks =
        zigzag ? std::vector<std::int64_t>{rank, 2 * c.ranks - 1 - rank}
               : std::vector<std::int64_t>{rank};
    for (const std::int64_t chunk : chunks) {
      for (std::int64_t i = 0; i < c.n; ++i) rows.push_back(chunk * c.n + i);
    }
  }
  return rows;
}

std::vector<double> in_order(const std::vector<double>& values, std::int64_t width,
                             const std::vector<std::int64_t>& rows) {
  std::vector<double> result;
  for (const std::int64_t row : rows) {
    result.insert(result.end(), values.begin() + row * width, values.begin() + (row + 1) * width);
  }
  return result;
}

void check_against_one_machine(const std::string& name, const std::string& single) {
  const bool zigzag = name == "ring_causal_zigzag";
  for (const MachineCase& c : kMachineCases) {
    CAPTURE(name, c.ranks, c.n, c.d, c.tile, c.tile_d);
    const std::vector<std::int64_t> rows = rows_of(c, zigzag);
    const auto tokens = std::ssize(rows);
    Inputs whole, shards;
    unsigned seed = 1;
    for (const char* array : {"q", "k", "v"}) {
      const auto values = test::random_values(static_cast<std::size_t>(tokens * c.d), seed++);
      whole[array] = ListInput{{tokens, c.d}, values};
      std::vector<std::int64_t> shape{c.ranks, c.n, c.d};
      if (zigzag) shape.insert(shape.begin() + 1, 2);
      shards[array] = ListInput{shape, in_order(values, c.d, rows)};
    }
    const std::vector<double> expected = outputs_of_all(
        bound_machines(single, {{"n", tokens}, {"d", c.d}, {"B", c.tile}, {"Bd", c.tile_d}}),
        whole);
    const std::vector<double> result =
        outputs_of_all(bound_machines(name, params_of_case(c)), shards);
    const auto o = static_cast<std::ptrdiff_t>(tokens * c.d);
    const std::vector<double> expected_o =
        in_order({expected.begin(), expected.begin() + o}, c.d, rows);
    const std::vector<double> expected_lse =
        in_order({expected.begin() + o, expected.end()}, 1, rows);
    REQUIRE(result.size() == expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double want =
          i < expected_o.size() ? expected_o[i] : expected_lse[i - expected_o.size()];
      worst = std::max(worst, std::abs(result[i] - want));
    }
    CHECK(worst < 1e-14);
  }
}

}  // namespace

TEST_CASE("attention on several machines is that on one", "[links]") {
  check_against_one_machine("ring_full", "flash2");
  check_against_one_machine("gather_kv", "flash2");
  check_against_one_machine("ring_causal", "flash2_causal");
  check_against_one_machine("ring_causal_zigzag", "flash2_causal");
}

TEST_CASE("counts of several machines are those of a run", "[links]") {
  for (const char* name : {"ring_full", "gather_kv", "ring_causal", "ring_causal_zigzag"}) {
    for (const MachineCase& c : kMachineCases) {
      CAPTURE(name, c.ranks, c.n);
      const Machines machines = bound_machines(name, params_of_case(c));
      auto dram = initial_dram(machines.joined, {});
      const auto execution = run_machines(machines, *dram);
      REQUIRE(execution);
      CHECK(*count_machines(machines) == execution->executions);
    }
  }
}

TEST_CASE("formulas of several machines are the sums of their counts", "[links]") {
  for (const char* name : {"ring_full", "gather_kv", "ring_causal", "ring_causal_zigzag"}) {
    const auto formulas = cost_formulas(*text_of_program(name));
    REQUIRE(formulas);
    for (const MachineCase& c : kMachineCases) {
      CAPTURE(name, c.ranks, c.n);
      const Machines machines = bound_machines(name, params_of_case(c));
      const Counters counters = count(machines.first(), *count_machines(machines), {});
      ParameterValues values;
      for (const auto& [symbol, value] : params_of_case(c)) values[symbol] = value;
      for (const FormulaField& field : formula_fields()) {
        const Formula& formula = formulas->total.*field.value;
        if (!formula.is_known()) continue;
        CAPTURE(field.key, to_string(formula));
        CHECK(evaluate(formula, values) == counters.*field.count);
      }
    }
  }
}

TEST_CASE("the bytes on the links of a ring and of a gather are 2 n d for each other machine",
          "[links]") {
  for (const char* name : {"ring_full", "gather_kv", "ring_causal"}) {
    for (const MachineCase& c : kMachineCases) {
      const Machines machines = bound_machines(name, params_of_case(c));
      const Counters counters = count(machines.first(), *count_machines(machines), {});
      CAPTURE(name, c.ranks);
      CHECK(counters.bytes_sent == 4 * 2 * c.n * c.d * c.ranks * (c.ranks - 1));
      CHECK(counters.bytes_received == counters.bytes_sent);
    }
  }
}

TEST_CASE("zigzag gives every machine the same products, contiguous shards do not", "[links]") {
  const auto products = [](const std::string& name, std::size_t rank) {
    const Machines machines = bound_machines(name, {{"ranks", 4}, {"n", 8}, {"d", 4}, {"B", 2}});
    const BoundProgram& program = machines.programs[rank];
    return count(program, *count_executions(program), {}).by_instruction[*find_instruction("MAC")];
  };
  for (std::size_t rank = 1; rank < 4; ++rank) {
    CHECK(products("ring_causal", rank) > products("ring_causal", rank - 1));
    CHECK(products("ring_causal_zigzag", rank) == products("ring_causal_zigzag", 0));
  }
}

}  // namespace flashlab::toy
