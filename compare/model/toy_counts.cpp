#include "compare/model/toy_counts.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "attention_program_files.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::compare {
namespace {

const EmbeddedFile* find_file(std::string_view program) {
  for (const EmbeddedFile& file : attention_program_files) {
    if (file.name == std::string(program) + ".toy") return &file;
  }
  return nullptr;
}

template <class Value>
Value value_or_throw(toy::Result<Value> result, std::string_view program) {
  if (result) return std::move(*result);
  throw std::invalid_argument(std::string(program) + ".toy: " + result.diagnostics.front().what);
}

std::int64_t whole(const toy::Count& count) {
  if (!count.fits_slong_p()) throw std::overflow_error("a count of 2^63 or more");
  return count.get_si();
}

toy::Binding binding_of(const toy::Program& program, const ToyParameters& parameters) {
  toy::Binding binding;
  binding.params = {{"n", parameters.n}, {"nk", parameters.nk}, {"d", parameters.d},
                    {"B", parameters.B}, {"Bk", parameters.Bk}, {"Bd", parameters.d}};
  if (parameters.splits) binding.params["splits"] = *parameters.splits;
  std::erase_if(binding.params, [&](const auto& given) {  // a program need not use all parameters
    return std::none_of(program.params.begin(), program.params.end(),
                        [&](const auto& declared) { return declared.name == given.first; });
  });
  binding.limits.max_array_bytes = INT64_MAX;  // the program is only counted, not run
  return binding;
}

std::size_t pass_index(const toy::Program& program, std::string_view pass) {
  for (std::size_t k = 0; k < program.passes.size(); ++k) {
    if (program.passes[k] == pass) return k;
  }
  throw std::invalid_argument("no pass '" + std::string(pass) + "'");
}

void add_arithmetic(const toy::BoundProgram& program, const toy::Executions& executions,
                    std::optional<std::size_t> pass, ToyCounts& counts) {
  const std::size_t division = *toy::find_instruction("DIV");
  for (const toy::BoundInstruction& instruction : program.instructions) {
    if (pass && instruction.pass != *pass) continue;
    const toy::InstructionSpec& spec = toy::instruction_set()[instruction.row];
    const std::int64_t flops = whole(executions.work[instruction.site] * spec.flops);
    switch (spec.flop_kind) {
      case toy::FlopKind::kProduct:
        counts.product_flops += flops;
        break;
      case toy::FlopKind::kExponential:
        counts.exps += flops;
        break;
      default:
        counts.elementwise_flops += flops;
        if (instruction.row == division) counts.divisions += flops;
    }
  }
}

}  // namespace

ToyCounts count_toy(std::string_view program, const ToyParameters& parameters,
                    std::string_view pass) {
  const EmbeddedFile* const file = find_file(program);
  if (file == nullptr) {
    throw std::invalid_argument("no program '" + std::string(program) + "'");
  }
  const auto source = std::make_shared<const toy::SourceText>(std::string(program) + ".toy",
                                                              std::string(file->text));
  const auto assembled =
      std::make_shared<const toy::Program>(value_or_throw(toy::assemble(source), program));
  const auto bound =
      value_or_throw(toy::bind(assembled, binding_of(*assembled, parameters)), program);
  const auto executions = value_or_throw(toy::count_executions(bound), program);
  std::optional<std::size_t> only;
  if (!pass.empty()) only = pass_index(*assembled, pass);
  const toy::Counters counters =
      only ? toy::count_pass(bound, executions, {}, *only) : toy::count(bound, executions, {});
  ToyCounts counts;
  for (std::size_t k = 0; k < bound.arrays.size(); ++k) {
    const toy::ArrayTraffic& traffic = counters.by_array[k];
    counts.arrays.push_back({bound.arrays[k].name, bound.arrays[k].role == toy::ArrayRole::kTemp,
                             bound.arrays[k].size, whole(traffic.elements_loaded),
                             whole(traffic.elements_stored), whole(traffic.elements_updated)});
  }
  add_arithmetic(bound, executions, only, counts);
  return counts;
}

}  // namespace flashlab::compare
