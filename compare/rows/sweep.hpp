// Runs many calls: predicts every combination of the requested values, then measures them
// one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/rows/rows.hpp"
#include "results/result_file.hpp"

namespace flashlab::compare {

struct SweepAxes {
  std::vector<std::string> variants;
  std::vector<DataType> dtypes;
  std::vector<cuda::Products> products;  // other kinds than native apply only to float
  std::vector<Mask> masks;
  std::vector<std::int64_t> seqlens, head_dims;
  std::vector<Tile> tiles;           // empty: the kernels'
  std::vector<std::string> kernels;  // of some variants, instead of those that run by themselves
  std::int64_t batch = 4, num_heads = 8;
  std::optional<std::int64_t> num_kv_heads, seqlen_k;
  /// `tokens` replaces batch: the queries of all batch entries together, in at least one entry.
  /// `hidden` replaces num_heads: the columns of all heads together.
  std::optional<std::int64_t> tokens, hidden;
};

/// Returns the calls in the order of the axes; seqlens change fastest. Throws ProblemError:
/// an invalid size, a kernel that is none of the variants'.
std::vector<Call> calls_of(const SweepAxes& axes);

/// Lets calls that name no kernel run the one with which these rows measured them. Rows of kernels
/// that this version lacks are ignored.
void take_kernels(const std::vector<Row>& measured, std::vector<Call>& calls);

/// Replaces each call that `measured` lacks by those that it has of the same variant, type, mask, N
/// and d, with other numbers of batch entries and heads. A call without such rows stays.
std::vector<Call> with_measured_shapes(const std::vector<Row>& measured,
                                       const std::vector<Call>& calls);

/// Returns the sizes at which `measured` has a variant in a type: one text for each number of
/// tokens and hidden columns, "N 512, 1024, 2048 at d 64 (--tokens 16384 --hidden 2048)".
std::vector<std::string> measured_sizes(const std::vector<Row>& measured,
                                        const std::string& variant, const std::string& dtype);

/// A call that no kernel supports.
struct RefusedCall {
  std::string call, reason;
};

/// Returns a row for each supported call, in their order.
std::vector<Row> predict_rows(const std::vector<Call>& calls, const MachineModel& machine,
                              const MachineModel& data_sheet, std::vector<RefusedCall>& refused);

/// Returns the call of a row, to measure it. Throws ProblemError: a row of another version.
Call call_of(const Row& row);

/// Returns what predict_rows() does, but for calls that `measured` has with this kernel: of these its
/// own rows, whose predictions were made before the measurements.
std::vector<Row> measured_or_predicted_rows(const std::vector<Call>& calls,
                                            const std::vector<Row>& measured,
                                            const MachineModel& machine,
                                            const MachineModel& data_sheet,
                                            std::vector<RefusedCall>& refused);

/// Predicts rows again by this version and these rates. Their measurements stay. Rows of calls or
/// kernels that this version lacks stay as they are. Returns how many were predicted again: not
/// before they were measured.
int predict_again(std::vector<Row>& rows, const MachineModel& machine,
                  const MachineModel& data_sheet);

struct MergeReport {
  int num_merged = 0;
  std::vector<const Row*> not_there;           // rows of `into` that are missing in `from`
  std::vector<std::string> other_predictions;  // measured for another prediction: another hash
};

/// Copies the measurements of `from` into the rows of the same calls and kernels in `into`.
MergeReport merge_measurements(std::vector<Row>& into, const std::vector<Row>& from);

/// Shares of close predictions, by which the model is judged.
struct Share {
  int num_close = 0, num_all = 0;
  double share() const { return num_all == 0 ? 0 : static_cast<double>(num_close) / num_all; }
};
/// Times of calls within this tolerance, N >= 1024.
Share close_times(const std::vector<Row>& rows, double tolerance);
/// Bytes at the SM boundary within 5 %, N >= 4096: flash1, flash2, bwd-twopass.
Share close_sm_bytes(const std::vector<Row>& rows);

inline constexpr double kCloseTime = 0.15, kNearTime = 0.3, kCloseBytes = 0.05;
inline constexpr std::int64_t kTimedSeqlen = 1024, kLongSeqlen = 4096;

}  // namespace flashlab::compare
