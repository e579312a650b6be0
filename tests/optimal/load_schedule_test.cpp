// The best loads for an order, against an exhaustive search, against Belady's rule played on
// registers, and by running the program that the schedule makes.
#include "optimal/products/load_schedule.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <queue>
#include <random>
#include <set>

#include "tests/catch_shim.hpp"
#include "tests/optimal/plain_load_schedule.hpp"
#include "tests/seed.hpp"
#include "tests/source_files.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/unrolled.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
using namespace flashlab::test;     // NOLINT: what it is compared with
using flashlab::toy::OperandRule;
namespace toy = flashlab::toy;

// -- Random programs --

class RandomPrograms {
 public:
  explicit RandomPrograms(unsigned seed) : generator_(flashlab::test::seeded(seed)) {}

  /// Sums, differences, maxima, products, copies, constants, updates; cells are stored and loaded.
  std::string any(int registers, int steps, int inputs, bool rewrites) {
    std::string text = ".isa attention\n.registers " + std::to_string(registers) + "\n.input x[" +
                       std::to_string(inputs) + "]\n.temp t[2]\n.output o[3]\n";
    std::set<int> full;
    std::set<std::string> cells;
    const auto reg = [](int r) { return "R" + std::to_string(r); };
    const auto one_of = [&](const auto& set) {
      return *std::next(set.begin(), below(static_cast<int>(set.size())));
    };
    const auto store = [&](const std::string& cell) {
      cells.insert(cell);
      return "STORE " + reg(one_of(full)) + ", " + cell + "\n";
    };
    for (int s = 0; s < steps; ++s) {
      const int target = below(registers), kind = full.empty() ? 0 : below(16);
      std::string cell = below(3) == 0 ? "t[" + std::to_string(below(2)) + "]"
                                       : "o[" + std::to_string(below(3)) + "]";
      if (kind < 5) {
        text += "LOAD " +
                (!cells.empty() && below(4) == 0 ? one_of(cells)
                                                 : "x[" + std::to_string(below(inputs)) + "]") +
                ", " + reg(target) + "\n";
      } else if (kind < 8) {
        if (!rewrites && cells.contains(cell)) continue;
        text += store(cell);
        continue;
      } else if (kind == 8 && rewrites && cells.contains(cell)) {
        text += "ATOMIC_ADD " + reg(one_of(full)) + ", " + cell + "\n";
        continue;
      } else if (kind == 9) {
        text += "MOV " + reg(one_of(full)) + ", " + reg(target) + "\n";
      } else if (kind == 10) {
        text += "FILL 0.25, " + reg(target) + "\n";
      } else if (kind == 11) {
        text += "MAC " + reg(one_of(full)) + ", " + reg(one_of(full)) + ", " + reg(one_of(full)) +
                ", " + reg(target) + "\n";
      } else {
        const std::string names[] = {"ADD ", "SUB ", "MAX "};
        text += names[below(3)] + reg(one_of(full)) + ", " + reg(one_of(full)) + ", " +
                reg(target) + "\n";
      }
      full.insert(target);
    }
    for (int o = 0; o < 3 && !full.empty(); ++o) {
      const std::string cell = "o[" + std::to_string(o) + "]";
      if (!cells.contains(cell)) text += store(cell);
    }
    return text;
  }

  /// Products of inputs from R0 and R1.
  std::string pinned(int registers, int steps, int inputs) {
    std::string text = ".isa matmul\n.operands pinned\n.registers " + std::to_string(registers) +
                       "\n.input x[" + std::to_string(inputs) + "]\n.output o[4]\n";
    std::vector<int> holds(static_cast<std::size_t>(registers), 0);  // 1: an input, 2: a sum
    const auto with = [&](int what) {
      std::vector<int> found;
      for (int r = 0; r < registers; ++r) {
        if (holds[static_cast<std::size_t>(r)] == what) found.push_back(r);
      }
      return found;
    };
    int stored = 0;
    for (int s = 0; s < steps; ++s) {
      const std::vector<int> sums = with(2);
      const int target = below(registers), kind = below(10);
      const std::string to = "R" + std::to_string(target);
      if (kind < 2 && !sums.empty() && stored < 4) {
        const int sum = sums[static_cast<std::size_t>(below(static_cast<int>(sums.size())))];
        text += "STORE R" + std::to_string(sum) + ", o[" + std::to_string(stored++) + "]\n";
      } else if (kind < 6 && holds[0] == 1 && holds[1] == 1) {
        if (sums.empty() || below(2) == 0) {
          text += "MAC_Z R0, R1, " + to + "\n";
        } else {
          const int sum = sums[static_cast<std::size_t>(below(static_cast<int>(sums.size())))];
          text += "MAC R0, R1, R" + std::to_string(sum) + ", " + to + "\n";
        }
        holds[static_cast<std::size_t>(target)] = 2;
      } else {
        const int seat = below(8) == 0 ? target : below(2);
        text += "LOAD x[" + std::to_string(below(inputs)) + "], R" + std::to_string(seat) + "\n";
        holds[static_cast<std::size_t>(seat)] = 1;
      }
    }
    for (const int sum : with(2)) {
      if (stored == 4) break;
      text += "STORE R" + std::to_string(sum) + ", o[" + std::to_string(stored++) + "]\n";
    }
    return text;
  }

