// Replays on the machine's number types.
#include <type_traits>
#include <utility>

#include "toymachine/budget/budget.hpp"
#include "toymachine/count/step_limit.hpp"
#include "toymachine/execute/execute_tile.hpp"
#include "toymachine/execute/interpret.hpp"
#include "toymachine/execute/tile_access.hpp"
#include "toymachine/replay/checkpoints.hpp"
#include "toymachine/replay/register_watch.hpp"
#include "toymachine/replay/replay.hpp"

namespace flashlab::toy {
namespace {

/// Of processor time, so that a busy machine does not change the distance of checkpoints.
double seconds_since(std::int64_t nanoseconds) {
  return 1e-9 * static_cast<double>(thread_nanoseconds() - nanoseconds);
}

template <class Value>
class ReplayRun final : public Replay {
  using Cell = typename detail::ValueTraits<Value>::Cell;
  using Interpreter = detail::Interpreter<Value, detail::RegisterWatch<Value>>;

  /// A saved run, with its size.
  struct Saved : Interpreter::Saved {
    std::int64_t bytes() const {
      auto total = static_cast<std::int64_t>(
          sizeof(*this) + 8 * (this->loop_values.size() + this->last_values.size() +
                               this->block_runs.size() + this->work.size()));
      for (const Value& value : this->registers) {
        total += static_cast<std::int64_t>(sizeof(value));
        if constexpr (detail::ValueTraits<Value>::kTiles) {
          total += value.shape().rows * value.shape().cols *
                   static_cast<std::int64_t>(sizeof(Cell));  // more than an input's takes
        }
      }
      return total;
    }
  };
  using Entry = detail::Checkpoint<Saved, Cell>;

 public:
  ReplayRun(const BoundProgram& program, std::uint64_t total, InitialDram dram,
            const ReplayOptions& options)
      : Replay(program, total, options.double_precision),
        memory_(program, std::move(dram)),
        watch_(program, memory_),
        run_(program, memory_.cells(), watch_),
        checkpoints_(options.max_checkpoint_bytes),
        interval_(options.seconds_between_checkpoints) {
    run_.run_to(0);  // into the first loops
    save();
  }

  std::uint64_t step() const override { return run_.steps(); }
  RunPoint point() const override {
    return {run_.next_site(), {run_.loop_values().begin(), run_.loop_values().end()}};
  }
  const Diagnostic* error() const override { return run_.error() ? &*run_.error() : nullptr; }
  double cell(std::int64_t element) override {
    memory_.need(element, 1);
    return static_cast<double>(memory_.cells()[static_cast<std::size_t>(element)]);
  }
  Execution execution() const override { return run_.result(); }
  std::int64_t checkpoint_bytes() const override { return checkpoints_.bytes(); }

  RegisterContents register_contents(std::int64_t number) const override {
    const Value& value = run_.registers()[static_cast<std::size_t>(number)];
    RegisterContents contents;
    if constexpr (detail::ValueTraits<Value>::kTiles) {
      contents.rows = value.shape().rows;
      contents.cols = value.shape().cols;
      for (std::int64_t row = 0; row < contents.rows; ++row) {
        for (std::int64_t column = 0; column < contents.cols; ++column) {
          contents.elements.push_back(
              static_cast<double>(value.data()[row * value.stride() + column]));
        }
      }
    } else if (detail::ValueTraits<Value>::is_written(value)) {
      contents = {1, 1, {static_cast<double>(value)}};
    }
    return contents;
  }

  Stop go_to(std::uint64_t step, const Progress& progress) override {
    watch_.set({});
    approach(step);
    return advance(step, progress);
  }

 protected:
  Stop run_watching(std::uint64_t step, std::span<const Breakpoint> breakpoints, bool skips,
                    const Progress& progress) override {
    set_watch(breakpoints);
    if (watch_.is_empty()) approach(step);
    const Stop stop = advance(step, progress, skips);
    watch_.set({});
    return stop;
  }

  std::optional<ValueStop> last_watched(std::uint64_t floor,
                                        std::span<const Breakpoint> breakpoints,
                                        const Progress& progress, bool& cancelled) override {
    set_watch(breakpoints);
    if (watch_.is_empty()) return std::nullopt;
    std::optional<ValueStop> found;
    std::uint64_t limit = step();
    bool includes_limit = false;  // a stop at a checkpoint belongs to the interval before it
    while (!found && !cancelled && limit > floor) {
      const Entry& entry = checkpoints_.at_or_before(limit - 1);
      const std::uint64_t first = entry.saved.steps;
      restore(entry);
      bool skips = false;
      for (;;) {
        const Stop stop = advance(limit, {}, skips);
        if (stop.reason != Stop::Reason::kBreakpoint) break;
        if (step() > floor && (step() < limit || includes_limit)) {
          found = ValueStop{step(), stop.breakpoint};
        }
        if (step() >= limit) break;
        skips = true;
      }
      limit = first;
      includes_limit = true;
      cancelled = progress && !progress(first);
    }
    watch_.set({});
    return found;
  }

 private:
  static constexpr double kShareOfSaving = 0.1;
  /// Steps from a checkpoint made while going back, which makes the next steps back short.
  static constexpr std::uint64_t kNear = 1024;
  static constexpr std::uint64_t kFewSteps = 16;

  void set_watch(std::span<const Breakpoint> breakpoints) {
    std::vector<detail::WatchedTest> tests;
    for (std::size_t i = 0; i < breakpoints.size(); ++i) {
      const Breakpoint& one = breakpoints[i];
      if (!one.test || one.kind == Breakpoint::Kind::kWritten) continue;
      detail::WatchedTest test{one.place.number, *one.test, std::nullopt, i};
      if (one.kind == Breakpoint::Kind::kLine) test.before_site = one.site;
      tests.push_back(test);
    }
    watch_.set(std::move(tests));
  }

