#include "generate/plan/shared_places.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace flashlab::generate {
namespace {

constexpr std::int64_t kAlignment = 128;  // bytes

/// The steps between which a value is needed: a loop as a whole, if the value enters it or is
/// passed from iteration to iteration.
std::pair<std::size_t, std::size_t> needed_steps(const FragmentPlan& plan, std::size_t v) {
  const Value& value = plan.values.values[v];
  std::vector<std::size_t> touched = value.reads;
  for (const std::size_t d : value.definitions) {
    touched.push_back(plan.values.definitions[d].step);
  }
  auto [low, high] = std::minmax_element(touched.begin(), touched.end());
  std::size_t first = *low, last = *high;
  const auto is_inside = [](std::size_t step, std::size_t begin, std::size_t end) {
    return step > begin && step < end;
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t begin = 0; begin < plan.steps.size(); ++begin) {
      if (plan.steps[begin].kind != Step::Kind::kLoopBegin) continue;
      const std::size_t end = plan.steps[begin].partner;
      if (first <= begin && last >= end) continue;
      std::size_t inside = 0;
      std::size_t first_read = SIZE_MAX, first_written = SIZE_MAX;
      for (const std::size_t step : value.reads) {
        if (!is_inside(step, begin, end)) continue;
        ++inside;
        first_read = std::min(first_read, step);
      }
      for (const std::size_t d : value.definitions) {
        const std::size_t step = plan.values.definitions[d].step;
        if (!is_inside(step, begin, end)) continue;
        ++inside;
        first_written = std::min(first_written, step);
      }
      if (inside == 0) continue;
      const bool is_passed_on = first_read <= first_written && first_read != SIZE_MAX;
      if (inside == touched.size() && !is_passed_on) continue;
      const std::size_t wide_first = std::min(first, begin), wide_last = std::max(last, end);
      changes = changes || wide_first != first || wide_last != last;
      first = wide_first;
      last = wide_last;
    }
  }
  return {first, last};
}

/// The loop that loads the value in each iteration, if the next iteration's can be loaded before.
std::optional<std::size_t> prefetching_loop(const toy::BoundProgram& program,
                                            const FragmentPlan& plan, std::size_t v) {
  const Value& value = plan.values.values[v];
  std::optional<std::size_t> load;
  for (const std::size_t d : value.definitions) {
    const std::size_t step = plan.values.definitions[d].step;
    if (plan.steps[step].action != Action::kLoad) continue;
    if (load) return std::nullopt;  // not one place
    load = step;
  }
  if (!load || plan.steps[*load].loops.empty()) return std::nullopt;
  const std::size_t loop = plan.steps[*load].loops.back(), end = plan.steps[loop].partner;
  for (const std::size_t step : value.reads) {
    if (step < *load || step > end) return std::nullopt;  // passed on
  }
  // A store in between could change what is loaded.
  const auto array_of = [&](std::size_t step, bool written) -> std::int64_t {
    for (const toy::BoundOperand& operand : program.instructions[plan.steps[step].site].operands) {
      if (toy::is_memory(operand.kind) && toy::is_memory_write(operand.kind) == written) {
        return operand.array;
      }
    }
    return -1;
  };
  for (std::size_t step = 0; step < plan.steps.size(); ++step) {
    if (plan.steps[step].kind != Step::Kind::kInstruction) continue;
    if (array_of(step, true) >= 0 && array_of(step, true) == array_of(*load, false)) {
      return std::nullopt;
    }
  }
  return loop;
}

std::int64_t bytes_of(const ValuePlace& place) {
  const bool is_column = place.where == Where::kSharedColumn || place.where == Where::kRowValues;
  const std::int64_t row = is_column ? 4 : 2 * ((place.cols / 8 + 1) / 4 * 4 + 2) * 8;
  return (place.rows * row + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

void place_in_shared_memory(const toy::BoundProgram& program, FragmentPlan& plan, bool prefetches) {
  plan.shared_bytes = 0;
  std::vector<SharedPlace*> placed;
  for (std::size_t v = 0; v < plan.places.size(); ++v) {
    ValuePlace& place = plan.places[v];
    const bool is_loaded = place.where == Where::kSharedColumn || place.where == Where::kSharedTile;
    if (is_loaded) place.shared.emplace();
    if (!place.shared) continue;
    SharedPlace& shared = *place.shared;
    std::tie(shared.first_step, shared.last_step) = needed_steps(plan, v);
    shared.bytes = bytes_of(place);
    shared.stages = 1;
    place.prefetched_in.reset();
    if (is_loaded && prefetches) place.prefetched_in = prefetching_loop(program, plan, v);
    if (place.prefetched_in) {
      shared.stages = 2;
      shared.first_step = std::min(shared.first_step, *place.prefetched_in);
      shared.last_step = std::max(shared.last_step, plan.steps[*place.prefetched_in].partner);
    }
    // The first gap between places that are needed at the same time.
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (const SharedPlace* const other : placed) {
      if (other->first_step <= shared.last_step && shared.first_step <= other->last_step) {
        taken.emplace_back(other->offset, other->offset + other->bytes * other->stages);
      }
    }
    std::sort(taken.begin(), taken.end());
    std::int64_t offset = 0;
    for (const auto& [first, end] : taken) {
      if (offset + shared.bytes * shared.stages <= first) break;
      offset = std::max(offset, end);
    }
    shared.offset = offset;
    plan.shared_bytes = std::max(plan.shared_bytes, offset + shared.bytes * shared.stages);
    placed.push_back(&shared);
  }
}

std::int64_t most_numbers(const FragmentPlan& plan, std::int64_t warps) {
  std::vector<std::int64_t> at_step(plan.steps.size() + 1, 0);
  for (std::size_t v = 0; v < plan.places.size(); ++v) {
    const ValuePlace& place = plan.places[v];
    std::int64_t numbers = 0;
    if (place.where == Where::kFragment) numbers = place.rows / warps * place.cols / 32;
    if (place.where == Where::kRowValues) numbers = place.rows / warps / 8;
    if (numbers == 0) continue;
    const auto [first, last] = needed_steps(plan, v);
    for (std::size_t step = first; step < std::max(last, first + 1); ++step) {
      at_step[step] += numbers;
    }
  }
  return *std::max_element(at_step.begin(), at_step.end());
}

}  // namespace flashlab::generate
