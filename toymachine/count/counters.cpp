#include "toymachine/count/counters.hpp"

#include <algorithm>

namespace flashlab::toy {
namespace {

constexpr std::size_t kAllPasses = SIZE_MAX;

void count_traffic(const BoundProgram& program, const BoundInstruction& instruction,
                   const Count& times, const Count& elements, Counters& counters) {
  for (const BoundOperand& operand : instruction.operands) {
    if (!is_memory(operand.kind)) continue;
    ArrayTraffic& traffic = counters.by_array[operand.array];
    const Count bytes = elements * element_bytes(program.arrays[operand.array].element_type);
    if (operand.kind == OperandKind::kMessageSource) {
      counters.bytes_sent += bytes;
    } else if (operand.kind == OperandKind::kMessageDestination) {
      counters.bytes_received += bytes;
    } else if (operand.kind == OperandKind::kMemorySource) {
      traffic.loads += times;
      traffic.elements_loaded += elements;
      traffic.bytes_loaded += bytes;
      counters.bytes_loaded += bytes;
    } else if (operand.kind == OperandKind::kMemoryDestination) {
      traffic.stores += times;
      traffic.elements_stored += elements;
      traffic.bytes_stored += bytes;
      counters.bytes_stored += bytes;
    } else {
      traffic.updates += times;
      traffic.elements_updated += elements;
      traffic.bytes_updated += 2 * bytes;
      counters.bytes_updated += 2 * bytes;
    }
  }
}

Count& counter_of(const InstructionSpec& spec, Counters& counters) {
  if (spec.is_load()) return counters.loads;
  if (spec.is_store()) return counters.stores;
  if (spec.is_send()) return counters.sends;
  if (spec.is_receive()) return counters.receives;
  return spec.is_update() ? counters.atomics : counters.compute;
}

Counters count_where(const BoundProgram& program, const Executions& executions,
                     const CostTable& costs, std::size_t pass) {
  Counters counters;
  counters.by_instruction.resize(instruction_set().size());
  counters.by_array.resize(program.arrays.size());
  for (const BoundInstruction& instruction : program.instructions) {
    if (pass != kAllPasses && instruction.pass != pass) continue;
    const Count& times = executions.times[instruction.site];
    const Count& work = executions.work[instruction.site];
    const InstructionSpec& spec = instruction_set()[instruction.row];
    counters.steps += times;
    counters.cycles +=
        times * costs.cycles(instruction.row) + work * costs.per_work(instruction.row);
    counters.by_instruction[instruction.row] += times;
    counter_of(spec, counters) += times;
    (spec.flop_kind == FlopKind::kExponential ? counters.exps : counters.flops) +=
        work * spec.flops;
    count_traffic(program, instruction, times, work, counters);
  }
  return counters;
}

/// The top-level statements of the program that first store and last load each array.
class ArrayLifetimes {
 public:
  ArrayLifetimes(const BoundProgram& program, const Executions& executions)
      : program_(program), executions_(executions.times), lifetimes_(program.arrays.size()) {}

  Count peak() {
    scan();
    Count most = 0;
    for (std::size_t at = 0; at < statements_; ++at) {
      Count bytes = 0;
      for (std::size_t a = 0; a < lifetimes_.size(); ++a) {
        if (lifetimes_[a].alive_at(at)) {
          bytes += Count(static_cast<long>(program_.arrays[a].size)) *
                   element_bytes(program_.arrays[a].element_type);
        }
      }
      most = std::max(most, bytes);
    }
    return most;
  }

 private:
  struct Lifetime {
    std::size_t first_store = SIZE_MAX;
    std::size_t last_load = 0;
    bool alive_at(std::size_t at) const { return at >= first_store && at <= last_load; }
  };

  void scan() {
    std::size_t depth = 0;
    for (const Node& node : program_.nodes) {
      if (node.kind == Node::Kind::kLoopBegin) ++depth;
      if (node.kind == Node::Kind::kLoopEnd && --depth == 0) ++statements_;
      if (node.kind != Node::Kind::kBlock) continue;
      for (std::uint32_t site = node.first; site < node.last; ++site) {
        visit(program_.instructions[site]);
        if (depth == 0) ++statements_;
      }
    }
  }

  void visit(const BoundInstruction& instruction) {
    if (executions_[instruction.site] == 0) return;
    for (const BoundOperand& operand : instruction.operands) {
      if (!is_memory(operand.kind)) continue;
      const ArrayRole role = program_.arrays[operand.array].role;
      if (role == ArrayRole::kInput) continue;
      Lifetime& lifetime = lifetimes_[operand.array];
      if (is_memory_write(operand.kind)) {
        lifetime.first_store = std::min(lifetime.first_store, statements_);
        // A value that is never loaded still occupies its cell when it is stored.
        lifetime.last_load =
            role == ArrayRole::kOutput ? SIZE_MAX : std::max(lifetime.last_load, statements_);
      } else {
        lifetime.last_load = std::max(lifetime.last_load, statements_);
      }
    }
  }

  const BoundProgram& program_;
  const std::vector<Count>& executions_;
  std::vector<Lifetime> lifetimes_;
  std::size_t statements_ = 0;  // finished before the current one
};

}  // namespace

Counters count(const BoundProgram& program, const Executions& executions, const CostTable& costs) {
  return count_where(program, executions, costs, kAllPasses);
}

Counters count_pass(const BoundProgram& program, const Executions& executions,
                    const CostTable& costs, std::size_t pass) {
  return count_where(program, executions, costs, pass);
}

Count peak_dram_bytes(const BoundProgram& program, const Executions& executions) {
  return ArrayLifetimes(program, executions).peak();
}

const std::vector<CounterDescription>& counter_descriptions() {
  static const std::vector<CounterDescription> rows{
      {"steps", "", "instructions executed", &Counters::steps},
      {"cycles", "cycles", "by the cost table, 1 per instruction unless set", &Counters::cycles},
      {"loads", "", "instructions that read DRAM", &Counters::loads},
      {"stores", "", "instructions that write DRAM", &Counters::stores},
      {"atomics", "", "instructions that update DRAM in one step", &Counters::atomics, true},
      {"sends", "", "messages to other machines", &Counters::sends, true},
      {"receives", "", "messages from other machines", &Counters::receives, true},
      {"compute", "", "all other instructions", &Counters::compute},
      {"bytes_loaded", "bytes", "read from DRAM", &Counters::bytes_loaded},
      {"bytes_stored", "bytes", "written to DRAM", &Counters::bytes_stored},
      {"bytes_updated", "bytes", "read and written by atomic updates", &Counters::bytes_updated,
       true},
      {"bytes_sent", "bytes", "over links to other machines", &Counters::bytes_sent, true},
      {"bytes_received", "bytes", "over links from other machines", &Counters::bytes_received,
       true},
      {"flops", "FLOPs", "2 per multiply-accumulate, 1 per elementwise operation",
       &Counters::flops},
      {"exps", "", "exponentials, counted apart from FLOPs", &Counters::exps},
  };
  return rows;
}

}  // namespace flashlab::toy
