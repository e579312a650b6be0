// What a GPU is asked to do with a planned program, as plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::generate {

struct JobArray {
  std::string name;
  toy::ElementType type = toy::ElementType::kFloat;
  std::int64_t elements = 0;  // of one problem
  toy::ArrayRole role = toy::ArrayRole::kInput;
  double low = -1, high = 1;           // of the numbers that are drawn for an input
  std::int64_t rows = 1, columns = 1;  // the last two axes

  std::int64_t bytes() const { return elements * toy::element_bytes(type); }
};

struct JobLaunch {
  std::string kernel;
  std::int64_t blocks = 1;  // for one problem
  int threads = 32;
  std::int64_t shared_bytes = 0;
  std::vector<std::size_t> arrays;  // into GpuJob::arrays: the kernel's parameters
  std::vector<BoxedArray> boxed;    // whose tensor maps are its parameters after these
  std::size_t source = 0;           // into GpuJob::sources
};

/// Each launch works on `problems` problems of the program's size, in the grid's second axis. Each
/// has its own part of every array.
struct GpuJob {
  std::string name;
  std::vector<std::string> sources;  // the first includes the kernels of measuring.cuh
  std::vector<JobArray> arrays;
  std::vector<JobLaunch> launches;
  bool has_warpgroups = false;  // compiled for compute capability 9.0 and no other
  int ptx_capability = 0;       // compiled to PTX for this compute capability; 0: for the GPU
  std::int64_t problems = 1;
  std::uint64_t seed = 1;  // of the inputs, which differ for each call
  int repeat = 5;          // timed calls, after one warm-up

  /// Bytes of the arrays of all problems together; saturates.
  std::int64_t array_bytes() const;
};

/// The most problems that a grid's second axis takes.
inline constexpr std::int64_t kMostProblems = 65535;

/// Returns the job of a plan of this program. Each launch has a source of its own, because a
/// compiler takes them one after the other, and several processes do not.
GpuJob job_of(const toy::BoundProgram& program, const Plan& plan, const std::string& name);

}  // namespace flashlab::generate
