// Tells of pages that get large.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace flashlab::cli {

/// Calls `write` with a stream to `out`. Before more than 5 MB are written, it says on standard error
/// that the page gets larger, and `advice`: how it could be smaller. Returns the number of bytes.
std::uint64_t write_with_size_note(std::ostream& out, const std::string& advice,
                                   const std::function<void(std::ostream&)>& write);

}  // namespace flashlab::cli
