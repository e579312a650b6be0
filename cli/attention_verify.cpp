#include "cli/attention_verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace flashlab::cli {
namespace {

/// What the plain variants may store beside the tensors; above, those that store nothing n x n
/// take their place.
constexpr double kMostStoredBytes = 2.0 * 1024 * 1024 * 1024;

/// Ours may be as far from the reference as twice the plain algorithm, and rounding's own width.
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

/// What rounding alone may do to a relative norm. In double the reference rounds as we do, and may
/// sum the longest axis in another order.
double rounding_floor(const AttentionProblem& p) {
  const double longest = static_cast<double>(std::max({p.seqlen_q, p.seqlen_k, p.head_dim}));
  const double units = p.dtype == DataType::kFloat64 ? 4 + std::sqrt(longest) : 4;
  return units * epsilon_of(p.dtype);
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
    // Written so that NaN stays.
    if (!(error <= result.norms.largest)) result.norms.largest = error;
    result.reference_largest = std::max(result.reference_largest, std::abs(reference[k]));
  }
  result.reference_norm = std::sqrt(squares);
  const double norm = std::sqrt(error_squares);
  result.norms.relative = squares > 0 ? norm / result.reference_norm : norm;
  if (std::isnan(norm)) result.norms.largest = norm;
  return result;
}

/// The outputs of one variant on the seed's inputs, as numbers.
class Calculation {
 public:
  Calculation(const AttentionRequest& request, DataType dtype)
      : request_(request), tensors_(request.problem, dtype) {}

  AttentionTensors& tensors() { return tensors_; }

  std::vector<std::vector<double>> outputs(std::string_view variant) {
    run_variant(request_, variant, tensors_);
    std::vector<std::vector<double>> result;
    for (const OwnedTensor* output : tensors_.outputs(find_variant(variant).pass)) {
      result.push_back(output->values());
    }
    return result;
  }

 private:
  const AttentionRequest& request_;
  AttentionTensors tensors_;
};

/// Compares variants of one pass with the reference.
class PassVerifier {
 public:
  PassVerifier(const AttentionRequest& request, Pass pass, const References& references)
      : request_(request),
        pass_(pass),
        given_(request, request.problem.dtype),
        plain_(plain_outputs(references)) {
    Calculation exact(request, DataType::kFloat64);
    exact.tensors().copy_inputs(given_.tensors());
    if (pass == Pass::kBackward) exact.outputs(references.forward);
    reference_ = exact.outputs(reference_variant(references));
    if (pass == Pass::kBackward) given_.outputs(kForwardForBackward);
  }

  std::vector<VerifiedOutput> verify(std::string_view variant) {
    const std::vector<std::vector<double>> ours = given_.outputs(variant);
    const std::vector<OwnedTensor*> tensors = given_.tensors().outputs(pass_);
    std::vector<VerifiedOutput> result;
    for (std::size_t k = 0; k < ours.size(); ++k) {
      const double rounding = tensors[k]->view().dtype == request_.problem.dtype
                                  ? rounding_floor(request_.problem)
                                  : 4 * epsilon_of(tensors[k]->view().dtype);
      result.push_back(compare(ours[k], plain_[k], reference_[k], rounding));
      result.back().variant = variant;
      result.back().output = tensors[k]->name();
    }
    return result;
  }

 private:
  const char* reference_variant(const References& references) const {
    return pass_ == Pass::kForward ? references.forward : references.backward;
  }

  std::vector<std::vector<double>> plain_outputs(const References& references) {
    given_.tensors().draw_inputs(request_.seed);
    if (pass_ == Pass::kBackward) given_.outputs(references.forward);
    return given_.outputs(reference_variant(references));
  }

  VerifiedOutput compare(const std::vector<double>& ours, const std::vector<double>& plain,
                         const std::vector<double>& reference, double rounding) const {
    const Distance a = distance(ours, reference), b = distance(plain, reference);
    // A gradient that is exactly 0 (one key: dS = 0) comes as a mean of rounded terms of size 1.
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
  Pass pass_;
  Calculation given_;
  std::vector<std::vector<double>> plain_, reference_;
};

}  // namespace

bool Verification::agrees() const {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const VerifiedOutput& output) { return output.agrees; });
}

Verification verify_attention(const AttentionRequest& request) {
  const References references = references_for(request.problem);
  Verification result{references.forward, references.backward, {}};
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    std::unique_ptr<PassVerifier> verifier;
    for (const VariantInfo* variant : request.variants) {
      if (variant->pass != pass) continue;
      if (!verifier) verifier = std::make_unique<PassVerifier>(request, pass, references);
      for (VerifiedOutput& output : verifier->verify(variant->name)) {
        result.outputs.push_back(std::move(output));
      }
    }
  }
  return result;
}

}  // namespace flashlab::cli
