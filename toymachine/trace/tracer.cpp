#include "toymachine/trace/tracer.hpp"

#include <string>
#include <utility>

#include "text/numbers.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::size_t kMostWaitingLabels = 64;

}  // namespace

Tracer::Tracer(const BoundProgram& program, const TraceOptions& options, Precision precision,
               ClaimChecker* claims, const Carried& carried, TraceSink& sink)
    : program_(program),
      options_(options),
      precision_(precision),
      claims_(claims),
      carried_(carried),
      sink_(sink),
      state_(program, options),
      bodies_(program, options) {
  for (const std::uint32_t loop : bodies_.loops()) {
    std::uint32_t outer = program.loops[loop].parent;
    for (; outer != kNoLoop; outer = program.loops[outer].parent) {
      state_.naming().show_letter(outer);
    }
  }
}

bool Tracer::after(const Step& step, const TraceValue& value) {
  if (failure_ || stopped_) {
    surplus_ = step.instruction->site;
    return false;
  }
  flush();
  const bool past_end = !options_.body && step.number > options_.to;
  if (past_end || failure_ || stopped_) {
    surplus_ = step.instruction->site;
    return false;
  }
  const LoopPoint point{step.instruction->loop, step.loop_values};
  row_.renamed.clear();
  arrive(point, step.number, row_.renamed);
  if (options_.body && bodies_.all_done()) {
    surplus_ = step.instruction->site;
    return false;
  }
  steps_ = step.number;
  state_.execute(step, value, row_);
  shown_ = shows(step, point);
  if (shown_) state_.naming().describe(step, row_);
  if (shown_) {
    keep(step);
  } else {
    pass_over(step.number);
    pending_ = true;
  }
  return !failure_ && !stopped_;
}

/// Handles iterations that have ended or begun before something happens at a point.
void Tracer::arrive(const LoopPoint& point, std::uint64_t next_step,
                    std::vector<std::int64_t>& renamed) {
  for (const auto& [from, to] : state_.end_primes(point, renamed)) {
    if (!claims_) continue;
    std::vector<std::int64_t> subscripts;
    for (const Subscript& subscript : from.subscripts) subscripts.push_back(subscript.value);
    claims_->rename(from.base + std::string(from.primes, '\''), to.base, subscripts);
  }
  if (!options_.body) return;
  const BodyFinder::Change change = bodies_.move_to(point, next_step);
  if (change.ended != kNoLoop) {
    close_gap();
    state_.end_body(change.ended);
  }
  if (change.begun == kNoLoop) return;
  const auto carried = carried_.find(change.begun);
  state_.begin_body(change.begun, bodies_.loop_began(),
                    carried == carried_.end() ? std::set<std::int64_t>() : carried->second);
  body_position_ = 0;
  if (!sink_.body({change.begun, state_.registers()})) stopped_ = true;
}

bool Tracer::shows(const Step& step, const LoopPoint& point) const {
  if (options_.body) {
    if (!bodies_.active()) return false;
    return !options_.elide || survives_elision(program_, point, bodies_.current());
  }
  if (step.number < options_.from) return false;
  return !options_.elide || survives_elision(program_, point, kNoLoop);
}

void Tracer::keep(const Step& step) {
  close_gap();
  if (summary_.rows >= options_.max_rows) {
    fail({Severity::kError,
          Fault::kLimit,
          step.instruction->span,
          "the trace has more than " + std::to_string(options_.max_rows) + " rows",
          "fewer steps (--from, --to, --elide, --body), or a higher --max-trace-rows",
          {}});
    return;
  }
  pending_ = true;
  ++summary_.rows;
  if (options_.body) row_.position = ++body_position_;
}

/// Records that the step is not shown, unless it is outside the requested range.
void Tracer::pass_over(std::uint64_t step) {
  if (options_.body ? !bodies_.active() : step < options_.from) return;
  if (options_.body) ++body_position_;
  if (gap_.first == 0) gap_.first = step;
  gap_.last = step;
}

void Tracer::close_gap() {
  if (gap_.first != 0 && !stopped_ && !sink_.gap(gap_)) stopped_ = true;
  gap_ = {};
}

void Tracer::flush() {
  if (!pending_) return;
  pending_ = false;
  if (!shown_) return sink_.hidden(row_);
  if (!sink_.row(row_)) stopped_ = true;
  for (const TraceLabel& label : labels_) deliver(label);
  labels_.clear();
}

