// flashlab_call(): parses, limits, and reports every error as JSON.
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "cli/requests/answers.hpp"
#include "cli/requests/diagnostics_json.hpp"
#include "cli/requests/flashlab_call.h"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "toymachine/budget/budget.hpp"

namespace flashlab::cli {
namespace {

const char* kind_of_error(ExitCode code) {
  return code == kExitProgramWrong ? "program" : code == kExitLimit ? "limit" : "request";
}

Json error_json(const Failure& failure) {
  const toy::Diagnostic* first =
      failure.diagnostics().empty() ? nullptr : &failure.diagnostics().front();
  const std::string text = failure.what();
  const bool placed = first != nullptr && first->span.line > 0;
  return {{"kind", kind_of_error(failure.code())},
          {"exit_code", failure.code()},
          {"place", placed ? "line " + std::to_string(first->span.line) + ", column " +
                                 std::to_string(first->span.column)
                           : ""},
          {"value", ""},
          {"what", first == nullptr ? text : first->what},
          {"expected", first == nullptr ? "" : first->expected},
          {"suggestion", first == nullptr ? "" : first->suggestion},
          {"text", text},
          {"diagnostics", diagnostics_json(failure.diagnostics())}};
}

Json error_json(const BadRequest& bad) {
  const Failure failure = request_failure(bad.problem, bad.expected, bad.suggestion);
  Json json = error_json(failure);
  json["place"] = bad.place;
  json["value"] = bad.value;
  return json;
}

Json limit_json(const std::string& what, const std::string& expected) {
  return error_json(Failure(kExitLimit,
                            "flashlab: error: " + what + "\n  expected " + expected + "\n",
                            {{toy::Severity::kError, toy::Fault::kLimit, {}, what, expected, {}}}));
}

/// {"version": 1, "ok": true, "answer": …, "notes": […]}, or "ok": false and "error".
std::string envelope(const std::optional<Answer>& answer, const Json& error, const Json& notes) {
  std::string text = "{\"version\":" + std::to_string(FLASHLAB_CALL_VERSION) +
                     ",\"ok\":" + (error.is_null() ? "true" : "false");
  const auto dump = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  if (answer) text += ",\"answer\":" + answer->json;
  if (!error.is_null()) text += ",\"error\":" + dump(error);
  return text + ",\"notes\":" + dump(notes) + "}";
}

/// Calls `work`, and returns the error with which it ended; null: with none.
template <class Work>
Json error_of(const Work& work) {
  try {
    work();
    return nullptr;
  } catch (const BadRequest& bad) {
    return error_json(bad);
  } catch (const Failure& failure) {
    return error_json(failure);
  } catch (const toy::BudgetExceeded& over) {
    return limit_json(std::string("this takes ") + over.what(), "less, or a larger limit");
  } catch (const std::bad_alloc&) {
    return limit_json("not enough memory", "a smaller request");
  } catch (const std::exception& error) {
    Json json = error_json(Failure(kExitRequestWrong, error.what()));
    json["kind"] = "internal";
    return json;
  }
}

void answer_text(std::string_view request, const CallLimits& limits, std::optional<Answer>& answer,
                 Json& error) {
  error = error_of([&] {
    const toy::Budget budget({limits.milliseconds, limits.bytes});
    const Json parsed = parse_request(request);
    ObjectReader reader(parsed, "");
    if (const auto version = reader.whole("version", 0, INT64_MAX);
        version && *version != FLASHLAB_CALL_VERSION) {
      throw reader.wrong("version", std::to_string(FLASHLAB_CALL_VERSION));
    }
    const GivenFiles files(given_texts(reader));
    answer = answer_request(reader, limits);
  });
  if (answer && answer->failed) error = error_json(*answer->failed);
}

CallLimits limits_of(const flashlab_limits* given) {
  CallLimits limits;
  if (given == nullptr) return limits;
  const auto set = [](std::int64_t value, std::int64_t& limit) {
    if (value > 0) limit = value;
  };
  set(given->milliseconds, limits.milliseconds);
  set(given->bytes, limits.bytes);
  set(given->steps, limits.steps);
  return limits;
}

}  // namespace
}  // namespace flashlab::cli

extern "C" char* flashlab_call(const char* request, size_t size, const flashlab_limits* limits) {
  using namespace flashlab::cli;
  try {
    const KeptWarnings warnings;
    std::optional<Answer> answer;
    Json error;
    answer_text({request, request == nullptr ? 0 : size}, limits_of(limits), answer, error);
    const std::string text = envelope(answer, error, diagnostics_json(warnings.all()));
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
  } catch (...) {
    return nullptr;  // no memory for the text of the error
  }
}

extern "C" void flashlab_free(char* answer) { std::free(answer); }
