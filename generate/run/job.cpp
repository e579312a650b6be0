#include "generate/run/job.hpp"

#include "generate/source/cuda_source.hpp"
#include "measuring_files.hpp"

namespace flashlab::generate {

std::int64_t GpuJob::array_bytes() const {
  std::int64_t sum = 0, bytes = 0;
  for (const JobArray& array : arrays) {
    if (__builtin_mul_overflow(array.bytes(), problems, &bytes) ||
        __builtin_add_overflow(sum, bytes, &sum)) {
      return INT64_MAX;
    }
  }
  return sum;
}

GpuJob job_of(const toy::BoundProgram& program, const Plan& plan, const std::string& name) {
  GpuJob job;
  job.name = name;
  job.has_warpgroups = plan.has_warpgroups;
  const std::string functions = device_functions(plan.level());
  std::string measuring;
  for (const EmbeddedFile& file : measuring_files) measuring += "\n" + std::string(file.text);
  const bool is_divided = plan.launches.size() > 1;
  if (!is_divided) job.sources = {functions + measuring + "\n" + cuda_kernels(program, plan, name)};
  for (const toy::BoundArray& array : program.arrays) {
    const std::size_t rank = array.extents.size();
    job.arrays.push_back({array.name, array.element_type, array.size, array.role});
    if (rank > 1) job.arrays.back().rows = array.extents[rank - 2];
    if (rank > 0) job.arrays.back().columns = array.extents[rank - 1];
  }
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    job.launches.push_back({kernel_name(name, i), launch.blocks, launch.threads,
                            plan.shared_bytes(launch), launch.arrays, launch.boxed,
                            is_divided ? i : 0});
    if (!is_divided) continue;
    job.sources.push_back(functions + (i == 0 ? measuring : "") + "\n" +
                          cuda_kernel(program, plan, name, i));
  }
  return job;
}

}  // namespace flashlab::generate
