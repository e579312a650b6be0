// `flashlab compare`: compares predictions from the toy machine's counters with a GPU.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/compare/data_sheet.hpp"
#include "cli/compare/explained.hpp"
#include "cli/compare/gpu.hpp"
#include "cli/compare/kernels_table.hpp"
#include "cli/compare/options.hpp"
#include "cli/compare/output.hpp"
#include "cli/compare/progress.hpp"
#include "cli/compare/ranks.hpp"
#include "cli/compare/text.hpp"
#include "cli/options/command_line.hpp"
#include "cli/options/commands.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "compare/counters/ncu_file.hpp"
#include "compare/report/explain.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {
using compare::MachineModel;

/// The comparison, and the machines for it.
struct Session {
  compare::Comparison comparison;
  MachineModel machine, data_sheet;
  std::optional<GpuHere> here;  // the GPU to measure on; nothing: none
  std::string why_not_here;
  bool is_again = false;  // measured rows are predicted by this version, after the measurements
};

gpu::GpuSpec spec_of(const std::string& name) {
  const auto spec = gpu::find_gpu(name);
  if (spec) return *spec;
  throw request_failure("the GPU '" + printable(name) + "' is not in gpu/sheets/gpus.json",
                        "--gpu with a GPU of that file, or a new row in it");
}

void set_machine(Session& session, const gpu::GpuSpec& spec) {
  session.data_sheet = compare::machine_model(spec);
  session.machine = compare::machine_model(spec, session.comparison.calibration);
  session.comparison.gpu_key = spec.key;
}

void explain_rows(Session& session) {
  for (compare::Row& row : session.comparison.rows) {
    row.sentence = compare::explain(row, session.machine.gpu.num_sms);
  }
}

/// Rejects times in a file that its GPU could not reach.
void check_floors(const Session& session, const std::string& file) {
  for (const compare::Row& row : session.comparison.rows) {
    if (!row.measured || !row.measured->median_ms) continue;
    const double floor = compare::floor_ms(row, session.data_sheet);
    if (*row.measured->median_ms >= floor) continue;
    throw Failure(kExitRequestWrong, "flashlab: error: " + printable(file) + ": " +
                                         printable(key_of(row)) + ": " +
                                         std::to_string(*row.measured->median_ms) + " ms, and " +
                                         session.machine.gpu.name + " cannot do it in less than " +
                                         std::to_string(floor) + " ms: the measurement is wrong\n");
  }
}

void choose_machine(const CompareFlags& flags, const std::optional<compare::Comparison>& measured,
                    Session& session) {
  session.here =
      flags.predict_only || measured ? std::nullopt : find_gpu_here(session.why_not_here);
  std::string name = flags.gpu;
  if (name.empty() && measured) name = measured->gpu_key;
  const bool is_here = name.empty() && session.here;
  const gpu::GpuSpec spec = is_here ? session.here->spec : spec_of(name.empty() ? kUsualGpu : name);
  if (measured && spec.key != measured->gpu_key) {
    throw request_failure(
        "--gpu " + printable(flags.gpu) + " with measurements of " + printable(measured->gpu_key),
        "the same GPU, or no --measured");
  }
  // The file's predictions are from the file's rates.
  session.is_again = measured && (flags.again || flags.data_sheet || !flags.calibration.empty());
  if (is_here && !session.here->is_listed) {
    std::cerr
        << printable(spec.name)
        << " is not in gpu/sheets/gpus.json: its sizes are queried, its rates measured; times are "
           "predicted without the units "
           "of a multiprocessor\n";
  }
  if (session.here && session.here->spec.key != spec.key) {  // predicted for another GPU
    session.why_not_here = "the GPU here is " + session.here->name + ", not " + spec.name;
    session.here.reset();
  }
  compare::Comparison& comparison = session.comparison;
  if (!flags.calibration.empty()) {
    comparison.calibration = read_calibration(flags.calibration);
  } else if (measured && !flags.data_sheet) {
    comparison.calibration = measured->calibration;
  } else if (session.here && !flags.data_sheet) {
    std::cerr << "measuring the GPU's rates ...\n";
    const CalibrationShown shown = calibrate_here(flags.terminal.terminal());
    // As in the file, so that its rows give the same predictions.
    comparison.calibration = compare::parse_calibration(compare::to_json(shown.calibration).dump());
  }
  if (comparison.calibration) {
    const auto of = gpu::find_gpu(comparison.calibration->gpu_name);
    if ((of ? of->key : comparison.calibration->gpu_name) != spec.key) {
      throw request_failure("the calibration is of " + printable(comparison.calibration->gpu_name) +
                                ", the comparison of " + spec.name,
                            "a calibration of " + spec.name);
    }
  }
  set_machine(session, spec);
}

