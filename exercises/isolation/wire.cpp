#include "exercises/isolation/wire.hpp"

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace flashlab::exercises {
namespace {

class Writer {
 public:
  template <class Number>
  requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) void operator()(Number value) {
    std::array<char, sizeof value> raw;
    std::memcpy(raw.data(), &value, sizeof value);
    bytes_.append(raw.data(), raw.size());
  }
  void operator()(const std::string& text) {
    (*this)(std::uint64_t{text.size()});
    bytes_ += text;
  }
  void operator()(const toy::Count& count) { (*this)(count.get_str(62)); }
  template <class Value>
  void operator()(const std::vector<Value>& values) {
    (*this)(std::uint64_t{values.size()});
    for (const Value& value : values) (*this)(value);
  }
  template <class Key, class Value, class Compare>
  void operator()(const std::map<Key, Value, Compare>& entries) {
    (*this)(std::uint64_t{entries.size()});
    for (const auto& [key, value] : entries) (*this)(key), (*this)(value);
  }
  template <class Value>
  void operator()(const std::optional<Value>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  template <class Struct>
  requires std::is_class_v<Struct>
  void operator()(const Struct& value) { fields(*this, value); }
  std::string bytes() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  requires(std::is_arithmetic_v<Number>) void operator()(Number& value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  void operator()(bool& value) {
    const char raw = take(1)[0];
    if (raw != 0 && raw != 1) throw WireError("a truth value is neither 0 nor 1");
    value = raw == 1;
  }
  void operator()(Outcome& value) { enumerator(value, Outcome::kCrashed); }
  void operator()(ProofVerdict& value) { enumerator(value, ProofVerdict::kNotSearched); }
  void operator()(std::string& text) { text = take(length()); }
  void operator()(toy::Count& count) {
    std::string digits;
    (*this)(digits);
    if (count.set_str(digits, 62) != 0) throw WireError("a count is not a number");
  }
  template <class Value>
  void operator()(std::vector<Value>& values) {
    for (std::uint64_t left = length(); left > 0; --left) (*this)(values.emplace_back());
  }
  template <class Key, class Value, class Compare>
  void operator()(std::map<Key, Value, Compare>& entries) {
    for (std::uint64_t left = length(); left > 0; --left) {
      Key key;
      (*this)(key);
      (*this)(entries[key]);
    }
  }
  template <class Value>
  void operator()(std::optional<Value>& value) {
    bool there = false;
    (*this)(there);
    if (there) (*this)(value.emplace());
  }
  template <class Struct>
  requires std::is_class_v<Struct>
  void operator()(Struct& value) { fields(*this, value); }
  void end() const {
    if (!bytes_.empty()) throw WireError("bytes are left over");
  }

 private:
  /// Every element has at least one byte, so a length cannot exceed the remaining bytes.
  std::uint64_t length() {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > bytes_.size()) throw WireError("a length is beyond the end");
    return size;
  }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) throw WireError("the bytes end too early");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  template <class Enum>
  void enumerator(Enum& value, Enum last) {
    const auto number = static_cast<std::uint8_t>(take(1)[0]);
    if (number > static_cast<std::uint8_t>(last)) throw WireError("a word is out of its range");
    value = static_cast<Enum>(number);
  }

  std::string_view bytes_;
};

// The members of each struct, for both directions. A member that is missing here is lost: a test
// fills all of them.

template <class T, class Struct>
concept Is = std::is_same_v<std::remove_const_t<T>, Struct>;

template <class... Members>
void each(auto& archive, Members&... members) {
  (archive(members), ...);
}

void fields(auto& archive, Is<Finding> auto& finding) {
  each(archive, finding.what, finding.details, finding.line, finding.step, finding.inputs,
       finding.is_about_cost);
}
void fields(auto& archive, Is<Check> auto& check) {
  each(archive, check.name, check.passed, check.points, check.max_points, check.message);
}
void fields(auto& archive, Is<CostLine> auto& line) {
  each(archive, line.key, line.value, line.full, line.solution, line.naive, line.share);
}
void fields(auto& archive, Is<LoadLine> auto& line) {
  each(archive, line.line, line.compulsory, line.forced, line.avoidable, line.why);
}
void fields(auto& archive, Is<OrderCost> auto& order) {
  each(archive, order.cycles, order.loads, order.copy_cycles, order.unused_cycles);
}
void fields(auto& archive, Is<ProvenSize> auto& size) {
  each(archive, size.size, size.verdict, size.computation, size.allowed, size.floor_loads,
       size.floor_cycles, size.at_least_cycles, size.at_most_cycles, size.loads, size.stores,
       size.program, size.programs, size.programs_up_to_symmetry, size.states, size.seconds);
}
void fields(auto& archive, Is<SizeScore> auto& score) {
  each(archive, score.size, score.cycles, score.loads, score.order, score.proof);
}
void fields(auto& archive, Is<RankedTraffic> auto& traffic) {
  each(archive, traffic.name, traffic.bytes);
}
void fields(auto& archive, Is<Ranking> auto& ranking) {
  each(archive, ranking.sizes, ranking.programs, ranking.lower_bound);
}
void fields(auto& archive, Is<RegisterUse> auto& registers) {
  each(archive, registers.value, registers.solution);
}
void fields(auto& archive, Is<Verdict> auto& verdict) {
  each(archive, verdict.outcome, verdict.points, verdict.max_points, verdict.checks,
       verdict.findings, verdict.costs, verdict.size, verdict.registers, verdict.scores,
       verdict.loads, verdict.order_unknown, verdict.ranking);
}
void fields(auto& archive, Is<WorkOrder> auto& order) {
  each(archive, order.id, order.folder, order.files, order.seed, order.explain, order.milliseconds,
       order.bytes, order.sandboxed);
}

void fields(auto& archive, Is<Sandbox> auto& sandbox) {
  each(archive, sandbox.filters_calls, sandbox.locks_files);
}
void fields(auto& archive, Is<WorkerHello> auto& hello) {
  each(archive, hello.broken, hello.sandbox);
}
void fields(auto& archive, Is<GradingRequest> auto& request) {
  each(archive, request.name, request.text, request.for_report);
}

template <class Struct>
std::string encoded(const Struct& value) {
  Writer writer;
  writer(value);
  return writer.bytes();
}

template <class Struct>
Struct decoded(std::string_view bytes) {
  Reader reader(bytes);
  Struct value;
  reader(value);
  reader.end();
  return value;
}

}  // namespace

std::string encode(const Verdict& verdict) { return encoded(verdict); }
Verdict decode_verdict(std::string_view bytes) { return decoded<Verdict>(bytes); }
std::string encode(const WorkOrder& order) { return encoded(order); }
WorkOrder decode_work_order(std::string_view bytes) { return decoded<WorkOrder>(bytes); }
std::string encode(const WorkerHello& hello) { return encoded(hello); }
WorkerHello decode_hello(std::string_view bytes) { return decoded<WorkerHello>(bytes); }
std::string encode(const GradingRequest& request) { return encoded(request); }
GradingRequest decode_request(std::string_view bytes) { return decoded<GradingRequest>(bytes); }

}  // namespace flashlab::exercises
