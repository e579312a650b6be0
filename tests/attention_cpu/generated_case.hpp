// The grid of generated cases: number k is the same problem on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "tests/attention_cpu/stored_tensor.hpp"
#include "tests/attention_cpu/textbook.hpp"

namespace flashlab::test {

inline constexpr int kNumCases = 2400;

enum class Arrangement {
  kRowMajor,
  kRowsBeforeHeads,  // [batch, rows, heads, head_dim]
  kPaddedRows,
  kBroadcastInputs,  // strides of 0: batch of Q, heads of K, columns of V, rows of dO
  kEverySecondColumn,
  kRowsBackwards,
  kInterleaved,  // Q, K, V in the rows of one array; dQ, dK, dV in those of another
};
inline constexpr int kNumArrangements = 7;

enum class Magnitude {
  kNormal,
  kTiny,          // scores near 0
  kSpreadScores,  // scores from about -10 000 to 10 000
  kShiftedUp,     // all near 10 000
  kShiftedDown,   // all near -10 000
};
inline constexpr int kNumMagnitudes = 5;

struct GeneratedCase {
  int number = 0;
  DataType dtype = DataType::kFloat32;
  textbook::Problem problem;
  std::optional<double> softmax_scale;  // what the options say; problem has the number
  Arrangement arrangement = Arrangement::kRowMajor;
  Magnitude magnitude = Magnitude::kNormal;
  int num_threads = 1;
  int instruction_set = 0;  // to be taken modulo the number of those there are

  AttentionOptions options() const;
  std::string description() const;
};

/// Cases 0, 4, 8, … are float, 1, 5, … double, then bf16 and fp16.
GeneratedCase generated_case(int number);

/// What a case reads. Rows of K and V that no query sees, and rows of Q and dO that see no key, are
/// left NaN (unless strides of 0 make them lie where others do, or sequences are packed).
struct CaseInputs {
  StoredTensor Q, K, V, dO;
};
CaseInputs make_inputs(const GeneratedCase& generated);

struct ForwardOutputs {
  StoredTensor O, lse;
};
ForwardOutputs make_forward_outputs(const GeneratedCase& generated);

struct BackwardOutputs {
  StoredTensor dQ, dK, dV;
};
BackwardOutputs make_backward_outputs(const GeneratedCase& generated);

}  // namespace flashlab::test