void report_refused(const std::vector<compare::RefusedCall>& refused, std::size_t num_rows) {
  if (num_rows == 0) {
    throw request_failure(refused.empty() ? "no calls"
                                          : refused.front().call + ": " + refused.front().reason);
  }
  for (const auto& [call, reason] : refused) {
    std::cerr << "left out: " << printable(call) << ": " << printable(reason) << "\n";
  }
}

/// Prints which rows the file lacks, and the sizes that it has of their variants.
void report_missing(const std::vector<const compare::Row*>& rows,
                    const std::vector<compare::Row>& measured, const std::string& file) {
  constexpr std::size_t kMostRows = 3, kMostSizes = 3;
  std::set<std::pair<std::string, std::string>> missing;  // variant and type
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == kMostRows) {
      std::cerr << "nor of " << rows.size() - kMostRows << " more calls\n";
    }
    if (i < kMostRows) {
      std::cerr << printable(file) << " has no measurement of " << key_of(*rows[i]) << "\n";
    }
    missing.insert({rows[i]->variant, rows[i]->dtype});
  }
  for (const auto& [variant, dtype] : missing) {
    std::vector<std::string> sizes = compare::measured_sizes(measured, variant, dtype);
    if (sizes.empty()) {
      std::cerr << "it has no " << variant << " in " << dtype << "\n";
      continue;
    }
    const std::size_t more = sizes.size() - std::min(sizes.size(), kMostSizes);
    sizes.resize(sizes.size() - more);
    std::cerr << "it has " << variant << " in " << dtype << ": " << joined(sizes, "; ")
              << (more > 0 ? "; and " + std::to_string(more) + " more" : "") << "\n";
  }
}

/// Returns all rows of a file.
Session session_of_file(const CompareFlags& flags) {
  std::optional<compare::Comparison> measured = read_comparison(flags.measured);
  Session session;
  choose_machine(flags, measured, session);
  measured->calibration = session.comparison.calibration;
  session.comparison = std::move(*measured);
  if (session.is_again) {
    compare::predict_again(session.comparison.rows, session.machine, session.data_sheet);
    session.comparison.is_again = true;
  }
  check_floors(session, flags.measured);
  return session;
}

Session predicted_session(const CompareFlags& flags) {
  std::optional<compare::Comparison> measured;
  if (!flags.measured.empty()) measured = read_comparison(flags.measured);
  Session session;
  choose_machine(flags, measured, session);
  compare::Comparison& comparison = session.comparison;
  std::vector<compare::RefusedCall> refused;
  try {
    std::vector<compare::Call> calls = compare::calls_of(flags.axes());
    if (measured && !flags.chooses_shape()) {
      calls = compare::with_measured_shapes(measured->rows, calls);
    }
    if (measured) compare::take_kernels(measured->rows, calls);
    const bool keeps_predictions = measured && !session.is_again;
    comparison.rows = compare::measured_or_predicted_rows(
        calls, keeps_predictions ? measured->rows : std::vector<compare::Row>(), session.machine,
        session.data_sheet, refused);
  } catch (const ProblemError& error) {
    throw request_failure("--" + error.field + " " + error.value, error.expected);
  } catch (const std::overflow_error& error) {
    throw Failure(kExitLimit, std::string("flashlab: error: ") + error.what() + "\n");
  }
  report_refused(refused, comparison.rows.size());
  comparison.commit = flags.commit;
  comparison.command = command_line();
  if (measured) {
    comparison.gpu_name = measured->gpu_name;
    comparison.driver = measured->driver;
    comparison.cuda = measured->cuda;
    comparison.date = measured->date;
    comparison.commit = measured->commit;
    comparison.is_again = session.is_again || measured->is_again;
    const auto report = compare::merge_measurements(comparison.rows, measured->rows);
    report_missing(report.not_there, measured->rows, flags.measured);
    check_floors(session, flags.measured);
  }
  return session;
}

