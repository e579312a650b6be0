#include "cli/attention/summary.hpp"

#include <cmath>

#include "text/sha256.hpp"

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
  const TensorView view = tensor.view();
  const auto bytes = static_cast<std::size_t>(tensor.size() * size_in_bytes(view.dtype));
  output.sha256 = hex(sha256({static_cast<const char*>(view.data), bytes}));
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
