#include "tests/attention_cpu/generated_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "tests/seed.hpp"

namespace flashlab::test {
namespace {

/// Numbers that are the same whatever standard library there is.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(test::seeded(seed) * 0x9e37'79b9'7f4a'7c15u + 1) {}

  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(limit));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool one_in(std::int64_t count) { return below(count) == 0; }
  /// Of variance 1.
  double number() { return std::sqrt(3.0) * (static_cast<double>(engine_() >> 11) * 0x1p-52 - 1); }
  template <class List>
  auto one_of(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(list))))];
  }

 private:
  std::mt19937_64 engine_;
};

constexpr std::array kTileEdges = {8, 16, 32, 48, 64, 96, 128, 192, 256};
constexpr std::array kHeadDims = {16, 32, 64, 80, 96, 128, 256, 512};
constexpr std::array<std::array<int, 2>, 5> kHeads = {{{1, 1}, {2, 1}, {4, 2}, {6, 3}, {8, 1}}};

std::int64_t sequence_length(Random& random) {
  if (random.one_in(60)) return 0;
  if (random.one_in(8)) return 1;
  if (random.one_in(4)) return random.between(2, 40);
  if (random.one_in(6)) return 2 * random.between(20, 150) + 1;
  return random.one_of(kTileEdges) + random.between(-1, 1);
}

std::int64_t head_dim(Random& random) {
  if (random.one_in(50)) return random.between(1, 512);
  return random.one_in(3) ? random.one_of(kHeadDims) : random.between(1, 24);
}

/// Multiply-adds of one product.
std::int64_t work(const textbook::Problem& problem) {
  return problem.batch * problem.num_heads * problem.seqlen_q * problem.seqlen_k * problem.head_dim;
}

textbook::Problem sizes(Random& random, bool same_lengths) {
  const std::int64_t most_work = random.one_in(25) ? 3'000'000 : 150'000;
  textbook::Problem problem;
  do {
    problem.batch = random.one_in(40) ? 0 : random.between(1, 3);
    const auto [num_heads, num_kv_heads] = random.one_of(kHeads);
    problem.num_heads = num_heads;
    problem.num_kv_heads = num_kv_heads;
    problem.seqlen_q = sequence_length(random);
    problem.seqlen_k = same_lengths ? problem.seqlen_q : sequence_length(random);
    problem.head_dim = head_dim(random);
  } while (work(problem) > most_work);
  return problem;
}

std::optional<double> scale(Random& random) {
  switch (random.below(10)) {
    case 0:
      return -0.4;
    case 1:
      return 0.0;
    case 2:
      return 2.5;
    default:
      return std::nullopt;
  }
}

/// A distance that cuts tiles and rows, or none.
std::optional<std::int64_t> window(Random& random, const textbook::Problem& problem) {
  if (random.one_in(3)) return std::nullopt;
  if (random.one_in(8)) return 0;
  if (random.one_in(3)) return random.one_of(kTileEdges) + random.between(-1, 1);
  return random.between(0, std::max(problem.seqlen_q, problem.seqlen_k));
}

/// Bounds from 0 to length; some sequences may be empty.
std::vector<std::int64_t> bounds(Random& random, std::int64_t num_sequences, std::int64_t length) {
  std::vector<std::int64_t> result = {0, length};
  while (std::ssize(result) <= num_sequences) result.push_back(random.between(0, length));
  std::sort(result.begin(), result.end());
  return result;
}

const char* name_of(Arrangement arrangement) {
  constexpr const char* kNames[] = {"row-major",        "rows before heads",   "padded rows",
                                    "broadcast inputs", "every second column", "rows backwards",
                                    "interleaved"};
  return kNames[static_cast<int>(arrangement)];
}

