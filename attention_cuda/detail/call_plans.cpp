#include "attention_cuda/detail/call_plans.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attention_cuda/detail/c_arguments.hpp"
#include "attention_cuda/tiles.hpp"

namespace flashlab::cuda {
namespace {

/// Longer lists would make a key longer than the decision takes.
constexpr std::int64_t kMostNumbersInKey = 64;

/// All that a decision depends on, as numbers.
using Key = std::vector<std::uint64_t>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, on words
    for (const std::uint64_t word : key) hash = (std::rotl(hash, 5) ^ word) * 0x100000001b3U;
    return hash ^ (hash >> 32);
  }
};

struct Plans {
  std::unordered_map<Key, std::unique_ptr<CallPlan>, KeyHash> kept;
  std::unique_ptr<CallPlan> unkept;
  Key key;  // of the current call: its memory is used again
  std::uint64_t made = 0;
};

Plans& plans_of_thread() {
  thread_local Plans plans;
  return plans;
}

class KeyWriter {
 public:
  explicit KeyWriter(Key& key) : key_(key) { key_.clear(); }

  void add(std::int64_t number) { key_.push_back(static_cast<std::uint64_t>(number)); }
  void add_whether(const void* pointer) { add(pointer != nullptr ? 1 : 0); }
  void add(const flashlab_tensor& tensor) {
    // Kernels differ by the alignment of addresses to 16 bytes.
    const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
    add(static_cast<std::int64_t>(address % 16) + (tensor.data != nullptr ? 16 : 0));
    add(tensor.dtype);
    add(tensor.rank);
    constexpr std::int32_t kMostAxes = 4;
    for (std::int32_t axis = 0; axis < tensor.rank && axis < kMostAxes; ++axis) {
      add(tensor.shape[axis]);
      add(tensor.strides[axis]);
    }
  }
  void add(const char* text) {
    const std::string_view all = text == nullptr ? "" : text;
    add(std::ssize(all));
    for (std::size_t k = 0; k < all.size(); k += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, all.data() + k, std::min(sizeof(word), all.size() - k));
      key_.push_back(word);
    }
  }
  void add(const std::int64_t* numbers, std::int64_t count) {
    add_whether(numbers);
    if (numbers == nullptr) return;
    for (std::int64_t k = 0; k < count; ++k) add(numbers[k]);
  }

 private:
  Key& key_;
};

bool is_kept(const flashlab_options& options) {
  const bool has_state = options.state_in != nullptr || options.state_out != nullptr;
  const bool has_bounds = options.cu_seqlens_q != nullptr || options.cu_seqlens_k != nullptr;
  const bool is_number = options.num_key_lengths >= 0 && options.num_sequences >= 0;
  return !has_state && is_number && options.num_key_lengths <= kMostNumbersInKey &&
         (!has_bounds || options.num_sequences < kMostNumbersInKey);
}

void add_options(KeyWriter& key, const flashlab_options& options) {
  key.add(options.variant);
  key.add(options.kernel);
  key.add(options.mask);
  key.add(options.products);
  key.add(std::bit_cast<std::int64_t>(options.softmax_scale));
  key.add(options.has_softmax_scale);
  key.add(options.num_splits);
  key.add(options.num_key_lengths);
  key.add(options.key_lengths, options.num_key_lengths);
  key.add_whether(options.device_key_lengths);
  key.add(options.round_statistics);
  key.add(options.deterministic);
  key.add(options.window_left);
  key.add(options.window_right);
  key.add(options.has_window_left);
  key.add(options.has_window_right);
  key.add(options.num_sequences);
  key.add(options.cu_seqlens_q, options.num_sequences + 1);
  key.add(options.cu_seqlens_k, options.num_sequences + 1);
  key.add_whether(options.device_cu_seqlens_q);
  key.add_whether(options.device_cu_seqlens_k);
  key.add(options.query_offset);
  key.add_whether(options.stop_flag);
}

void add_tensors(KeyWriter& key, const flashlab_forward_tensors& tensors) {
  for (const auto& tensor : {tensors.Q, tensors.K, tensors.V, tensors.O, tensors.lse}) {
    key.add(tensor);
  }
}

