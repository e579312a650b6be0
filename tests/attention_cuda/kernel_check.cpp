#include "tests/attention_cuda/kernel_check.hpp"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>

#include "attention_cuda/attention.hpp"
#include "tests/attention_cuda/device_copy.hpp"
#include "tests/attention_cuda/rounded_products.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using Values = std::vector<double>;

Expected expected(const RoundedProducts& products, DataType stored, const Values& oracle,
                  const std::vector<float>& plain, const Deviation& floor,
                  const Deviation& operand_floor) {
  Values plain_stored;
  for (const float value : plain) plain_stored.push_back(rounded(stored, value));
  return {oracle, deviation(plain_stored, oracle),
          products.score_epsilon() * floor + products.operand_epsilon() * operand_floor +
              storing_floor(stored, oracle)};
}

void check(WorstErrors& worst, const KernelCase& kernel, const char* result,
           const StoredTensor& ours, const Expected& expected, const GeneratedCase& generated) {
  const Deviation error = deviation(ours.values<double>(), expected.oracle);
  worst.include(kernel.name() + " " + result, error, expected, generated);
  INFO(result << " is off by " << error.norm << ", at most " << error.largest << "; plain "
              << expected.plain.norm << ", " << expected.plain.largest << "; floor "
              << expected.floor.norm << ", " << expected.floor.largest);
  CHECK(is_within(error, expected.plain, expected.floor));
}

/// Whether a kernel does not take the problem's window or packed sequences. Then a call that names
/// it must say so.
bool refuses(const KernelCase& kernel, const AttentionProblem& problem) {
  const bool is_window = problem.has_window() && !kernel.row->takes_windows;
  const bool is_packed = problem.is_packed() && !kernel.row->takes_packed;
  if (!is_window && !is_packed) return false;
  cuda::ExecutionOptions execution;
  execution.products = kernel.arithmetic.products;
  execution.kernel = kernel.row->stem;
  try {
    cuda::workspace_bytes(kernel.row->variant, problem, execution);
  } catch (const ProblemError& error) {
    CHECK(error.expected == (is_window ? "no window for " : "no packed sequences for ") +
                                std::string(kernel.row->stem));
    return true;
  }
  FAIL("a kernel accepts what its listing denies");
  return false;
}

/// Whether a kernel does not take the head_dim or the tensors. Then `call`, which is given a call's
/// options, must throw.
template <class Tensors, class Call>
bool refuses_tensors(const KernelCase& kernel, const Tensors& tensors, std::int64_t head_dim,
                     const Call& call) {
  if (head_dim <= kernel.row->max_head_dim && !kernel.row->refusal(tensors)) return false;
  cuda::ExecutionOptions named;
  named.products = kernel.arithmetic.products;
  named.kernel = kernel.row->stem;
  try {
    call(named);
    FAIL_CHECK("a kernel takes what its row denies");
  } catch (const ProblemError& error) {
    CHECK(error.field != "workspace_bytes");  // it is refused before that
  }
  return true;
}

/// A workspace of the size that is asked for, and the options that name it.
class Execution {
 public:
  Execution(const KernelCase& kernel, const AttentionProblem& problem)
      : options_(options(kernel)),
        memory_(cuda::workspace_bytes(kernel.row->variant, problem, options_)) {
    options_.workspace = memory_.get();
    options_.workspace_bytes = memory_.bytes();
  }
  const cuda::ExecutionOptions& options() const { return options_; }

 private:
  static cuda::ExecutionOptions options(const KernelCase& kernel) {
    cuda::ExecutionOptions options;
    options.products = kernel.arithmetic.products;
    options.kernel = kernel.row->stem;
    options.deterministic = kernel.deterministic;
    return options;
  }
  cuda::ExecutionOptions options_;
  DeviceMemory memory_;
};

TensorView rows_of(TensorView tensor, const KeyPart& part) {
  tensor.data = static_cast<std::byte*>(tensor.data) +
                part.first * tensor.strides[2] * size_in_bytes(tensor.dtype);
  tensor.shape[2] = part.end - part.first;
  return tensor;
}

/// m, l and O on the device, all NaN.
class State {
 public:
  explicit State(const AttentionProblem& problem)
      : shape_{problem.batch, problem.num_heads, problem.seqlen_q},
        memory_(4 * static_cast<std::size_t>(problem.batch * problem.num_heads * problem.seqlen_q *
                                             (2 + problem.head_dim))) {
    auto* const m = static_cast<float*>(memory_.get());
    const std::int64_t rows = shape_[0] * shape_[1] * shape_[2];
    state_.m = view(m, shape_);
    state_.l = view(m + rows, shape_);
    shape_.push_back(problem.head_dim);
    state_.O = view(m + 2 * rows, shape_);
  }
  const ForwardState& get() const { return state_; }

