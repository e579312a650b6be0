#include "cli/attention/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

/// NaN and infinity become null, because JSON lacks them.
nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nullptr;
}

nlohmann::ordered_json norms_json(const ErrorNorms& norms) {
  return {{"relative", number_or_null(norms.relative)}, {"max", number_or_null(norms.largest)}};
}

std::string verdict_line(const Verification& verification, const Terminal& terminal) {
  const auto wrong = std::count_if(verification.outputs.begin(), verification.outputs.end(),
                                   [](const VerifiedOutput& output) { return !output.agrees; });
  if (wrong == 0) {
    return styled("agrees: rounding explains the error of every output", Style::kGreen, terminal);
  }
  return styled("wrong: " + std::to_string(wrong) + " of " +
                    std::to_string(verification.outputs.size()) + " outputs are too far off",
                Style::kRed, terminal);
}

/// Returns "1.2e-07".
std::string error_text(double error) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1e", error);
  return text.data();
}

}  // namespace

std::string milliseconds(double seconds) {
  return fixed_text(1e3 * seconds, seconds < 0.01 ? 3 : seconds < 1 ? 2 : 1);
}

std::string byte_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fixed_text(value, unit == 0 || value >= 100 ? 0 : 1) + " " + kUnits[unit];
}

std::string in_lines(const std::string& text, const Terminal& terminal) {
  std::string lines;
  for (const std::string& line : wrap(text, terminal.width)) lines += line + "\n";
  return lines;
}

std::string summaries_text(const std::vector<AttentionSummary>& summaries,
                           const Terminal& terminal) {
  TextTable table({{"variant"},
                   {"ms", Align::kRight},
                   {"workspace", Align::kRight},
                   {"output"},
                   {"norm", Align::kRight},
                   {"sum", Align::kRight},
                   {"inf", Align::kRight},
                   {"NaN", Align::kRight}});
  for (const AttentionSummary& summary : summaries) {
    std::vector<std::string> cells = {summary.variant, milliseconds(summary.run.seconds),
                                      byte_text(summary.run.workspace_bytes)};
    for (const AttentionSummary::Output& output : summary.outputs) {
      cells.push_back(output.name);
      cells.push_back(short_text(output.norm));
      cells.push_back(short_text(output.sum));
      cells.push_back(std::to_string(output.num_infinite));
      cells.push_back(std::to_string(output.num_nan));
      table.row(std::move(cells));
      cells = {"", "", ""};
    }
  }
  return table.to_string(terminal) + "\n" +
         in_lines("ms: of one call, without a warm-up. --bench measures the time.", terminal);
}

std::string verification_text(const Verification& verification, const Terminal& terminal) {
  TextTable table({{"variant"},
                   {"output"},
                   {"error", Align::kRight},
                   {"plain", Align::kRight},
                   {"max error", Align::kRight},
                   {"max plain", Align::kRight},
                   {"verdict"}});
  for (const VerifiedOutput& output : verification.outputs) {
    table.row({output.variant, output.output, error_text(output.ours.relative),
               error_text(output.plain.relative), error_text(output.ours.largest),
               error_text(output.plain.largest), output.agrees ? "agrees" : "wrong"});
  }
  return table.to_string(terminal) + "\n" +
         in_lines("error: ||out - ref|| / ||ref||; ref: " + verification.forward_reference + ", " +
                      verification.backward_reference +
                      " in double on the same inputs; plain: " + verification.plain,
                  terminal) +
         verdict_line(verification, terminal) + "\n";
}

