#include "attention_cuda/samples.hpp"

#include <algorithm>

namespace flashlab::cuda {

double Samples::median() const {
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double Samples::least() const { return *std::min_element(ms.begin(), ms.end()); }
double Samples::most() const { return *std::max_element(ms.begin(), ms.end()); }

std::vector<KernelTotal> totals(const std::vector<KernelTime>& times) {
  std::vector<KernelTotal> result;
  for (const KernelTime& time : times) {
    auto found = std::find_if(result.begin(), result.end(), [&](const KernelTotal& total) {
      return total.kernel == time.kernel;
    });
    if (found == result.end()) found = result.insert(found, {time.kernel, 0, 0});
    ++found->num_calls;
    found->ms += time.ms;
  }
  return result;
}

}  // namespace flashlab::cuda
