#include "toymachine/language/instruction_set.hpp"

#include <map>
#include <utility>

#include "tests/toymachine/assembled.hpp"

using namespace flashlab;
using toy::Level;

namespace {

/// Whether no level has the instruction, so that a program asks for it by its name.
bool is_by_name(const toy::InstructionSpec& spec) {
  return !spec.in(Level::kAttention) && !spec.is_link();
}

/// A program of one line, with the arrays and the level that the row's example needs.
std::string program_around(const toy::InstructionSpec& spec) {
  const std::string machines = spec.is_link() ? ".machines rank of ranks = 2\n" : "";
  const std::string name = is_by_name(spec) ? ", " + std::string(spec.mnemonic) : "";
  return ".isa attention" + name + "\n" + machines + ".input x[1]\n.output o[1]\n" +
         std::string(spec.example) + "\n";
}

}  // namespace

TEST_CASE("every row's example assembles, prints and assembles again to the same text") {
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    INFO(spec.mnemonic);
    const auto program = test::assembled(program_around(spec));
    const std::string printed = toy::disassemble(*program);
    CHECK_THAT(printed, test::contains(std::string(spec.example)));
    CHECK(toy::disassemble(*test::assembled(printed)) == printed);
  }
}

TEST_CASE("every mnemonic is found in either letter case") {
  const auto rows = toy::instruction_set();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string lower;
    for (const char c : rows[i].mnemonic) lower += static_cast<char>(std::tolower(c));
    CHECK(toy::find_instruction(rows[i].mnemonic) == i);
    CHECK(toy::find_instruction(lower) == i);
  }
  CHECK_FALSE(toy::find_instruction("JMP"));
}

TEST_CASE("each level has its instructions, and others are asked for by name") {
  std::string matmul, softmax, attention, by_name;
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    if (spec.in(Level::kMatmul)) matmul += std::string(spec.mnemonic) + " ";
    if (spec.in(Level::kSoftmax)) softmax += std::string(spec.mnemonic) + " ";
    if (spec.in(Level::kAttention)) attention += std::string(spec.mnemonic) + " ";
    if (is_by_name(spec)) by_name += std::string(spec.mnemonic) + " ";
  }
  CHECK(matmul == "LOAD STORE MAC_Z MAC ");
  CHECK(softmax == "LOAD STORE MAX SUB EXP ADD MUL DIV MOV ");
  CHECK(attention ==
        "LOAD STORE MAC_Z MAC MAX SUB EXP ADD MUL DIV MOV FILL LOG ROWMAX ROWSUM MASK "
        "ATOMIC_ADD WINDOW ");
  CHECK(by_name == "MIN ABS TANH RSQRT RCP EXP2 LOG2 LESS SELECT ROW COL ");
}

TEST_CASE("an instruction by name is one of the machine whose program names it, and of no other") {
  const std::string lines = ".output o[1]\nFILL 0, R0\nTANH R0, R0\nSTORE R0, o[0]\n";
  CHECK(test::assembled(".isa attention, TANH\n" + lines) != nullptr);
  CHECK(test::assembled(".isa attention, tanh, Min\n" + lines) != nullptr);
  for (const std::string others : {"", ", MIN", ", MIN, ABS"}) {
    const std::string errors = test::assembly_errors(".isa attention" + others + "\n" + lines);
    CHECK_THAT(errors, test::contains("TANH is not an instruction of the attention machine"));
    CHECK_THAT(errors,
               test::contains("expected a program with .isa attention" + others + ", TANH\n"));
  }
  CHECK_THAT(test::assembly_errors(lines), test::contains("with .isa attention, TANH\n"));
}

TEST_CASE("the FLOPs of an instruction are those of its effect's operations") {
  std::map<std::string, std::pair<toy::FlopKind, std::int64_t>> work;
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    work[std::string(spec.mnemonic)] = {spec.flop_kind, spec.flops};
  }
  using Kind = toy::FlopKind;
  for (const char* const none :
       {"LOAD", "STORE", "MOV", "FILL", "MASK", "WINDOW", "SEND", "RECV", "SELECT", "ROW", "COL"}) {
    INFO(none);
    CHECK(work.at(none) == std::pair(Kind::kNone, std::int64_t{0}));
  }
  for (const char* const product : {"MAC", "MAC_Z"}) {  // the sum is within the product's two
    CHECK(work.at(product) == std::pair(Kind::kProduct, std::int64_t{2}));
  }
  for (const char* const one :
       {"MAX", "SUB", "ADD", "MUL", "DIV", "ATOMIC_ADD", "MIN", "ABS", "LESS"}) {
    INFO(one);
    CHECK(work.at(one) == std::pair(Kind::kElementwise, std::int64_t{1}));
  }
  for (const char* const special : {"EXP", "LOG", "TANH", "RSQRT", "RCP", "EXP2", "LOG2"}) {
    INFO(special);
    CHECK(work.at(special) == std::pair(Kind::kExponential, std::int64_t{1}));
  }
  for (const char* const reduction : {"ROWMAX", "ROWSUM"}) {
    CHECK(work.at(reduction) == std::pair(Kind::kReduction, std::int64_t{1}));
  }
}

TEST_CASE("every row names each of its operands and has a meaning, an effect and one cycle") {
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    INFO(spec.mnemonic);
    const auto commas = std::count(spec.operand_names.begin(), spec.operand_names.end(), ',');
    CHECK(static_cast<std::size_t>(commas) + 1 == spec.num_operands);
    CHECK_FALSE(spec.meaning.empty());
    CHECK_FALSE(spec.effect.empty());
    CHECK(spec.cycles == 1);
  }
}