std::string measurement_text(const Measurement& measurement, const Terminal& terminal) {
  TextTable table({{"variant"},
                   {"median ms", Align::kRight},
                   {"min", Align::kRight},
                   {"max", Align::kRight},
                   {"GFLOP/s", Align::kRight},
                   {"of product", Align::kRight},
                   {"workspace", Align::kRight}});
  for (const MeasuredVariant& variant : measurement.variants) {
    const double rate = variant.flops_per_s();
    table.row({variant.variant, milliseconds(variant.median_seconds()),
               milliseconds(variant.seconds.front()), milliseconds(variant.seconds.back()),
               fixed_text(rate / 1e9, 1),
               fixed_text(100 * rate / measurement.product_flops_per_s, 0) + " %",
               byte_text(variant.workspace_bytes)});
  }
  return table.to_string(terminal) + "\n" +
         in_lines("product: " + fixed_text(measurement.product_flops_per_s / 1e9, 1) +
                      " GFLOP/s, float, " + std::to_string(kProductSize) +
                      " rows, the same threads; process peak: " +
                      byte_text(measurement.process_peak_bytes),
                  terminal);
}

nlohmann::ordered_json request_json(const AttentionRequest& request) {
  const AttentionProblem& p = request.problem;
  const auto or_null = [](const std::optional<std::int64_t>& keys) {
    return keys ? nlohmann::ordered_json(*keys) : nlohmann::ordered_json(nullptr);
  };
  return {{"batch", p.batch},
          {"num_heads", p.num_heads},
          {"num_kv_heads", p.num_kv_heads},
          {"seqlen_q", p.seqlen_q},
          {"seqlen_k", p.seqlen_k},
          {"head_dim", p.head_dim},
          {"dtype", to_string(p.dtype)},
          {"mask", to_string(p.mask)},
          {"key_lengths", p.key_lengths},
          {"cu_seqlens_q", p.cu_seqlens_q},
          {"cu_seqlens_k", p.cu_seqlens_k},
          {"window_left", or_null(p.window_left)},
          {"window_right", or_null(p.window_right)},
          {"softmax_scale", p.softmax_scale},
          {"seed", request.seed}};
}

nlohmann::ordered_json summaries_json(const std::vector<AttentionSummary>& summaries) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const AttentionSummary& summary : summaries) {
    nlohmann::ordered_json outputs = nlohmann::ordered_json::object();
    for (const AttentionSummary::Output& output : summary.outputs) {
      outputs[output.name] = {{"norm", number_or_null(output.norm)},
                              {"sum", number_or_null(output.sum)},
                              {"infinite", output.num_infinite},
                              {"nan", output.num_nan},
                              {"sha256", output.sha256}};
    }
    nlohmann::ordered_json run = {{"variant", summary.variant}, {"seconds", summary.run.seconds}};
    if (summary.run.kernel.empty()) {
      run["threads"] = summary.run.num_threads;
    } else {
      run["kernel"] = summary.run.kernel;
    }
    run["workspace_bytes"] = summary.run.workspace_bytes;
    run["outputs"] = std::move(outputs);
    runs.push_back(std::move(run));
  }
  return runs;
}

nlohmann::ordered_json verification_json(const Verification& verification) {
  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  for (const VerifiedOutput& output : verification.outputs) {
    outputs.push_back({{"variant", output.variant},
                       {"output", output.output},
                       {"error", norms_json(output.ours)},
                       {"plain_error", norms_json(output.plain)},
                       {"allowed_relative", number_or_null(output.allowed_relative)},
                       {"agrees", output.agrees}});
  }
  return {{"forward_reference", verification.forward_reference},
          {"backward_reference", verification.backward_reference},
          {"agrees", verification.agrees()},
          {"outputs", std::move(outputs)}};
}

nlohmann::ordered_json measurement_json(const Measurement& measurement) {
  nlohmann::ordered_json variants = nlohmann::ordered_json::array();
  for (const MeasuredVariant& variant : measurement.variants) {
    variants.push_back(
        {{"variant", variant.variant},
         {"threads", variant.num_threads},
         {"median_seconds", variant.median_seconds()},
         {"seconds", variant.seconds},
         {"flops", variant.flops},
         {"flops_per_s", variant.flops_per_s()},
         {"share_of_product", variant.flops_per_s() / measurement.product_flops_per_s},
         {"workspace_bytes", variant.workspace_bytes}});
  }
  return {{"product_flops_per_s", measurement.product_flops_per_s},
          {"process_peak_bytes", measurement.process_peak_bytes},
          {"variants", std::move(variants)}};
}

}  // namespace flashlab::cli
