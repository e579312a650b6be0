// What editors need to colour .toy files, made from the instruction table and the language's words.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {

/// A TextMate grammar. Every rule stands within one line, as statements do. An operand is coloured
/// by its kind in the table: registers by whatever name, arrays, expressions.
nlohmann::ordered_json textmate_grammar(std::span<const toy::InstructionSpec> instructions);

/// The files of a Visual Studio Code extension, by their paths in its folder.
std::map<std::string, std::string> vscode_extension();

}  // namespace flashlab::cli