 private:
  int below(int end) { return static_cast<int>(generator_() % static_cast<std::uint64_t>(end)); }
  std::mt19937_64 generator_;
};

// -- What has to hold --

void check_sums(const Unrolled& program, const LoadSchedule& schedule) {
  const std::int64_t avoidable = schedule.count(LoadKind::kAvoidable);
  CHECK(static_cast<std::int64_t>(schedule.labels.size()) == num_loads(program.program));
  CHECK(schedule.count(LoadKind::kCompulsory) + schedule.count(LoadKind::kForced) +
            schedule.extra_loads ==
        schedule.best_loads);
  CHECK(avoidable - schedule.extra_loads == num_loads(program.program) - schedule.best_loads);
  for (const LabelledLoad& one : schedule.labels) {
    CHECK(is_load(program.program.steps[one.step]));
    CHECK((one.saving == Saving::kNone) == (one.kind != LoadKind::kAvoidable));
    CHECK((one.register_number >= 0) ==
          (one.saving == Saving::kKept || one.saving == Saving::kThere));
    if (one.saving == Saving::kKept) CHECK(one.overwritten_at < one.step);
  }
}

/// Runs both on the same inputs: equal outputs to the bit, best loads. False: the program fails.
bool check_rewritten(const Unrolled& program, const LoadSchedule& schedule) {
  auto cells = toy::initial_dram(program.bound, {});
  REQUIRE(cells);
  std::vector<float> mine(cells->begin(), cells->end()), theirs = mine;
  if (!toy::run(program.bound, std::span<float>(mine))) return false;
  const auto text = rescheduled(program.bound, program.program, machine_of(program.bound));
  REQUIRE(text);
  INFO("rewritten:\n" << *text);
  const auto better = unrolled(*text);
  REQUIRE(better);
  CHECK(num_loads(better->program) == schedule.best_loads);
  const auto run = toy::run(better->bound, std::span<float>(theirs));
  REQUIRE(run);
  for (const toy::BoundArray& array : program.bound.arrays) {
    if (array.role != toy::ArrayRole::kOutput) continue;
    for (std::int64_t i = array.offset; i < array.offset + array.size; ++i) {
      const auto cell = static_cast<std::size_t>(i);
      const bool both_unwritten = std::isnan(mine[cell]) && std::isnan(theirs[cell]);
      CHECK((mine[cell] == theirs[cell] || both_unwritten));
    }
  }
  return true;
}

LoadSchedule schedule_of(const Unrolled& program) {
  return best_loads(program.bound, program.program, machine_of(program.bound));
}

LoadSchedule schedule_of(const std::string& text) { return schedule_of(*unrolled(text)); }

const std::string kHead = ".isa softmax\n.registers 2\n.input x[3]\n.output o[3]\n";

}  // namespace

TEST_CASE("no placement of loads is better than the schedule, for any small program",
          "[schedule]") {
  RandomPrograms programs(1);
  int with_savings = 0, ran = 0;
  for (int round = 0; round < 3000; ++round) {
    const int registers = 2 + round % 3;
    const std::string text = programs.any(registers, 6 + round % 13, 3 + round % 3, true);
    INFO(text);
    const auto program = unrolled(text);
    REQUIRE(program);
    const LoadSchedule schedule = schedule_of(*program);
    REQUIRE(schedule.unknown == "");
    const PlainOrder order = PlainOrderMaker(*program).run();
    REQUIRE(schedule.best_loads == ExhaustiveSearch(order, registers, false).run());
    check_sums(*program, schedule);
    if (check_rewritten(*program, schedule)) ++ran;
    if (schedule.best_loads < num_loads(program->program)) ++with_savings;
  }
  CHECK(with_savings > 1000);
  CHECK(ran > 2500);
}

