// Every variant over the whole grid of generated cases, against the oracle, in eight tests so that
// CTest can run them side by side. FLASHLAB_RATIOS=1 prints the worst errors, in those of the plain
// implementation.
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>

#include "attention_cpu/attention.hpp"
#include "tests/attention_cpu/generated_case.hpp"
#include "tests/attention_cpu/running_variants.hpp"
#include "tests/attention_cpu/tolerance.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

struct WorstRatio {
  double to_plain = 0, to_allowed = 0;
  std::string where;
};

/// The worst over cases, for each variant and result.
class Ratios {
 public:
  void include(const std::string& what, const Deviation& ours, const Deviation& plain,
               const Deviation& floor, bool is_typical, const std::string& where) {
    WorstRatio& worst = worst_[what];
    if (is_typical && plain.norm > floor.norm / 16) {
      worst.to_plain = std::max(worst.to_plain, ours.norm / plain.norm);
    }
    const double to_allowed = ours.norm == 0 ? 0 : ours.norm / (2 * plain.norm + floor.norm);
    if (to_allowed <= worst.to_allowed) return;
    worst.to_allowed = to_allowed;
    worst.where = where;
  }
  void print() const {
    if (std::getenv("FLASHLAB_RATIOS") == nullptr) return;
    for (const auto& [what, worst] : worst_) {
      std::cout << std::left << std::setw(22) << what << " ours/plain " << std::setw(10)
                << worst.to_plain << " of allowed " << std::setw(10) << worst.to_allowed << ' '
                << worst.where << '\n';
    }
  }

 private:
  std::map<std::string, WorstRatio> worst_;
};

cpu::ExecutionOptions execution_of(const GeneratedCase& generated) {
  static const std::vector<cpu::InstructionSet> sets = cpu::instruction_sets();
  cpu::ExecutionOptions execution;
  execution.num_threads = generated.num_threads;
  execution.instruction_set =
      sets[static_cast<std::size_t>(generated.instruction_set) % sets.size()];
  return execution;
}

/// What one result is held against.
template <class Real>
struct Expected {
  std::vector<Real> oracle;
  Deviation plain, floor;
};

/// Real: the oracle's precision. Plain: the one the library computes in.
template <class Real, class Plain>
class Grid {
 public:
  explicit Grid(DataType dtype) : dtype_(dtype) {}

  void check_forward(int number) {
    const GeneratedCase generated = generated_case(number);
    const CaseInputs in = make_inputs(generated);
    const auto oracle = textbook::forward(generated.problem, in.Q.values<Real>(),
                                          in.K.values<Real>(), in.V.values<Real>());
    const auto plain = textbook::forward(generated.problem, in.Q.values<Plain>(),
                                         in.K.values<Plain>(), in.V.values<Plain>());
    const RoundingFloors floors(generated.problem, norms(generated, in.Q), norms(generated, in.K),
                                norms(generated, in.V), oracle.P, oracle.lse);
    const auto O = expected(oracle.O, plain.O, floors.O, dtype_);
    const auto lse = expected(oracle.lse, plain.lse, floors.lse, DataType::kFloat64);
    for (const std::string_view variant : variants_here(Pass::kForward)) {
      INFO(variant << ": " << generated.description());
      const ForwardOutputs out = make_forward_outputs(generated);
      const MemoryGuard guard({in.Q, in.K, in.V}, {out.O, out.lse});
      cpu::attention_forward(variant, {in.Q.view, in.K.view, in.V.view, out.O.view, out.lse.view},
                             generated.options(), execution_of(generated));
      check(variant, "O", out.O, O, number);
      check(variant, "lse", out.lse, lse, number);
      CHECK(guard.nothing_else_written());
    }
  }

