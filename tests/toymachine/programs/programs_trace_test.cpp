// Traces of the bundled programs against the notes' tables, step by step.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/trace/trace.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT

/// A line of a table: the instruction, and each register as a formula; empty: nothing written.
struct TableRow {
  std::string instruction;
  std::vector<std::string> registers;
};
using Table = std::vector<TableRow>;

/// What a table does not print: any value will do.
const std::string kAnything = "~";

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// Columns are separated by bars; the first two are the step and the instruction.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '|');) found.push_back(trimmed(cell));
  return found;
}

/// A table that was typed from the toy-model notes; its file says from where.
Table golden(const std::string& name) {
  std::ifstream file(std::string(FLASHLAB_TEST_DATA) + "/" + name + ".golden");
  Table table;
  std::size_t columns = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> row = cells(line);
    if (columns == 0) {
      columns = row.size();
      continue;
    }
    row.resize(columns);  // what ends a line may be blank
    table.push_back({row[1], {row.begin() + 2, row.end()}});
  }
  REQUIRE_FALSE(table.empty());
  return table;
}

class TableRecorder : public TraceSink {
 public:
  bool begin(const TraceHeader&) override { return true; }
  bool row(const TraceRow& row) override {
    TableRow shown{row.text, {}};
    for (const TraceRegister& r : row.registers) shown.registers.push_back(to_string(r.symbol));
    table.push_back(std::move(shown));
    return true;
  }
  bool label(const TraceLabel& label) override {
    claims.push_back(label.claim);
    return true;
  }

  Table table;
  std::vector<Claim> claims;
};

TableRecorder record_table(const BoundProgram& program, const TraceOptions& options = {}) {
  const auto initial = initial_dram(program, {});
  REQUIRE(initial);
  std::vector<float> dram(initial->begin(), initial->end());
  TableRecorder recorder;
  const auto execution = trace(program, dram, options, recorder);
  INFO(format(execution.diagnostics, *program.program->source));
  REQUIRE(execution);
  return recorder;
}

void require_equal_tables(const Table& got, const Table& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("row " << i + 1 << ": " << got[i].instruction);
    REQUIRE(got[i].instruction == expected[i].instruction);
    REQUIRE(got[i].registers.size() == expected[i].registers.size());
    for (std::size_t r = 0; r < got[i].registers.size(); ++r) {
      INFO("R" << r);
      if (expected[i].registers[r] != kAnything) {
        REQUIRE(got[i].registers[r] == expected[i].registers[r]);
      }
    }
  }
}

Table part(const Table& table, std::size_t first, std::size_t count) {
  REQUIRE(table.size() >= first + count);
  const auto from = table.begin() + static_cast<std::ptrdiff_t>(first);
  return {from, from + static_cast<std::ptrdiff_t>(count)};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The generic step for one value of i.
Table step_for(const Table& generic, const std::string& i) {
  Table table = generic;
  for (TableRow& row : table) {
    row.instruction = replaced(row.instruction, "[i]", "[" + i + "]");
    for (std::string& symbol : row.registers) symbol = replaced(symbol, "xi", "x" + i);
  }
  return table;
}

/// The program with its default parameters, but tiles of one element: claims speak of elements.
BoundProgram on_scalars(const std::string& name) {
  const BoundProgram program = bundled(name);
  Binding binding;
  for (const ParamDeclaration& param : program.program->params) {
    for (const char* tile : {"B", "Bk", "Bd", "Bm"}) {
      if (param.name == tile) binding.params[tile] = 1;
    }
  }
  return bundled(name, binding);
}

}  // namespace

TEST_CASE("c00 takes the notes' seven steps") {
  require_equal_tables(record_table(bundled("matmul_c00")).table, golden("matmul_c00"));
}

TEST_CASE("the outer product takes the notes' 22 steps") {
  require_equal_tables(record_table(bundled("matmul_outer")).table, golden("matmul_outer"));
}

TEST_CASE("safe softmax takes the notes' steps in its three passes") {
  require_equal_tables(record_table(bundled("softmax_safe", params({{"n", 4}}))).table,
                       golden("softmax_safe"));
}

TEST_CASE("online softmax starts with the notes' five steps") {
  const Table table = record_table(bundled("softmax_online", params({{"n", 5}}))).table;
  require_equal_tables(part(table, 0, 5), golden("softmax_online_start"));
}

TEST_CASE("every further element takes online softmax the notes' nine steps") {
  const Table table = record_table(bundled("softmax_online", params({{"n", 5}}))).table;
  const Table generic = golden("softmax_online_step");
  require_equal_tables(part(table, 5, 9), step_for(generic, "1"));
  require_equal_tables(part(table, 14, 9), step_for(generic, "2"));
  require_equal_tables(part(table, 23, 9), step_for(generic, "3"));
}

TEST_CASE("the generic iteration of online softmax is the notes' table of nine steps") {
  TraceOptions options;
  options.body = "i";
  const Table table = record_table(bundled("softmax_online"), options).table;
  require_equal_tables(part(table, 0, 9), golden("softmax_online_step"));
}

TEST_CASE("every bundled program for one machine claims something, and every claim holds") {
  const std::filesystem::path folder = std::string(FLASHLAB_SOURCE_DIR) + "/toymachine/programs";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (has_machines(file.path())) continue;
    INFO(file.path());
    const std::vector<Claim> claims = record_table(on_scalars(file.path().stem().string())).claims;
    CHECK(std::count(claims.begin(), claims.end(), Claim::kTrue) > 0);
    CHECK(std::count(claims.begin(), claims.end(), Claim::kFalse) == 0);
    CHECK(std::count(claims.begin(), claims.end(), Claim::kUnchecked) == 0);
  }
}