TEST_CASE("no placement of loads is better with pinned operands, where one is known",
          "[schedule]") {
  RandomPrograms programs(2);
  int known = 0, with_savings = 0, with_extra = 0;
  for (int round = 0; round < 4000; ++round) {
    const int registers = 2 + round % 4;
    const std::string text = programs.pinned(registers, 8 + round % 17, 3 + round % 2);
    INFO(text);
    const auto program = unrolled(text);
    REQUIRE(program);
    const LoadSchedule schedule = schedule_of(*program);
    if (!schedule.unknown.empty()) continue;
    const PlainOrder order = PlainOrderMaker(*program).run();
    if (order.actions.empty()) continue;  // it stores nothing
    ++known;
    REQUIRE(schedule.best_loads == ExhaustiveSearch(order, registers, true).run());
    check_sums(*program, schedule);
    REQUIRE(check_rewritten(*program, schedule));
    if (schedule.best_loads < num_loads(program->program)) ++with_savings;
    if (schedule.extra_loads > 0) ++with_extra;
  }
  INFO("known " << known << ", savings " << with_savings << ", extra " << with_extra);
  CHECK(known > 1500);
  CHECK(with_savings > 500);
}

TEST_CASE("the schedule loads as often as Belady's rule, for longer programs", "[schedule]") {
  RandomPrograms programs(3);
  for (int round = 0; round < 60; ++round) {
    const int registers = 3 + round % 8;
    const std::string text = programs.any(registers, 300, 12, false);
    const auto program = unrolled(text);
    const LoadSchedule schedule = schedule_of(*program);
    const PlainOrder order = PlainOrderMaker(*program).run();
    CHECK(schedule.best_loads == belady(order, static_cast<std::size_t>(registers)));
    check_sums(*program, schedule);
    check_rewritten(*program, schedule);
  }
}

TEST_CASE("every bundled program on scalars can be rewritten with its best loads", "[schedule]") {
  const std::string folder = std::string(FLASHLAB_SOURCE_DIR) + "/toymachine/programs";
  int analysed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".toy") continue;
    if (has_machines(entry.path())) continue;
    const std::string name = entry.path().stem();
    INFO(name);
    const auto program = unrolled(read_source(entry.path()));
    if (!program) continue;  // on tiles
    const LoadSchedule schedule = schedule_of(*program);
    CHECK(schedule.unknown == "");
    if (!schedule.unknown.empty()) continue;
    ++analysed;
    check_sums(*program, schedule);
    CHECK(check_rewritten(*program, schedule));
  }
  CHECK(analysed >= 10);
}

TEST_CASE("a load is compulsory, forced or avoidable, and says what could have saved it",
          "[schedule]") {
  const LoadSchedule schedule = schedule_of(kHead +
                                            "LOAD x[0], R0\n"  // 0 compulsory
                                            "LOAD x[1], R1\n"  // 1 compulsory
                                            "ADD R0, R1, R1\n"
                                            "STORE R1, o[0]\n"
                                            "LOAD x[2], R0\n"  // 4 compulsory, over x[0]
                                            "STORE R0, o[1]\n"
                                            "LOAD x[0], R1\n"  // 6 avoidable: R0 had it until 4
                                            "STORE R1, o[2]\n");
  REQUIRE(schedule.labels.size() == 4);
  CHECK(schedule.best_loads == 3);
  CHECK(schedule.extra_loads == 0);
  CHECK(schedule.count(LoadKind::kCompulsory) == 3);
  const LabelledLoad& last = schedule.labels.back();
  CHECK(last.step == 6);
  CHECK(last.kind == LoadKind::kAvoidable);
  CHECK(last.saving == Saving::kKept);
  CHECK(last.register_number == 0);
  CHECK(last.overwritten_at == 4);
}

TEST_CASE("a load that no register has room to save is forced", "[schedule]") {
  const LoadSchedule schedule = schedule_of(
      kHead +
      "LOAD x[0], R0\nLOAD x[1], R1\nADD R0, R1, R0\nLOAD x[2], R1\nADD R0, R1, R0\n"
      "LOAD x[1], R1\nADD R0, R1, R0\nSTORE R0, o[0]\nSTORE R0, o[1]\nSTORE R0, o[2]\n");
  REQUIRE(schedule.labels.size() == 4);
  CHECK(schedule.labels[3].kind == LoadKind::kForced);
  CHECK(schedule.best_loads == 4);
}

TEST_CASE("a load of what a register holds, or of what nothing uses, is avoidable", "[schedule]") {
  const LoadSchedule schedule =
      schedule_of(kHead +
                  "LOAD x[0], R0\nLOAD x[0], R1\nADD R0, R1, R1\nSTORE R1, o[0]\nSTORE R1, o[1]\n"
                  "STORE R1, o[2]\nLOAD x[2], R0\n");
  REQUIRE(schedule.labels.size() == 3);
  CHECK(schedule.labels[0].kind == LoadKind::kCompulsory);
  CHECK(schedule.labels[1].saving == Saving::kThere);
  CHECK(schedule.labels[1].register_number == 0);
  CHECK(schedule.labels[2].saving == Saving::kUnused);
  CHECK(schedule.best_loads == 1);
}

