#include "cli/requests/request_reader.hpp"

#include <cmath>
#include <utility>

#include "cli/terminal/failure.hpp"
#include "text/encoding.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::cli {
namespace {

/// Returns the value for a message: on one line, cut.
std::string value_shown(const Json& value) {
  constexpr std::size_t kMost = 80;
  if (value.is_structured() && value.size() > kMost) {
    return std::string(value.is_object() ? "an object" : "a list") + " of " +
           std::to_string(value.size());
  }
  std::string text = printable(value.dump(-1, ' ', true, Json::error_handler_t::replace));
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

/// Escapes a key for a JSON pointer.
std::string pointer_part(const std::string& key) {
  std::string text;
  for (const char c : key) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return printable(text);
}

/// Checks while the text is parsed, so that a deep text takes no deep recursion later.
class StructureCheck {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start)
      keys_.resize(static_cast<std::size_t>(depth) + 1);
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      if (depth >= kMostDepth) {
        throw bad("the request is nested too deeply",
                  std::to_string(kMostDepth) + " levels at most");
      }
      if (event == Json::parse_event_t::object_start) keys_.back().clear();
    }
    if (event == Json::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (!keys_[static_cast<std::size_t>(depth) - 1].insert(key).second) {
        BadRequest twice =
            bad("the field " + in_quotes(key) + " is given twice", "each field once");
        twice.place = "/" + pointer_part(key);  // without the objects around it
        throw BadRequest(std::move(twice));
      }
    }
    return true;
  }

 private:
  static constexpr int kMostDepth = 32;

  static BadRequest bad(const std::string& problem, const std::string& expected) {
    BadRequest error;
    error.problem = problem;
    error.expected = expected;
    return error;
  }

  std::vector<std::set<std::string>> keys_;
};

}  // namespace

Json parse_request(std::string_view text) {
  try {
    StructureCheck check;
    return Json::parse(without_half_characters(std::string(text)),
                       [&](int depth, Json::parse_event_t event, Json& parsed) {
                         return check(depth, event, parsed);
                       });
  } catch (const Json::parse_error& error) {
    BadRequest bad;
    bad.place = "byte " + std::to_string(error.byte);
    const std::size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    bad.value = printable(std::string(text.substr(at, 20)));
    bad.problem = "the request is not JSON";
    bad.expected = "a JSON object in UTF-8";
    throw BadRequest(std::move(bad));
  } catch (const Json::out_of_range&) {
    BadRequest bad;
    bad.problem = "the request has a number that is too large";
    bad.expected = "numbers that a double holds";
    throw BadRequest(std::move(bad));
  }
}

ObjectReader::ObjectReader(const Json& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (object.is_object()) return;
  BadRequest bad;
  bad.place = place_;
  bad.value = value_shown(object);
  bad.problem = (place_.empty() ? "the request" : place_) + " is no object";
  bad.expected = "an object with named fields";
  throw BadRequest(std::move(bad));
}

std::string ObjectReader::place_of(const std::string& key) const {
  return place_ + "/" + pointer_part(key);
}

BadRequest ObjectReader::wrong(const std::string& key, const std::string& expected) const {
  const auto found = object_.find(key);
  BadRequest bad;
  bad.place = place_of(key);
  if (found != object_.end()) bad.value = value_shown(*found);
  bad.problem = found == object_.end() ? bad.place + " is missing" : bad.place + " is " + bad.value;
  bad.expected = expected;
  return bad;
}

const Json* ObjectReader::any(const std::string& key) {
  known_.insert(key);
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

std::optional<std::string> ObjectReader::text(const std::string& key) {
  const Json* value = any(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) throw wrong(key, "a text");
  return value->get<std::string>();
}

std::string ObjectReader::required_text(const std::string& key, const std::string& expected) {
  const Json* value = any(key);
  if (value == nullptr || !value->is_string()) throw wrong(key, expected);
  return value->get<std::string>();
}

std::optional<std::string> ObjectReader::one_of(const std::string& key,
                                                const std::vector<std::string>& allowed) {
  const Json* value = any(key);
  if (value == nullptr) return std::nullopt;
  std::string list;
  for (const std::string& one : allowed) list += (list.empty() ? "" : ", ") + one;
  if (!value->is_string()) throw wrong(key, list);
  const auto chosen = value->get<std::string>();
  if (std::find(allowed.begin(), allowed.end(), chosen) != allowed.end()) return chosen;
  BadRequest bad = wrong(key, list);
  bad.suggestion = nearest(chosen, allowed).value_or("");
  throw BadRequest(std::move(bad));
}

std::optional<std::int64_t> ObjectReader::whole(const std::string& key, std::int64_t least,
                                                std::int64_t most) {
  const Json* value = any(key);
  if (value == nullptr) return std::nullopt;
  const bool too_large =
      value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  if (value->is_number_integer() && !too_large) {
    const auto number = value->get<std::int64_t>();
    if (number >= least && number <= most) return number;
  }
  throw wrong(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

std::optional<double> ObjectReader::number(const std::string& key, double least, double most) {
  const Json* value = any(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {
    const auto number = value->get<double>();
    if (number >= least && number <= most) return number;
  }
  throw wrong(key, "a number from " + Json(least).dump() + " to " + Json(most).dump());
}

bool ObjectReader::flag(const std::string& key) {
  const Json* value = any(key);
  if (value == nullptr) return false;
  if (!value->is_boolean()) throw wrong(key, "true or false");
  return value->get<bool>();
}

void ObjectReader::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (known_.contains(key)) continue;
    const std::vector<std::string> names(known_.begin(), known_.end());
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    BadRequest bad;
    bad.place = place_of(key);
    bad.value = value_shown(value);
    bad.problem = "there is no field " + in_quotes(key) + " here";
    bad.expected = "one of " + list;
    bad.suggestion = nearest(key, names).value_or("");
    throw BadRequest(std::move(bad));
  }
}

void ObjectReader::at(const std::string& key, const std::function<void()>& use) const {
  try {
    use();
  } catch (const Failure& failure) {
    if (failure.code() != kExitRequestWrong || failure.diagnostics().empty()) throw;
    const toy::Diagnostic& first = failure.diagnostics().front();
    BadRequest bad = wrong(key, first.expected);
    bad.problem = first.what;
    bad.suggestion = first.suggestion;
    throw BadRequest(std::move(bad));
  }
}

}  // namespace flashlab::cli
