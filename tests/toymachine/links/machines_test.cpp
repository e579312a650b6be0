// Programs on several machines: what they compute, and what is refused.
#include "toymachine/links/machines.hpp"

#include <map>
#include <string>
#include <vector>

#include "tests/toymachine/assembled.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::toy {
namespace {

using test::contains;
using Inputs = std::map<std::string, InputSource>;

constexpr const char* kSwap =
    ".machines rank of ranks = 2\n.input x[1]\n.output o[1]\n"
    "SEND x[0], 1 - rank\nRECV 1 - rank, o[0]\n";

Result<Machines> machines_of(const std::string& text, const CapacityBinding& binding = {}) {
  return bind_machines(test::assembled(text), binding);
}

std::string machines_message(const std::vector<Diagnostic>& diagnostics, const std::string& text) {
  return format(diagnostics, *test::source(text));
}

/// All messages of a program that cannot be bound for all its machines.
std::string binding_error(const std::string& text, const CapacityBinding& binding = {}) {
  const auto machines = machines_of(text, binding);
  REQUIRE_FALSE(machines);
  return machines_message(machines.diagnostics, text);
}

struct Ran {
  Machines machines;
  Execution execution;
  std::vector<double> dram;

  std::vector<double> output(const std::string& name) const {
    for (const BoundArray& array : machines.joined.arrays) {
      if (array.name != name) continue;
      return {dram.begin() + array.offset, dram.begin() + array.offset + array.size};
    }
    return {};
  }
};

Ran ran(const std::string& text, const Inputs& inputs = {}, const CapacityBinding& binding = {}) {
  auto machines = machines_of(text, binding);
  INFO(machines_message(machines.diagnostics, text));
  REQUIRE(machines);
  auto dram = initial_dram(machines->joined, inputs);
  REQUIRE(dram);
  auto execution = run_machines(*machines, *dram);
  INFO(machines_message(execution.diagnostics, text));
  REQUIRE(execution);
  return {std::move(*machines), std::move(*execution), std::move(*dram)};
}

std::string machines_error(const std::string& text, const CapacityBinding& binding = {}) {
  auto machines = machines_of(text, binding);
  INFO(machines_message(machines.diagnostics, text));
  REQUIRE(machines);
  auto dram = initial_dram(machines->joined, {});
  REQUIRE(dram);
  const auto execution = run_machines(*machines, *dram);
  REQUIRE_FALSE(execution);
  return machines_message(execution.diagnostics, text);
}

ListInput list(std::vector<std::int64_t> shape, std::vector<double> values) {
  return {std::move(shape), std::move(values)};
}

}  // namespace

TEST_CASE("two machines swap their inputs, which have one axis more outside", "[links]") {
  const Ran swapped = ran(kSwap, {{"x", list({2, 1}, {3, 4})}});
  CHECK(swapped.output("o") == std::vector<double>{4, 3});
  CHECK(swapped.execution.steps == 4);
  const Counters counters = count(swapped.machines.first(), swapped.execution.executions, {});
  CHECK(counters.sends == 2);
  CHECK(counters.receives == 2);
  CHECK(counters.bytes_sent == 8);
  CHECK(counters.bytes_received == 8);
  CHECK(counters.loads + counters.stores + counters.compute == 0);
}

TEST_CASE("messages of one link arrive in the order in which they were sent", "[links]") {
  const Ran result = ran(
      ".machines rank of ranks = 3\n.param n = 5\n.input x[n]\n.output o[n]\n"
      "for i in 0..n\n  for to in 1..min(3, 3 - 3*rank)\n    SEND x[i], to\n  end\n"
      "  for once in 0..min(1, rank)\n    RECV 0, o[i]\n  end\nend\n"
      "for once in 0..1 - min(1, rank)\n  for i in 0..n\n    LOAD x[i], R0\n    STORE R0, o[i]\n"
      "  end\nend\n",
      {{"x", list({3, 5}, {1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})}});
  CHECK(result.output("o") == std::vector<double>{1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5});
}

