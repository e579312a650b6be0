#include "generate/plan/plan.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "generate/plan/fragment_plan.hpp"
#include "generate/plan/grid.hpp"
#include "generate/plan/stretches.hpp"
#include "generate/plan/warpgroup_plan.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::generate {
namespace {

constexpr std::int64_t kWarp = 32, kMostThreads = 256;
constexpr std::int64_t kElementsPerPlace = 4;  // registers begin at multiples of it: 16 bytes

/// Refuses what the device code cannot do.
std::optional<toy::Diagnostic> unsupported(const toy::BoundProgram& program) {
  for (const toy::BoundInstruction& instruction : program.instructions) {
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (operand.kind != toy::OperandKind::kMemoryUpdate) continue;
      const toy::BoundArray& array = program.arrays[operand.array];
      if (!toy::is_narrow(array.element_type)) continue;
      return toy::Diagnostic{toy::Severity::kError,
                             toy::Fault::kProgram,
                             instruction.span,
                             array.name +
                                 " holds 16-bit numbers, and GPUs before compute "
                                 "capability 8.0 add to none of these in one step",
                             array.name + " in float",
                             {}};
    }
  }
  return std::nullopt;
}

/// Why tensor cores cannot multiply for the program: they multiply tiles of 16-bit numbers.
std::optional<toy::Diagnostic> without_tensor_cores(const toy::BoundProgram& program,
                                                    toy::ElementType real) {
  const bool has_doubles = real == toy::ElementType::kDouble;
  if (program.tiled && !has_doubles) return std::nullopt;
  const toy::SourceSpan span =
      program.instructions.empty() ? toy::SourceSpan{} : program.instructions.front().span;
  return toy::Diagnostic{toy::Severity::kError,
                         toy::Fault::kProgram,
                         span,
                         has_doubles
                             ? "registers hold doubles, and tensor cores multiply 16-bit numbers"
                             : "elements are numbers, and tensor cores multiply tiles",
                         "level 0",
                         {}};
}

/// Gives every register that the launch writes its place.
toy::Result<bool> place_registers(const toy::BoundProgram& program, Launch& launch) {
  const auto sizes = tile_sizes(program, launch.first_node, launch.last_node);
  if (!sizes) return too_long_to_follow();
  const auto take = [&](std::int64_t elements) {
    const std::int64_t offset = launch.shared_elements;
    const std::int64_t most = INT64_MAX / 16 - offset;
    launch.shared_elements += rounded_up(std::min(elements, most), kElementsPerPlace);
    return offset;
  };
  for (std::size_t r = 0; r < sizes->largest.size(); ++r) {
    const std::int64_t elements = sizes->largest[r].places();
    if (sizes->largest[r].rows == 0) continue;
    launch.registers.push_back(
        {static_cast<std::int64_t>(r), take(elements), sizes->largest[r], sizes->sites[r]});
  }
  launch.scratch_elements = sizes->scratch;
  launch.scratch_offset = take(sizes->scratch);
  launch.threads = static_cast<int>(
      std::min(kMostThreads, rounded_up(std::min(sizes->most_written, kMostThreads), kWarp)));
  return true;
}

/// Whether b is the next register, with the same shape and written by the same line.
bool alike(const toy::BoundProgram& program, const RegisterPlace& a, const RegisterPlace& b) {
  return b.number == a.number + 1 && a.largest == b.largest &&
         program.instructions[a.site].span.line == program.instructions[b.site].span.line;
}

/// "Q[0] to Q[3] 4 times 64 x 16 = 16384 (line 20), S 64 x 64 = 16384 (line 30)", in bytes.
std::string places_text(const toy::BoundProgram& program, const Launch& launch,
                        std::int64_t element_bytes) {
  std::string text;
  const std::vector<RegisterPlace>& places = launch.registers;
  for (std::size_t first = 0; first < places.size();) {
    std::size_t last = first;
    while (last + 1 < places.size() && alike(program, places[last], places[last + 1])) ++last;
    const RegisterPlace& place = places[first];
    const auto times = static_cast<std::int64_t>(last - first + 1);
    text += (text.empty() ? "" : ", ") + program.register_name(place.number);
    if (times > 1) {
      text += " to " + program.register_name(places[last].number) + " " + std::to_string(times) +
              " times";
    }
    text += " " + std::to_string(place.largest.rows) + " x " + std::to_string(place.largest.cols) +
            " = " + std::to_string(times * place.largest.places() * element_bytes) + " (line " +
            std::to_string(program.instructions[place.site].span.line) + ")";
    first = last + 1;
  }
  if (launch.scratch_elements > 0) {
    text += ", scratch " + std::to_string(launch.scratch_elements * element_bytes);
  }
  return text;
}

