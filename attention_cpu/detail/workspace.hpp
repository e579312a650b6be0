// The memory a call takes beside the caller's tensors, and how far it has come. Implemented once,
// for every processor, so that nothing of the standard library is compiled for one instruction set.
#pragma once

#include <cstdint>

namespace flashlab::cpu {
struct ExecutionOptions;
}

namespace flashlab::cpu::detail {

/// Memory aligned to 64 bytes, freed when the workspace ends. Asked for before the parallel loops,
/// from one thread. Counts what is held.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  /// Not initialised. Throws std::bad_alloc, whose what() says how much was asked for.
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

/// Counts finished work and reports it from thread 0. Every thread may call it.
class Progress {
 public:
  explicit Progress(const ExecutionOptions& options);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Before a parallel loop over `total` units of work (tiles, rows), the `pass`th of `num_passes`.
  void begin(std::int64_t total, int pass = 0, int num_passes = 1);
  /// Inside it.
  void finished(std::int64_t units = 1);
  /// A loop that sees this does nothing more; what it has written by then is not used.
  bool cancelled() const;

 private:
  struct State;
  State* state_;
};

}  // namespace flashlab::cpu::detail
