// The attention of a language model, computed by a program of the machine, and what that loads.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "language_model/language_model.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::language_model {

/// What stops a program: its text says where and why.
struct ProgramFailure : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Runs a program with the inputs q, k, v and the output o, as exercises 28 and 29 state them, on
/// tiles of `tile` queries or keys and all columns.
class MachineAttention {
 public:
  MachineAttention(std::shared_ptr<const toy::Program> program, std::size_t tile);

  /// Returns o. Throws ProgramFailure: arrays of other names or shapes, an error in the run, o not written.
  std::vector<float> operator()(const AttentionCall& call);
  /// Counts the call without running it.
  void count(const AttentionCall& call);

  /// Of all calls.
  const toy::Count& bytes_loaded() const { return bytes_loaded_; }
  const toy::Count& bytes_stored() const { return bytes_stored_; }
  std::size_t calls() const { return calls_; }

 private:
  void bind_for(const AttentionCall& call);

  std::shared_ptr<const toy::Program> program_;
  std::size_t tile_;
  std::size_t queries_ = 0, keys_ = 0, columns_ = 0;  // of bound_
  std::shared_ptr<const toy::BoundProgram> bound_;
  toy::Count bytes_loaded_ = 0, bytes_stored_ = 0;
  toy::Count loaded_by_one_ = 0, stored_by_one_ = 0;  // by a run of bound_
  std::size_t calls_ = 0;
};

}  // namespace flashlab::language_model
