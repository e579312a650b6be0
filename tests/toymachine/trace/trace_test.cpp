// Runs as sinks see them: names, claims, which steps are shown.
#include "toymachine/trace/trace.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/trace/trace_program.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT

/// Keeps everything, as text.
class Recorder : public TraceSink {
 public:
  bool begin(const TraceHeader& header) override {
    axes_ = header.axes;
    return true;
  }
  bool body(const TraceBody& body) override {
    seen.push_back("body:" + state(body.registers));
    return true;
  }
  bool row(const TraceRow& row) override {
    seen.push_back(std::to_string(row.position) + " " + row.text + ":" + state(row.registers));
    renamed.push_back(row.renamed);
    expressions.push_back(to_string(row.expression));
    return seen.size() < most;
  }
  bool label(const TraceLabel& label) override {
    seen.push_back("label R" + std::to_string(label.register_number) + " = " +
                   to_string(label.symbol));
    claims.push_back(label.claim);
    return true;
  }
  bool gap(const TraceGap& gap) override {
    seen.push_back("gap " + std::to_string(gap.first) + "-" + std::to_string(gap.last));
    return true;
  }
  void end(const TraceSummary& end) override {
    ++ends;
    summary = end;
    error = end.error ? end.error->what : "";
  }

  std::vector<std::string> seen;
  std::vector<std::string> expressions;
  std::vector<std::vector<std::int64_t>> renamed;
  std::vector<Claim> claims;
  TraceSummary summary;
  std::string error;
  int ends = 0;
  std::size_t most = SIZE_MAX;

 private:
  std::string state(std::span<const TraceRegister> registers) const {
    std::string text;
    for (const TraceRegister& r : registers) {
      text += " " + (r.origin == Origin::kUnwritten ? "_" : to_string(r.symbol, {false, &axes_}));
    }
    return text;
  }
  AxisNames axes_;
};

const std::string kRunningSum =
    "; a running sum\n.isa softmax\n.param n = 4\n.input x[n]\n.output o[1]\n"
    "LOAD x[0], R1\n"
    "for i in 1..n\n"
    "  LOAD x[i], R0\n"
    "  .name R1 = s\n"
    "  ADD R1, R0, R1\n"
    "  .name R1 = s' = sum(j in 0..i+1: x[j])\n"
    "end\n"
    "STORE R1, o[0]\n";

Recorder record(const std::string& text, const TraceOptions& options = {},
                const Binding& binding = {}) {
  Recorder recorder;
  const auto result = run_trace(bound(text, binding), recorder, options);
  INFO(messages(result));
  REQUIRE(result);
  return recorder;
}

Diagnostic trace_failure(const std::string& text, Recorder& recorder,
                         const TraceOptions& options = {}) {
  const auto result = run_trace(bound(text), recorder, options);
  REQUIRE_FALSE(result);
  return result.diagnostics.front();
}

Diagnostic trace_failure(const std::string& text, const TraceOptions& options = {}) {
  Recorder recorder;
  return trace_failure(text, recorder, options);
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a label belongs to the row before it, and a prime goes with the iteration") {
  CHECK(record(kRunningSum, {}, params({{"n", 3}})).seen ==
        Lines{"1 LOAD x[0], R1: _ x0", "2 LOAD x[1], R0: x1 s", "label R1 = s",
              "3 ADD R1, R0, R1: x1 s'", "label R1 = s'", "4 LOAD x[2], R0: x2 s", "label R1 = s",
              "5 ADD R1, R0, R1: x2 s'", "label R1 = s'", "6 STORE R1, o[0]: x2 s"});
}

TEST_CASE("a row keeps the formula behind its label") {
  const Recorder trace = record(kRunningSum);
  CHECK(trace.expressions[2] == "s + x1");
  CHECK(trace.summary.claims_checked == 3);
  CHECK(trace.summary.complete);
  CHECK(trace.summary.rows == 8);
  CHECK(trace.ends == 1);
}

