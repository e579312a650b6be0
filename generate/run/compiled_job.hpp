// The sources of a job, compiled at the same time.
#pragma once

#include <string>
#include <vector>

#include "generate/run/job.hpp"
#include "generate/run/nvrtc.hpp"

namespace flashlab::generate {

struct CompiledJob {
  std::vector<CompiledSource> sources;  // as GpuJob::sources
  double seconds = 0;                   // until all were compiled
};

/// Compiles the sources for a GPU of this compute capability, or to PTX if the job says so, each but the first in a process of its own:
/// NVRTC compiles one after the other in a process. Throws as compile(), and GpuError, GpuMemoryError.
CompiledJob compiled_job(const GpuJob& job, int compute_capability);

}  // namespace flashlab::generate
