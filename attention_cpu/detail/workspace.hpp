// The memory of a call besides the caller's tensors, and its progress. Compiled once for every
// processor, so that no part of the standard library is compiled for one instruction set.
#pragma once

#include <cstdint>

namespace flashlab::cpu {
struct ExecutionOptions;
}

namespace flashlab::cpu::detail {

/// Memory aligned to 64 bytes, freed with the workspace. Allocated by one thread, before parallel
/// loops. Counts the allocated bytes.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  /// Returns uninitialised memory. Throws std::bad_alloc whose what() gives the requested size.
  template <class Element>
  Element* allocate(std::int64_t count) {
    return static_cast<Element*>(allocate_bytes(count, sizeof(Element)));
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  void* allocate_bytes(std::int64_t count, std::int64_t size);

  struct Block;
  Block* newest_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Counts finished work and reports it from thread 0. Any thread may call it.
class Progress {
 public:
  explicit Progress(const ExecutionOptions& options);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Called before a parallel loop over `total` units of work (tiles, rows), the
  /// `pass`th of `num_passes`.
  void begin(std::int64_t total, int pass = 0, int num_passes = 1);
  /// Called inside the loop.
  void finished(std::int64_t units = 1);
  /// Returns whether the call is cancelled. Loops then stop; their results are discarded.
  bool cancelled() const;

 private:
  struct State;
  State* state_;
};

}  // namespace flashlab::cpu::detail