TEST_CASE("rows say which registers are called something else now") {
  const Recorder trace = record(kRunningSum);
  CHECK(trace.renamed[2].empty());                          // its own register is no surprise
  CHECK(trace.renamed[3] == std::vector<std::int64_t>{1});  // s' is s
}

TEST_CASE("a formula whose names mean something else by now is called after its step") {
  const Recorder trace = record(
      ".isa softmax\n.param n = 4\n.input x[n]\nLOAD x[0], R1\nfor i in 1..n\n"
      "  LOAD x[i], R0\n  .name R1 = s\n  EXP R1, R2\n  ADD R1, R0, R1\n  .name R1 = s'\nend\n"
      "MUL R2, R1, R0\n");
  CHECK(trace.seen[3] == "3 EXP R1, R2: x1 s e^s");
  CHECK(trace.seen[4] == "4 ADD R1, R0, R1: x1 s' e^s");
  CHECK(trace.seen[6] == "5 LOAD x[2], R0: x2 s R2@3");
  CHECK(trace.seen.back() == "11 MUL R2, R1, R0: R2@9*s s R2@9");
}

TEST_CASE("a cell that is stored again takes its name with it") {
  const Recorder trace = record(
      ".isa softmax\n.input x[1]\n.output o[1]\nLOAD x[0], R0\nSTORE R0, o[0]\nLOAD o[0], R1\n"
      "EXP R1, R2\nADD R1, R0, R1\nSTORE R1, o[0]\n");
  CHECK(trace.seen[4] == "5 ADD R1, R0, R1: x0 o0 + x0 e^o0");
  CHECK(trace.seen[5] == "6 STORE R1, o[0]: x0 o0 R2@4");
}

TEST_CASE("after an atomic addition no register holds the cell") {
  const Recorder trace = record(
      ".isa attention\n.input x[1]\n.output y[2]\nLOAD x[0], R0\nSTORE R0, y[0]\nLOAD y[0], R1\n"
      "ATOMIC_ADD R1, y[0]\nLOAD y[0], R2\nSUB R2, R1, R3\nSTORE R3, y[1]\n");
  CHECK(trace.expressions[5] == "y0 - R1@3");  // 2 x0 - x0, not 0
}

TEST_CASE(
    "tiles whose elements have one sum are not the same, and a label is of the last one that got "
    "it") {
  const Recorder stored = record(
      ".isa attention\n.input a(1, 2) tile (1, 2)\n.input b(1, 2) tile (1, 2)\n"
      ".temp t(1, 2) tile (1, 2)\n.output y(1, 2) tile (1, 2)\n"
      "LOAD a[0][0], R0\nSTORE R0, t[0][0]\nLOAD t[0][0], R1\nLOAD b[0][0], R2\n"
      "STORE R2, t[0][0]\nLOAD t[0][0], R3\nSUB R1, R3, R4\nSTORE R4, y[0][0]\n");
  CHECK(stored.expressions[6] == "R1@3 - t00");
  const Recorder labelled = record(
      ".isa softmax\n.input x[2]\nLOAD x[0], R0\n.name R0 = m\nLOAD x[1], R1\n.name R1 = m\n"
      "SUB R0, R1, R2\n");
  CHECK(labelled.expressions[2] == "R0@1 - m");
}

TEST_CASE("a formula that has become too long is called after its step") {
  std::string text = ".isa softmax\n.input x[1]\nLOAD x[0], R0\nEXP R0, R1\n";
  for (int i = 0; i < 30; ++i) text += "MUL R1, R0, R1\nSUB R0, R1, R1\n";
  const Recorder trace = record(text);
  for (const std::string& row : trace.seen) CHECK(row.size() < 400);
  CHECK_THAT(trace.seen.back(), contains("R1@"));
}

TEST_CASE("from and to show a part of the run, with its registers") {
  TraceOptions options;
  options.from = 3;
  options.to = 4;
  const Recorder trace = record(kRunningSum, options);
  CHECK(trace.seen ==
        Lines{"3 ADD R1, R0, R1: x1 s'", "label R1 = s'", "4 LOAD x[2], R0: x2 s", "label R1 = s"});
  CHECK_FALSE(trace.summary.complete);
}

