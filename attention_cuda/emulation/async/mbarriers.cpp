#include "attention_cuda/emulation/async/mbarriers.hpp"

#include <stdexcept>

namespace flashlab::cuda::emulation {
namespace {

constexpr std::size_t kBarrierBytes = 8;
constexpr int kMostArrivals = (1 << 20) - 1;

std::string place_text(std::size_t at) { return "the mbarrier at byte " + std::to_string(at); }

}  // namespace

void Mbarriers::init(std::size_t at, int num_arrivals, int thread) {
  if (at % kBarrierBytes != 0) {
    throw std::logic_error(place_text(at) + " is not at a multiple of 8 bytes");
  }
  if (num_arrivals < 1 || num_arrivals > kMostArrivals) {
    throw std::logic_error(place_text(at) + " is initialised for " + std::to_string(num_arrivals) +
                           " arrivals; expected 1 to " + std::to_string(kMostArrivals));
  }
  const auto [barrier, is_new] = barriers_.try_emplace(at);
  if (!is_new) throw std::logic_error(place_text(at) + " is initialised twice");
  barrier->second = {num_arrivals, num_arrivals, thread, 0, 0, false};
}

void Mbarriers::fence_init(int thread) {
  for (auto& [at, barrier] : barriers_) {
    if (barrier.initialised_by == thread) barrier.is_fenced = true;
  }
}

Mbarriers::Barrier& Mbarriers::at_place(std::size_t at) {
  const auto found = barriers_.find(at);
  if (found == barriers_.end()) throw std::logic_error(place_text(at) + " was never initialised");
  return found->second;
}

const Mbarriers::Barrier& Mbarriers::at_place(std::size_t at) const {
  return const_cast<Mbarriers*>(this)->at_place(at);
}

void Mbarriers::end_phase_if_complete(Barrier& barrier) {
  if (barrier.missing_arrivals != 0 || barrier.missing_bytes != 0) return;
  ++barrier.phase;
  barrier.missing_arrivals = barrier.num_arrivals;
}

void Mbarriers::arrive(std::size_t at) {
  Barrier& barrier = at_place(at);
  if (barrier.missing_arrivals == 0) {
    throw std::logic_error(place_text(at) + " gets more arrivals than the " +
                           std::to_string(barrier.num_arrivals) + " of its phase");
  }
  --barrier.missing_arrivals;
  end_phase_if_complete(barrier);
}

void Mbarriers::expect(std::size_t at, std::int64_t bytes) { at_place(at).missing_bytes += bytes; }

void Mbarriers::complete(std::size_t at, std::int64_t bytes) {
  Barrier& barrier = at_place(at);
  barrier.missing_bytes -= bytes;
  end_phase_if_complete(barrier);
}

void Mbarriers::require_fenced(std::size_t at, const std::string& user) const {
  if (at_place(at).is_fenced) return;
  throw std::logic_error(user + " uses " + place_text(at) +
                         ", whose initialisation no fence.mbarrier_init followed");
}

bool Mbarriers::is_complete(std::size_t at, unsigned parity) const {
  return at_place(at).phase % 2 != parity;
}

std::string Mbarriers::missing(std::size_t at) const {
  const Barrier& barrier = at_place(at);
  return place_text(at) + ": phase " + std::to_string(barrier.phase) + " misses " +
         std::to_string(barrier.missing_arrivals) + " of " + std::to_string(barrier.num_arrivals) +
         " arrivals and " + std::to_string(barrier.missing_bytes) + " bytes";
}

}  // namespace flashlab::cuda::emulation
