// A grading worker's side: a process that grades one text after another. If it crashes, only the
// current text is lost.
#pragma once

#include "exercises/grader/grade/classroom.hpp"

namespace flashlab::exercises {

/// Exit code of a worker that ran out of memory and could not report it.
inline constexpr int kExitNoMemory = 3;

/// Reads a WorkOrder from the descriptor, enters the sandbox, and answers each GradingRequest with
/// its verdict, which `step` has completed within the same limits, until the other side closes.
/// Returns the process's exit code.
///
/// If FLASHLAB_TEST_WORKER is in the environment, a line in a text can request an action for tests:
///   "# test: crash", "# test: abort", "# test: exit", "# test: hang", "# test: sleep",
///   "# test: memory", "# test: open", "# test: connect", "# test: fork" or "# test: nonsense".
int serve_grading(int descriptor, const VerdictStep& step = {});

}  // namespace flashlab::exercises
