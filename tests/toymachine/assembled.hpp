// Programs typed into tests.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "tests/catch_shim.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::test {

inline std::shared_ptr<const toy::SourceText> source(std::string text) {
  return std::make_shared<const toy::SourceText>("p.toy", std::move(text));
}

/// The program of a text that must be right.
inline std::shared_ptr<const toy::Program> assembled(const std::string& text) {
  const auto file = source(text);
  auto program = toy::assemble(file);
  INFO(text << "\n" << toy::format(program.diagnostics, *file));
  REQUIRE(program);
  return std::make_shared<const toy::Program>(std::move(*program));
}

inline toy::BoundProgram bound(const std::string& text, const toy::Binding& binding = {}) {
  const auto program = assembled(text);
  auto result = toy::bind(program, binding);
  INFO(text << "\n" << toy::format(result.diagnostics, *program->source));
  REQUIRE(result);
  return std::move(*result);
}

/// All messages for a text that must be wrong, as the terminal shows them.
inline std::string assembly_errors(const std::string& text, const toy::Limits& limits = {}) {
  const auto file = source(text);
  const auto program = toy::assemble(file, limits);
  REQUIRE_FALSE(program);
  return toy::format(program.diagnostics, *file);
}

/// All messages for a program that assembles but cannot be bound.
inline std::string binding_errors(const std::string& text, const toy::Binding& binding = {}) {
  const auto program = assembled(text);
  const auto result = toy::bind(program, binding);
  REQUIRE_FALSE(result);
  return toy::format(result.diagnostics, *program->source);
}

}  // namespace flashlab::test
