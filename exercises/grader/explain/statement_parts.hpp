// The parts of a line that a sentence can name: the instruction and its operands, or the bounds of
// a loop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flashlab::exercises {

/// {"MAC", "Q[c]", "K^T", "S", "S"}; {"for", "c", "0", "tiles(q, 1)"} and the step, if there is
/// one. Comments are left out.
std::vector<std::string> statement_parts(std::string_view line);

/// "K[c] where Q[c] belongs": what the first line has in place of the second's parts. Of
/// instructions with other operands, the instructions; empty if the lines have the same parts.
std::string other_parts_text(std::string_view line, std::string_view right);

/// What an instruction writes, and the registers that it reads, as its line names them.
struct LineRegisters {
  explicit LineRegisters(std::string_view line);
  bool reads(const std::string& name) const;

  std::string written;  // a register or a cell; empty: none
  std::vector<std::string> read;
};

/// "a MUL that writes L", "a loop over j": what a line does.
std::string statement_text(std::string_view line);

}  // namespace flashlab::exercises