  void save() {
    const auto began = thread_nanoseconds();
    std::int64_t new_bytes = 0;
    auto cells = memory_.save(&new_bytes);
    if (checkpoints_.add({Saved{run_.save()}, std::move(cells)}, new_bytes)) interval_ *= 2;
    interval_ = std::max(interval_, seconds_since(began) / kShareOfSaving);
    since_save_ = 0;
  }

  void restore(const Entry& entry) {
    memory_.restore(entry.cells);
    run_.restore(entry.saved);
  }

  /// Restores the checkpoint from which the step is nearest, unless the current state is nearer.
  void approach(std::uint64_t target) {
    const bool may_go_on = !run_.error() && run_.steps() <= target;
    if (may_go_on && run_.steps() == target) return;
    if (run_.error() && target > run_.steps()) return;
    const Entry* best = &checkpoints_.at_or_before(target);
    if (near_ && near_->saved.steps <= target && near_->saved.steps > best->saved.steps) {
      best = &*near_;
    }
    if (may_go_on && best->saved.steps <= run_.steps()) return;
    restore(*best);
    if (target - best->saved.steps <= 2 * kNear) return;
    memory_.need_all();
    run_.run_to(target - kNear);
    if (!run_.error()) near_ = Entry{Saved{run_.save()}, memory_.save()};
  }

  /// Returns up to which step the cells that the run needs have their values: over few steps, the next
  /// one, and otherwise `target`, because then all get theirs.
  std::uint64_t with_cells_ready(std::uint64_t target) {
    if (memory_.is_complete()) return target;
    if (target - run_.steps() > kFewSteps) {
      memory_.need_all();
      return target;
    }
    const std::int64_t* const loop_values = run_.loop_values().data();
    for (const BoundOperand& operand : program_.instructions[run_.next_site()].operands) {
      if (!is_memory(operand.kind)) continue;
      const BoundArray& array = program_.arrays[operand.array];
      const detail::Shape shape = detail::cell_shape(array, operand, loop_values);
      memory_.need(operand.index(loop_values),
                   (shape.rows - 1) * array.extents.back() + shape.cols);
    }
    return run_.steps() + 1;
  }

  /// Goes on to the step. `skips`: a test of the next instruction's line does not stop.
  Stop advance(std::uint64_t target, const Progress& progress, bool skips = false) {
    const auto first = thread_nanoseconds();
    while (!run_.error() && run_.steps() < target && !at_end()) {
      watch_.begin(run_.registers().data(), run_.next_site(), skips);
      const auto began = thread_nanoseconds();
      const std::uint64_t pause = std::min(with_cells_ready(target), run_.steps() + chunk_);
      run_.run_to(pause);
      skips = false;
      if (watch_.passed()) return {Stop::Reason::kBreakpoint, *watch_.passed()};
      account(seconds_since(began));
      if (run_.steps() >= target) break;
      if (progress && seconds_since(first) > 0.1 && !progress(run_.steps())) {
        return {Stop::Reason::kCancelled, 0};
      }
    }
    if (run_.error()) return {Stop::Reason::kError, 0};
    if (at_end() && run_.steps() < target) return {Stop::Reason::kEnd, 0};
    return {Stop::Reason::kStep, 0};
  }

  /// Takes a checkpoint if enough time has passed on new ground, and sets the length of the next
  /// part of a run so that it takes a few milliseconds.
  void account(double seconds) {
    constexpr double kLongest = 0.01, kShortest = 0.0025;
    if (seconds > kLongest) chunk_ = std::max<std::uint64_t>(chunk_ / 2, 1);
    if (seconds < kShortest && run_.steps() > 0) chunk_ = std::min(chunk_ * 2, kMostChunk);
    if (run_.error() || run_.steps() <= checkpoints_.last().saved.steps) return;
    since_save_ += seconds;
    if (since_save_ >= interval_) save();
  }

  static constexpr std::uint64_t kMostChunk = std::uint64_t{1} << 26;

  detail::PagedMemory<Cell> memory_;
  detail::RegisterWatch<Value> watch_;
  Interpreter run_;
  detail::Checkpoints<Saved, Cell> checkpoints_;
  std::optional<Entry> near_;
  std::uint64_t chunk_ = 1024;
  double interval_, since_save_ = 0;
};

template <class Number>
std::unique_ptr<Replay> make_replay(const BoundProgram& program, std::uint64_t total,
                                    InitialDram dram, const ReplayOptions& options) {
  if (program.tiled) {
    return std::make_unique<ReplayRun<detail::Tile<Number>>>(program, total, std::move(dram),
                                                             options);
  }
  return std::make_unique<ReplayRun<Number>>(program, total, std::move(dram), options);
}

}  // namespace

Result<std::unique_ptr<Replay>> Replay::start(const BoundProgram& program, InitialDram dram,
                                              const ReplayOptions& options) {
  if (auto error = detail::too_many_steps(program)) return std::move(*error);
  const auto total = NestSteps(program).total();
  if (!total) {
    const std::string most = std::to_string(NestSteps::kMostSummed);
    return Diagnostic{Severity::kError,
                      Fault::kLimit,
                      {},
                      "loops with inner loops of different lengths have more than " + most +
                          " iterations, too many to go back in",
                      "at most " + most + "; 'run' takes more",
                      {}};
  }
  return options.double_precision ? make_replay<double>(program, *total, std::move(dram), options)
                                  : make_replay<float>(program, *total, std::move(dram), options);
}

}  // namespace flashlab::toy
