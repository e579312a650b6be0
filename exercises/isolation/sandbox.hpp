// What a process that runs hostile work gives up. For good: no call takes it back.
//
// Limits (setrlimit) hold on every system: no file grows, no descriptor is opened, so that there is
// neither a file nor a socket beyond those inherited, no core is written, and memory ends. Linux
// adds two walls: a filter of system calls (seccomp) that leaves memory, the clock, and reading and
// writing what is open; and Landlock, by which no path can be opened at all. A kernel may lack
// either.
#pragma once

#include <cstdint>
#include <string>

namespace flashlab::exercises {

struct Sandbox {
  bool filters_calls = false;  // seccomp: no network, no process, no file
  bool locks_files = false;    // Landlock: no file
};

/// What a report says of it: "system calls filtered (seccomp), files locked (Landlock)".
std::string to_string(const Sandbox& sandbox);

/// Enters it. `bytes`: address space beyond what is mapped now; 0: not limited, as under a
/// sanitizer, which maps terabytes.
Sandbox enter_sandbox(std::int64_t bytes);

/// From now on this process may use so much more processor time, in whole seconds, rounded up;
/// beyond, SIGXCPU ends it. The caller of the process looks at the clock more closely: this is for
/// one whose caller has gone.
void limit_processor_time(std::int64_t milliseconds);

/// Whether a sanitizer watches this build's memory.
bool has_sanitizer();

}  // namespace flashlab::exercises
