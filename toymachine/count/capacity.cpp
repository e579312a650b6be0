#include "toymachine/count/capacity.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/count/counters.hpp"

namespace flashlab::toy {
namespace {

/// Whether b is the next register, with the same shape and written by the same line.
bool alike(const RegisterBytes::Holder& a, const RegisterBytes::Holder& b) {
  return b.register_number == a.register_number + 1 && a.rows == b.rows && a.cols == b.cols &&
         a.written.line == b.written.line;
}

/// "Q[0] to Q[3] 4 times 64 x 16 = 16384 (line 20), S 64 x 64 = 16384 (line 30)".
std::string holders_text(const BoundProgram& program,
                         const std::vector<RegisterBytes::Holder>& holders) {
  std::string text;
  for (std::size_t first = 0; first < holders.size();) {
    const RegisterBytes::Holder& holder = holders[first];
    std::size_t last = first;
    while (last + 1 < holders.size() && alike(holders[last], holders[last + 1])) ++last;
    const std::size_t count = last - first + 1;
    const auto times = static_cast<std::int64_t>(count);
    text += (text.empty() ? "" : ", ") + program.register_name(holder.register_number);
    if (count > 1) {
      text += " to " + program.register_name(holders[last].register_number) + " " +
              std::to_string(count) + " times";
    }
    text += " " + std::to_string(holder.rows) + " x " + std::to_string(holder.cols) + " = " +
            std::to_string(times * holder.bytes) + " (line " + std::to_string(holder.written.line) +
            ")";
    first = last + 1;
  }
  return text;
}

std::optional<Diagnostic> capacity_error(const BoundProgram& program, std::int64_t capacity) {
  const auto peak = peak_register_bytes(program);
  if (!peak) {
    return Diagnostic{Severity::kError,
                      Fault::kLimit,
                      {},
                      "the bytes in registers cannot be computed without a run",
                      "no --sram",
                      {}};
  }
  if (peak->bytes <= capacity) return std::nullopt;
  return Diagnostic{Severity::kError,
                    Fault::kProgram,
                    program.instructions[peak->site].span,
                    "the registers hold " + std::to_string(peak->bytes) +
                        " bytes here: " + holders_text(program, peak->holders),
                    "at most " + std::to_string(capacity) + " bytes (--sram): smaller tiles",
                    {}};
}

}  // namespace

Result<BoundProgram> bind(std::shared_ptr<const Program> program, const CapacityBinding& binding) {
  const Binding& without_capacity = binding;
  auto bound = toy::bind(std::move(program), without_capacity);
  if (!bound || !binding.sram_bytes) return bound;
  if (auto error = capacity_error(*bound, *binding.sram_bytes)) return std::move(*error);
  return bound;
}

}  // namespace flashlab::toy