TEST_CASE("what was executed is counted up to the last step that is shown") {
  TraceOptions options;
  options.to = 4;
  Recorder recorder;
  const auto result = run_trace(bound(kRunningSum), recorder, options);
  REQUIRE(result);
  CHECK(result->steps == 4);
  CHECK(result->stopped);
}

TEST_CASE("elision keeps the first, second and last iteration") {
  TraceOptions options;
  options.elide = true;
  const Recorder trace = record(kRunningSum, options, params({{"n", 100}}));
  CHECK(trace.seen == Lines{"1 LOAD x[0], R1: _ x0", "2 LOAD x[1], R0: x1 s", "label R1 = s",
                            "3 ADD R1, R0, R1: x1 s'", "label R1 = s'", "4 LOAD x[2], R0: x2 s",
                            "label R1 = s", "5 ADD R1, R0, R1: x2 s'", "label R1 = s'", "gap 6-197",
                            "198 LOAD x[n-1], R0: x[n-1] s", "label R1 = s",
                            "199 ADD R1, R0, R1: x[n-1] s'", "label R1 = s'",
                            "200 STORE R1, o[0]: x[n-1] s"});
}

TEST_CASE("loops of up to three iterations lose none") {
  TraceOptions options;
  options.elide = true;
  CHECK(record(kRunningSum, options).seen == record(kRunningSum).seen);
}

TEST_CASE("a generic iteration names the index and what it carries") {
  TraceOptions options;
  options.body = "i";
  CHECK(record(kRunningSum, options).seen == Lines{"body: _ s", "1 LOAD x[i], R0: xi s",
                                                   "label R1 = s", "2 ADD R1, R0, R1: xi s'",
                                                   "label R1 = s'"});
}

TEST_CASE("registers that a generic iteration reads and nobody named keep their own names") {
  TraceOptions options;
  options.body = "p";
  CHECK(record(".isa matmul\n.param k = 4\n.input a[2][k]\n.input b[k][2]\n"
               "for i in 0..2\n  LOAD a[i][0], R0\n  LOAD b[0][1], R1\n  MAC_Z R0, R1, R2\n"
               "  for p in 1..k\n    LOAD a[i][p], R0\n    LOAD b[p][1], R1\n"
               "    MAC R0, R1, R2, R2\n  end\nend\n",
               options)
            .seen == Lines{"body: _ _ R2", "1 LOAD a[i][p], R0: aip _ R2",
                           "2 LOAD b[p][1], R1: aip bp1 R2",
                           "3 MAC R0, R1, R2, R2: aip bp1 R2 + aip*bp1"});
}

TEST_CASE("every loop over the variable shows its own generic iteration") {
  TraceOptions options;
  options.body = "i";
  CHECK(
      record(".isa softmax\n.param n = 4\n.input x[n]\n.output o[n]\n"
             "LOAD x[0], R0\n.name R0 = m\nfor i in 0..n\n  LOAD x[i], R1\n  SUB R1, R0, R1\nend\n"
             "for i in 0..1\n  STORE R0, o[n-1-i]\nend\n",
             options)
          .seen == Lines{"body: m _", "1 LOAD x[i], R1: m xi", "2 SUB R1, R0, R1: m xi - m",
                         "body: m _", "1 STORE R0, o[-i+3]: m _"});
}

TEST_CASE("a generic iteration needs a loop of that name that does something") {
  TraceOptions options;
  options.body = "j";
  const Diagnostic unknown = trace_failure(kRunningSum, options);
  CHECK(unknown.fault == Fault::kRequest);
  CHECK_THAT(unknown.what, contains("no loop over 'j'"));
  CHECK_THAT(unknown.expected, contains("one of i"));
  options.body = "i";
  const Diagnostic empty =
      trace_failure(".isa softmax\n.input x[1]\nfor i in 0..0\n  LOAD x[0], R0\nend\n", options);
  CHECK(empty.fault == Fault::kRequest);
}

