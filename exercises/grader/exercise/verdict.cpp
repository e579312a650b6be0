#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFull:
      return "full marks";
    case Outcome::kCostly:
      return "right, but costly";
    case Outcome::kPartial:
      return "partly right";
    case Outcome::kTooCostly:
      return "right, but too costly";
    case Outcome::kWrong:
      return "wrong";
    case Outcome::kRejected:
      return "rejected";
    case Outcome::kLimit:
      return "limit exceeded";
    case Outcome::kUnreadable:
      return "unreadable";
    case Outcome::kCrashed:
      return "crashed the grader";
  }
  return "";
}

}  // namespace flashlab::exercises
