// Which barriers a block needs between accesses to its shared memory, while a kernel is written.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "generate/plan/fragment_plan.hpp"

namespace flashlab::generate {

class SharedAccess {
 public:
  /// `barrier`: the statement at which all threads that compute meet.
  SharedAccess(const FragmentPlan& plan, std::string barrier)
      : plan_(plan), barrier_(std::move(barrier)) {}

  /// A new statement of the kernel begins. Its reads come after all barriers that are before it.
  void next_statement() {
    read_.insert(reading_.begin(), reading_.end());
    reading_.clear();
  }
  /// Return the barrier that must come before the statement, or nothing.
  std::string before_read(std::size_t value);
  std::string before_write(std::size_t value);
  /// Other threads may still read the value, as an earlier iteration does.
  void read_before(std::size_t value) { read_.insert(value); }
  void copied(std::size_t value) { copying_.insert(value); }
  void written(std::size_t value) { written_.insert(value); }

  /// All copies have come, and all threads have done what was before.
  void arrive() {
    copying_.clear();
    synchronize();
  }
  void synchronize() {
    written_.clear();
    read_.clear();
  }

  /// At the end of a loop that may not run: what was open before it may still be.
  void unite(const SharedAccess& before);

 private:
  const FragmentPlan& plan_;
  std::string barrier_;
  std::set<std::size_t> copying_, written_, read_;  // values, since the last barrier
  std::set<std::size_t> reading_;                   // by the statement
};

}  // namespace flashlab::generate