 private:
  Shape shape_;
  DeviceMemory memory_;
  ForwardState state_;
};

/// One call for each part of the keys. The first two steps go from one state to another, all others
/// update it in place.
void run_in_parts(const KernelCase& kernel, const ForwardTensors& tensors, AttentionOptions options,
                  cuda::ExecutionOptions execution, const AttentionProblem& problem,
                  const std::vector<KeyPart>& parts) {
  const State first(problem), second(problem);
  if (options.mask == Mask::kCausalBottomRight) {
    options.mask = Mask::kCausalTopLeft;
    options.query_offset = problem.seqlen_k - problem.seqlen_q;
  }
  const std::int64_t offset = options.query_offset;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    ForwardTensors part = tensors;
    part.K = rows_of(tensors.K, parts[k]);
    part.V = rows_of(tensors.V, parts[k]);
    options.query_offset = offset - parts[k].first;
    execution.state_in = k == 0 ? ForwardState{} : k == 1 ? first.get() : second.get();
    execution.state_out = k + 1 == parts.size() ? ForwardState{}
                          : k == 0              ? first.get()
                                                : second.get();
    cuda::attention_forward(kernel.row->variant, part, options, execution);
  }
}

}  // namespace

void WorstErrors::include(const std::string& what, const Deviation& ours, const Expected& expected,
                          const GeneratedCase& generated) {
  if (std::ssize(expected.oracle) < 1000 || expected.plain.norm == 0) return;
  if (generated.magnitude != Magnitude::kNormal) return;
  auto& [ratio, where] = worst_[what];
  if (ours.norm / expected.plain.norm <= ratio) return;
  ratio = ours.norm / expected.plain.norm;
  where = generated.description();
}

WorstErrors::~WorstErrors() {
  if (std::getenv("FLASHLAB_RATIOS") == nullptr) return;
  for (const auto& [what, worst] : worst_) {
    std::cout << std::left << std::setw(44) << what << std::setw(10) << worst.first << ' '
              << worst.second.substr(0, worst.second.find(',')) << '\n';
  }
}

void check_forward_kernels(WorstErrors& worst, const std::vector<KernelCase>& kernels,
                           const GeneratedCase& generated, const std::vector<KeyPart>& parts) {
  const CaseInputs in = make_inputs(generated);
  const Values Q = in.Q.values(), K = in.K.values(), V = in.V.values();
  const auto oracle = textbook::forward(generated.problem, Q, K, V);
  const std::int64_t d = generated.problem.head_dim;
  const auto floors = [&](bool of_operands_only) {
    const Values none(Q.size() / static_cast<std::size_t>(d));
    return RoundingFloors(generated.problem, row_norms(Q, d), row_norms(K, d), row_norms(V, d),
                          oracle.P, oracle.lse, none, none, of_operands_only);
  };
  const RoundingFloors floor = floors(false), operand_floor = floors(true);
  std::map<cuda::Products, textbook::Forward<float>> plain_of;  // the type is the case's
  for (const KernelCase& kernel : kernels) {
    INFO(kernel.name() << ": " << generated.description());
    const RoundedProducts products(kernel.arithmetic);
    auto& plain = plain_of[kernel.arithmetic.products];
    if (plain.O.empty()) plain = products.forward(generated.problem, in);
    const ForwardOutputs out = make_forward_outputs(generated);
    const MemoryGuard guard({in.Q, in.K, in.V}, {out.O, out.lse});
    DeviceCopies copies;
    const ForwardTensors tensors = {copies.view(in.Q), copies.view(in.K), copies.view(in.V),
                                    copies.view(out.O), copies.view(out.lse)};
    const AttentionProblem checked = check_forward(tensors, generated.options());
    if (refuses(kernel, checked)) continue;
    const auto call = [&](const cuda::ExecutionOptions& options) {
      cuda::attention_forward(kernel.row->variant, tensors, generated.options(), options);
    };
    if (refuses_tensors(kernel, tensors, d, call)) continue;
    const Execution execution(kernel, checked);
    if (parts.empty()) {
      call(execution.options());
    } else {
      run_in_parts(kernel, tensors, generated.options(), execution.options(), checked, parts);
    }
    check_call(cudaDeviceSynchronize());
    copies.fetch();
    check(worst, kernel, "O", out.O,
          expected(products, generated.dtype, oracle.O, plain.O, floor.O, operand_floor.O),
          generated);
    check(worst, kernel, "lse", out.lse,
          expected(products, DataType::kFloat32, oracle.lse, plain.lse, floor.lse, {}), generated);
    CHECK(guard.nothing_else_written());
  }
}

