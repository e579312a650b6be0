// One-edit variants: which there are, what they read like, and that making them fast or slow comes
// to the same steps.
#include "exercises/grader/repair/edits.hpp"

#include <algorithm>
#include <sstream>

#include "exercises/grader/repair/variants.hpp"
#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

std::shared_ptr<const toy::Program> assembled(const std::string& text) {
  auto program = toy::assemble(std::make_shared<const toy::SourceText>("test.toy", text));
  REQUIRE(program);
  return std::make_shared<const toy::Program>(std::move(*program));
}

std::shared_ptr<const toy::Program> from_folder(const std::string& name) {
  return assembled(test::read_source(test::kSourceRoot / "toymachine/programs" / name));
}

EditOptions every_instruction(const toy::Program& program, std::int64_t num_registers) {
  EditOptions options;
  options.num_registers = num_registers;
  for (std::size_t row = 0; row < toy::instruction_set().size(); ++row) {
    if (toy::instruction_set()[row].in(program.level)) options.rows.push_back(row);
  }
  return options;
}

const Edit* find(const std::vector<Edit>& edits, const std::string& what) {
  const auto found =
      std::find_if(edits.begin(), edits.end(), [&](const Edit& edit) { return edit.what == what; });
  return found == edits.end() ? nullptr : &*found;
}

std::string line_of(const std::string& text, int number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(lines, line);
  return line;
}

const char* const kSum = R"(.isa softmax
.param n = 3
.input x[n]
.input y[n]
.output s[1]
LOAD x[0], R0
for i in 1..n
  LOAD x[i], R1  ; the next
  ADD R0, R1, R0
end
STORE R0, s[0]
)";

toy::Binding small(const toy::Program& program) {
  toy::Binding binding;
  for (const toy::ParamDeclaration& param : program.params) {
    binding.params[param.name] = param.name[0] == 'B' ? 1 : 3;
  }
  return binding;
}

bool same_steps(const toy::UnrolledProgram& a, const toy::UnrolledProgram& b) {
  const auto value = [](const toy::UnrolledProgram& program, const toy::UnrolledStep& step,
                        std::size_t i) {
    const bool constant =
        toy::instruction_set()[step.row].operands[i] == toy::OperandKind::kConstant;
    const auto slot = static_cast<std::size_t>(step.slots[i]);
    return constant ? program.constants[slot - static_cast<std::size_t>(program.num_registers)]
                    : static_cast<double>(step.slots[i]);
  };
  if (a.steps.size() != b.steps.size()) return false;
  for (std::size_t s = 0; s < a.steps.size(); ++s) {
    if (a.steps[s].row != b.steps[s].row) return false;
    for (std::size_t i = 0; i < toy::instruction_set()[a.steps[s].row].num_operands; ++i) {
      if (value(a, a.steps[s], i) != value(b, b.steps[s], i)) return false;
    }
  }
  return true;
}

