#include "attention/forward_state.hpp"

#include <array>
#include <vector>

#include "attention/detail/arguments.hpp"

namespace flashlab {
namespace {

using detail::Named;

constexpr const char* kRowAxes = "[batch, num_heads, seqlen_q]";

void check_state(const AttentionProblem& problem, const std::array<Named, 3>& m_l_O) {
  std::vector<std::int64_t> shape = {problem.batch, problem.num_heads, problem.seqlen_q};
  for (int k = 0; k < 2; ++k) detail::check_shape(m_l_O[k], shape, kRowAxes);
  shape.push_back(problem.head_dim);
  detail::check_shape(m_l_O[2], shape, detail::kQueryAxes);
  for (const Named& argument : m_l_O) {
    detail::check_dtype(argument, DataType::kFloat32, "every state");
  }
  detail::check_memory(m_l_O);
}

bool is_same(const TensorView& a, const TensorView& b) {
  return a.data == b.data && a.shape == b.shape && a.strides == b.strides;
}

}  // namespace

void check_states(const AttentionProblem& problem, const ForwardTensors& tensors,
                  const ForwardState& in, const ForwardState& out) {
  const std::array<Named, 3>
      in_names = {{{"state_in.m", in.m}, {"state_in.l", in.l}, {"state_in.O", in.O}}},
      out_names = {{{"state_out.m", out.m}, {"state_out.l", out.l}, {"state_out.O", out.O}}};
  if (!in.empty()) check_state(problem, in_names);
  if (out.empty()) return;
  check_state(problem, out_names);
  // A state may be updated in place: a thread reads its elements before it writes them.
  std::vector<Named> inputs = {{"Q", tensors.Q}, {"K", tensors.K}, {"V", tensors.V}};
  for (int k = 0; k < 3 && !in.empty(); ++k) {
    if (!is_same(in_names[k].tensor, out_names[k].tensor)) inputs.push_back(in_names[k]);
  }
  detail::check_outputs(out_names, inputs);
}

}  // namespace flashlab
