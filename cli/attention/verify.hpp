// `flashlab attention --verify`: how far a variant's outputs are from a reference in double, beside
// how far the plain algorithm's in the same data type are.
#pragma once

#include <string>
#include <vector>

#include "cli/attention/run.hpp"

namespace flashlab::cli {

/// Distance from the reference: ||out - ref|| / ||ref|| (NaN when something is NaN that should not
/// be; the norm itself where the reference is 0), and the largest |out - ref|.
struct ErrorNorms {
  double relative = 0, largest = 0;
};

struct VerifiedOutput {
  std::string variant, output;
  ErrorNorms ours, plain;
  double allowed_relative = 0;
  bool agrees = false;
};

struct Verification {
  std::string forward_reference, backward_reference;  // variants, which ran in double
  std::string plain;                                  // what is as precise as ours, in words
  std::vector<VerifiedOutput> outputs;

  bool agrees() const;
};

/// Every chosen variant on the same inputs, by `run`; references are the CPU's. Throws Failure.
Verification verify_attention(const AttentionRequest& request, const RunVariant& run);

}  // namespace flashlab::cli