std::optional<toy::Diagnostic> too_large(const toy::BoundProgram& program, const Plan& plan,
                                         const Launch& launch, const Target& target) {
  if (plan.shared_bytes(launch) <= target.shared_bytes) return std::nullopt;
  const auto largest = std::max_element(launch.registers.begin(), launch.registers.end(),
                                        [](const RegisterPlace& a, const RegisterPlace& b) {
                                          return a.largest.places() < b.largest.places();
                                        });
  return toy::Diagnostic{
      toy::Severity::kError,
      toy::Fault::kProgram,
      program.instructions[largest->site].span,
      (launch.no_fragments
           ? "off the tensor cores: " + launch.no_fragments->text + "; as at level 0, "
           : std::string()) +
          "in shared memory, the registers take " + std::to_string(plan.shared_bytes(launch)) +
          " bytes, with an odd number of elements in each row: " +
          places_text(program, launch, toy::element_bytes(plan.real)),
      "at most " + std::to_string(target.shared_bytes) + " bytes per block (--sram): smaller tiles",
      {}};
}

void note_arrays(const toy::BoundProgram& program, Launch& launch) {
  std::set<std::size_t> used;
  for_each_instruction(program, launch, [&](const toy::BoundInstruction& instruction) {
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (toy::is_memory(operand.kind)) used.insert(operand.array);
    }
  });
  launch.arrays.assign(used.begin(), used.end());
}

/// Puts the launch's tiles into fragments, or notes why that is not possible. Without products, tiles
/// in shared memory do as well.
bool place_fragments(const toy::BoundProgram& program, const Target& target, Launch& launch) {
  Reason why_not;
  auto fragments = fragment_plan(program, launch, *target.factors, target.shared_bytes, why_not);
  if (!fragments) {
    launch.no_fragments = std::move(why_not);
    return false;
  }
  launch.threads = static_cast<int>(kWarp) * fragments->warps;
  if (target.has_warpgroups) {
    auto wide = warpgroup_plan(program, *fragments, target.shared_bytes, why_not);
    if (wide) {
      launch.threads = threads_of_warpgroups(*wide);
      launch.blocks_at_once = blocks_at_once(*wide);
      launch.boxed = boxed_arrays(program, *wide);
      fragments = std::move(wide);
    } else {
      launch.no_warpgroups = std::move(why_not);
    }
  }
  launch.fragment_bytes = fragments->shared_bytes;
  launch.fragments = std::make_shared<const FragmentPlan>(std::move(*fragments));
  return true;
}

}  // namespace

toy::Result<Plan> plan(const toy::BoundProgram& program, const Target& target) {
  if (auto error = unsupported(program)) return std::move(*error);
  Plan result;
  if (toy::register_element_bytes(program) > toy::element_bytes(result.real)) {
    result.real = toy::ElementType::kDouble;
  }
  if (target.factors) {
    if (auto error = without_tensor_cores(program, result.real)) return std::move(*error);
  }
  result.factors = target.factors;
  result.has_warpgroups = target.has_warpgroups;
  auto launches = stretches(program);
  if (!launches) return std::move(launches.diagnostics);
  for (Launch& launch : *launches) {
    if (auto grid = find_grid(program, launch); !grid) return std::move(grid.diagnostics);
    if (target.factors && place_fragments(program, target, launch)) {
      note_arrays(program, launch);
      continue;
    }
    if (auto places = place_registers(program, launch); !places) {
      return std::move(places.diagnostics);
    }
    if (auto error = too_large(program, result, launch, target)) return std::move(*error);
    note_arrays(program, launch);
  }
  result.launches = std::move(*launches);
  return result;
}

}  // namespace flashlab::generate