  void check_backward(int number) {
    const GeneratedCase generated = generated_case(number);
    const textbook::Problem& problem = generated.problem;
    const CaseInputs in = make_inputs(generated);
    const ForwardOutputs forward = forward_results(generated, in);
    const auto gradients = [&]<class Precision>(Precision) {
      return textbook::backward(problem, in.Q.values<Precision>(), in.K.values<Precision>(),
                                in.V.values<Precision>(), forward.O.values<Precision>(),
                                forward.lse.values<Precision>(), in.dO.values<Precision>());
    };
    const auto oracle = gradients(Real{});
    const auto plain = gradients(Plain{});
    const RoundingFloors floors(problem, norms(generated, in.Q), norms(generated, in.K),
                                norms(generated, in.V), oracle.P, forward.lse.values<Real>(),
                                norms(generated, forward.O), norms(generated, in.dO));
    const auto dQ = expected(oracle.dQ, plain.dQ, floors.dQ, dtype_);
    const auto dK = expected(oracle.dK, plain.dK, floors.dK, dtype_);
    const auto dV = expected(oracle.dV, plain.dV, floors.dV, dtype_);
    for (const std::string_view variant : variants_here(Pass::kBackward)) {
      INFO(variant << ": " << generated.description());
      const BackwardOutputs out = make_backward_outputs(generated);
      const MemoryGuard guard({in.Q, in.K, in.V, in.dO, forward.O, forward.lse},
                              {out.dQ, out.dK, out.dV});
      cpu::attention_backward(variant,
                              {in.Q.view, in.K.view, in.V.view, forward.O.view, forward.lse.view,
                               in.dO.view, out.dQ.view, out.dK.view, out.dV.view},
                              generated.options(), execution_of(generated));
      check(variant, "dQ", out.dQ, dQ, number);
      check(variant, "dK", out.dK, dK, number);
      check(variant, "dV", out.dV, dV, number);
      CHECK(guard.nothing_else_written());
    }
  }

  void print() const { ratios_.print(); }

 private:
  std::vector<Real> norms(const GeneratedCase& generated, const StoredTensor& tensor) const {
    return row_norms(tensor.values<Real>(), generated.problem.head_dim);
  }

  /// The oracle's O and lse, as a forward pass would leave them.
  ForwardOutputs forward_results(const GeneratedCase& generated, const CaseInputs& in) const {
    const auto oracle = textbook::forward(generated.problem, in.Q.values<Real>(),
                                          in.K.values<Real>(), in.V.values<Real>());
    const ForwardOutputs results = make_forward_outputs(generated);
    results.O.assign({oracle.O.begin(), oracle.O.end()});
    results.lse.assign({oracle.lse.begin(), oracle.lse.end()});
    return results;
  }

  Expected<Real> expected(const std::vector<Real>& oracle, const std::vector<Plain>& plain,
                          const Deviation& floor, DataType stored) const {
    std::vector<double> plain_stored;
    for (const Plain value : plain) plain_stored.push_back(rounded(stored, value));
    const double epsilon = std::numeric_limits<Plain>::epsilon();
    return {oracle, deviation(plain_stored, oracle),
            epsilon * floor + storing_floor(stored, oracle)};
  }

  void check(std::string_view variant, const char* result, const StoredTensor& ours,
             const Expected<Real>& expected, int number) {
    const Deviation error = deviation(ours.values<double>(), expected.oracle);
    // Among a thousand results the plain one is not exact by chance.
    const bool is_typical = std::ssize(expected.oracle) >= 1000 &&
                            generated_case(number).magnitude == Magnitude::kNormal;
    ratios_.include(std::string(variant) + ' ' + result, error, expected.plain, expected.floor,
                    is_typical, "case " + std::to_string(number));
    INFO(result << " is off by " << error.norm << ", at most " << error.largest << "; plain "
                << expected.plain.norm << ", " << expected.plain.largest << "; floor "
                << expected.floor.norm << ", " << expected.floor.largest);
    CHECK(is_within(error, expected.plain, expected.floor));
  }

  const DataType dtype_;
  Ratios ratios_;
};

/// Of each type's cases every sixth is taken: all of them take a minute. FLASHLAB_CPU_CASE_STEP=1
/// takes all, as .ci/full does.
int case_step() {
  const char* const step = std::getenv("FLASHLAB_CPU_CASE_STEP");
  return step == nullptr ? 6 : std::max(1, std::atoi(step));
}

template <class Real, class Plain>
void check_cases(DataType dtype, Pass pass) {
  Grid<Real, Plain> grid(dtype);
  for (int number = 0, of_this_type = 0; number < kNumCases; ++number) {
    if (generated_case(number).dtype != dtype || of_this_type++ % case_step() != 0) continue;
    pass == Pass::kForward ? grid.check_forward(number) : grid.check_backward(number);
  }
  grid.print();
}

}  // namespace

