// Takes rights away from a process that runs hostile work. No call gives them back.
//
// Limits (setrlimit) work on every system: files cannot grow, no descriptor can be opened (so there
// are no files or sockets besides inherited ones), no core is written, and memory is limited. Linux
// adds two barriers. A filter of system calls (seccomp) allows only memory, the clock, and reading
// and writing of open descriptors. Landlock forbids opening any path. A kernel may lack either.
#pragma once

#include <cstdint>
#include <string>

namespace flashlab::exercises {

struct Sandbox {
  bool filters_calls = false;  // seccomp: no network, processes or files
  bool locks_files = false;    // Landlock: no files
};

/// Returns the text for a report: "system calls filtered (seccomp), files locked (Landlock)".
std::string to_string(const Sandbox& sandbox);

/// Enters the sandbox. `bytes`: address space beyond what is mapped now; 0: no limit, as under a
/// sanitizer, which maps terabytes.
Sandbox enter_sandbox(std::int64_t bytes);

/// Limits the further processor time of this process, rounded up to whole seconds. After that,
/// SIGXCPU ends it. The parent process measures time more precisely; this limit works even if the
/// parent has ended.
void limit_processor_time(std::int64_t milliseconds);

/// Returns whether a sanitizer checks this build's memory.
bool has_sanitizer();

}  // namespace flashlab::exercises