/// Strides of [batch, heads, rows, head_dim]; broadcast and interleaved tensors aside.
Shape strides_of(Arrangement arrangement, const Shape& shape) {
  const std::int64_t heads = shape[1], rows = shape[2], d = shape[3];
  switch (arrangement) {
    case Arrangement::kRowsBeforeHeads:
    case Arrangement::kInterleaved:
      return {rows * heads * d, d, heads * d, 1};
    case Arrangement::kPaddedRows:
      return {heads * (rows * (d + 3) + 5) + 7, rows * (d + 3) + 5, d + 3, 1};
    case Arrangement::kEverySecondColumn:
      return {heads * rows * 2 * d, rows * 2 * d, 2 * d, 2};
    case Arrangement::kRowsBackwards:
      return {heads * rows * d, rows * d, -d, 1};
    case Arrangement::kRowMajor:
    case Arrangement::kBroadcastInputs:
      break;
  }
  return row_major(shape);
}

struct Shapes {
  Shape q, k;
};

Shapes shapes_of(const textbook::Problem& problem) {
  return {{problem.batch, problem.num_heads, problem.seqlen_q, problem.head_dim},
          {problem.batch, problem.num_kv_heads, problem.seqlen_k, problem.head_dim}};
}

CaseInputs allocate_inputs(const GeneratedCase& generated) {
  const auto [q, k] = shapes_of(generated.problem);
  const DataType dtype = generated.dtype;
  const auto tensor = [&](const Shape& shape) {
    return make_tensor(dtype, shape, strides_of(generated.arrangement, shape));
  };
  if (generated.arrangement == Arrangement::kBroadcastInputs) {
    return {make_tensor(dtype, q, {0, q[2] * q[3], q[3], 1}),
            make_tensor(dtype, k, {k[2] * k[3], 0, k[3], 1}),
            make_tensor(dtype, k, {k[1] * k[2], k[2], 1, 0}),
            make_tensor(dtype, q, {q[1] * q[3], q[3], 0, 1})};
  }
  if (generated.arrangement == Arrangement::kInterleaved) {
    const std::vector<StoredTensor> qkv = make_interleaved(dtype, {q, k, k});
    return {qkv[0], qkv[1], qkv[2], tensor(q)};
  }
  return {tensor(q), tensor(k), tensor(k), tensor(q)};
}

/// The size of Q's and K's elements that spreads scores over +-10 000, without leaving fp16.
double spread(const textbook::Problem& problem) {
  const double scale = std::max(std::fabs(problem.softmax_scale), 1e-3);
  return std::min(std::sqrt(3000 / (scale * std::sqrt(static_cast<double>(problem.head_dim)))),
                  200.0);
}

struct Fill {
  double size = 1, first_column = 0;  // number() times size; column 0 is this, unless 0
};

std::vector<double> random_values(Random& random, const Shape& shape, const Fill& fill) {
  std::vector<double> values;
  const std::int64_t count = shape[0] * shape[1] * shape[2] * shape[3];
  for (std::int64_t k = 0; k < count; ++k) {
    const double value = fill.size * random.number();
    values.push_back(k % shape[3] == 0 && fill.first_column != 0 ? fill.first_column : value);
  }
  return values;
}