/// Keeps rows of an earlier run that are not among the present ones, in front of them.
void keep_other_rows(const std::vector<compare::Row>& before, std::vector<compare::Row>& rows) {
  std::vector<compare::Row> kept;
  for (const compare::Row& row : before) {
    const auto is_same = [&](const compare::Row& other) {
      return other.kernel == row.kernel && key_of(other) == key_of(row);
    };
    if (std::none_of(rows.begin(), rows.end(), is_same)) kept.push_back(row);
  }
  rows.insert(rows.begin(), kept.begin(), kept.end());
}

/// Takes over the measurements of an earlier run.
void resume(const CompareFlags& flags, Session& session) {
  if (!flags.resume || !std::filesystem::exists(flags.json)) return;
  const compare::Comparison before = read_comparison(flags.json);
  if (before.gpu_key != session.comparison.gpu_key) {
    throw request_failure(flags.json + " is of " + printable(before.gpu_key) + ", not of " +
                          session.comparison.gpu_key);
  }
  if (before.calibration) {  // keeps the predictions of earlier measurements unchanged
    session.comparison.calibration = before.calibration;
    set_machine(session, session.machine.gpu);
    std::vector<compare::RefusedCall> refused;
    session.comparison.rows = compare::predict_rows(compare::calls_of(flags.axes()),
                                                    session.machine, session.data_sheet, refused);
  }
  const auto report = compare::merge_measurements(session.comparison.rows, before.rows);
  std::cerr << report.num_merged << " of " << session.comparison.rows.size()
            << " calls are there already\n";
  keep_other_rows(before.rows, session.comparison.rows);
  if (!before.command.empty() && before.command != session.comparison.command) {
    session.comparison.command = before.command + "\n" + session.comparison.command;
  }
}

void measure_rows(const CompareFlags& flags, Session& session) {
  compare::Comparison& comparison = session.comparison;
  if (!session.here) return;
  comparison.gpu_name = session.here->name;
  comparison.driver = session.here->driver;
  comparison.cuda = session.here->cuda;
  comparison.date = compare::utc_now();
  write_json(flags.json, comparison);  // the predictions, before any measurement
  const MeasureRequest request{flags.repeat.value_or(kUsualRepeat), flags.seed, !flags.no_counters};
  MeasuringProgress progress(comparison.rows.size());
  for (std::size_t k = 0; k < comparison.rows.size(); ++k) {
    compare::Row& row = comparison.rows[k];
    if (row.measured || !row.tile.empty()) continue;
    progress.starts(k, row);
    row.failure.clear();
    measure_here(row, session.data_sheet, request);
    row.sentence = compare::explain(row, session.machine.gpu.num_sms);
    if (!flags.json.empty() && flags.json != "-") write_json(flags.json, comparison);
  }
}

void read_ncu(const CompareFlags& flags, compare::Comparison& comparison) {
  if (flags.from_ncu.empty()) return;
  if (comparison.rows.size() != 1) {
    throw request_failure(
        "--from-ncu is for one call, but there are " + std::to_string(comparison.rows.size()),
        "one --variant, --n, --head-dim, --mask and --dtype");
  }
  take_ncu_counters(flags.from_ncu, comparison.rows.front());
}

int calibrate(const CompareFlags& flags) {
  const CalibrationShown shown = calibrate_here(flags.terminal.terminal());
  if (!flags.json.empty()) {
    write_file(flags.json, [&](std::ostream& out) {
      out << compare::to_json(shown.calibration).dump(2) << "\n";
    });
  }
  if (flags.json != "-") std::cout << shown.table;
  return kExitGood;
}

