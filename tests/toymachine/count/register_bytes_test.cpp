// The register file in bytes: what is alive, how large it is, and what does not fit.
#include <map>
#include <string>
#include <vector>

#include "tests/source_files.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/count/capacity.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/execute_tile.hpp"
#include "toymachine/execute/interpret.hpp"

namespace flashlab::toy {
namespace {

using test::contains;
using Params = std::map<std::string, std::int64_t>;

/// A value in a register: written at one step, read for the last time at another.
struct Lifetime {
  std::size_t written = 0, last_read = 0;
  std::int64_t bytes = 0;
};

struct LifetimeRecorder {
  static constexpr bool kPerStep = true;
  std::int64_t element_bytes = 4;
  std::vector<Lifetime> lifetimes;
  std::map<std::int64_t, std::size_t> present;  // register: lifetime
  std::size_t step = 0;

  bool after(const Step& at, std::span<detail::Shape> registers, std::span<detail::NoCell>) {
    ++step;
    const auto& operands = at.instruction->operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (is_register_read(operands[i].kind))
        lifetimes[present.at(at.operands[i])].last_read = step;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].kind != OperandKind::kDestination) continue;
      const detail::Shape shape = registers[static_cast<std::size_t>(at.operands[i])];
      present[at.operands[i]] = lifetimes.size();
      lifetimes.push_back({step, step, shape.rows * shape.cols * element_bytes});
    }
    return true;
  }
  void label(const BoundLabel&, std::int64_t, const std::int64_t*, std::span<detail::Shape>) {}
};

/// The most bytes alive before or after any step of the executed program.
std::int64_t peak_of_run(const BoundProgram& program) {
  LifetimeRecorder recorder;
  recorder.element_bytes = register_element_bytes(program);
  REQUIRE(detail::interpret<detail::Shape>(program, std::span<detail::NoCell>(), recorder));
  std::vector<std::int64_t> before(recorder.step + 2), after(recorder.step + 2);
  for (const Lifetime& value : recorder.lifetimes) {
    for (std::size_t s = value.written + 1; s <= value.last_read; ++s) before[s] += value.bytes;
    after[value.written] += value.bytes;
    for (std::size_t s = value.written + 1; s < value.last_read; ++s) after[s] += value.bytes;
  }
  return std::max(*std::max_element(before.begin(), before.end()),
                  *std::max_element(after.begin(), after.end()));
}

/// The errors of a program whose registers may hold this many bytes; empty if they fit.
std::string capacity_errors(const std::string& text, const Binding& binding, std::int64_t bytes) {
  const auto program = test::assembled(text);
  const auto result = toy::bind(program, CapacityBinding{binding, bytes});
  return format(result.diagnostics, *program->source);
}

TEST_CASE("the bytes in registers are those of the executed program", "[tiles]") {
  const std::vector<Params> sizes{{{"n", 8}, {"d", 4}, {"B", 2}},
                                  {{"n", 13}, {"d", 5}, {"B", 3}, {"Bd", 2}},
                                  {{"n", 7}, {"nk", 12}, {"d", 3}, {"B", 4}, {"Bk", 3}},
                                  {{"n", 3}, {"d", 2}, {"B", 16}},
                                  {{"n", 9}, {"d", 4}, {"B", 1}, {"Bd", 1}}};
  for (const char* name : {"flash2", "flash1", "naive", "bwd_twopass", "bwd_onepass"}) {
    for (const Params& params : sizes) {
      Binding binding;
      binding.params = params;
      const BoundProgram program = test::bundled(name, binding);
      const auto peak = peak_register_bytes(program);
      INFO(name << ", n = " << params.at("n"));
      REQUIRE(peak);
      REQUIRE(peak->bytes == peak_of_run(program));
    }
  }
}

TEST_CASE("registers that hold too many bytes are an error that lists who holds what", "[tiles]") {
  const std::string text =
      ".isa attention\n.reg Q, K[2], S\n.input a(4, 8) tile (4, 8)\n.output c(4, 4) tile (4, 4)\n"
      "LOAD a[0][0], Q\nLOAD a[0][0], K[1]\nMAC_Z Q, K[1]^T, S\nMAC Q, K[1]^T, S, S\n"
      "STORE S, c[0][0]\n";
  CHECK(capacity_errors(text, {}, 320).empty());
  const std::string message = capacity_errors(text, {}, 319);
  CHECK_THAT(message,
             contains("the registers hold 320 bytes here: Q 4 x 8 = 128 (line 5), K[1] 4 x "
                      "8 = 128 (line 6), S 4 x 4 = 64 (line 7)"));
  CHECK_THAT(message, contains("at most 319 bytes (--sram): smaller tiles"));
}

TEST_CASE("registers of one shape that one line wrote are listed together", "[tiles]") {
  const Binding binding = test::params({{"n", 8}, {"d", 8}, {"B", 4}, {"Bd", 2}});
  const std::string text = test::read_source(test::kSourceRoot / "toymachine/programs/flash2.toy");
  CHECK_THAT(capacity_errors(text, binding, 100), contains("Q[0] to Q[3] 4 times 4 x 2 = 128"));
}

TEST_CASE("registers of a program with double arrays hold 8 bytes an element", "[tiles]") {
  const BoundProgram program = test::bound(
      ".isa attention\n.input a(2, 3) tile (2, 3) double\n.output c(2, 1) tile (2, 1)\n"
      "LOAD a[0][0], R0\nROWSUM R0, R0\nSTORE R0, c[0][0]\n");
  const auto peak = peak_register_bytes(program);
  REQUIRE(peak);
  CHECK(peak->bytes == 2 * 3 * 8);
}

TEST_CASE("a program whose loops have no iteration holds nothing in registers", "[tiles]") {
  const BoundProgram program = test::bound(
      ".param n = 0\n.input a[1]\n.output c[1]\nfor i in 0..n\nLOAD a[0], R0\nSTORE R0, c[0]\n"
      "end\n");
  const auto peak = peak_register_bytes(program);
  REQUIRE(peak);
  CHECK(peak->bytes == 0);
  CHECK(peak->holders.empty());
}

}  // namespace
}  // namespace flashlab::toy