void assign_scores(Random& random, const GeneratedCase& generated, const CaseInputs& inputs) {
  const auto [q, k] = shapes_of(generated.problem);
  Fill fill_q, fill_k;
  const double scale = generated.problem.softmax_scale;
  const double shift = std::sqrt(10'000 / std::max(std::fabs(scale), 1e-3));
  switch (generated.magnitude) {
    case Magnitude::kNormal:
      break;
    case Magnitude::kTiny:
      fill_q.size = fill_k.size = 1e-3;
      break;
    case Magnitude::kSpreadScores:
      fill_q.size = fill_k.size = spread(generated.problem);
      break;
    case Magnitude::kShiftedUp:
    case Magnitude::kShiftedDown:
      fill_q.first_column = shift;
      fill_k.first_column =
          (generated.magnitude == Magnitude::kShiftedUp) == (scale > 0) ? shift : -shift;
      break;
  }
  inputs.Q.assign(random_values(random, q, fill_q));
  inputs.K.assign(random_values(random, k, fill_k));
}

/// NaN into the rows that count as not there.
void hide_rows(const textbook::Problem& problem, const CaseInputs& inputs) {
  const double nan = std::nan("");
  std::vector<double> Q = inputs.Q.values(), K = inputs.K.values(), V = inputs.V.values(),
                      dO = inputs.dO.values();
  std::vector<bool> key_is_seen(K.size(), false);
  const std::int64_t d = problem.head_dim;
  textbook::for_each_query(problem, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    bool sees_any = false;
    for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
      if (!problem.sees(b, i, j)) continue;
      sees_any = key_is_seen[problem.key(b, h, j)] = true;
    }
    const std::int64_t first = problem.query(b, h, i) * d;
    for (std::int64_t c = 0; !sees_any && c < d; ++c) Q[first + c] = dO[first + c] = nan;
  });
  for (std::size_t k = 0; k < K.size(); ++k) {
    if (!key_is_seen[k / static_cast<std::size_t>(d)]) K[k] = V[k] = nan;
  }
  inputs.Q.assign(Q);
  inputs.K.assign(K);
  inputs.V.assign(V);
  inputs.dO.assign(dO);
}

}  // namespace

AttentionOptions GeneratedCase::options() const {
  constexpr Mask kMasks[] = {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight};
  return {kMasks[static_cast<int>(problem.causal)],
          softmax_scale,
          problem.key_lengths,
          problem.window_left,
          problem.window_right,
          problem.cu_seqlens_q,
          problem.cu_seqlens_k,
          problem.query_offset};
}

std::string GeneratedCase::description() const {
  const auto number_text = [](const char* name, auto value) {
    return std::string(name) + " " + std::to_string(value) + ", ";
  };
  std::string text =
      number_text("case", number) + std::string(to_string(dtype)) + ", " +
      number_text("batch", problem.batch) + number_text("heads", problem.num_heads) +
      number_text("kv heads", problem.num_kv_heads) + number_text("seqlen_q", problem.seqlen_q) +
      number_text("seqlen_k", problem.seqlen_k) + number_text("head_dim", problem.head_dim) +
      "mask " + std::string(to_string(options().mask)) + ", key lengths";
  for (const std::int64_t length : problem.key_lengths) text += " " + std::to_string(length);
  text += problem.key_lengths.empty() ? " all, " : ", ";
  if (problem.window_left) text += number_text("window left", *problem.window_left);
  if (problem.window_right) text += number_text("window right", *problem.window_right);
  if (problem.query_offset != 0) text += number_text("query offset", problem.query_offset);
  const auto bounds_text = [&](const char* name, const std::vector<std::int64_t>& bounds) {
    if (bounds.empty()) return;
    text += name;
    for (const std::int64_t bound : bounds) text += " " + std::to_string(bound);
    text += ", ";
  };
  bounds_text("cu_seqlens_q", problem.cu_seqlens_q);
  bounds_text("cu_seqlens_k", problem.cu_seqlens_k);
  return text + number_text("scale", problem.softmax_scale) +
         number_text("magnitude", static_cast<int>(magnitude)) +
         number_text("threads", num_threads) + name_of(arrangement);
}