TEST_CASE("a claim that does not hold ends the run and says where") {
  const std::string text =
      ".isa softmax\n.input x[4]\nLOAD x[0], R0\nfor i in 1..4\n  LOAD x[i], R1\n"
      "  ADD R0, R1, R0\n  .name R0 = s = sum(j in 0..i: x[j])\nend\n";
  Recorder recorder;
  const Diagnostic error = trace_failure(text, recorder);
  CHECK(error.fault == Fault::kProgram);
  CHECK(error.span.line == 7);
  CHECK_THAT(error.what, contains("after step 3, i = 1"));
  CHECK_THAT(error.what, contains("'s'"));
  CHECK_THAT(error.what, contains("R0 holds 3"));  // the inputs are 1, 2, 3, 4
  CHECK_THAT(error.expected, contains("1, which sum(j in 0..i: x[j]) is"));
  CHECK(recorder.claims == std::vector<Claim>{Claim::kFalse});
  CHECK(recorder.error == error.what);
  CHECK(recorder.seen.size() == 4);  // three steps and the label
}

TEST_CASE("a claim at the very end is checked, too") {
  const Diagnostic error =
      trace_failure(".isa softmax\n.input x[1]\nLOAD x[0], R0\n.name R0 = s = x[0] + 1\n");
  CHECK_THAT(error.what, contains("after step 1: "));
}

TEST_CASE("a label cannot name what nobody wrote") {
  const Diagnostic error =
      trace_failure(".isa softmax\n.registers 3\n.input x[1]\nLOAD x[0], R0\n.name R2 = m\n");
  CHECK(error.fault == Fault::kProgram);
  CHECK_THAT(error.what, contains("'m' names R2, which no step has written"));
}

TEST_CASE("claims beyond the budget are left unchecked, and counted") {
  TraceOptions options;
  options.max_claim_work = 20;
  const Recorder trace = record(kRunningSum, options, params({{"n", 50}}));
  CHECK(trace.summary.claims_checked >= 1);
  CHECK(trace.summary.claims_checked + trace.summary.claims_unchecked == 49);
}

TEST_CASE("claims hold in double as they do in float") {
  const BoundProgram program = bound(kRunningSum, params({{"n", 1000}}));
  std::vector<double> dram(static_cast<std::size_t>(program.dram_elements),
                           std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < 1000; ++i) dram[i] = std::sin(static_cast<double>(i));
  Recorder recorder;
  REQUIRE(trace(program, std::span<double>(dram), {}, recorder));
  CHECK(recorder.summary.claims_checked == 999);
}

TEST_CASE("an error of the run comes after the steps before it") {
  Recorder recorder;
  const Diagnostic error = trace_failure(
      ".isa softmax\n.registers 2\n.input x[1]\nLOAD x[0], R0\nADD R0, R1, R0\n", recorder);
  CHECK_THAT(error.what, contains("R1"));
  CHECK(recorder.seen == Lines{"1 LOAD x[0], R0: x0 _"});
  CHECK(recorder.ends == 1);
  CHECK(recorder.error == error.what);
}

TEST_CASE("a trace of too many rows says so") {
  TraceOptions options;
  options.max_rows = 3;
  Recorder recorder;
  const Diagnostic error = trace_failure(kRunningSum, recorder, options);
  CHECK(error.fault == Fault::kLimit);
  CHECK_THAT(error.what, contains("more than 3 rows"));
  CHECK(recorder.summary.rows == 3);
}

TEST_CASE("a sink can end the run") {
  Recorder recorder;
  recorder.most = 2;
  const auto result = run_trace(bound(kRunningSum), recorder);
  REQUIRE(result);
  CHECK(result->stopped);
  CHECK_FALSE(recorder.summary.complete);
  CHECK(recorder.seen.size() == 2);
}

TEST_CASE("without symbols a trace has numbers only") {
  TraceOptions options;
  options.symbols = false;
  const Recorder trace = record(kRunningSum, options);
  CHECK(trace.expressions[2].empty());
  CHECK(trace.summary.rows == 8);
}