void add_tensors(KeyWriter& key, const flashlab_backward_tensors& tensors) {
  for (const auto& tensor : {tensors.Q, tensors.K, tensors.V, tensors.O, tensors.lse, tensors.dO,
                             tensors.dQ, tensors.dK, tensors.dV}) {
    key.add(tensor);
  }
}

template <class Views, class Tensors>
void set_addresses(Views& views, const Tensors& tensors) {
  views.Q.data = tensors.Q.data;
  views.K.data = tensors.K.data;
  views.V.data = tensors.V.data;
  views.O.data = tensors.O.data;
  views.lse.data = tensors.lse.data;
  if constexpr (std::is_same_v<Views, BackwardTensors>) {
    views.dO.data = tensors.dO.data;
    views.dQ.data = tensors.dQ.data;
    views.dK.data = tensors.dK.data;
    views.dV.data = tensors.dV.data;
  }
}

AttentionProblem checked(const ForwardTensors& views, const AttentionOptions& options) {
  return check_forward(views, options);
}
AttentionProblem checked(const BackwardTensors& views, const AttentionOptions& options) {
  return check_backward(views, options);
}

constexpr Pass pass_of(const ForwardTensors&) { return Pass::kForward; }
constexpr Pass pass_of(const BackwardTensors&) { return Pass::kBackward; }

bool is_auto(const flashlab_options& options) {
  return options.variant == nullptr || options.variant == kAutoVariant;
}

template <class Views>
Decision decide_variant(const AttentionProblem& problem, const Views& views,
                        const flashlab_options& options, const ExecutionOptions& execution) {
  const std::string_view variant = variant_of(problem, options, pass_of(views));
  try {
    return decide(variant, problem, views, execution);
  } catch (const ProblemError& error) {
    const bool may_differ = is_auto(options) && variant == kAutoBackwardVariant;
    if (!may_differ || error.field != "deterministic") throw;
    return decide(kOrderedBackwardVariant, problem, views, execution);
  }
}

template <class Views, class Tensors>
std::unique_ptr<CallPlan> made_plan(const Tensors& tensors, const flashlab_options& options) {
  Views views = views_of(tensors);
  const ExecutionOptions execution = execution_options(options);
  const AttentionProblem problem = checked(views, attention_options(options));
  Decision decision = decide_variant(problem, views, options, execution);
  const std::size_t bytes = workspace_bytes(decision, execution);
  return std::make_unique<CallPlan>(CallPlan{std::move(decision), bytes, std::move(views)});
}

template <class Views, class Tensors>
const CallPlan& found_plan(const Tensors& tensors, const flashlab_options& options) {
  Plans& plans = plans_of_thread();
  const int device = device_or_none();
  if (!is_kept(options) || device < 0) {
    plans.unkept = made_plan<Views>(tensors, options);
    ++plans.made;
    return *plans.unkept;
  }
  KeyWriter key(plans.key);
  key.add(device);
  key.add(static_cast<std::int64_t>(sizeof(Tensors)));  // which pass
  add_tensors(key, tensors);
  add_options(key, options);
  const auto found = plans.kept.find(plans.key);
  if (found != plans.kept.end()) {
    auto& views = std::get<Views>(found->second->tensors);
    set_addresses(views, tensors);
    if (options.memory_is_checked == 0) check_addresses(views);
    return *found->second;
  }
  std::unique_ptr<CallPlan> plan = made_plan<Views>(tensors, options);
  ++plans.made;
  if (plans.kept.size() >= kMostPlans) plans.kept.clear();
  return *plans.kept.emplace(plans.key, std::move(plan)).first->second;
}

}  // namespace

const CallPlan& plan_of(const flashlab_forward_tensors& tensors, const flashlab_options& options) {
  return found_plan<ForwardTensors>(tensors, options);
}

const CallPlan& plan_of(const flashlab_backward_tensors& tensors, const flashlab_options& options) {
  return found_plan<BackwardTensors>(tensors, options);
}

PlanCounts plan_counts() { return {plans_of_thread().kept.size(), plans_of_thread().made}; }

}  // namespace flashlab::cuda