TEST_CASE("every forward variant agrees with the oracle in float", "[grid]") {
  check_cases<double, float>(DataType::kFloat32, Pass::kForward);
}

TEST_CASE("every forward variant agrees with the oracle in double", "[grid]") {
  check_cases<long double, double>(DataType::kFloat64, Pass::kForward);
}

TEST_CASE("every forward variant agrees with the oracle in bf16", "[grid]") {
  check_cases<double, float>(DataType::kBFloat16, Pass::kForward);
}

TEST_CASE("every forward variant agrees with the oracle in fp16", "[grid]") {
  check_cases<double, float>(DataType::kFloat16, Pass::kForward);
}

TEST_CASE("every backward variant agrees with the oracle in float", "[grid]") {
  check_cases<double, float>(DataType::kFloat32, Pass::kBackward);
}

TEST_CASE("every backward variant agrees with the oracle in double", "[grid]") {
  check_cases<long double, double>(DataType::kFloat64, Pass::kBackward);
}

TEST_CASE("every backward variant agrees with the oracle in bf16", "[grid]") {
  check_cases<double, float>(DataType::kBFloat16, Pass::kBackward);
}

TEST_CASE("every backward variant agrees with the oracle in fp16", "[grid]") {
  check_cases<double, float>(DataType::kFloat16, Pass::kBackward);
}

TEST_CASE("the generated grid reaches every kind of problem", "[grid]") {
  using Heads = std::tuple<std::int64_t, std::int64_t>;
  std::set<int> dtypes, masks, arrangements, magnitudes, threads;
  std::set<Heads> heads;
  std::set<std::int64_t> sizes, head_dims;
  bool has_batch_0 = false, has_key_lengths = false;
  std::set<std::size_t> packed;
  std::set<std::tuple<int, bool, bool>> windows;  // mask, left, right
  std::set<std::tuple<int, bool>> offsets;        // mask, before or after key 0
  for (int number = 0; number < kNumCases; ++number) {
    const GeneratedCase generated = generated_case(number);
    const textbook::Problem& problem = generated.problem;
    dtypes.insert(static_cast<int>(generated.dtype));
    masks.insert(static_cast<int>(problem.causal));
    arrangements.insert(static_cast<int>(generated.arrangement));
    magnitudes.insert(static_cast<int>(generated.magnitude));
    threads.insert(generated.num_threads);
    heads.insert({problem.num_heads, problem.num_kv_heads});
    sizes.insert({problem.seqlen_q, problem.seqlen_k});
    head_dims.insert(problem.head_dim);
    windows.insert({static_cast<int>(problem.causal), problem.window_left.has_value(),
                    problem.window_right.has_value()});
    if (problem.query_offset != 0) {
      offsets.insert({static_cast<int>(problem.causal), problem.query_offset < 0});
    }
    packed.insert(problem.cu_seqlens_q.size());
    has_batch_0 |= problem.batch == 0;
    has_key_lengths |= !problem.key_lengths.empty();
  }
  CHECK(kNumCases >= 2000);
  CHECK((dtypes.size() == 4 && masks.size() == 3 && threads.size() == 4 && heads.size() == 5));
  CHECK(arrangements.size() == kNumArrangements);
  CHECK(magnitudes.size() == kNumMagnitudes);
  CHECK((has_batch_0 && has_key_lengths));
  CHECK(packed == std::set<std::size_t>{0, 2, 3, 4, 5, 6, 7, 8});
  CHECK(windows.size() == 4 + 2 + 2);  // a causal mask has no right window
  CHECK(offsets.size() == 2 + 2);      // bottom right has none
  for (const std::int64_t edge : {0, 1, 8, 16, 32, 48, 64, 96, 128, 192, 256}) {
    for (const std::int64_t size : {edge - 1, edge, edge + 1}) {
      INFO("seqlen " << size);
      CHECK((size < 0 || sizes.contains(size)));
    }
  }
  for (const std::int64_t head_dim : {1, 16, 32, 64, 80, 96, 128, 256, 512}) {
    INFO("head_dim " << head_dim);
    CHECK(head_dims.contains(head_dim));
  }
}