GeneratedCase generated_case(int number) {
  Random random(static_cast<std::uint64_t>(number));
  GeneratedCase result;
  result.number = number;
  constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat64, DataType::kBFloat16,
                                 DataType::kFloat16};
  result.dtype = kTypes[number % 4];
  result.arrangement = static_cast<Arrangement>(random.below(kNumArrangements));
  result.problem = sizes(random, result.arrangement == Arrangement::kInterleaved);
  textbook::Problem& problem = result.problem;
  problem.causal = static_cast<textbook::Causal>(random.below(3));
  for (std::int64_t b = random.one_in(3) ? 0 : problem.batch; b < problem.batch; ++b) {
    problem.key_lengths.push_back(random.between(0, problem.seqlen_k));
  }
  result.softmax_scale = scale(random);
  problem.softmax_scale =
      result.softmax_scale.value_or(1 / std::sqrt(static_cast<double>(problem.head_dim)));
  if (random.one_in(2)) result.magnitude = static_cast<Magnitude>(random.below(kNumMagnitudes));
  result.num_threads = static_cast<int>(random.between(1, 4));
  result.instruction_set = static_cast<int>(random.below(6));
  if (random.one_in(3)) {
    problem.window_left = window(random, problem);
    if (problem.causal == textbook::Causal::kNo) problem.window_right = window(random, problem);
  }
  if (problem.key_lengths.empty() && random.one_in(5)) {
    problem.batch = 1;
    const std::int64_t num_sequences = random.between(1, 7);
    problem.cu_seqlens_q = bounds(random, num_sequences, problem.seqlen_q);
    problem.cu_seqlens_k = random.one_in(3) && problem.seqlen_q == problem.seqlen_k
                               ? problem.cu_seqlens_q
                               : bounds(random, num_sequences, problem.seqlen_k);
  }
  const bool is_anchored =
      problem.causal == textbook::Causal::kBottomRight || !problem.cu_seqlens_q.empty();
  if (!is_anchored && random.one_in(4)) {
    problem.query_offset = random.between(-problem.seqlen_q - 2, problem.seqlen_k + 2);
  }
  return result;
}

CaseInputs make_inputs(const GeneratedCase& generated) {
  Random random(static_cast<std::uint64_t>(generated.number) + kNumCases);
  const CaseInputs inputs = allocate_inputs(generated);
  const auto [q, k] = shapes_of(generated.problem);
  assign_scores(random, generated, inputs);
  inputs.V.assign(random_values(random, k, {}));
  inputs.dO.assign(random_values(random, q, {}));
  // Packed sequences that share a tile may see each other's NaN on a GPU: nonfinite_test.cpp tests
  // them on the CPU.
  const bool hides = generated.problem.cu_seqlens_q.empty() &&
                     generated.arrangement != Arrangement::kBroadcastInputs;
  if (hides) hide_rows(generated.problem, inputs);
  return inputs;
}

ForwardOutputs make_forward_outputs(const GeneratedCase& generated) {
  const Shape q = shapes_of(generated.problem).q, statistics = {q[0], q[1], q[2]};
  const DataType dtype =
      generated.dtype == DataType::kFloat64 ? DataType::kFloat64 : DataType::kFloat32;
  Shape strides = row_major(statistics);
  if (generated.arrangement == Arrangement::kRowsBeforeHeads) strides = {q[1] * q[2], 1, q[1]};
  if (generated.arrangement == Arrangement::kPaddedRows) {
    strides = {q[1] * q[2] * 2, q[2] * 2, 2};
  }
  if (generated.arrangement == Arrangement::kRowsBackwards) strides[2] = -1;
  return {make_tensor(generated.dtype, q, strides_of(generated.arrangement, q)),
          make_tensor(dtype, statistics, strides)};
}

BackwardOutputs make_backward_outputs(const GeneratedCase& generated) {
  const auto [q, k] = shapes_of(generated.problem);
  if (generated.arrangement == Arrangement::kInterleaved) {
    const std::vector<StoredTensor> gradients = make_interleaved(generated.dtype, {q, k, k});
    return {gradients[0], gradients[1], gradients[2]};
  }
  const Shape strides_q = strides_of(generated.arrangement, q),
              strides_k = strides_of(generated.arrangement, k);
  return {make_tensor(generated.dtype, q, strides_q), make_tensor(generated.dtype, k, strides_k),
          make_tensor(generated.dtype, k, strides_k)};
}

}  // namespace flashlab::test
