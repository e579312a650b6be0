// The structures that cross the door for a comparison. Both sides compile this file.
#include "compare/rows/gpu_measurements.hpp"

FLASHLAB_FIELDS(flashlab::compare::Traffic, bytes_read, bytes_written);
FLASHLAB_FIELDS(flashlab::compare::Work, dram, sm, product_flops, elementwise_flops, divisions,
                exps);
FLASHLAB_FIELDS(flashlab::compare::Prediction, dram_ms, sm_ms, products_ms, elementwise_ms, exp_ms,
                launch_ms, fill, roofline_ms, overlap_ms, bound, shared_ms, sums_ms, issue_ms,
                wait_ms, warps, clock_ghz, units_ms);
FLASHLAB_FIELDS(flashlab::compare::Measurement, median_ms, least_ms, most_ms, num_samples,
                clock_ghz, dram, sm, tensor_percent, exp_percent, issue_percent, shared_percent,
                why_no_counters);
FLASHLAB_FIELDS(flashlab::compare::Step, name, num_launches, num_blocks, block_q, block_kv,
                num_threads, shared_bytes, work, predicted, measured);
FLASHLAB_FIELDS(flashlab::compare::PallasBytes, formula, prose);
FLASHLAB_FIELDS(flashlab::compare::Row, variant, kernel, pass, dtype, products, mask, batch,
                num_heads, num_kv_heads, seqlen_q, seqlen_k, head_dim, tile, toy, work, predicted,
                pallas_bytes, pallas_ms, usual_flops, tensor_bytes, workspace_bytes,
                prediction_sha256, steps, measured, failure, sentence);
FLASHLAB_FIELDS(flashlab::gpu::Latencies, shared, mma, wgmma, exp, shuffle, barrier, l2, dram,
                instruction);
FLASHLAB_FIELDS(flashlab::gpu::GpuSpec, name, key, compute_capability,
                shared_memory_per_block_bytes, shared_memory_per_sm_bytes, num_sms, boost_clock_hz,
                tensor_boost_clock_hz, memory_bytes, l2_bytes, dram_bytes_per_s, flops_per_s,
                exps_per_clock_per_sm, additions_per_clock_per_sm, shared_bytes_per_clock_per_sm,
                instructions_per_clock_per_sm, mma_share, arithmetic_clocks, constant_clocks,
                latency, shared_clock_drop, other_models, sources);
FLASHLAB_FIELDS(flashlab::compare::Rate, per_s, is_measured);
FLASHLAB_FIELDS(flashlab::compare::MachineModel, gpu, dram_copy, dram_read, sm, shared, elementwise,
                exps, divisions, additions, bulk_additions, products, launch_s);
FLASHLAB_FIELDS(flashlab::compare::Calibration, gpu_name, date, driver, cuda, dram_copy_bytes_per_s,
                dram_read_bytes_per_s, sm_bytes_per_s, shared_bytes_per_s, additions_bytes_per_s,
                bulk_additions_bytes_per_s, flops_per_s, elementwise_per_s, exps_per_s,
                divisions_per_s, launch_s, l2_bytes);
FLASHLAB_FIELDS(flashlab::compare::CalibratedRate, key, unit, median, least, most);
FLASHLAB_FIELDS(flashlab::compare::CalibrationOptions, num_samples, sample_ms);
FLASHLAB_FIELDS(flashlab::compare::CalibrationResult, calibration, rates);
FLASHLAB_FIELDS(flashlab::compare::MeasureOptions, repeat, seed, counters);
FLASHLAB_FIELDS(flashlab::compare::CountedRange, name, counters);

namespace flashlab::compare {

std::string gpu_measurements_interface() {
  return cuda::door::interface_text(
      system::fingerprint<Row, MachineModel, CalibrationOptions, CalibrationResult, MeasureOptions,
                          CountedRange, cuda::door::Outcome>());
}

}  // namespace flashlab::compare
