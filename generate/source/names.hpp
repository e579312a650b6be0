// The names of a program's registers, arrays and loops in the generated source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// Keeps the program's names, except for those that mean something in CUDA C++ or are taken: these
/// get an underscore.
class Names {
 public:
  Names(const toy::BoundProgram& program, const Launch& launch);

  const std::string& loop(std::uint32_t loop) const { return loops_[loop]; }
  const std::string& array(std::size_t array) const { return arrays_[array]; }

  /// A variable of the kernel: one register, or several that are selected by an index.
  struct Variable {
    std::string name;
    std::int64_t first = 0, count = 1;  // register numbers
    bool indexed = false;
  };
  const std::vector<Variable>& variables() const { return variables_; }
  /// Returns the variable that contains the operand's register.
  const Variable& variable(const toy::BoundProgram& program,
                           const toy::BoundOperand& operand) const;
  const Variable& variable(std::int64_t number) const;

 private:
  std::string unused(std::string name);
  void name_registers(const toy::BoundProgram& program, const Launch& launch);

  std::set<std::string> taken_;
  std::vector<std::string> loops_, arrays_;
  std::vector<Variable> variables_;
};

}  // namespace flashlab::generate
