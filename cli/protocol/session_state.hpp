// Which requests a session with an editor takes when. Each protocol has one table of its requests; a
// request that its state does not allow never reaches its handler.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace flashlab::cli {

/// States are bits, so that a row can name several.
enum SessionState : unsigned {
  kNew = 1,       // before `initialize`
  kReady = 2,     // of a debugger: no program was launched, or the launch failed
  kLaunched = 4,  // of a debugger: a program is there
  kEnded = 8,     // after `shutdown` or `terminate`
};
inline constexpr unsigned kAlways = kNew | kReady | kLaunched | kEnded;

template <class Handler>
struct RequestRow {
  Handler handler;
  unsigned states = kAlways;
  bool during_search = false;  // answered at once, even while the run searches
};

/// By the request's name.
template <class Handler>
using RequestTable = std::map<std::string, RequestRow<Handler>>;

}  // namespace flashlab::cli