/// Every edit both ways; returns how many gave steps.
int compare_ways(const std::shared_ptr<const toy::Program>& program,
                 const std::vector<Edit>& edits) {
  const toy::Binding binding = small(*program);
  const auto bound = toy::bind(program, binding);
  REQUIRE(bound);
  toy::Binding fixed = binding;
  fixed.registers = bound->num_registers;
  const auto rebind = [&](const std::shared_ptr<const toy::Program>& edited) {
    return toy::bind(edited, fixed);
  };
  Variants variants(*bound, rebind, 10'000);
  int made = 0;
  for (const Edit& edit : edits) {
    INFO("line " << edit.line << ": " << edit.what);
    const toy::UnrolledProgram* fast = variants.make(edit);
    auto applied = apply(*program, edit);
    toy::Result<toy::UnrolledProgram> slow;
    if (applied) {
      const auto rebound = rebind(std::make_shared<const toy::Program>(std::move(*applied)));
      if (rebound) slow = toy::unroll(*rebound, 10'000);
    }
    // A line that never runs may hold what binding refuses.
    if (!slow && fast != nullptr && edit.instruction) continue;
    REQUIRE((fast != nullptr) == slow.value.has_value());
    if (fast == nullptr) continue;
    CHECK(same_steps(*fast, *slow));
    ++made;
  }
  return made;
}

}  // namespace

TEST_CASE("edits say what stands where what stood", "[edits]") {
  const auto program = assembled(kSum);
  const std::vector<Edit> edits = enumerate_edits(*program, every_instruction(*program, 3));
  for (const char* what :
       {"R2 instead of R0 as Rd", "x[1] instead of x[0] as src", "x[i + 1] instead of x[i] as src",
        "x[i - 1] instead of x[i] as src", "x[0] instead of x[i] as src",
        "y[i] instead of x[i] as src", "MAX instead of ADD", "without this line",
        "lines 8 and 9 swapped", "lines 7 and 8 swapped", "lines 10 and 11 swapped",
        "the loop begins at 0 instead of 1", "the loop ends before n - 1 instead of n",
        "the loop has step 2 instead of 1"}) {
    CAPTURE(what);
    CHECK(find(edits, what) != nullptr);
  }
  CHECK(find(edits, "x[0] instead of s[0] as dst") == nullptr);  // an input is not written
  CHECK(find(edits, "MAC instead of ADD") == nullptr);           // other operands
}

TEST_CASE("a copy is edited to a computation with what its destination held", "[edits]") {
  const auto program = assembled(R"(.isa softmax
.input x[2]
.output s[1]
LOAD x[0], R0
LOAD x[1], R1
MOV R1, R0
STORE R0, s[0]
)");
  std::vector<std::string> lines;
  for (const Edit& edit : enumerate_edits(*program, every_instruction(*program, 2))) {
    if (edit.kind == EditKind::kMnemonic && edit.line == 6) lines.push_back(edit.text);
  }
  const auto has = [&](const char* line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(has("DIV R0, R1, R0"));
  CHECK(has("DIV R1, R0, R0"));
  CHECK(has("ADD R0, R1, R0"));
  CHECK_FALSE(has("ADD R1, R0, R0"));  // the same sum
  CHECK(has("EXP R1, R0"));
}

TEST_CASE("an edit changes its own line and no line number", "[edits]") {
  const auto program = assembled(kSum);
  const std::vector<Edit> edits = enumerate_edits(*program, every_instruction(*program, 3));
  const std::string index = edited_text(*program, *find(edits, "x[i + 1] instead of x[i] as src"));
  CHECK(line_of(index, 8) == "  LOAD x[i + 1], R1");
  CHECK(line_of(index, 9) == "  ADD R0, R1, R0");
  const std::string swapped = edited_text(*program, *find(edits, "lines 10 and 11 swapped"));
  CHECK(line_of(swapped, 10) == "STORE R0, s[0]");
  CHECK(line_of(swapped, 11) == "end");
  const std::string bound = edited_text(*program, *find(edits, "the loop has step 2 instead of 1"));
  CHECK(line_of(bound, 7) == "for i in 1..n step 2");
}

TEST_CASE("indices of two axes are exchanged and loops replace one another", "[edits]") {
  const auto program = assembled(R"(.isa matmul
.param n = 2
.input a[n][n]
.output c[n][n]
for i in 0..n
  for k in 0..n
    LOAD a[i][k], R0
    STORE R0, c[i][k]
  end
end
)");
  const std::vector<Edit> edits = enumerate_edits(*program, every_instruction(*program, 1));
  CHECK(find(edits, "a[k][i] instead of a[i][k] as src") != nullptr);
  CHECK(find(edits, "a[i][i] instead of a[i][k] as src") != nullptr);
  CHECK(find(edits, "c[i][k] instead of a[i][k] as src") != nullptr);
  const Edit* loops = find(edits, "lines 5 and 6 swapped");
  REQUIRE(loops != nullptr);
  const auto interchanged = apply(*program, *loops);
  REQUIRE(interchanged);
  CHECK(interchanged->loop_vars == std::vector<std::string>{"k", "i"});
}

TEST_CASE("transposition and constants are edited where tiles and constants are", "[edits]") {
  const auto program = assembled(R"(.isa attention
.param n = 2, B = 1
.const scale = 1/sqrt(n)
.input q(n, n) tile (B, B)
.output o(n, n) tile (B, B)
.reg Q, S, T[2]
FILL 0, S
LOAD q[0][0], Q
MAC Q, Q^T, S, S
STORE S, o[0][0]
)");
  const std::vector<Edit> edits = enumerate_edits(*program, every_instruction(*program, 4));
  CHECK(find(edits, "Q instead of Q^T as Rb") != nullptr);
  CHECK(find(edits, "Q^T instead of Q as Ra") != nullptr);
  CHECK(find(edits, "-inf instead of 0 as expr") != nullptr);
  CHECK(find(edits, "scale instead of 0 as expr") != nullptr);
  CHECK(find(edits, "T[0] instead of S as Rd") != nullptr);
}

TEST_CASE("no two edits give the same program and no edit gives the program itself", "[edits]") {
  for (const char* name : {"softmax_online.toy", "matmul_outer.toy", "bwd_onepass.toy"}) {
    const auto program = from_folder(name);
    std::vector<std::string> texts{program->source->text()};
    for (const Edit& edit : enumerate_edits(*program, every_instruction(*program, 6))) {
      texts.push_back(edited_text(*program, edit));
    }
    const std::size_t count = texts.size();
    CHECK(count > 100);
    std::sort(texts.begin(), texts.end());
    const auto twice = std::adjacent_find(texts.begin(), texts.end());
    INFO(name << "\n" << (twice == texts.end() ? "" : *twice));
    CHECK(twice == texts.end());
  }
}

TEST_CASE("an edited program disassembles to text that gives it back", "[edits]") {
  for (const char* name : {"softmax_online.toy", "matmul_outer.toy", "bwd_onepass.toy"}) {
    const auto program = from_folder(name);
    int applied_edits = 0;
    for (const Edit& edit : enumerate_edits(*program, every_instruction(*program, 6))) {
      const auto applied = apply(*program, edit);
      if (!applied) continue;
      INFO(name << " line " << edit.line << ": " << edit.what);
      const std::string text = toy::disassemble(*applied);
      CHECK(toy::disassemble(*assembled(text)) == text);
      ++applied_edits;
    }
    CHECK(applied_edits > 100);
  }
}

TEST_CASE("variants made without binding have the steps of the edited program", "[edits]") {
  for (const char* name : {"softmax_online.toy", "matmul_outer.toy", "welford.toy",
                           "naive_causal.toy", "bwd_onepass.toy", "flash2.toy"}) {
    INFO(name);
    const auto program = from_folder(name);
    const auto bound = toy::bind(program, small(*program));
    REQUIRE(bound);
    const EditOptions options = every_instruction(*program, bound->num_registers);
    CHECK(compare_ways(program, enumerate_edits(*program, options)) > 50);
  }
}

TEST_CASE("lines inserted without binding have the steps of the longer program", "[edits]") {
  const auto model = from_folder("softmax_safe.toy");
  for (const char* name : {"softmax_online.toy", "naive_causal.toy"}) {
    INFO(name);
    const auto program = from_folder(name);
    CHECK(compare_ways(program, enumerate_insertions(*program, model.get())) > 50);
  }
}

TEST_CASE("a line is inserted between any two lines that it can be read between", "[edits]") {
  const auto program = assembled(kSum);
  const std::vector<Edit> edits = enumerate_insertions(*program, nullptr);
  const auto count = [&](const std::string& text) {
    return std::count_if(edits.begin(), edits.end(),
                         [&](const Edit& edit) { return edit.text == text; });
  };
  CHECK(count("LOAD x[0], R0") == 7);  // two gaps above the loop, three inside, two below
  CHECK(count("LOAD x[i], R1") == 3);
}

TEST_CASE("a number beside the largest integer that does not fit 64 bits is no edit", "[edits]") {
  const std::string most = "9223372036854775807";
  for (const std::string& index :
       {"n + " + most, "n - " + most, most + " + n", "-" + most, most, "n - " + most + " - 1"}) {
    std::string text = kSum;
    const std::string first = "x[0]";
    text.replace(text.find(first), first.size(), "x[" + index + "]");
    INFO(index);
    const auto program = assembled(text);
    for (const Edit& edit : enumerate_edits(*program, every_instruction(*program, 2))) {
      INFO(edit.text);
      if (edit.kind == EditKind::kIndex) CHECK(apply(*program, edit));
      CHECK_THAT(edit.text, !Catch::Contains("9223372036854775808"));
    }
  }
}

TEST_CASE("a loop with extreme numbers has only edits that change it", "[edits]") {
  const std::string most = "9223372036854775807";
  for (const std::string& range :
       {"1..n step " + most, "1..n + " + most, "n - " + most + "..n", "-" + most + ".." + most}) {
    std::string text = kSum;
    const std::string before = "1..n";
    text.replace(text.find(before), before.size(), range);
    INFO(range);
    const auto program = assembled(text);
    for (const Edit& edit : enumerate_edits(*program, every_instruction(*program, 2))) {
      INFO(edit.what);
      if (edit.kind != EditKind::kBound && edit.kind != EditKind::kStep) continue;
      CHECK(edit.text != "for i in " + range);
      CHECK_THAT(edit.text, !Catch::Contains("9223372036854775808"));
    }
  }
}

TEST_CASE("variants of loops with huge steps and factors have the steps of the edited program",
          "[edits]") {
  for (const char* loops :
       {"for i in 1..n step 9223372036854775807\nfor j in 0..1\n",
        "for i in 0..n - 1\nfor j in 0..floordiv(i, 2)*1152921504606846976*0 + 1\n",
        "for i in 0..2\nfor j in 1 - floordiv(i, 1)*1152921504606846976 + ceildiv(i, 1)*"
        "1152921504606846976..2\n",
        "for i in 2305843009213690000..2305843009213690002\nfor j in i - "
        "2305843009213690000..2\n"}) {
    const auto program = assembled(std::string(".isa softmax\n.param n = 3\n.input x[n]\n") +
                                   ".output s[1]\nLOAD x[0], R0\n" + loops +
                                   "LOAD x[j], R1\nADD R0, R1, R0\nend\nend\nSTORE R0, s[0]\n");
    INFO(loops);
    const auto bound = toy::bind(program, small(*program));
    REQUIRE(bound);
    const EditOptions options = every_instruction(*program, bound->num_registers);
    CHECK(compare_ways(program, enumerate_edits(*program, options)) > 20);
  }
}
