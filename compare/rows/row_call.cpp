// Converts a row into its call, and gives the minimum possible time. Separate from rows.cpp and
// sweep.cpp, which count programs of the machine, because the GPU library needs only this.
#include <algorithm>
#include <cmath>

#include "compare/model/row_bytes.hpp"
#include "compare/rows/rows.hpp"
#include "compare/rows/sweep.hpp"

namespace flashlab::compare {
namespace {

DataType dtype_of(const std::string& name) {
  for (const DataType dtype : {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16}) {
    if (to_string(dtype) == name) return dtype;
  }
  throw ProblemError("dtype", name, "float, bf16 or fp16");
}
Mask mask_of(const std::string& name) {
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight}) {
    if (to_string(mask) == name) return mask;
  }
  throw ProblemError("mask", name, "none, causal or causal-bottom-right");
}
cuda::Products products_of(const std::string& name) {
  for (const cuda::Products products : cuda::kAllProducts) {
    if (cuda::to_string(products) == name) return products;
  }
  throw ProblemError("products", name, "native, tf32, tf32x3 or fp16x3");
}

}  // namespace

Call call_of(const Row& row) {
  Call call;
  call.variant = row.variant;
  AttentionProblem& problem = call.problem;
  problem.batch = row.batch;
  problem.num_heads = row.num_heads;
  problem.num_kv_heads = row.num_kv_heads;
  problem.seqlen_q = row.seqlen_q;
  problem.seqlen_k = row.seqlen_k;
  problem.head_dim = row.head_dim;
  problem.dtype = dtype_of(row.dtype);
  problem.mask = mask_of(row.mask);
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(row.head_dim));
  call.products = products_of(row.products);
  call.kernel = row.kernel;
  return call;
}

double floor_ms(const Row& row, const MachineModel& data_sheet) {
  const std::int64_t element = row.dtype == "float" ? std::int64_t{sizeof(float)} : 2;
  const std::int64_t like_q = row.pass == Pass::kForward ? 1 : 3;  // Q; backward also O and dO
  const auto bytes =
      static_cast<double>(like_q * q_bytes(row, element) + 2 * k_bytes(row, element));
  double seconds = data_sheet.dram_copy ? bytes / data_sheet.dram_copy->per_s : 0;
  if (!data_sheet.products.empty()) {
    const double rate = data_sheet.product_rate(row.dtype, row.products).per_s;
    seconds = std::max(seconds, static_cast<double>(row.usual_flops) / rate);
  }
  return 1e3 * seconds;
}

}  // namespace flashlab::compare
