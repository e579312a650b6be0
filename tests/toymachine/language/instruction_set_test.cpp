#include "toymachine/language/instruction_set.hpp"

#include "tests/toymachine/assembled.hpp"

using namespace flashlab;
using toy::Level;

namespace {

/// A program of one line, with the arrays and the level that the row's example needs.
std::string program_around(const toy::InstructionSpec& spec) {
  const std::string machines = spec.is_link() ? ".machines rank of ranks = 2\n" : "";
  return ".isa attention\n" + machines + ".input x[1]\n.output o[1]\n" + std::string(spec.example) +
         "\n";
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

TEST_CASE("every mnemonic is found in either letter case, and all but links at the last level") {
  const auto rows = toy::instruction_set();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string lower;
    for (const char c : rows[i].mnemonic) lower += static_cast<char>(std::tolower(c));
    CHECK(toy::find_instruction(rows[i].mnemonic) == i);
    CHECK(toy::find_instruction(lower) == i);
    CHECK(rows[i].in(Level::kAttention) == !rows[i].is_link());
  }
  CHECK_FALSE(toy::find_instruction("JMP"));
}

TEST_CASE("the notes' two machines have the notes' instructions") {
  std::string matmul, softmax;
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    if (spec.in(Level::kMatmul)) matmul += std::string(spec.mnemonic) + " ";
    if (spec.in(Level::kSoftmax)) softmax += std::string(spec.mnemonic) + " ";
  }
  CHECK(matmul == "LOAD STORE MAC_Z MAC ");
  CHECK(softmax == "LOAD STORE MAX SUB EXP ADD MUL DIV MOV ");
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
