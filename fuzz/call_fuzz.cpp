// Sends any bytes to the JSON interface, as a page or another process would. Besides crashes and endless
// calls, it detects answers that break its promises: text that is no JSON, an error without a reason or of
// flashlab itself, and two answers to one request.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cli/requests/flashlab_call.h"
#include "fuzz/claims.hpp"

namespace {

using flashlab::fuzz::expect;
using nlohmann::json;

std::string answer_to(std::string_view request) {
  const flashlab_limits limits = {100, std::int64_t{64} << 20, 10'000};
  char* const text = flashlab_call(request.data(), request.size(), &limits);
  expect(text != nullptr, "there is memory for an answer", request);
  std::string answer = text;
  flashlab_free(text);
  return answer;
}

/// An answer at a limit of time depends on the computer, and so do the seconds of a search.
bool depends_on_time(const json& answer, std::string_view request) {
  const auto found = answer.find("answer");
  const bool is_stopped_verdict = found != answer.end() && found->is_object() &&
                                  found->value("outcome", json()) == "limit exceeded";
  return is_stopped_verdict || answer.value("/error/kind"_json_pointer, "") == "limit" ||
         request.find("optimal") != std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view request(reinterpret_cast<const char*>(bytes), size);
  const std::string text = answer_to(request);
  const json answer = json::parse(text, nullptr, false);  // also checks UTF-8
  expect(answer.is_object(), "an answer is a JSON object", text);
  expect(answer["version"] == FLASHLAB_CALL_VERSION, "an answer has the version", text);
  expect(answer["ok"].is_boolean(), "an answer says whether it is one", text);
  expect(answer["ok"] != answer.contains("error"), "an answer or an error", text);
  if (answer["ok"] == true) {
    expect(answer.contains("answer"), "an answer holds something", text);
  } else {
    const json& error = answer["error"];
    static const std::set<std::string> kKinds = {"program", "request", "limit"};
    expect(kKinds.contains(error["kind"]), "an error is not flashlab's own", text);
    expect(error["exit_code"] >= 1 && error["exit_code"] <= 3, "an error has an exit code", text);
    expect(!error["what"].get<std::string>().empty(), "an error has a reason", text);
    expect(!error["text"].get<std::string>().empty(), "an error has a message", text);
  }
  if (depends_on_time(answer, request)) return 0;
  const std::string again = answer_to(request);
  // On a busy computer, the second call may be the one that reaches the limit.
  if (depends_on_time(json::parse(again, nullptr, false), request)) return 0;
  expect(text == again, "equal requests have equal answers", text);
  return 0;
}
