// A grading worker's side: a process that grades one text after the other, and can lose nothing but
// the one that it holds.
#pragma once

namespace flashlab::exercises {

/// Exit code of a worker that had no memory left, even to say so.
inline constexpr int kExitNoMemory = 3;

/// Takes a WorkOrder from the descriptor, enters the sandbox, and answers each GradingRequest with
/// its verdict until the other side closes. Returns the process's exit code.
///
/// With FLASHLAB_TEST_WORKER in the environment, a text may ask for what no text should reach: a
/// line
/// "# test: crash", "# test: abort", "# test: exit", "# test: hang", "# test: sleep", "# test:
/// memory",
/// "# test: open", "# test: connect", "# test: fork" or "# test: nonsense".
int serve_grading(int descriptor);

}  // namespace flashlab::exercises