void check_backward_kernels(WorstErrors& worst, const std::vector<KernelCase>& kernels,
                            const GeneratedCase& generated) {
  const textbook::Problem& problem = generated.problem;
  const CaseInputs in = make_inputs(generated);
  const Values Q = in.Q.values(), K = in.K.values(), V = in.V.values(), dO = in.dO.values();
  const auto results = textbook::forward(problem, Q, K, V);
  const ForwardOutputs forward = make_forward_outputs(generated);
  forward.O.assign(results.O);
  forward.lse.assign(results.lse);
  const Values O = forward.O.values(), lse = forward.lse.values();
  const auto oracle = textbook::backward(problem, Q, K, V, O, lse, dO);
  const std::int64_t d = problem.head_dim;
  const auto floors = [&](bool of_operands_only) {
    return RoundingFloors(problem, row_norms(Q, d), row_norms(K, d), row_norms(V, d), oracle.P, lse,
                          row_norms(O, d), row_norms(dO, d), of_operands_only);
  };
  const RoundingFloors floor = floors(false), operand_floor = floors(true);
  std::map<cuda::Products, textbook::Backward<float>> plain_of;
  for (const KernelCase& kernel : kernels) {
    INFO(kernel.name() << ": " << generated.description());
    const RoundedProducts products(kernel.arithmetic);
    auto& plain = plain_of[kernel.arithmetic.products];
    if (plain.dQ.empty()) plain = products.backward(problem, in, forward);
    const BackwardOutputs out = make_backward_outputs(generated);
    const MemoryGuard guard({in.Q, in.K, in.V, in.dO, forward.O, forward.lse},
                            {out.dQ, out.dK, out.dV});
    DeviceCopies copies;
    const BackwardTensors tensors = {
        copies.view(in.Q),      copies.view(in.K),        copies.view(in.V),
        copies.view(forward.O), copies.view(forward.lse), copies.view(in.dO),
        copies.view(out.dQ),    copies.view(out.dK),      copies.view(out.dV)};
    const AttentionProblem checked = check_backward(tensors, generated.options());
    const auto call = [&](const cuda::ExecutionOptions& options) {
      cuda::attention_backward(kernel.row->variant, tensors, generated.options(), options);
    };
    if (refuses_tensors(kernel, tensors, d, call)) continue;
    const Execution execution(kernel, checked);
    call(execution.options());
    check_call(cudaDeviceSynchronize());
    copies.fetch();
    const auto held_against = [&](const Values& exact, const std::vector<float>& plainly,
                                  const Deviation& of_scores, const Deviation& of_operands) {
      return expected(products, generated.dtype, exact, plainly, of_scores, of_operands);
    };
    check(worst, kernel, "dQ", out.dQ,
          held_against(oracle.dQ, plain.dQ, floor.dQ, operand_floor.dQ), generated);
    check(worst, kernel, "dK", out.dK,
          held_against(oracle.dK, plain.dK, floor.dK, operand_floor.dK), generated);
    check(worst, kernel, "dV", out.dV,
          held_against(oracle.dV, plain.dV, floor.dV, operand_floor.dV), generated);
    CHECK(guard.nothing_else_written());
  }
}

void check_kernels(WorstErrors& worst, Pass pass, const std::vector<KernelCase>& kernels,
                   const GeneratedCase& generated) {
  pass == Pass::kForward ? check_forward_kernels(worst, kernels, generated)
                         : check_backward_kernels(worst, kernels, generated);
}

std::vector<KernelCase> chosen_kernels(Pass pass, DataType dtype) {
  std::vector<KernelCase> kernels = kernels_here(pass, dtype);
  if (const char* const stem = std::getenv("FLASHLAB_KERNEL")) {
    std::erase_if(kernels, [&](const KernelCase& kernel) { return kernel.row->stem != stem; });
  }
  return kernels;
}

KernelTurns::KernelTurns() : step_(FLASHLAB_DEFAULT_KERNEL_STEP) {
  if (const char* const step = std::getenv("FLASHLAB_KERNEL_STEP")) {
    step_ = static_cast<std::size_t>(std::max(1, std::atoi(step)));
  }
}

std::vector<KernelCase> KernelTurns::next(const std::vector<KernelCase>& kernels) {
  std::vector<KernelCase> result;
  for (std::size_t k = num_cases_++ % step_; k < kernels.size(); k += step_) {
    result.push_back(kernels[k]);
  }
  return result;
}

}  // namespace flashlab::test
