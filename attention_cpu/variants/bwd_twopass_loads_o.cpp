// bwd-twopass-loads-o: bwd-twopass as published listings write it, with O loaded in both passes.
//
//   for each group of queries i:  delta = rowsum(dOi o Oi);  dQi as in bwd-twopass
//   for each K/V tile j:
//     for each group of queries i:  delta = rowsum(dOi o Oi) again;  dKj, dVj as in bwd-twopass
//
// Shapes   attention/problem.hpp
// Tiles, Parallel, Memory  as bwd-twopass, and a group's delta per thread; the same bits
// Traffic  as bwd-twopass, and O once for each group, then once for each group and K/V tile
// Against  bwd-twopass: what it costs to load O where one number per query is enough
// Source   two-option algorithm, option 2 as printed
#include "attention_cpu/detail/build.hpp"
//
#include "attention_cpu/detail/two_passes.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

template <class Element>
void bwd_twopass_loads_o(const BackwardCall<Element>& call) {
  TwoPasses<Element, Delta::kFromO>(call).run();
}

template void bwd_twopass_loads_o(const BackwardCall<float>&);
template void bwd_twopass_loads_o(const BackwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
