#include "attention_cpu/half.hpp"

#include "attention_cpu/detail/dispatch.hpp"

namespace flashlab::cpu {
namespace {

void check_dtype(DataType dtype) {
  if (dtype == DataType::kFloat64) {
    throw ProblemError("dtype", to_string(dtype), "bf16, fp16 or float");
  }
}

}  // namespace

void load_floats(const void* from, DataType dtype, std::int64_t count, float* to) {
  check_dtype(dtype);
  detail::kernels_for(best_instruction_set()).load_floats(from, dtype, 1, count, to);
}

void store_floats(const float* from, std::int64_t count, void* to, DataType dtype) {
  check_dtype(dtype);
  detail::kernels_for(best_instruction_set()).store_floats(from, count, to, dtype, 1);
}

}  // namespace flashlab::cpu
