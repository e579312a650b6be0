// Source text to Program.
#pragma once

#include <memory>
#include <string>

#include "toymachine/language/machine.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// Reads a whole program. On failure, all errors of the file in the order of the source, each with
/// its place, what was expected and a near miss where there is one (20 are printed by format()).
/// Limits used: max_source_bytes, max_nesting (Fault::kLimit).
Result<Program> assemble(std::shared_ptr<const SourceText> source, const Limits& limits = {});

/// The program as text again; assembling it gives the same program.
std::string disassemble(const Program& program);

/// One instruction as text: "MAC R0, R1, R2, R2".
std::string to_string(const InstructionStatement& instruction, const Program& program);

/// The language's words other than mnemonics, for editor grammars: directives with their dot, the
/// words of a loop, function names.
struct LanguageWords {
  std::vector<std::string> directives, keywords, functions;
};
const LanguageWords& language_words();

}  // namespace flashlab::toy
