#include "attention_cuda/emulation/async/async_operations.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace flashlab::cuda::emulation {
namespace {

bool any_overlaps(const std::vector<SharedRange>& ranges, const SharedRange& bytes) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const SharedRange& range) { return range.overlaps(bytes); });
}

bool comes_before(const AsyncOperation& first, const AsyncOperation& second) {
  for (const AsyncOperation* at = second.before.get(); at != nullptr; at = at->before.get()) {
    if (at == &first) return true;
  }
  return false;
}

}  // namespace

void AsyncOperations::issue(AsyncHandle operation) {
  for (const AsyncHandle& other : in_flight_) {
    if (comes_before(*other, *operation)) continue;
    for (const SharedRange& bytes : operation->writes) {
      if ((!other->has_read && any_overlaps(other->reads, bytes)) ||
          any_overlaps(other->writes, bytes)) {
        throw std::logic_error(operation->name + " writes bytes " + bytes.text() +
                               " of shared memory, which " + other->name + " still uses");
      }
    }
    for (const SharedRange& bytes : operation->reads) {
      if (any_overlaps(other->writes, bytes)) {
        throw std::logic_error(operation->name + " reads bytes " + bytes.text() +
                               " of shared memory, which " + other->name + " has not written yet");
      }
    }
  }
  in_flight_.push_back(std::move(operation));
}

void AsyncOperations::require_unused(SharedRange bytes, const std::string& writer) const {
  for (const AsyncHandle& other : in_flight_) {
    if ((!other->has_read && any_overlaps(other->reads, bytes)) ||
        any_overlaps(other->writes, bytes)) {
      throw std::logic_error(writer + " writes bytes " + bytes.text() +
                             " of shared memory, which " + other->name + " still uses");
    }
  }
}

void AsyncOperations::step(AsyncOperation& operation) {
  if (!operation.has_read) {
    operation.read();
    operation.has_read = true;
  } else {
    operation.write();
    operation.is_complete = true;
    operation.before.reset();
  }
}

bool AsyncOperations::advance(Random& random) {
  if (in_flight_.empty()) return false;
  auto at = random.below(static_cast<std::uint32_t>(in_flight_.size()));
  AsyncOperation* chosen = in_flight_[at].get();
  while (chosen->before != nullptr && !chosen->before->is_complete) chosen = chosen->before.get();
  step(*chosen);
  remove_complete();
  return true;
}

void AsyncOperations::complete(const AsyncHandle& operation, bool only_reads) {
  if (operation->before != nullptr && !operation->before->is_complete) complete(operation->before);
  while (!operation->is_complete && !(only_reads && operation->has_read)) step(*operation);
  remove_complete();
}

void AsyncOperations::remove_complete() {
  std::erase_if(in_flight_, [](const AsyncHandle& operation) { return operation->is_complete; });
}

}  // namespace flashlab::cuda::emulation
