#include "toymachine/links/machines.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "toymachine/budget/budget.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/count/step_limit.hpp"
#include "toymachine/execute/execute_tile.hpp"
#include "toymachine/links/interpret_machines.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::toy {
namespace {

constexpr std::int64_t kBindingWork = 1000;  // of one machine, for the budget

/// Adds the axis of the machines to every array. Returns an error if the machines' arrays differ.
Result<BoundProgram> join_machines(const std::vector<BoundProgram>& programs) {
  BoundProgram joined = programs.front();
  if (!joined.machine) return joined;
  const std::int64_t ranks = joined.machine->ranks;
  const Program& program = *joined.program;
  auto number = std::make_shared<Expression>();
  number->op = ExpressionOp::kParam;
  number->index = program.machines->ranks;
  number->name = program.params[number->index].name;
  for (std::size_t i = 0; i < joined.arrays.size(); ++i) {
    BoundArray& array = joined.arrays[i];
    for (const BoundProgram& one : programs) {
      if (one.arrays[i].extents == array.extents && one.arrays[i].tile == array.tile) continue;
      return Diagnostic{Severity::kError,
                        Fault::kProgram,
                        array.span,
                        "machine " + std::to_string(one.machine->rank) + " has another size of '" +
                            array.name + "' than machine 0",
                        "the same sizes on all machines",
                        {}};
    }
    array.extents.insert(array.extents.begin(), ranks);
    array.counts.insert(array.counts.begin(), ranks);
    array.tile.insert(array.tile.begin(), 1);
    array.extent_expressions.insert(array.extent_expressions.begin(), number);
    array.offset *= ranks;
    array.size *= ranks;
  }
  joined.dram_elements *= ranks;
  return joined;
}

/// The arrays of all machines, which must fit 61 bits and the limit.
std::optional<Diagnostic> size_error(const BoundProgram& first) {
  std::int64_t size = 0;
  const std::int64_t ranks = first.machine ? first.machine->ranks : 1;
  if (!__builtin_mul_overflow(first.dram_elements, ranks * 8, &size) && size < INT64_MAX / 4) {
    return std::nullopt;
  }
  return Diagnostic{Severity::kError,
                    Fault::kLimit,
                    first.program->machines->span,
                    "the arrays of all machines overflow 61 bits",
                    "smaller sizes, or fewer machines",
                    {}};
}

/// Copies each machine's arrays out of the joined ones, or back.
template <class Number, class Copy>
void for_each_part(const Machines& machines, std::vector<Number>& joined,
                   std::vector<std::vector<Number>>& own, const Copy& copy) {
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    for (std::size_t i = 0; i < machines.joined.arrays.size(); ++i) {
      const BoundArray& array = machines.programs[rank].arrays[i];
      const auto size = static_cast<std::size_t>(array.size);
      copy(std::span(joined).subspan(
               static_cast<std::size_t>(machines.joined.arrays[i].offset) + rank * size, size),
           std::span(own[rank]).subspan(static_cast<std::size_t>(array.offset), size));
    }
  }
}

template <class Value, class Number>
Result<Execution> run_on(const Machines& machines, std::vector<std::vector<Number>>& own) {
  std::vector<std::span<Number>> drams(own.begin(), own.end());
  std::vector<NoObserver> observers(own.size());
  return detail::MachinesRun<Value, NoObserver>(machines.programs, drams, std::span(observers))
      .run();
}

}  // namespace

Result<Machines> bind_machines(const std::shared_ptr<const Program>& program,
                               const CapacityBinding& binding) {
  Machines machines;
  CapacityBinding own = binding;
  std::int64_t ranks = 1;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    if (program->machines) own.machine = rank;
    check_budget(kBindingWork);
    auto bound = toy::bind(program, own);
    if (!bound) return std::move(bound.diagnostics);
    if (bound->machine) ranks = bound->machine->ranks;
    machines.programs.push_back(std::move(*bound));
  }
  if (auto error = size_error(machines.first())) return std::move(*error);
  auto joined = join_machines(machines.programs);
  if (!joined) return std::move(joined.diagnostics);
  machines.joined = std::move(*joined);
  return machines;
}

Result<Executions> count_machines(const Machines& machines) {
  auto all = count_executions(machines.first());
  for (std::size_t rank = 1; all && rank < machines.programs.size(); ++rank) {
    const auto one = count_executions(machines.programs[rank]);
    if (!one) return one.diagnostics;
    add_executions(*all, *one);
  }
  return all;
}

template <class Number>
Result<Execution> run_machines(const Machines& machines, std::vector<Number>& dram) {
  if (!machines.several()) return run(machines.first(), std::span<Number>(dram));
  if (auto error = detail::too_many_steps(machines.programs)) return std::move(*error);
  std::vector<std::vector<Number>> own(machines.programs.size());
  for (auto& cells : own) cells.resize(static_cast<std::size_t>(machines.first().dram_elements));
  for_each_part(machines, dram, own, [](auto joined, auto part) {
    std::copy(joined.begin(), joined.end(), part.begin());
  });
  auto execution = machines.first().tiled ? run_on<detail::Tile<Number>>(machines, own)
                                          : run_on<Number>(machines, own);
  for_each_part(machines, dram, own, [](auto joined, auto part) {
    std::copy(part.begin(), part.end(), joined.begin());
  });
  return execution;
}
template Result<Execution> run_machines(const Machines&, std::vector<float>&);
template Result<Execution> run_machines(const Machines&, std::vector<double>&);

}  // namespace flashlab::toy
