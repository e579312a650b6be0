// The table of variants: one row for each file attention_cpu/variants/<function>.cpp.
//
// Columns  function, name, what it does, source
#pragma once

// clang-format off
#define FLASHLAB_VARIANTS(FORWARD, BACKWARD) \
  FORWARD(naive, "naive",                                                                         \
    "S, then P, then O, everything stored: product, scale, mask, row max, subtract, exp, row "    \
    "sum, divide, product, each its own pass",                                                    \
    "FA2 backward post, eager")                                                                   \
  FORWARD(fused_softmax, "fused-softmax",                                                         \
    "product, scale, one softmax pass, product: what a compiler gets",                            \
    "FA2 backward post")                                                                          \
  FORWARD(three_pass, "three-pass",                                                               \
    "nothing n x n stored: K read three times (max, sum, output), S computed again each time, "   \
    "V read once",                                                                                \
    "toy-model notes, safe softmax")                                                              \
  FORWARD(online, "online",                                                                       \
    "running max and sum, fused with V: one pass, one query at a time",                           \
    "Milakov and Gimelshein 2018, algorithm 3; toy-model notes")                                  \
  FORWARD(flash1, "flash1",                                                                       \
    "tiles, outer loop over K and V: O, m, l read and written for every tile of K and V",         \
    "Dao et al. 2022, FlashAttention, algorithm 1")                                               \
  FORWARD(flash2, "flash2",                                                                       \
    "tiles, outer loop over Q: O stays until it is done; stores O and lse",                       \
    "Dao 2023, FlashAttention-2, algorithm 1")                                                    \
  FORWARD(split_kv, "split-kv",                                                                   \
    "K and V split among workers, their (m, l, O) merged: for few queries and long K",            \
    "Dao et al. 2023, Flash-Decoding; toy-model notes, tile merge")                               \
  BACKWARD(bwd_naive, "bwd-naive",                                                                \
    "P, dP and dS stored",                                                                        \
    "toy-model notes; two-option algorithm")                                                      \
  BACKWARD(bwd_onepass, "bwd-onepass",                                                            \
    "tiles, outer loop over K and V, dQ added up",                                                \
    "Dao 2023, FlashAttention-2, algorithm 2; two-option algorithm, option 1")                    \
  BACKWARD(bwd_twopass, "bwd-twopass",                                                            \
    "one pass for dQ, one for dK and dV; nothing is shared",                                      \
    "two-option algorithm, option 2")                                                             \
  BACKWARD(bwd_twopass_loads_o, "bwd-twopass-loads-o",                                            \
    "bwd-twopass that loads O in both passes instead of one number per query",                    \
    "two-option algorithm, option 2 as printed")
// clang-format on
