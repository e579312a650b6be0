#include "toymachine/trace/trace_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "toymachine/trace/symbol_effects.hpp"
#include "toymachine/trace/symbol_node.hpp"

namespace flashlab::toy::detail {
namespace {

/// A formula with more nodes is shown once, and is called R3@17, or M@17, afterwards.
constexpr std::size_t kLargestFormula = 40;

/// Whether the instruction gives a number known before the run: a scalar's row or column.
bool is_place_of_scalar(const InstructionSpec& spec) {
  return spec.flop_kind == FlopKind::kNone && spec.num_operands == 3 &&
         spec.has(OperandKind::kOffset);
}

Symbol own_name(const std::string& register_name, std::uint64_t step) {
  return Symbol::name(register_name + "@" + std::to_string(step));
}

}  // namespace

TraceState::TraceState(const BoundProgram& program, const TraceOptions& options)
    : program_(program), naming_(program, options.elide), symbols_(options.symbols) {
  registers_.resize(static_cast<std::size_t>(program.num_registers));
}

const Symbol& TraceState::read(std::int64_t number) {
  TraceRegister& reg = at(number);
  // Forgotten at the start of a generic iteration, and read afterwards.
  if (!reg.symbol.is_written()) forget_formula(number, Origin::kLeftover);
  return reg.symbol;
}

void TraceState::forget_formula(std::int64_t number, Origin origin) {
  TraceRegister& reg = at(number);
  reg.symbol = own_name(program_.register_name(number), reg.written_at);
  reg.origin = origin;
}

/// `name` is about to get `value`: forgets formulas that use its old meaning.
void TraceState::retire(const SymbolName& name, const Symbol& successor, double value,
                        std::vector<std::int64_t>& renamed) {
  for (std::int64_t number = 0; number < num_used_; ++number) {
    TraceRegister& reg = at(number);
    if (reg.symbol == successor || !reg.symbol.mentions(name)) continue;
    // A copy of the same value. Of a tile only the sum of its elements is known.
    if (reg.symbol.as_name() && reg.rows * reg.cols == 1 && reg.value == value) continue;
    forget_formula(number, Origin::kLeftover);
    renamed.push_back(number);
  }
}

bool TraceState::primes_end(const LoopPoint& point) const {
  return std::any_of(primes_.begin(), primes_.end(), [&](const Prime& prime) {
    return !prime.iteration.contains(program_, point);
  });
}

std::vector<TraceState::Renaming> TraceState::end_primes(const LoopPoint& point,
                                                         std::vector<std::int64_t>& renamed) {
  std::vector<Renaming> renamings;
  if (!primes_end(point)) return renamings;
  for (auto prime = primes_.begin(); prime != primes_.end();) {
    if (prime->iteration.contains(program_, point)) {
      ++prime;
      continue;
    }
    SymbolName plain = prime->name;
    plain.primes = 0;
    renamings.push_back({prime->name, plain});
    prime = primes_.erase(prime);
  }
  for (const Renaming& renaming : renamings) {
    const Symbol successor = Symbol::name(renaming.from);
    double value = 0;
    for (const TraceRegister& reg : registers_) {
      if (reg.origin == Origin::kNamed && reg.symbol == successor) value = reg.value;
    }
    retire(renaming.to, successor, value, renamed);
    for (std::int64_t number = 0; number < num_used_; ++number) {
      Symbol& symbol = at(number).symbol;
      if (!symbol.mentions(renaming.from)) continue;
      symbol = symbol.renamed(renaming.from, renaming.to);
      renamed.push_back(number);
    }
  }
  return renamings;
}

void TraceState::execute(const Step& step, const TraceValue& value, TraceRow& row) {
  const BoundInstruction& instruction = *step.instruction;
  if (last_written_ >= 0 && at(last_written_).symbol.size() > kLargestFormula) {
    forget_formula(last_written_, Origin::kComputed);
    row.renamed.push_back(last_written_);
  }
  row.step = row.position = step.number;
  row.work = step.work;
  row.instruction = &instruction;
  row.register_reads.clear();
  row.read.reset();
  row.stored.reset();
  row.register_written = -1;
  row.value = value;

  std::array<Symbol, kMaxOperands> args;
  std::array<std::int64_t, kMaxOperands> offsets{};
  std::size_t num_args = 0, num_offsets = 0;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const BoundOperand& operand = instruction.operands[i];
    switch (operand.kind) {
      case OperandKind::kSource:
      case OperandKind::kFactor:
        row.register_reads.push_back(step.operands[i]);
        if (!symbols_) break;
        args[num_args] = read(step.operands[i]);
        if (operand.transposed && program_.tiled) args[num_args] = transposed(args[num_args]);
        ++num_args;
        break;
      case OperandKind::kDestination:
        row.register_written = step.operands[i];
        break;
      case OperandKind::kMemorySource:
        row.read = naming_.cell(operand, step.loop_values);
        args[num_args++] = Symbol::name(row.read->name);
        break;
      case OperandKind::kOffset:
        offsets[num_offsets++] = step.operands[i];
        break;
      case OperandKind::kMemoryUpdate:
        row.read = row.stored = naming_.cell(operand, step.loop_values);
        args[num_args++] = Symbol::name(row.read->name);
        break;
      case OperandKind::kConstant:
        args[num_args++] = Symbol::number(
            program_
                .constants[static_cast<std::size_t>(step.operands[i] - program_.num_registers)]);
        break;
      case OperandKind::kMemoryDestination:
        row.stored = naming_.cell(operand, step.loop_values);
        break;
      case OperandKind::kMessageSource:  // a trace has one machine, so there are no messages
      case OperandKind::kMessageDestination:
      case OperandKind::kSender:
      case OperandKind::kReceiver:
        break;
    }
  }
  const Symbol added_to = running_value(row, args);
  const RunningValue running(added_to);
  row.expression =
      symbols_ ? kSymbolEffects[instruction.row](args.data(), offsets.data()) : Symbol();
  if (symbols_ && !program_.tiled) simplify(instruction_set()[instruction.row], args[0], row);
  row.symbol = row.expression;
  if (row.register_written >= 0) write(step, row.register_written, value, row);
  if (row.stored && symbols_) store(row.register_reads.front(), row);
  row.registers = registers_;
}

