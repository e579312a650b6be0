// A trace as one self-contained web page with a player. The page itself is in player/.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <streambuf>
#include <string>
#include <string_view>

#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// A sink for trace JSON (version 1) that writes the page to `out` as the bytes arrive. An
/// std::ostream over it can be used wherever a trace is written as JSON. Memory does not grow with
/// the trace: the steps go into the page in blocks, which the player reads one by one.
///
/// Safe against hostile text: no "<" of the trace reaches the page, whether from titles, names and
/// source lines or from input that is not JSON; the player never makes markup from text; and the
/// page's content security policy forbids all requests and all other scripts.
class TraceHtmlBuffer final : public std::streambuf {
 public:
  explicit TraceHtmlBuffer(std::ostream& out);

  /// Ends the page and flushes it; call it once, after the last byte. Returns the number of entries
  /// of "steps" (instructions and labels). Errors (Fault::kRequest): the bytes were not a complete
  /// trace, or `out` failed. The page is well formed in any case, and reports what it could not
  /// read. `timeline`: from timeline_of_steps_json() for the same run; empty for none. `opens_at`:
  /// the step that the player shows first; 0: before the first one. `why`: lines about it for the
  /// reader. `figure`: from figure_json() for the same run.
  Result<std::uint64_t> finish(std::string_view timeline = {}, std::uint64_t opens_at = 0,
                               std::string_view why = {}, std::string_view figure = {});

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;

 private:
  enum class Part : std::uint8_t { kHead, kSteps, kTail };

  void take(char byte);
  void take_in_string(char byte);
  void take_structure(char byte);
  void take_step_structure(char byte);
  void put(char byte);
  void begin_block();
  void end_block();
  void flush();

  std::ostream& out_;
  std::string pending_;      // not yet in out_
  std::string key_;          // start of the last string of the outermost object
  Part part_ = Part::kHead;  // before, in, and after the array "steps"
  std::uint64_t depth_ = 0;  // of arrays and objects around the next byte
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_in_block_ = 0;
  std::uint64_t entries_in_block_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool after_colon_ = false;
  bool malformed_ = false;
};

/// Writes the page of a trace that was written as JSON earlier. Errors as for TraceHtmlBuffer.
Result<std::uint64_t> write_html(std::istream& trace_json, std::ostream& out);

}  // namespace flashlab::toy