TEST_CASE("tiles travel whole, with their ragged ends", "[links]") {
  const Ran result = ran(
      ".machines rank of ranks = 2\n.input x(3, 3) tile (2, 2)\n.output o(3, 3) tile (2, 2)\n"
      "for i in 0..2\n  for j in 0..2\n    SEND x[i][j], 1 - rank\n    RECV 1 - rank, o[i][j]\n"
      "  end\nend\n",
      {{"x", list({2, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19})}});
  CHECK(result.output("o") == std::vector<double>{11, 12, 13, 14, 15, 16, 17, 18, 19,  //
                                                  1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(count(result.machines.first(), result.execution.executions, {}).bytes_sent == 72);
}

TEST_CASE("a program without .machines is one machine", "[links]") {
  const Ran result =
      ran(".input x[1]\n.output o[1]\nLOAD x[0], R0\nSTORE R0, o[0]\n", {{"x", list({1}, {7})}});
  CHECK_FALSE(result.machines.several());
  CHECK(result.output("o") == std::vector<double>{7});
}

TEST_CASE("machines that wait for each other are named with their lines", "[links]") {
  const std::string error = machines_error(
      ".machines rank of ranks = 2\n.input x[1]\n.output o[1]\n"
      "RECV 1 - rank, o[0]\nSEND x[0], 1 - rank\n");
  CHECK_THAT(error,
             contains("p.toy:4:1: error: no machine can go on: machine 0 waits in line 4 for "
                      "a message of machine 1; machine 1 waits in line 4 for a message of "
                      "machine 0\n"));
}

TEST_CASE("a full link stops its sender", "[links]") {
  const std::string error = machines_error(
      ".machines rank of ranks = 2\n.input x[1]\n.output o[1]\n"
      "SEND x[0], 1 - rank\nSEND x[0], 1 - rank\nRECV 1 - rank, o[0]\nRECV 1 - rank, o[0]\n");
  CHECK_THAT(error, contains("machine 0 waits in line 5 to send to machine 1; "
                             "machine 1 waits in line 5 to send to machine 0"));
}

TEST_CASE("a machine that waits for one that has ended is told so", "[links]") {
  CHECK_THAT(machines_error(".machines rank of ranks = 2\n.output o[1]\n"
                            "for once in 0..rank\n  RECV 0, o[0]\nend\n"),
             contains("machine 1 waits in line 4 for a message of machine 0, which has ended\n"));
}

TEST_CASE("of many machines that wait, eight are named", "[links]") {
  const std::string error = machines_error(
      ".machines rank of ranks = 100\n.output o[1]\n.param from = 99 - rank\n"
      "RECV from, o[0]\n");
  CHECK_THAT(error, contains("machine 7 waits"));
  CHECK_THAT(error, !contains("machine 8 waits"));
  CHECK_THAT(error, contains("; and 92 more\n"));
}

TEST_CASE("a message that nobody receives is an error at its SEND", "[links]") {
  CHECK_THAT(machines_error(".machines rank of ranks = 2\n.input x[1]\nSEND x[0], 1 - rank\n"),
             contains("p.toy:3:1: error: machine 1 never receives the last message that machine 0 "
                      "sends to it here\n"));
}

TEST_CASE("a message to oneself or to no machine is refused before the run", "[links]") {
  const std::string head = ".machines rank of ranks = 2\n.input x[1]\n.output o[1]\n";
  CHECK_THAT(binding_error(head + "SEND x[0], rank\n"),
             contains("p.toy:4:12: error: machine 0 has no link to itself\n"));
  CHECK_THAT(binding_error(head + "SEND x[0], 1 - rank\nRECV 2, o[0]\n"),
             contains("error: there is no machine 2\n"));
  CHECK_THAT(binding_error(head + "SEND x[0], -1\n"), contains("there is no machine -1"));
  CHECK_THAT(binding_error(".machines rank of ranks = 1\n.input x[1]\nSEND x[0], 0\n"),
             contains("no message: there is only one machine"));
}

TEST_CASE("a number of a machine that depends on a loop is checked in the run", "[links]") {
  CHECK_THAT(
      machines_error(".machines rank of ranks = 2\n.input x[1]\n.output o[1]\n"
                     "for once in 0..1 - rank\n  for to in 1..3\n    SEND x[0], to\n  end\nend\n"),
      contains("machine 0, step 2 (once = 0, to = 2): there is no machine 2\n"));
  CHECK_THAT(machines_error(".machines rank of ranks = 2\n.input x[1]\nfor to in rank..ranks\n"
                            "  SEND x[0], to\nend\n"),
             contains("machine 0, step 1 (to = 0): machine 0 has no link to itself\n"));
}

TEST_CASE("a message of another shape or type is refused", "[links]") {
  CHECK_THAT(machines_error(".machines rank of ranks = 2\n.input x(3, 1) tile (2, 1)\n"
                            ".output o(3, 1) tile (2, 1)\n"
                            "SEND x[0][0], 1 - rank\nRECV 1 - rank, o[1][0]\n"),
             contains("the message is 2 x 1 float, and o[1][0] is 1 x 1 float\n"));
  CHECK_THAT(machines_error(".machines rank of ranks = 2\n.input x[1] bf16\n.output o[1]\n"
                            "SEND x[0], 1 - rank\nRECV 1 - rank, o[0]\n"),
             contains("the message is 1 x 1 bf16, and o[0] is 1 x 1 float\n"));
}

TEST_CASE("a cell that was never written is not sent", "[links]") {
  CHECK_THAT(machines_error(".machines rank of ranks = 2\n.temp t[1]\n.output o[1]\n"
                            "SEND t[0], 1 - rank\nRECV 1 - rank, o[0]\n"),
             contains("machine 0, step 1: t[0] is read, but nothing was written there\n"));
}

TEST_CASE("too few and too many machines are refused before any memory is taken", "[links]") {
  CapacityBinding binding;
  binding.params["ranks"] = 1'000'000'000;
  CHECK_THAT(binding_error(kSwap, binding), contains("1000000000 machines\n"));
  CHECK_THAT(binding_error(kSwap, binding), contains("at most 1024 (--max-machines)"));
  binding.params["ranks"] = 0;
  CHECK_THAT(binding_error(kSwap, binding), contains("0 machines\n"));
  binding.params["ranks"] = INT64_MIN;
  CHECK_FALSE(machines_of(kSwap, binding));
}

TEST_CASE("arrays of all machines count against the limit together", "[links]") {
  CapacityBinding binding;
  binding.limits.max_array_bytes = 15;  // x and o take 4 bytes each, on two machines
  const auto machines = machines_of(kSwap, binding);
  REQUIRE(machines);
  CHECK_FALSE(initial_dram(machines->joined, {}));
  binding.limits.max_array_bytes = 16;
  CHECK(initial_dram(machines_of(kSwap, binding)->joined, {}));
}

TEST_CASE("sizes that differ between machines are refused", "[links]") {
  CHECK_THAT(binding_error(".machines rank of ranks = 2\n.input x[1 + rank]\n.output o[1]\n"
                           "LOAD x[0], R0\nSTORE R0, o[0]\n"),
             contains("machine 1 has another size of 'x' than machine 0\n"));
}

TEST_CASE("a billion messages end at the limit on steps, or at the budget", "[links]") {
  const std::string text =
      ".machines rank of ranks = 2\n.param n = 1000000000\n.input x[1]\n.output o[1]\n"
      "for i in 0..n\n  SEND x[0], 1 - rank\n  RECV 1 - rank, o[0]\nend\n";
  CapacityBinding binding;
  binding.limits.max_steps = 1000;
  CHECK_THAT(machines_error(text, binding),
             contains("the machines take 4000000000 steps together\n"));
  auto machines = machines_of(text);
  auto dram = initial_dram(machines->joined, {});
  const Budget budget({20, 0});
  CHECK_THROWS_AS(run_machines(*machines, *dram), BudgetExceeded);
}

TEST_CASE("tools for one machine refuse several in one line, at .machines", "[links]") {
  const std::string error = test::binding_errors(kSwap);
  CHECK_THAT(error, contains("p.toy:1:1: error: this program runs on several machines\n"));
  CHECK_THAT(error, contains("expected flashlab run, cost, sweep, diff or timeline"));
  const auto errors =
      toy::bind(test::assembled(".machines rank of ranks = 2\n.param other = 1 - rank\n"
                                ".input x[1]\nLOAD x[0], R0\n"),
                Binding())
          .diagnostics;
  CHECK(errors.size() == 1);
}

TEST_CASE("a machine's number is not given from outside, nor what follows from it", "[links]") {
  const std::string text =
      ".machines rank of ranks = 2\n.param other = 1 - rank\n.input x[1]\n.output o[1]\n"
      "SEND x[0], other\nRECV other, o[0]\n";
  CHECK(machines_of(text));
  CapacityBinding binding;
  binding.params["rank"] = 0;
  CHECK_THAT(binding_error(text, binding), contains("the number that each machine has for itself"));
  binding.params = {{"other", 1}};
  CHECK_THAT(binding_error(text, binding), contains("'other' follows from the machine's number"));
}

TEST_CASE("SEND and RECV need .machines", "[links]") {
  CHECK_THAT(test::assembly_errors(".input x[1]\nSEND x[0], 1\n"),
             contains("p.toy:2:1: error: SEND needs several machines\n"));
  CHECK_THAT(test::assembly_errors(".isa softmax, RECV\n.input x[1]\nLOAD x[0], R0\n"),
             contains("RECV needs several machines"));
}

TEST_CASE("a wrong .machines line is named", "[links]") {
  const auto error = [](const std::string& line) {
    return test::assembly_errors(line + "\n.input x[1]\nLOAD x[0], R0\n");
  };
  CHECK_THAT(error(".machines"), contains("expected a name for each machine's number"));
  CHECK_THAT(error(".machines rank"), contains("expected 'of'"));
  CHECK_THAT(error(".machines rank of"), contains("a name for the number of machines"));
  CHECK_THAT(error(".machines rank of 4"), contains("found '4'"));
  CHECK_THAT(error(".machines a of a = 2"), contains("'a' is declared twice"));
  CHECK_THAT(error(".machines a of n = a"), contains("error"));
  CHECK_THAT(error(".machines a of n = 2 3"), contains("found '3'"));
  CHECK_THAT(error(".machines a of b = 2\n.machines c of d = 2"), contains("is given twice"));
  CHECK_THAT(error(".machines x of x2"), contains("'x' is declared twice"));
}

TEST_CASE("messages are written by no input, and only as the table says", "[links]") {
  const std::string head = ".machines rank of ranks = 2\n.input x[1]\n.output o[1]\n";
  CHECK_THAT(test::assembly_errors(head + "RECV 1 - rank, x[0]\n"),
             contains("the input x is written"));
  CHECK_THAT(test::assembly_errors(head + "SEND R0, 1\n"), contains("an array cell for src"));
  CHECK_THAT(test::assembly_errors(head + "SEND x[0]\n"), contains("SEND src, to"));
}

TEST_CASE("a program on several machines prints as it was written", "[links]") {
  const std::string printed = disassemble(*test::assembled(kSwap));
  CHECK_THAT(printed, contains(".machines rank of ranks = 2\n"));
  CHECK_THAT(printed, !contains(".param"));
  CHECK(disassemble(*test::assembled(printed)) == printed);
}

}  // namespace flashlab::toy
