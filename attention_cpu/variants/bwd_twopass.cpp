// bwd-twopass: one pass over the tiles for dQ, one for dK and dV; threads never wait
// for each other.
//
//   delta = rowsum(dO o O)
//   for each group of queries i:  dQi = 0
//     for each K/V tile j:          P = exp(scale Q Kj^T - lse);  dS = P o (dO Vj^T - delta)
//                                   dQi += scale dS Kj
//   for each K/V tile j:          dKj = 0, dVj = 0
//     for each group of queries i:  P and dS again;  dVj += P^T dO;  dKj += scale dS^T Q
//
// Shapes   attention/problem.hpp
// Tiles    as bwd-onepass
// Parallel over batch, heads and groups of queries, then over batch, kv heads and K/V tiles; every
//          sum has a fixed order, so the bits do not depend on the number of threads
// Traffic  K and V once for each group, Q and dO once for each K/V tile
// Memory   detail/backward_queries.hpp, and a tile's P, dS, dK, dV per thread
// Against  bwd-onepass: S and dP computed twice (seven products instead of five), nothing shared
// Source   two-option algorithm, option 2
#include "attention_cpu/detail/build.hpp"
//
#include "attention_cpu/detail/two_passes.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

template <class Element>
void bwd_twopass(const BackwardCall<Element>& call) {
  TwoPasses<Element, Delta::kStored>(call).run();
}

template void bwd_twopass(const BackwardCall<float>&);
template void bwd_twopass(const BackwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
