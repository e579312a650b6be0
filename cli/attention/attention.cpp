// `flashlab attention`: runs a variant on random inputs, verifies it, measures it.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/attention/cuda.hpp"
#include "cli/attention/list.hpp"
#include "cli/attention/report.hpp"
#include "cli/options/commands.hpp"
#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

/// The results: one run, or what was requested instead.
struct Results {
  std::vector<AttentionSummary> summaries;
  std::optional<Verification> verification;
  std::optional<Measurement> measurement;
};

void print_cpu_json(const AttentionRequest& request, const Results& results) {
  nlohmann::ordered_json document = {{"format", "flashlab-attention"},
                                     {"version", kAttentionJsonVersion},
                                     {"device", "cpu"},
                                     {"instruction_set", to_string(request.instruction_set)},
                                     {"problem", request_json(request)}};
  if (!results.summaries.empty()) document["runs"] = summaries_json(results.summaries);
  if (results.verification) document["verification"] = verification_json(*results.verification);
  if (results.measurement) document["measurement"] = measurement_json(*results.measurement);
  std::cout << document.dump(2) << "\n";
}

void print_cpu_text(const AttentionRequest& request, const Results& results,
                    const Terminal& terminal) {
  std::cout << in_lines(
      request.description() + "; cpu, " + std::string(to_string(request.instruction_set)),
      terminal);
  if (!results.summaries.empty()) {
    std::cout << "\n" << summaries_text(results.summaries, terminal);
  }
  if (results.verification) {
    std::cout << "\n" << verification_text(*results.verification, terminal);
  }
  if (results.measurement) {
    std::cout << "\n" << measurement_text(*results.measurement, terminal);
  }
}

AttentionRequest make_request(const AttentionFlags& flags) {
  try {
    return AttentionRequest(flags);
  } catch (const ProblemError& error) {
    throw request_failure(error.field + ": " + error.value, error.expected);
  }
}

int attention(const AttentionFlags& flags) {
  if (flags.list) return list_attention(flags);
  const AttentionRequest request = make_request(flags);
  if (request.on_gpu) return attention_on_gpu(flags, request);
  const RunVariant run = run_on_cpu(request);
  Results results;
  if (!flags.verify && !flags.bench) results.summaries = run_once(request, run);
  if (flags.verify) results.verification = verify_attention(request, run);
  if (flags.bench) results.measurement = measure_attention(request, flags.num_runs());
  if (flags.json) {
    print_cpu_json(request, results);
  } else {
    print_cpu_text(request, results, flags.terminal.terminal());
  }
  return results.verification && !results.verification->agrees() ? kExitProgramWrong : kExitGood;
}

}  // namespace

CommandAction add_attention(CLI::App& app) {
  CLI::App& command = add_command(
      app, "attention", "Run, verify and time attention on this computer's cores or its GPU",
      "  flashlab attention -H 8 -N 2048 -d 64           run flash2 once\n"
      "  flashlab attention --variant all --verify       all against a reference\n"
      "  flashlab attention -H 8 -N 2048 --mask causal --bench\n"
      "  flashlab attention -v bwd-onepass --seqlen-q 100 --seqlen-k 300 --verify\n"
      "  flashlab attention -H 8 --kv-heads 2 --dtype bf16 --bench --json\n"
      "  flashlab attention --list                       variants and GPU kernels\n"
      "  flashlab attention --device cuda -H 8 -N 4096 --dtype bf16 --bench\n"
      "  flashlab attention --device cuda -v naive --by-kernel\n"
      "  flashlab attention --device cuda --gpus 2 -v ring --mask causal --dtype bf16 --bench\n");
  const auto flags = std::make_shared<AttentionFlags>();
  flags->add_to(command);
  return [flags] { return attention(*flags); };
}

}  // namespace flashlab::cli
