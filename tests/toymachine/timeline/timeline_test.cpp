// Two models of time: schedules worked out by hand, a slow and certain scheduler, and what holds
// for every program.
#include "toymachine/timeline/timeline.hpp"

#include <algorithm>
#include <filesystem>
#include <random>

#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace flashlab::toy {
namespace {

using test::contains;

CostTable costs(const std::string& text) {
  CostTable table;
  REQUIRE(table.parse(text));
  return table;
}

std::vector<Timeline> timelines(const BoundProgram& program, const CostTable& cost_table,
                                std::vector<TimelineModel> models = TimelineOptions().models) {
  TimelineOptions options;
  options.models = std::move(models);
  options.costs = cost_table;
  options.to = INT64_MAX;
  auto result = simulate(program, options);
  INFO(format(result.diagnostics, *program.program->source));
  REQUIRE(result);
  return std::move(*result);
}

/// A unit's time as text: "0-3 busy 1" is step 1, from cycle 0 to 3; idle has no step.
std::string lane(const Timeline& timeline, Unit unit) {
  std::string text;
  for (const TimelineInterval& interval : timeline.intervals) {
    if (interval.unit != unit) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(interval.start) + "-" +
            std::to_string(interval.end) + " " + std::string(to_string(interval.cause));
    if (interval.step > 0) text += " " + std::to_string(interval.step);
  }
  return text;
}

constexpr const char* kLoadExpLoop =
    ".isa softmax\n.param n = 4\n.input x[n]\nfor i in 0..n\nLOAD x[i], R0\nEXP R0, R1\nend\n";

TEST_CASE("a product waits for both of its operands, its store for the product", "[timeline]") {
  const auto all =
      timelines(test::bound(".isa matmul\n.input a[1]\n.input b[1]\n.output c[1]\nLOAD a[0], R0\n"
                            "LOAD b[0], R1\nMAC_Z R0, R1, R2\nSTORE R2, c[0]\n"),
                costs("LOAD=3,MAC_Z=2,STORE=4"));
  CHECK(lane(all[0], Unit::kMemory) == "0-3 busy 1, 3-6 busy 2, 6-8 idle, 8-12 busy 4");
  CHECK(lane(all[0], Unit::kCompute) == "0-6 idle, 6-8 busy 3, 8-12 idle");
  for (const std::size_t overlap : {1, 2}) {
    CHECK(lane(all[overlap], Unit::kMemory) == "0-3 busy 1, 3-6 busy 2, 6-8 data 4, 8-12 busy 4");
    CHECK(lane(all[overlap], Unit::kCompute) == "0-6 data 3, 6-8 busy 3, 8-12 idle");
    CHECK(all[overlap].cycles == 12);
    CHECK(all[overlap].sites[3] == CauseCycles{4, 2, 0, 0});
  }
}

TEST_CASE("two buffers halve a loop that loads as long as it computes", "[timeline]") {
  const auto all = timelines(test::bound(kLoadExpLoop), costs("LOAD=10,EXP=10"));
  CHECK(all[0].cycles == 80);
  // One buffer: each load waits until the value before it was used.
  CHECK(lane(all[1], Unit::kMemory) ==
        "0-10 busy 1, 10-20 buffer 3, 20-30 busy 3, 30-40 buffer 5, 40-50 busy 5, "
        "50-60 buffer 7, 60-70 busy 7, 70-80 idle");
  CHECK(all[1].cycles == 80);
  // Two: while one value is used, the next one arrives.
  CHECK(lane(all[2], Unit::kMemory) ==
        "0-10 busy 1, 10-20 busy 3, 20-30 busy 5, 30-40 busy 7, 40-50 idle");
  CHECK(lane(all[2], Unit::kCompute) ==
        "0-10 data 2, 10-20 busy 2, 20-30 busy 4, 30-40 busy 6, 40-50 busy 8");
  const auto longer =
      timelines(test::bound(kLoadExpLoop, test::params({{"n", 1000}})), costs("LOAD=10,EXP=10"));
  CHECK(longer[1].cycles == 20'000);
  CHECK(longer[2].cycles == 10'010);
}

TEST_CASE("no number of buffers beats the port of a loop that mostly loads", "[timeline]") {
  const auto all =
      timelines(test::bound(kLoadExpLoop), costs("LOAD=10"), {{false, 1}, {true, 1}, {true, 8}});
  CHECK(all[0].cycles == 44);
  CHECK(all[1].cycles == 44);
  CHECK(all[2].cycles == 41);
  CHECK(all[2].unit(Unit::kMemory) == CauseCycles{40, 0, 0, 1});
  CHECK(all[2].unit(Unit::kCompute) == CauseCycles{4, 37, 0, 0});
}

TEST_CASE("a store that waits keeps the loads behind it waiting, whatever the buffers",
          "[timeline]") {
  const auto all = timelines(
      test::bound(".isa softmax\n.input x[3]\n.output o[3]\nfor i in 0..3\nLOAD x[i], R0\n"
                  "EXP R0, R0\nSTORE R0, o[i]\nend\n"),
      costs("LOAD=10,EXP=10,STORE=10"));
  for (const Timeline& timeline : all) CHECK(timeline.cycles == 90);
  CHECK(all[2].unit(Unit::kMemory) == CauseCycles{60, 30, 0, 0});
}

TEST_CASE("loading the next value before the store makes room for both units", "[timeline]") {
  const auto all = timelines(
      test::bound(".isa softmax\n.input x[4]\n.output o[3]\nLOAD x[0], R0\nfor i in 0..3\n"
                  "EXP R0, R1\nLOAD x[i+1], R0\nSTORE R1, o[i]\nend\n"),
      costs("LOAD=10,EXP=10,STORE=10"));
  CHECK(all[0].cycles == 100);
  CHECK(all[1].cycles == 100);
  CHECK(all[2].cycles == 70);
  CHECK(lane(all[2], Unit::kMemory) ==
        "0-10 busy 1, 10-20 busy 3, 20-30 busy 4, 30-40 busy 6, 40-50 busy 7, 50-60 busy 9, "
        "60-70 busy 10");
}

TEST_CASE("a register is not overwritten while it is stored, nor while it is loaded",
          "[timeline]") {
  const auto stored =
      timelines(test::bound(".isa attention\n.output o[2]\nFILL 1, R0\nSTORE R0, o[0]\nFILL 2, R0\n"
                            "STORE R0, o[1]\n"),
                costs("STORE=5"));
  CHECK(lane(stored[2], Unit::kCompute) == "0-1 busy 1, 1-6 buffer 3, 6-7 busy 3, 7-12 idle");
  CHECK(lane(stored[2], Unit::kMemory) == "0-1 data 2, 1-6 busy 2, 6-7 data 4, 7-12 busy 4");
  const auto loaded = timelines(
      test::bound(".isa attention\n.input x[1]\nLOAD x[0], R0\nFILL 2, R0\n"), costs("LOAD=5"));
  CHECK(lane(loaded[2], Unit::kCompute) == "0-5 buffer 2, 5-6 busy 2");
}

TEST_CASE("only the intervals in the window are kept, and no more than asked for", "[timeline]") {
  const BoundProgram program = test::bound(kLoadExpLoop, test::params({{"n", 1000}}));
  TimelineOptions options;
  options.costs = costs("LOAD=10,EXP=10");
  options.models = {{true, 2}};
  options.from = 5000;
  options.to = 5020;
  auto kept = simulate(program, options);
  REQUIRE(kept);
  CHECK((*kept)[0].cycles == 10'010);
  CHECK(lane((*kept)[0], Unit::kMemory) == "5000-5010 busy 1001, 5010-5020 busy 1003");
  CHECK((*kept)[0].intervals.size() == 4);
  options.max_intervals = 3;
  CHECK((*simulate(program, options))[0].intervals_left_out == 1);
  std::size_t seen = 0;
  options.sink = [&](std::size_t, const TimelineInterval&) { ++seen; };
  options.window_only = true;
  CHECK((*simulate(program, options))[0].cycles < 5100);
  CHECK(seen == 4);
}

TEST_CASE("a window alone shows what the whole shows of it, and ends once both units are past it",
          "[timeline]") {
  const BoundProgram program = test::bound(kLoadExpLoop, test::params({{"n", 200}}));
  for (const char* const text : {"LOAD=10,EXP=1", "LOAD=1,EXP=10", "LOAD=10,EXP=10"}) {
    for (const TimelineModel& model : TimelineOptions().models) {
      TimelineOptions options;
      options.costs = costs(text);
      options.models = {model};
      options.from = 300;
      options.to = 340;
      const auto whole = simulate(program, options);
      options.window_only = true;
      const auto window = simulate(program, options);
      REQUIRE((whole && window));
      INFO(text);
      CHECK(lane((*window)[0], Unit::kMemory) == lane((*whole)[0], Unit::kMemory));
      CHECK(lane((*window)[0], Unit::kCompute) == lane((*whole)[0], Unit::kCompute));
      CHECK((*window)[0].cycles < (*whole)[0].cycles);
    }
  }
  TimelineOptions serial;
  serial.costs = costs("LOAD=10,EXP=10");
  serial.models = {{false, 1}};
  serial.to = 20;
  serial.window_only = true;
  // At cycle 20 memory's last instruction ended at 10: one load more, and both are past it.
  CHECK((*simulate(program, serial))[0].cycles == 30);
}

TEST_CASE("what cannot be timed is refused with a reason", "[timeline]") {
  const BoundProgram program = test::bound(kLoadExpLoop, test::params({{"n", 1000}}));
  TimelineOptions options;
  options.models = {{true, 0}};
  CHECK(simulate(program, options).diagnostics.at(0).fault == Fault::kRequest);
  options.models = {{true, kMaxBuffers + 1}};
  CHECK(simulate(program, options).diagnostics.at(0).fault == Fault::kRequest);
  const BoundProgram tiles = test::bound(
      ".isa attention\n.input q(n, n) tile (n, n)\n.param n = 4000\nfor i in 0..2000\n"
      "LOAD q[0][0], R0\nend\n");
  options.models = {{true, 2}};
  options.costs = costs("LOAD=1000000000/element");
  const auto refused = simulate(tiles, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.diagnostics[0].fault == Fault::kLimit);
  Binding few;
  few.limits.max_steps = 7;
  options.costs = {};
  const auto steps = simulate(test::bound(kLoadExpLoop, few), options);
  REQUIRE_FALSE(steps);
  CHECK_THAT(steps.diagnostics[0].what, contains("8 steps"));
}

// What holds for every program -----------------------------------------------------------------

/// Units' cycles have one cause each, and the models stand in their order.
void check_laws(const BoundProgram& program, const CostTable& cost_table) {
  const auto all = timelines(program, cost_table,
                             {{false, 1}, {true, 1}, {true, 2}, {true, 3}, {true, 4}, {true, 9}});
  const auto executions = count_executions(program);
  REQUIRE(executions);
  CHECK(Count(static_cast<long>(all[0].cycles)) == count(program, *executions, cost_table).cycles);
  std::int64_t before = INT64_MAX;
  for (const Timeline& timeline : all) {
    CAPTURE(to_string(timeline.model));
    CHECK(timeline.cycles <= before);
    before = timeline.cycles;
    CauseCycles sites{};
    for (const CauseCycles& site : timeline.sites) {
      for (std::size_t i = 0; i < kNumCauses; ++i) sites[i] += site[i];
    }
    for (const Unit unit : {Unit::kMemory, Unit::kCompute}) {
      const CauseCycles& cycles = timeline.unit(unit);
      CHECK(cycles[0] + cycles[1] + cycles[2] + cycles[3] == timeline.cycles);
      CHECK(cycles[0] == all[0].unit(unit)[0]);
      std::int64_t at = 0;
      for (const TimelineInterval& interval : timeline.intervals) {
        if (interval.unit != unit) continue;
        REQUIRE(interval.start == at);
        REQUIRE(interval.end > at);
        at = interval.end;
      }
      if (timeline.intervals_left_out == 0) CHECK(at == timeline.cycles);
      for (std::size_t i = 0; i < kNumCauses; ++i) sites[i] -= cycles[i];
    }
    CHECK(sites[0] == 0);
    CHECK(sites[1] == 0);
    CHECK(sites[2] == 0);
  }
}

const std::vector<const char*> kCosts = {"LOAD=1", "LOAD=100", "LOAD=7,STORE=30", "LOAD=0,STORE=0",
                                         "STORE=1000000000"};

TEST_CASE("on every bundled program for one machine, units' cycles have one cause each",
          "[timeline]") {
  for (const auto& entry :
       std::filesystem::directory_iterator(FLASHLAB_SOURCE_DIR "/toymachine/programs")) {
    if (test::has_machines(entry.path())) continue;
    const std::string name = entry.path().stem().string();
    for (const std::int64_t n : {0, 1, 2, 13}) {
      const BoundProgram defaults = test::bundled(name);
      Binding binding;
      for (const ParamDeclaration& param : defaults.program->params) {
        const bool is_size = param.name.size() == 1 && param.name != "s";  // s: at most n/B
        if (n > 0 && is_size) binding.params[param.name] = n;
      }
      INFO(name << " at " << n);
      for (const char* text : kCosts) check_laws(test::bundled(name, binding), costs(text));
    }
  }
}

TEST_CASE("the same on tiles, whose work costs", "[timeline]") {
  const std::string text =
      ".isa attention\n.reg Q[tiles(q,1)], O[tiles(q,1)], M, S, K, A\n"
      ".param n = 7, d = 5, B = 2, Bd = d\n.input q(n, d) tile (B, Bd)\n"
      ".input k(n, d) tile (B, Bd)\n.output o(n, d) tile (B, Bd)\n"
      "for i in 0..tiles(q)\nfor c in 0..tiles(q, 1)\nLOAD q[i][c], Q[c]\nFILL 0, O[c]\nend\n"
      "FILL 0, M\nfor j in 0..i+1\nFILL 0, S\nfor c in 0..tiles(q, 1)\nLOAD k[j][c], K\n"
      "MAC Q[c], K^T, S, S\nend\nMASK S, i*B, j*B, S\nEXP S, S\nROWSUM S, A\nADD M, A, M\n"
      "for c in 0..tiles(q, 1)\nLOAD k[j][c], K\nMAC S, K, O[c], O[c]\nend\nend\n"
      "for c in 0..tiles(q, 1)\nDIV O[c], M, O[c]\nSTORE O[c], o[i][c]\nend\nend\n";
  for (const std::int64_t columns : {1, 2, 5}) {
    for (const char* cost : {"LOAD=1", "LOAD=100+2/element,MAC=1/flop", "ROWSUM=50+3/flop"}) {
      check_laws(test::bound(text, test::params({{"Bd", columns}})), costs(cost));
    }
  }
}

/// A random program without loops, and the schedule that the rules ask for, found by looking at
/// every earlier step for every step.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(test::seeded(seed)) {
    for (int r = 0; r < kRegisters; ++r) add("FILL 0, ", {}, r, 3);
    for (int i = pick(1, 60); i > 0; --i) any();
  }

  std::string text() const { return ".isa attention\n.input x[1]\n.output o[1]\n" + text_; }

  std::int64_t cycles(std::int64_t buffers) const {
    std::vector<std::int64_t> ends;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      std::int64_t start = 0;
      for (std::size_t j = 0; j < i; ++j) {
        const bool same_unit = steps_[i].unit() == steps_[j].unit();
        if (same_unit || feeds(j, i) || shares_buffer(j, i, buffers))
          start = std::max(start, ends[j]);
      }
      ends.push_back(start + kDurations[steps_[i].kind]);
    }
    return *std::max_element(ends.begin(), ends.end());
  }

  static constexpr const char* kCostText = "LOAD=7,STORE=5,ADD=3,FILL=1,EXP=11";

 private:
  static constexpr int kRegisters = 3;
  static constexpr std::int64_t kDurations[] = {7, 5, 3, 1, 11};  // by kind: as kCostText
  struct Entry {
    std::vector<int> reads;
    int writes;                 // -1: nothing
    int kind;                   // 0: a load, 1: a store
    std::vector<int> loads_of;  // by register: loads so far, this one included
    bool unit() const { return kind < 2; }
    bool touches(int number) const {
      return writes == number || std::find(reads.begin(), reads.end(), number) != reads.end();
    }
  };

  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  void any() {
    const int a = pick(0, kRegisters - 1), b = pick(0, kRegisters - 1);
    const int c = pick(0, kRegisters - 1);
    const auto name = [](int number) { return "R" + std::to_string(number); };
    switch (pick(0, 4)) {
      case 0:
        return add("LOAD x[0], ", {}, a, 0);
      case 1:
        return add("STORE " + name(a) + ", o[0]", {a}, -1, 1);
      case 2:
        return add("ADD " + name(a) + ", " + name(b) + ", ", {a, b}, c, 2);
      case 3:
        return add("FILL 1, ", {}, a, 3);
      default:
        return add("EXP " + name(a) + ", ", {a}, b, 4);
    }
  }

  void add(const std::string& instruction, std::vector<int> reads, int writes, int kind) {
    text_ += instruction + (writes < 0 ? "" : "R" + std::to_string(writes)) + "\n";
    if (kind == 0) ++loads_[static_cast<std::size_t>(writes)];
    steps_.push_back({std::move(reads), writes, kind, loads_});
  }

  /// Step j is the last one before i that wrote a register which i reads.
  bool feeds(std::size_t j, std::size_t i) const {
    for (const int number : steps_[i].reads) {
      std::size_t last = i;
      for (std::size_t before = 0; before < i; ++before) {
        if (steps_[before].writes == number) last = before;
      }
      if (last == j) return true;
    }
    return false;
  }

  /// Step j used the buffer that step i writes.
  bool shares_buffer(std::size_t j, std::size_t i, std::int64_t buffers) const {
    const int number = steps_[i].writes;
    if (number < 0 || !steps_[j].touches(number)) return false;
    const auto at = static_cast<std::size_t>(number);
    return (steps_[i].loads_of[at] - steps_[j].loads_of[at]) % buffers == 0;
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<int> loads_ = std::vector<int>(kRegisters, 0);
  std::vector<Entry> steps_;
};

TEST_CASE("a slow scheduler that reads the rules word by word finds the same times", "[timeline]") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const RandomProgram random(seed);
    CAPTURE(seed);
    const BoundProgram program = test::bound(random.text());
    check_laws(program, costs(RandomProgram::kCostText));
    const auto all = timelines(program, costs(RandomProgram::kCostText),
                               {{true, 1}, {true, 2}, {true, 3}, {true, 5}});
    for (const Timeline& timeline : all) {
      REQUIRE(timeline.cycles == random.cycles(timeline.model.buffers));
    }
  }
}

}  // namespace
}  // namespace flashlab::toy