/// Returns what the step adds to: the addend of a product, or what its destination held.
Symbol TraceState::running_value(const TraceRow& row,
                                 const std::array<Symbol, kMaxOperands>& args) {
  const auto& reads = row.register_reads;
  const bool is_product = instruction_set()[row.instruction->row].flop_kind == FlopKind::kProduct;
  if (is_product && reads.size() > 2) return args[2];
  const auto same = std::find(reads.begin(), reads.end(), row.register_written);
  return same == reads.end() || !symbols_ ? Symbol() : at(row.register_written).symbol;
}

/// The result of a row reduction or a mask on a scalar needs no name, and its place is a number.
void TraceState::simplify(const InstructionSpec& spec, const Symbol& argument, TraceRow& row) {
  if (spec.flop_kind == FlopKind::kReduction) row.expression = argument;
  if (is_place_of_scalar(spec)) row.expression = Symbol::number(row.value.number);
  const auto operation = row.expression.operation();
  if (operation && spec_of(*operation).shape == ShapeRule::kMask) {
    row.expression = std::isinf(row.value.number) ? Symbol::number(row.value.number) : argument;
  }
}

void TraceState::write(const Step& step, std::int64_t number, const TraceValue& value,
                       TraceRow& row) {
  TraceRegister& reg = at(number);
  reg.origin = row.read ? Origin::kLoaded : Origin::kComputed;
  reg.value = value.number;
  reg.rows = value.rows;
  reg.cols = value.cols;
  reg.symbol = row.symbol;
  reg.written_at = step.number;
  num_used_ = std::max(num_used_, number + 1);
  last_written_ = number;
}

/// The cell's name gets the new value. The register that was stored holds the same value.
void TraceState::store(std::int64_t from, TraceRow& row) {
  const Symbol cell = Symbol::name(row.stored->name);
  TraceRegister& source = at(from);
  if (row.read) {  // an update: the cell's name loses its old meaning, and no register holds the new one
    retire(row.stored->name, Symbol(), std::nan(""), row.renamed);
    return;
  }
  if (source.symbol == cell) return;
  if (source.symbol.mentions(row.stored->name)) {
    source.symbol = cell;
    row.renamed.push_back(from);
  }
  retire(row.stored->name, Symbol(), source.value, row.renamed);
}

SymbolName TraceState::label(const BoundLabel& label, std::int64_t register_number,
                             const std::int64_t* loop_values, std::vector<std::int64_t>& renamed) {
  SymbolName name = naming_.label(label, loop_values);
  TraceRegister& reg = at(register_number);
  if (reg.origin == Origin::kUnwritten && reg.written_at == 0) return name;
  if (symbols_) {
    const Symbol symbol = Symbol::name(name);
    if (!(reg.symbol == symbol)) {
      reg.symbol = Symbol();
      retire(name, Symbol(), reg.value, renamed);
    }
    reg.symbol = symbol;
  }
  reg.origin = Origin::kNamed;
  if (name.primes > 0) {
    const auto same = [&](const Prime& prime) { return prime.name == name; };
    primes_.erase(std::remove_if(primes_.begin(), primes_.end(), same), primes_.end());
    primes_.push_back({name, LoopIteration(program_, label.loop, loop_values)});
  }
  return name;
}

void TraceState::begin_body(std::uint32_t loop, std::uint64_t loop_began,
                            const std::set<std::int64_t>& carried) {
  naming_.begin_generic(loop);
  for (std::int64_t number = 0; number < num_used_; ++number) {
    TraceRegister& reg = at(number);
    const SymbolName* name = reg.symbol.as_name();
    const bool is_of_step = name && name->base.find('@') != std::string::npos;
    const bool lasting =
        name && !is_of_step && reg.origin != Origin::kLeftover &&
        (reg.written_at < loop_began || (reg.origin == Origin::kNamed && name->subscripts.empty()));
    if (lasting || reg.origin == Origin::kUnwritten) continue;
    const bool is_carried = carried.find(number) != carried.end();
    reg.symbol = is_carried ? Symbol::name(program_.register_name(number)) : Symbol();
    reg.origin = is_carried ? Origin::kNamed : Origin::kUnwritten;
  }
}

void TraceState::end_body(std::uint32_t loop) {
  naming_.end_generic(loop);
  for (std::int64_t number = 0; number < num_used_; ++number) {
    if (at(number).symbol.mentions_generic()) forget_formula(number, Origin::kLeftover);
  }
}

}  // namespace flashlab::toy::detail