void Tracer::deliver(const TraceLabel& label) {
  if (!stopped_ && !sink_.label(label)) stopped_ = true;
}

void Tracer::label(const BoundLabel& label, std::int64_t register_number,
                   const std::int64_t* loop_values) {
  if (failure_ || stopped_) return;
  const LoopPoint point{label.loop, loop_values};
  if (labels_.size() >= kMostWaitingLabels || state_.primes_end(point) ||
      bodies_.changes_at(point)) {
    flush();
  }
  TraceLabel passed;
  arrive(point, steps_ + 1, passed.renamed);
  passed.after_step = steps_;
  passed.line = label.name->span.line;
  passed.register_number = register_number;
  const TraceRegister& reg = state_.registers()[static_cast<std::size_t>(register_number)];
  const Symbol before = reg.symbol;
  const SymbolName name = state_.label(label, register_number, loop_values, passed.renamed);
  passed.symbol = reg.symbol;
  passed.claim = check(label, register_number, loop_values, name);
  passed.registers = state_.registers();
  const bool is_shown = shown_ && (!options_.body || bodies_.active());
  if (pending_ && is_shown == shown_) {
    row_.renamed.insert(row_.renamed.end(), passed.renamed.begin(), passed.renamed.end());
    if (row_.register_written == register_number) {
      row_.symbol = reg.symbol;
    } else if (!(reg.symbol == before)) {
      row_.renamed.push_back(register_number);
    }
  }
  if (!is_shown) return;
  if (!pending_) return deliver(passed);
  labels_.push_back(std::move(passed));
}

Claim Tracer::check(const BoundLabel& label, std::int64_t register_number,
                    const std::int64_t* loop_values, const SymbolName& name) {
  const std::string held_by = program_.register_name(register_number);
  const TraceRegister& reg = state_.registers()[static_cast<std::size_t>(register_number)];
  const auto where = [&] {
    const std::string loops = program_.loops_text(label.loop, loop_values);
    return "after step " + std::to_string(steps_) + (loops.empty() ? "" : ", " + loops) + ": ";
  };
  const std::string text = label.name->label;
  if (reg.written_at == 0) {
    fail({Severity::kError,
          Fault::kProgram,
          label.name->span,
          where() + "'" + text + "' names " + held_by + ", which no step has written",
          "a register that holds a value",
          {}});
    return Claim::kFalse;
  }
  if (!claims_) return Claim::kNone;
  std::vector<std::int64_t> subscripts;
  for (const Subscript& subscript : name.subscripts) subscripts.push_back(subscript.value);
  std::optional<Estimate> estimate;
  if (label.name->claim && !program_.tiled) {  // claims are about numbers
    estimate = claims_->evaluate(*label.name->claim, loop_values, label.loop);
  }
  claims_->define(text, subscripts, estimate);
  if (!label.name->claim) return Claim::kNone;
  ++(estimate ? summary_.claims_checked : summary_.claims_unchecked);
  if (!estimate) return Claim::kUnchecked;
  if (estimate->allows(reg.value, precision_.epsilon, precision_.smallest)) return Claim::kTrue;
  fail({Severity::kError,
        Fault::kProgram,
        label.name->span,
        where() + "the claim about '" + label_key(text, subscripts) +
            "' does not hold: " + held_by + " holds " + short_text(reg.value, 9),
        short_text(estimate->value, 9) + ", which " + to_string(*label.name->claim) + " is",
        {}});
  return Claim::kFalse;
}

void Tracer::fail(Diagnostic diagnostic) {
  if (!failure_) failure_ = std::move(diagnostic);
}

Result<Execution> Tracer::finish(Result<Execution> result) {
  flush();
  close_gap();
  if (result && surplus_) {
    Executions& executions = result->executions;
    Count& times = executions.times[*surplus_];
    executions.work[*surplus_] -= executions.work[*surplus_] / times;
    times -= 1;
    result->steps -= 1;
  }
  const bool nothing = options_.body && result && summary_.rows == 0 && !stopped_;
  if (nothing && !failure_) {
    fail(request_error("no loop over '" + *options_.body + "' executes a step",
                       "a loop that is not empty"));
  }
  if (failure_) result = std::move(*failure_);
  summary_.execution = result ? &*result : nullptr;
  if (!result && !result.diagnostics.empty()) summary_.error = &result.diagnostics.front();
  summary_.complete = result && !result->stopped && !stopped_;
  sink_.end(summary_);
  return result;
}

}  // namespace flashlab::toy::detail
