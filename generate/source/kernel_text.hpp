// The parts of a kernel's text that are alike at all levels: comments, parameters, arrays.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generate/plan/plan.hpp"
#include "generate/source/names.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// "toy::Bf16": the element type in CUDA C++.
std::string element_text(toy::ElementType type);

/// The text of one kernel, line by line.
class KernelText {
 public:
  KernelText(const toy::BoundProgram& program, const Plan& plan, const Launch& launch,
             std::string name);

  /// What is launched, and why so; the first line of the kernel; its arrays.
  void begin();
  std::string end();

  void line(const std::string& text);
  /// Adds "before first, second, …after", in lines of at most 100 columns.
  void list(std::string text, const std::vector<std::string>& entries, const std::string& after);
  void indent(int by) { indent_ += static_cast<std::size_t>(2 * by); }
  /// "// 37: MAC Q[c], K^T, S, S"
  std::string source_line(const toy::SourceSpan& span) const;
  const Names& names() const { return names_; }

 private:
  void heading();
  void signature();
  std::string element_of(std::size_t array, const std::vector<bool>& written) const;

  const toy::BoundProgram& program_;
  const Plan& plan_;
  const Launch& launch_;
  const Names names_;
  const std::string name_;
  std::vector<std::string> declarations_;
  std::string text_;
  std::size_t indent_ = 0;
};

}  // namespace flashlab::generate
