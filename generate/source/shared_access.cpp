#include "generate/source/shared_access.hpp"

namespace flashlab::generate {
namespace {

bool overlap(const SharedPlace& a, const SharedPlace& b) {
  return a.offset < b.offset + b.bytes * b.stages && b.offset < a.offset + a.bytes * a.stages;
}

}  // namespace

std::string SharedAccess::before_read(std::size_t value) {
  std::string barrier;
  if (copying_.contains(value)) {
    barrier = "arrive();";
    arrive();
  } else if (written_.contains(value)) {
    barrier = barrier_;
    synchronize();
  }
  reading_.insert(value);
  return barrier;
}

std::string SharedAccess::before_write(std::size_t value) {
  const SharedPlace& place = *plan_.places[value].shared;
  const auto touches = [&](const std::set<std::size_t>& values) {
    for (const std::size_t other : values) {
      if (overlap(*plan_.places[other].shared, place)) return true;
    }
    return false;
  };
  if (touches(copying_)) {
    arrive();
    return "arrive();";
  }
  if (!touches(read_) && !touches(written_)) return {};
  synchronize();
  return barrier_;
}

void SharedAccess::unite(const SharedAccess& before) {
  copying_.insert(before.copying_.begin(), before.copying_.end());
  written_.insert(before.written_.begin(), before.written_.end());
  read_.insert(before.read_.begin(), before.read_.end());
}

}  // namespace flashlab::generate
