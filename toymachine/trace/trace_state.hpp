// The registers of a traced run as numbers and formulas, and the meaning of names during the run.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "toymachine/trace/trace.hpp"
#include "toymachine/trace/trace_filter.hpp"
#include "toymachine/trace/trace_naming.hpp"

namespace flashlab::toy::detail {

/// Formulas contain only names that are still valid. If a name gets another value, a formula with
/// the old one becomes R3@17: the value that R3 (or M) got at step 17.
class TraceState {
 public:
  TraceState(const BoundProgram& program, const TraceOptions& options);

  TraceNaming& naming() { return naming_; }
  std::span<const TraceRegister> registers() const { return registers_; }

  /// A prime is removed when the iteration that made it has ended.
  struct Renaming {
    SymbolName from, to;
  };
  bool primes_end(const LoopPoint& point) const;
  std::vector<Renaming> end_primes(const LoopPoint& point, std::vector<std::int64_t>& renamed);

  /// Applies the step to the formulas and describes it; `value` is what it wrote.
  void execute(const Step& step, const TraceValue& value, TraceRow& row);
  /// Gives the register's value this name from now on.
  SymbolName label(const BoundLabel& label, std::int64_t register_number,
                   const std::int64_t* loop_values, std::vector<std::int64_t>& renamed);

  /// Starts a generic iteration. Labels, and values made before `loop_began`, stay. Other registers
  /// that the iteration reads get their own names, and all other formulas are forgotten.
  void begin_body(std::uint32_t loop, std::uint64_t loop_began,
                  const std::set<std::int64_t>& carried);
  void end_body(std::uint32_t loop);

 private:
  struct Prime {
    SymbolName name;
    LoopIteration iteration;
  };
  TraceRegister& at(std::int64_t number) { return registers_[static_cast<std::size_t>(number)]; }
  const Symbol& read(std::int64_t number);
  void forget_formula(std::int64_t number, Origin origin);
  void retire(const SymbolName& name, const Symbol& successor, double value,
              std::vector<std::int64_t>& renamed);
  Symbol running_value(const TraceRow& row, const std::array<Symbol, kMaxOperands>& args);
  void simplify(const InstructionSpec& spec, const Symbol& argument, TraceRow& row);
  void write(const Step& step, std::int64_t number, const TraceValue& value, TraceRow& row);
  void store(std::int64_t from, TraceRow& row);

  const BoundProgram& program_;
  TraceNaming naming_;
  bool symbols_;
  std::vector<TraceRegister> registers_;
  std::int64_t num_used_ = 0;  // higher registers were never written
  std::int64_t last_written_ = -1;
  std::vector<Prime> primes_;
};

}  // namespace flashlab::toy::detail
