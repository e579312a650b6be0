// A trace as one self-contained web page with a player. The page itself: player/.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <streambuf>
#include <string>
#include <string_view>

#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// A sink for trace JSON (version 1) that writes the page to `out` as the bytes arrive: an
/// std::ostream over it goes wherever a trace can be written as JSON. Memory does not grow with the
/// trace: the steps go into the page in blocks, which the player reads one by one.
///
/// Safe against hostile text: no "<" of the trace reaches the page, neither in titles, names and
/// source lines nor where it is not JSON at all; the player never makes markup out of text; and the
/// page's content security policy forbids every request and every other script sink.
class TraceHtmlBuffer final : public std::streambuf {
 public:
  explicit TraceHtmlBuffer(std::ostream& out);

  /// Ends the page and flushes it; call it once, after the last byte. The value is the number of
  /// entries of "steps" (instructions and labels). Errors (Fault::kRequest): the bytes were no
  /// whole trace, or `out` failed. The page is well formed all the same, and says what it could not
  /// read. `timeline`: of the same run, by timeline_of_steps_json(); empty for none.
  Result<std::uint64_t> finish(std::string_view timeline = {});

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
  std::string key_;          // beginning of the last string of the outermost object
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

/// The page of a trace that was written as JSON before. As TraceHtmlBuffer.
Result<std::uint64_t> write_html(std::istream& trace_json, std::ostream& out);

}  // namespace flashlab::toy
