// The table of variants over several ranks: one row for each function in rank_programs.cpp.
//
// Columns  function, name, what it does, source
#pragma once

// clang-format off
#define FLASHLAB_RANK_VARIANTS(FORWARD, BACKWARD) \
  FORWARD(ring, "ring",                                                                           \
    "K and V pass from rank to rank while each attends to those that it has",                     \
    "Liu et al. 2023, Ring Attention")                                                            \
  FORWARD(gather_kv, "gather-kv",                                                                 \
    "each rank fetches all K and V that its queries see, and attends to what has arrived",        \
    "Llama Team 2024, The Llama 3 Herd of Models, section 3.3.2")                                 \
  BACKWARD(bwd_ring, "bwd-ring",                                                                  \
    "the ring, where sums of dK and dV follow their keys",                                        \
    "Liu et al. 2023, Ring Attention")                                                            \
  BACKWARD(bwd_gather_kv, "bwd-gather-kv",                                                        \
    "gather-kv, then each part of dK and dV goes to the rank of the keys",                        \
    "Llama Team 2024, The Llama 3 Herd of Models, section 3.3.2")
// clang-format on
