#include "exercises/grader/explain/failed_run.hpp"

#include <utility>

namespace flashlab::exercises {

namespace {

/// The machine whose step this is: that of its register, or of its cell if the register is a link's.
std::int64_t machine_of(const toy::Machines& machines, const toy::UnrolledStep& step) {
  const toy::InstructionSpec& spec = toy::instruction_set()[step.row];
  const std::int64_t own = machines.first().num_registers,
                     all = own * std::ssize(machines.programs);
  for (std::size_t i = 0; i < spec.num_operands; ++i) {
    const bool is_register = toy::is_register(spec.operands[i]);
    if (is_register && step.slots[i] < all) return step.slots[i] / own;
  }
  for (std::size_t i = 0; i < spec.num_operands; ++i) {
    if (!toy::is_memory(spec.operands[i])) continue;
    for (const toy::BoundArray& array : machines.joined.arrays) {
      const std::int64_t element = step.slots[i] - array.offset;
      if (element < 0 || element >= array.size) continue;
      return element / (array.size / std::ssize(machines.programs));
    }
  }
  return 0;
}

}  // namespace

FailedRun::FailedRun(const FailedAttempt& failed)
    : failed_(failed),
      bound_(*failed.attempt.bound),
      unrolled_(*failed.attempt.unrolled),
      flow_(unrolled_) {
  names_ = toy::constant_names(bound_);
  if (failed.solution != nullptr) {
    for (toy::NumberName& name : toy::constant_names(failed.solution->bound)) {
      names_.push_back(std::move(name));
    }
  }
  auto run = toy::run_normal(bound_, unrolled_);
  if (run) run_ = std::move(*run);
  const Failure& failure = *failed.attempt.failure;
  if (!failure.cell) {
    if (failure.step > 0 && failure.step <= unrolled_.steps.size()) {
      failing_step_ = static_cast<std::int32_t>(failure.step) - 1;
    }
    return;
  }
  look_at(failure.cell->array, failure.cell->element);
}

void FailedRun::look_at(std::size_t array, std::int64_t i) {
  const toy::BoundArray& there = bound_.arrays[array];
  element_ = static_cast<std::int32_t>(there.offset + i);
  failing_step_ = flow_.last_store(element_);
  if (failed_.solution != nullptr) wanted_ = failed_.solution->output(there.name, i);
}

std::string FailedRun::text(const toy::NormalForm& form) const {
  constexpr std::size_t kLongest = 4000;
  return to_string(form, kLongest, names_);
}

std::string FailedRun::cell() const { return bound_.cell_name(element_); }

std::uint32_t FailedRun::line(std::int32_t step) const {
  return bound_.instructions[unrolled_.steps[static_cast<std::size_t>(step)].site].span.line;
}

std::string FailedRun::at(std::int32_t step) const {
  const std::string place = "line " + std::to_string(line(step));
  if (failed_.attempt.machines) {
    return "in " + place + " of machine " +
           std::to_string(machine_of(*failed_.attempt.machines,
                                     unrolled_.steps[static_cast<std::size_t>(step)]));
  }
  return std::to_string(step + 1) + " (" + place + ")";
}

std::string FailedRun::written_name(std::int32_t step) const {
  return bound_.register_name(written_register(unrolled_.steps[static_cast<std::size_t>(step)]));
}

bool FailedRun::is_wanted_at(std::int32_t element, const toy::NormalForm& value) const {
  if (failed_.solution == nullptr) return false;
  for (const toy::BoundArray& array : bound_.arrays) {
    const std::int64_t i = element - array.offset;
    if (i >= 0 && i < array.size) return failed_.solution->output(array.name, i) == value;
  }
  return false;
}

std::string FailedRun::output_with(const toy::NormalForm& value) const {
  if (failed_.solution == nullptr) return {};
  for (const toy::BoundArray& array : bound_.arrays) {
    if (array.role != toy::ArrayRole::kOutput) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      if (failed_.solution->output(array.name, i) == value) return array.element_name(i);
    }
  }
  return {};
}

}  // namespace flashlab::exercises
