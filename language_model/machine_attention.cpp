#include "language_model/machine_attention.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::language_model {
namespace {

/// The array with this name, role and shape.
const toy::BoundArray& array_of(const toy::BoundProgram& bound, const std::string& name,
                                toy::ArrayRole role, std::size_t rows, std::size_t columns) {
  const std::vector<std::int64_t> extents{static_cast<std::int64_t>(rows),
                                          static_cast<std::int64_t>(columns)};
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.name == name && array.role == role && array.extents == extents) return array;
  }
  throw ProgramFailure(std::string("expected an ") +
                       (role == toy::ArrayRole::kInput ? "input" : "output") + " '" + name +
                       "' of " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                       " columns, as exercises 28 and 29 state it");
}

}  // namespace

MachineAttention::MachineAttention(std::shared_ptr<const toy::Program> program, std::size_t tile)
    : program_(std::move(program)), tile_(tile) {}

void MachineAttention::bind_for(const AttentionCall& call) {
  if (bound_ != nullptr && queries_ == call.queries && keys_ == call.keys &&
      columns_ == call.columns) {
    return;
  }
  const std::map<std::string, std::size_t> all{{"n", call.queries},
                                               {"nk", call.keys},
                                               {"d", call.columns},
                                               {"B", std::min(tile_, call.queries)},
                                               {"Bk", std::min(tile_, call.keys)},
                                               {"Bd", call.columns}};
  toy::Binding binding;
  for (const auto& param : program_->params) {
    const auto found = all.find(param.name);
    if (found != all.end()) binding.params[param.name] = static_cast<std::int64_t>(found->second);
  }
  auto bound = toy::bind(program_, binding);
  if (!bound) throw ProgramFailure(toy::format(bound.diagnostics, *program_->source));
  bound_ = std::make_shared<const toy::BoundProgram>(std::move(*bound));
  queries_ = call.queries;
  keys_ = call.keys;
  columns_ = call.columns;
  const auto executions = toy::count_executions(*bound_);
  if (!executions) throw ProgramFailure(toy::format(executions.diagnostics, *program_->source));
  const toy::Counters counters = toy::count(*bound_, *executions, toy::CostTable());
  loaded_by_one_ = counters.bytes_loaded;
  stored_by_one_ = counters.bytes_stored;
}

void MachineAttention::count(const AttentionCall& call) {
  bind_for(call);
  bytes_loaded_ += loaded_by_one_;
  bytes_stored_ += stored_by_one_;
  ++calls_;
}

std::vector<float> MachineAttention::operator()(const AttentionCall& call) {
  count(call);
  const toy::BoundProgram& bound = *bound_;
  const float unwritten = std::nanf("");
  std::vector<float> dram(static_cast<std::size_t>(bound.dram_elements), unwritten);
  const auto put = [&](const char* name, std::size_t rows, std::span<const float> values) {
    const toy::BoundArray& array =
        array_of(bound, name, toy::ArrayRole::kInput, rows, call.columns);
    std::copy(values.begin(), values.end(), dram.begin() + array.offset);
  };
  put("q", call.queries, call.q);
  put("k", call.keys, call.k);
  put("v", call.keys, call.v);
  const toy::BoundArray& o =
      array_of(bound, "o", toy::ArrayRole::kOutput, call.queries, call.columns);
  const auto execution = toy::run(bound, std::span<float>(dram));
  if (!execution) throw ProgramFailure(toy::format(execution.diagnostics, *program_->source));
  std::vector<float> output(dram.begin() + o.offset, dram.begin() + o.offset + o.size);
  for (const float value : output) {
    if (std::isnan(value)) throw ProgramFailure("the program does not write all of o");
  }
  return output;
}

}  // namespace flashlab::language_model