TEST_CASE("copies and what no output depends on are not in the order", "[schedule]") {
  const LoadSchedule schedule = schedule_of(
      kHead +
      "LOAD x[0], R0\nMOV R0, R1\nEXP R1, R0\nSTORE R1, o[0]\nSTORE R1, o[1]\nSTORE R1, o[2]\n");
  CHECK(schedule.in_order == std::vector<char>{0, 0, 0, 1, 1, 1});
  CHECK(schedule.best_loads == 1);
}

TEST_CASE("without a limit on registers every element is loaded once", "[schedule]") {
  const auto program = unrolled(
      ".isa softmax\n.input x[4]\n.output o[1]\nLOAD x[0], R0\nfor j in 0..3\n for i in 1..4\n"
      "  LOAD x[i], R1\n  ADD R0, R1, R0\n end\nend\nSTORE R0, o[0]\n");
  CHECK(schedule_of(*program).best_loads == 4);
}

TEST_CASE("a spilled sum is loaded again, and that load is never compulsory", "[schedule]") {
  const std::string text =
      ".isa softmax\n.registers 2\n.input x[4]\n.temp t[1]\n.output o[1]\n"
      "LOAD x[0], R0\nLOAD x[1], R1\nADD R0, R1, R0\nSTORE R0, t[0]\nLOAD x[2], R0\n"
      "LOAD x[3], R1\nADD R0, R1, R0\nLOAD t[0], R1\nADD R0, R1, R0\nSTORE R0, o[0]\n";
  const LoadSchedule schedule = schedule_of(text);
  REQUIRE(schedule.labels.size() == 5);
  CHECK(schedule.labels[4].kind == LoadKind::kForced);
  CHECK(schedule.best_loads == 5);
}

TEST_CASE("what pinned operands leave open is refused with its line", "[schedule]") {
  const std::string head =
      ".isa matmul\n.operands pinned\n.registers 4\n.input x[4]\n.output o[2]\n"
      "LOAD x[0], R0\nLOAD x[1], R1\nMAC_Z R0, R1, R2\n";
  const std::string stored = "STORE R2, o[0]\nMAC R0, R1, R2, R2\nSTORE R2, o[1]\n";
  CHECK(schedule_of(head + stored).unknown ==
        "line 10 uses a sum again after it was stored, and operands are pinned");
  const std::string factor = "MAC R0, R1, R0, R3\nSTORE R3, o[0]\nSTORE R2, o[1]\n";
  CHECK_THAT(schedule_of(head + factor).unknown,
             flashlab::test::contains("line 9 uses a value both as a factor and otherwise"));
  const std::string copy = "STORE R0, o[0]\nSTORE R2, o[1]\n";
  CHECK_THAT(schedule_of(head + copy).unknown,
             flashlab::test::contains("line 9 uses a value both as a factor"));
  CHECK_FALSE(rescheduled(unrolled(head + stored)->bound, unrolled(head + stored)->program,
                          {4, OperandRule::kPinned}));
}

TEST_CASE("an order that needs more registers than there are has no schedule", "[schedule]") {
  const auto program = unrolled(
      ".isa softmax\n.input x[2]\n.output o[1]\nLOAD x[0], R0\nLOAD x[1], R1\nADD R0, R1, R0\n"
      "STORE R0, o[0]\n");
  CHECK(best_loads(program->bound, program->program, {1, OperandRule::kAny}).unknown ==
        "the order needs more than 1 registers");
  CHECK(best_loads(program->bound, program->program, {2, OperandRule::kAny}).unknown == "");
}

TEST_CASE("a long trace is analysed as a short one is", "[schedule]") {
  const auto program = unrolled(
      ".isa softmax\n.registers 8\n.input x[100]\n.output o[300]\n"
      "for j in 0..300\n LOAD x[0], R0\n for i in 1..100\n  LOAD x[i], R1\n  ADD R0, R1, R0\n"
      " end\n STORE R0, o[j]\nend\n");
  REQUIRE(program->program.steps.size() > 50'000);
  const LoadSchedule schedule = schedule_of(*program);
  check_sums(*program, schedule);
  // Six elements and the sum stay: of 99 that follow x[0], five are kept from sweep to sweep.
  CHECK(schedule.best_loads < 300 * 96);
  CHECK(schedule.best_loads > 300 * 92);
}
