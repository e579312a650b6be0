// `flashlab attention --verify`: compares a variant's error against a reference in double with the
// error of the plain algorithm in the same data type.
#pragma once

#include <string>
#include <vector>

#include "cli/attention/run.hpp"

namespace flashlab::cli {

/// The distance from the reference: ||out - ref|| / ||ref|| (NaN if there is an unexpected NaN; the
/// norm itself if the reference is 0), and the largest |out - ref|.
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
  std::string forward_reference, backward_reference;  // variants that ran in double
  std::string plain;                                  // what is equally precise, in words
  std::vector<VerifiedOutput> outputs;

  bool agrees() const;
};

/// Verifies every chosen variant on the same inputs with `run`. The references run on the
/// CPU. Throws Failure.
Verification verify_attention(const AttentionRequest& request, const RunVariant& run);

}  // namespace flashlab::cli
