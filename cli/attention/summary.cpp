#include "cli/attention/summary.hpp"

#include <cmath>

namespace flashlab::cli {
namespace {

AttentionSummary::Output summarize(const OwnedTensor& tensor) {
  AttentionSummary::Output output;
  output.name = tensor.name();
  double squares = 0;
  tensor.for_each([&](double value) {
    if (std::isnan(value)) {
      ++output.num_nan;
    } else if (std::isinf(value)) {
      ++output.num_infinite;
    } else {
      squares += value * value;
      output.sum += value;
    }
  });
  output.norm = std::sqrt(squares);
  return output;
}

}  // namespace

std::vector<AttentionSummary> run_once(const AttentionRequest& request, const RunVariant& run) {
  AttentionTensors tensors(request.problem, request.problem.dtype);
  std::vector<AttentionSummary> summaries;
  for (const VariantInfo* const variant : request.variants) {
    prepare_run(run, *variant, request.seed, tensors);
    AttentionSummary summary{std::string(variant->name), run(variant->name, tensors), {}};
    for (const OwnedTensor* const output : tensors.outputs(variant->pass)) {
      summary.outputs.push_back(summarize(*output));
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace flashlab::cli
