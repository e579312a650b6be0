#include "cli/attention/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "attention/ranks/rank_programs.hpp"

namespace flashlab::cli {
namespace {

/// Limit for the memory of plain variants besides the tensors. Above it, variants that store no n x
/// n array replace them.
constexpr double kMostStoredBytes = 2.0 * 1024 * 1024 * 1024;

/// The error may be twice that of the plain algorithm, plus the width of rounding.
constexpr double kAllowedTimesPlain = 2;

struct References {
  const char *forward = "naive", *backward = "bwd-naive";
};

References references_for(const AttentionProblem& p) {
  constexpr double kMostMatrices = 3;  // P, dP, dS of bwd-naive
  const double stored = kMostMatrices * sizeof(double) * static_cast<double>(p.batch) *
                        static_cast<double>(p.num_heads) * static_cast<double>(p.seqlen_q) *
                        static_cast<double>(p.seqlen_k);
  if (stored <= kMostStoredBytes) return {};
  return {"online", "bwd-twopass"};
}

double epsilon_of(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
      return std::numeric_limits<float>::epsilon();
    case DataType::kFloat64:
      return std::numeric_limits<double>::epsilon();
    case DataType::kBFloat16:
      return 0x1p-7;
    case DataType::kFloat16:
      return 0x1p-10;
  }
  return 0;
}

/// The relative error that rounding alone may cause. In double the reference rounds as well, and
/// may sum the longest axis in another order.
double rounding_floor(const AttentionRequest& request) {
  constexpr double kTensorFloat32Epsilon = 0x1p-10;
  const AttentionProblem& p = request.problem;
  if (request.multiplies_tf32()) return 4 * kTensorFloat32Epsilon;
  const double longest = static_cast<double>(std::max({p.seqlen_q, p.seqlen_k, p.head_dim}));
  const double units = p.dtype == DataType::kFloat64 ? 4 + std::sqrt(longest) : 4;
  return units * epsilon_of(p.dtype);
}

std::string plain_words(const AttentionRequest& request) {
  std::string words = "the same variants in this data type";
  if (request.on_gpu) words += ", on the CPU";
  if (request.multiplies_tf32()) words += ", with inputs rounded to tf32";
  return words;
}

struct Distance {
  ErrorNorms norms;
  double reference_norm = 0, reference_largest = 0;
};

Distance distance(const std::vector<double>& values, const std::vector<double>& reference) {
  double error_squares = 0, squares = 0;
  Distance result;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] == reference[k] && std::isinf(reference[k])) continue;  // lse of empty rows
    const double error = std::abs(values[k] - reference[k]);
    error_squares += error * error;
    squares += reference[k] * reference[k];
    // Written so that a NaN is kept.
    if (!(error <= result.norms.largest)) result.norms.largest = error;
    result.reference_largest = std::max(result.reference_largest, std::abs(reference[k]));
  }
  result.reference_norm = std::sqrt(squares);
  const double norm = std::sqrt(error_squares);
  result.norms.relative = squares > 0 ? norm / result.reference_norm : norm;
  if (std::isnan(norm)) result.norms.largest = norm;
  return result;
}

/// Returns a variant's outputs as numbers.
std::vector<std::vector<double>> outputs_of(std::string_view variant, const RunVariant& run,
                                            AttentionTensors& tensors) {
  run(variant, tensors);
  std::vector<std::vector<double>> result;
  for (const OwnedTensor* output : tensors.outputs(find_any_variant(variant).pass)) {
    result.push_back(output->values());
  }
  return result;
}

/// Compares variants of one pass with the reference.
class PassVerifier {
 public:
  PassVerifier(const AttentionRequest& request, const RunVariant& run, Pass pass,
               const References& references)
      : request_(request), run_(run), pass_(pass), given_(request.problem, request.problem.dtype) {
    const RunVariant on_cpu = run_on_cpu(request);
    given_.draw_inputs(request.seed);
    AttentionTensors exact(request.problem, DataType::kFloat64);
    exact.copy_inputs(given_);
    if (request.multiplies_tf32()) given_.round_inputs_to_tf32();
    plain_ = outputs_on(on_cpu, references, given_);
    reference_ = outputs_on(on_cpu, references, exact);
    if (request.multiplies_tf32()) given_.copy_inputs(exact);
    if (pass == Pass::kBackward) run_(kForwardForBackward, given_);
  }

  std::vector<VerifiedOutput> verify(std::string_view variant) {
    const std::vector<std::vector<double>> ours = outputs_of(variant, run_, given_);
    const std::vector<OwnedTensor*> tensors = given_.outputs(pass_);
    std::vector<VerifiedOutput> result;
    for (std::size_t k = 0; k < ours.size(); ++k) {
      const double rounding = tensors[k]->view().dtype == request_.problem.dtype
                                  ? rounding_floor(request_)
                                  : 4 * epsilon_of(tensors[k]->view().dtype);
      result.push_back(compare(ours[k], plain_[k], reference_[k], rounding));
      result.back().variant = variant;
      result.back().output = tensors[k]->name();
    }
    return result;
  }

 private:
  std::vector<std::vector<double>> outputs_on(const RunVariant& run, const References& references,
                                              AttentionTensors& tensors) const {
    const std::vector<std::vector<double>> forward = outputs_of(references.forward, run, tensors);
    return pass_ == Pass::kForward ? forward : outputs_of(references.backward, run, tensors);
  }

  VerifiedOutput compare(const std::vector<double>& ours, const std::vector<double>& plain,
                         const std::vector<double>& reference, double rounding) const {
    const Distance a = distance(ours, reference), b = distance(plain, reference);
    // A gradient that is exactly 0 (one key: dS = 0) is computed as a mean of rounded terms
    // of size 1.
    const double count = static_cast<double>(reference.size()),
                 keys = static_cast<double>(std::max<std::int64_t>(request_.problem.seqlen_k, 1)),
                 scale = std::max(a.reference_norm, std::sqrt(count / keys)),
                 unit = a.reference_norm > 0 ? a.reference_norm : 1;
    VerifiedOutput result;
    result.ours = a.norms;
    result.plain = b.norms;
    result.allowed_relative = kAllowedTimesPlain * b.norms.relative + rounding * scale / unit;
    const double allowed_largest =
        kAllowedTimesPlain * b.norms.largest + rounding * std::max(a.reference_largest, 1.0);
    result.agrees =
        a.norms.relative <= result.allowed_relative && a.norms.largest <= allowed_largest;
    return result;
  }

  const AttentionRequest& request_;
  const RunVariant& run_;
  Pass pass_;
  AttentionTensors given_;
  std::vector<std::vector<double>> plain_, reference_;
};

}  // namespace

bool Verification::agrees() const {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const VerifiedOutput& output) { return output.agrees; });
}

Verification verify_attention(const AttentionRequest& request, const RunVariant& run) {
  const References references = references_for(request.problem);
  Verification result{references.forward, references.backward, plain_words(request), {}};
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    std::unique_ptr<PassVerifier> verifier;
    for (const VariantInfo* variant : request.variants) {
      if (variant->pass != pass) continue;
      if (!verifier) verifier = std::make_unique<PassVerifier>(request, run, pass, references);
      for (VerifiedOutput& output : verifier->verify(variant->name)) {
        result.outputs.push_back(std::move(output));
      }
    }
  }
  return result;
}

}  // namespace flashlab::cli
