// Turns source text into a Program.
#pragma once

#include <memory>
#include <string>

#include "toymachine/language/machine.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// Reads a whole program. On failure, returns all errors of the file in source order, each with its
/// place, the expected input and, if there is one, a near miss (format() prints 20). Limits used:
/// max_source_bytes, max_nesting (Fault::kLimit).
Result<Program> assemble(std::shared_ptr<const SourceText> source, const Limits& limits = {});

/// Returns the program as text; assembling it gives the same program.
std::string disassemble(const Program& program);

/// Returns one instruction as text: "MAC R0, R1, R2, R2".
std::string to_string(const InstructionStatement& instruction, const Program& program);

/// The words of the language other than mnemonics, for editor grammars: directives with their dot,
/// keywords of loops, and function names.
struct LanguageWords {
  std::vector<std::string> directives, keywords, functions;
};
const LanguageWords& language_words();

}  // namespace flashlab::toy
