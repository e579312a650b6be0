// Syntax highlighting of .toy files for editors, from the instruction table and
// the language's words.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {

/// Returns a TextMate grammar. Every rule matches within one line, like statements. Operands are
/// coloured by their kind in the table: registers (under any name), arrays, expressions.
nlohmann::ordered_json textmate_grammar(std::span<const toy::InstructionSpec> instructions);

}  // namespace flashlab::cli