void print(const CompareFlags& flags, const Session& session) {
  const Terminal terminal = flags.terminal.terminal();
  const compare::Comparison& comparison = session.comparison;
  if (flags.explained) {
    const auto num_rows = static_cast<int>(comparison.rows.size());
    if (*flags.explained < 1 || *flags.explained > num_rows) {
      throw request_failure("--explain " + std::to_string(*flags.explained),
                            "a row of the table, 1 to " + std::to_string(num_rows));
    }
    std::cout << explained_row(comparison.rows[static_cast<std::size_t>(*flags.explained - 1)],
                               terminal)
              << std::flush;
    return;
  }
  std::string text = comparison_heading(comparison, session.machine, terminal);
  if (comparison.is_again) text += std::string(compare::kPredictedAgain) + "\n";
  text += "\n";
  for (const std::string& table : flags.tables()) {
    if (table == "data-sheet") text += data_sheet_table(session.machine, terminal);
    if (table == "times") text += times_table(comparison, flags.steps, terminal);
    if (table == "models") text += models_table(comparison, session.machine, terminal);
    if (table == "bytes") text += bytes_table(comparison, terminal);
    if (table == "flops") text += flops_table(comparison, terminal);
    if (table == "intensity") text += intensity_table(comparison, session.machine, terminal);
    if (table == "shared-memory")
      text += shared_memory_table(comparison, session.machine, terminal);
    if (table == "kernels") text += kernels_table(comparison.rows, terminal);
    if (table == "sentences") text += sentences(comparison, terminal);
    text += "\n";
  }
  if (flags.shows("times") || flags.shows("kernels") || flags.shows("sentences"))
    text += closing_lines(comparison, session.machine, terminal);
  while (text.ends_with("\n\n")) text.pop_back();
  std::cout << text;
  std::cout.flush();
  if (!session.here && comparison.gpu_name.empty() && !flags.predict_only) {
    std::cerr << "nothing measured: " << session.why_not_here << "; --measured " << kUsualGpu
              << " shows measurements of an H200\n";
  }
}

/// Without calls.
Session session_of_machine(const CompareFlags& flags) {
  std::optional<compare::Comparison> measured;
  if (!flags.measured.empty()) measured = read_comparison(flags.measured);
  Session session;
  choose_machine(flags, measured, session);
  return session;
}

/// Of several GPUs a file has the rates of each.
int over_gpus(const CompareFlags& flags) {
  const Session session = session_of_machine(flags);
  return compare_ranks(flags, session.machine, session.data_sheet, session.here.has_value());
}

/// Measures no rates: those of --measured or --calibration stand beside the sheet.
int print_data_sheet(CompareFlags flags) {
  flags.data_sheet = flags.measured.empty() && flags.calibration.empty();
  const Session session = session_of_machine(flags);
  std::cout << data_sheet_table(session.machine, flags.terminal.terminal());
  return kExitGood;
}

int run(const CompareFlags& flags) {
  flags.check();
  if (flags.calibrate) return calibrate(flags);
  if (flags.sources) {
    std::cout << sources_table(flags.terminal.terminal());
    return kExitGood;
  }
  if (!flags.gpus.empty()) return over_gpus(flags);
  if (flags.tables() == std::vector<std::string>{"data-sheet"}) return print_data_sheet(flags);
  const bool is_file = !flags.measured.empty() && !flags.chooses_calls;
  Session session = is_file ? session_of_file(flags) : predicted_session(flags);
  resume(flags, session);
  measure_rows(flags, session);
  read_ncu(flags, session.comparison);
  explain_rows(session);
  write_json(flags.json, session.comparison);
  write_csv(flags.csv, session.comparison);
  write_pictures(flags, session.comparison, session.machine, session.data_sheet);
  if (flags.json != "-" && flags.csv != "-") print(flags, session);
  return kExitGood;
}

}  // namespace

CommandAction add_compare(CLI::App& app) {
  CLI::App& command = add_command(
      app, "compare", "Predicted and measured bytes and times of GPU kernels, with pictures",
      "  flashlab compare --measured h200_fresh               an H200's figures\n"
      "  flashlab compare -v naive,flash2 --n 1024..16384 --measured h200 --again\n"
      "  flashlab compare --gpu rtx3090 --n 4096 -d 64,128    predictions for another GPU\n"
      "  flashlab compare --measured h200 --again --html report.html   the pictures\n"
      "  flashlab compare --show models,bytes,flops,intensity,shared-memory\n"
      "  flashlab compare --gpu rtx3090 --show data-sheet     its sizes and rates\n"
      "  flashlab compare --gpus 1,2,4 -v ring,bwd-ring -B 1 -H 16 -d 128 --n 65536..1048576\n"
      "  flashlab compare --calibrate                         on a GPU: its rates\n"
      "  flashlab compare --n 1024..65536 -d 64,128 --tokens 16384 --hidden 2048 \\\n"
      "    --json sweep.json --resume                         on a GPU: a sweep\n");
  const auto flags = std::make_shared<CompareFlags>();
  flags->add_to(command);
  return [flags] { return run(*flags); };
}

}  // namespace flashlab::cli
