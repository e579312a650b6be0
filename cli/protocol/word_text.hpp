// What an editor shows about a word of a program: what it is, its value or range, who writes it.
#pragma once

#include <string>

#include "cli/protocol/toy_document.hpp"

namespace flashlab::cli {

/// Returns Markdown; empty for a number or an unknown word, and for an instruction whose line has a text.
/// Of a program with errors, only what the word's declaration says.
std::string about_word(const ToyDocument& document, const toy::SourceWord& word);

/// Returns what a directive, a keyword or a function of the language does; empty for other texts.
std::string about_language_word(const std::string& text);

}  // namespace flashlab::cli
