// A row with figures that are easy to reason about.
#pragma once

#include "results/comparison.hpp"

namespace flashlab::test {

/// flash2 in bf16, N 4096, d 64; 1 ms predicted, of which `exp_ms` are exponentials.
inline compare::Row synthetic_row(double exp_ms = 0.1) {
  compare::Row row;
  row.variant = "flash2";
  row.kernel = "flash2_mma_sm80";
  row.dtype = "bf16";
  row.products = "native";
  row.mask = "none";
  row.batch = 4;
  row.num_heads = row.num_kv_heads = 8;
  row.seqlen_q = row.seqlen_k = 4096;
  row.head_dim = 64;
  row.work.dram = {60'000'000, 40'000'000};
  row.work.sm = compare::Traffic{960'000'000, 40'000'000};
  row.work.product_flops = 137'000'000'000;
  row.work.exps = 540'000'000;
  row.toy = row.work;
  row.usual_flops = 137'000'000'000;
  row.predicted.dram_ms = 0.1;
  row.predicted.sm_ms = 0.2;
  row.predicted.exp_ms = exp_ms;
  row.predicted.products_ms = 1 - exp_ms;
  row.predicted.roofline_ms = 0.6;
  row.predicted.overlap_ms = 1;
  row.predicted.bound = compare::Bound::kProducts;
  compare::Step step;
  step.name = "flash2";
  step.num_blocks = 1024;
  step.block_q = 128;
  step.block_kv = 64;
  step.work = row.work;
  step.predicted = row.predicted;
  row.steps = {step};
  return row;
}

inline compare::Measurement measured_in(double ms) {
  compare::Measurement measured;
  measured.median_ms = ms;
  measured.least_ms = 0.99 * ms;
  measured.most_ms = 1.01 * ms;
  measured.num_samples = 5;
  return measured;
}

/// With counters: what was counted crossed to the SMs, and DRAM moved each array once.
inline compare::Row measured_row(double ms, double exp_ms = 0.1) {
  compare::Row row = synthetic_row(exp_ms);
  row.measured = measured_in(ms);
  row.measured->sm = row.work.sm;
  row.measured->dram = row.work.dram;
  row.measured->tensor_percent = 51;
  row.measured->issue_percent = 41;
  row.measured->shared_percent = 34;
  return row;
}

}  // namespace flashlab::test
