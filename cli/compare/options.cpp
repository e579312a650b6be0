#include "cli/compare/options.hpp"

#include <algorithm>
#include <array>

#include "attention/ranks/rank_programs.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "compare/rows/rows.hpp"
#include "gpu/sheets/gpu_specs.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/read_number.hpp"
#include "text/visible.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kCallGroup =
    "Calls (each takes a list: a,b; numbers also a..b, which doubles)";
constexpr const char* kTheGpuGroup = "The GPU";
constexpr const char* kMeasureGroup = "Measuring";
constexpr const char* kOutputGroup = "Output";

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> result;
  for (const std::string& word : split(text, ',')) {
    result.emplace_back(trimmed(word));
  }
  return result;
}

/// Returns the values with these names.
template <class Values>
auto values_named(const char* flag, const Values& values, const std::string& text) {
  std::vector<typename Values::value_type> result;
  for (const std::string& word : words(text)) {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const auto value) { return to_string(value) == word; });
    if (found == values.end()) {
      throw request_failure(
          std::string(flag) + " '" + printable(word) + "'",
          joined(values, ", ", [](const auto value) { return to_string(value); }));
    }
    result.push_back(*found);
  }
  return result;
}

std::vector<std::string> variant_names(const std::string& text, bool are_of_ranks) {
  std::vector<std::string> known, result;
  if (are_of_ranks) {
    for (const RankVariant& variant : rank_variants()) known.emplace_back(variant.name);
  } else {
    for (const VariantInfo& variant : variants()) known.emplace_back(variant.name);
  }
  if (text == "all") return known;
  for (const std::string& word : words(text)) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw request_failure("--variant '" + printable(word) + "'",
                            "all, or names that `flashlab attention --list` shows",
                            nearest(word, known).value_or(""));
    }
    result.push_back(word);
  }
  return result;
}

/// Parses a range as other commands do, except that `a..b` doubles: single steps of the length make
/// no sense for a GPU.
std::vector<std::int64_t> sizes(const char* flag, const std::string& text) {
  const bool doubles =
      text.find("..") != std::string::npos && text.find_first_of("*+,") == std::string::npos;
  return parse_values(flag, doubles ? text + "*2" : text);
}

std::int64_t tile_side(const std::string& text, const std::string& word) {
  std::int64_t value = 0;
  if (!read_whole(text, value) || value < 1 || value > 65536) {
    throw request_failure("--tile '" + printable(word) + "'",
                          "queries x keys of a tile, 128x64, each from 1 to 65536");
  }
  return value;
}

std::vector<compare::Tile> parse_tiles(const std::string& text) {
  std::vector<compare::Tile> tiles;
  if (text.empty()) return tiles;
  for (const std::string& word : words(text)) {
    const std::size_t x = std::min(word.find('x'), word.size());
    const std::string second = x < word.size() ? word.substr(x + 1) : "";
    tiles.push_back({tile_side(word.substr(0, x), word), tile_side(second, word)});
  }
  return tiles;
}

}  // namespace

void CompareFlags::add_call_flags(CLI::App& command) {
  const auto list = [&](const char* names, std::string& value, const char* what, const char* type) {
    add_option(command, names, value, what).capture_default_str().type_name(type).group(kCallGroup);
  };
  list("-v,--variant", variants, "the algorithms, or all", "NAME,...");
  list("--dtype", dtypes, "float, bf16, fp16", "TYPE,...");
  list("--products", products, "products of floats: native, tf32, tf32x3, fp16x3", "HOW,...");
  list("--mask", masks, "none, causal, causal-bottom-right", "MASK,...");
  list("-N,--n", seqlens, "queries and keys", "N,...");
  list("-d,--head-dim", head_dims, "columns of a head", "D,...");
  add_option(command, "--tile", tiles,
             "queries x keys, instead of the kernels' tiles; predicts only")
      .type_name("QxK,...")
      .group(kCallGroup);
  add_option(command, "--kernel", kernels,
             "kernels of `flashlab attention --list`, instead of those that run by themselves")
      .type_name("NAME,...")
      .group(kCallGroup);
  const auto size = [&](const char* names, auto& value, const char* what) {
    return add_option(command, names, value, what).type_name("SIZE").group(kCallGroup);
  };
  const Flag batch_flag = size("-B,--batch", batch, "batch entries (4)");
  const Flag heads_flag = size("-H,--heads", num_heads, "query heads (8)");
  size("--kv-heads", num_kv_heads, "heads of K and V, which divide --heads (--heads)");
  size("--seqlen-k", seqlen_k, "number of keys, if it differs from that of queries");
  size("--tokens", tokens, "batch x N, instead of --batch").excludes(batch_flag);
  size("--hidden", hidden, "heads x head_dim, instead of --heads").excludes(heads_flag);
}

void CompareFlags::add_machine_flags(CLI::App& command) {
  add_option(command, "--gpus", gpus,
             "numbers of GPUs that compute one attention together, by ring, gather-kv, bwd-ring or "
             "bwd-gather-kv")
      .type_name("R,...")
      .group(kTheGpuGroup);
  add_flag(command, "--sources", sources,
           "the times that the sources published for their GPUs, beside predictions; no calls")
      .group(kTheGpuGroup);
  add_option(command, "--gpu", gpu, "one of the data sheets (the GPU here, or h200)")
      .type_name("NAME")
      .group(kTheGpuGroup);
  const Flag file =
      add_option(command, "--calibration", calibration, "rates that --calibrate wrote")
          .file(FileRole::kInput)
          .type_name("FILE")
          .group(kTheGpuGroup);
  const Flag calibrates =
      add_flag(command, "--calibrate", calibrate, "measure the GPU's rates and show them; no calls")
          .group(kTheGpuGroup)
          .excludes(file);
  add_flag(command, "--data-sheet", data_sheet, "predict from the data sheet's rates alone")
      .group(kTheGpuGroup)
      .excludes(file)
      .excludes(calibrates);
  const Flag from = add_option(command, "--measured", measured,
                               "what another machine measured: a file that --json wrote")
                        .file(FileRole::kInput)
                        .type_name("FILE")
                        .group(kMeasureGroup);
  add_flag(
      command, "--again", again,
      "predict the rows of --measured FILE by this version, instead of the file's predictions, "
      "which were made before the measurement")
      .group(kMeasureGroup);
  add_option(command, "--from-ncu", from_ncu, "one call's counters, as `ncu --csv` wrote them")
      .file(FileRole::kInput)
      .type_name("FILE")
      .group(kMeasureGroup);
  add_flag(command, "--predict-only", predict_only, "measure nothing, even if there is a GPU")
      .group(kMeasureGroup)
      .excludes(from);
  add_flag(command, "--no-counters", no_counters, "times only, no hardware counters")
      .group(kMeasureGroup);
  add_option(command, "--repeat", repeat, "measured runs of a call (5)")
      .between(1, 100000)
      .type_name("R")
      .group(kMeasureGroup);
  add_option(command, "--seed", seed, "seed of the random inputs")
      .capture_default_str()
      .type_name("N")
      .group(kMeasureGroup);
  add_flag(command, "--resume", resume, "keep the results in --json FILE, measure the rest")
      .group(kMeasureGroup);
}

void CompareFlags::add_output_flags(CLI::App& command) {
  const auto file = [&](const char* name, std::string& value, const char* what, const char* type,
                        FileRole role = FileRole::kOutput) {
    add_option(command, name, value, what).file(role).type_name(type).group(kOutputGroup);
  };
  file("--json", json, "everything; written after each call", "FILE");
  file("--csv", csv, "one line per call", "FILE");
  file("--html", html, "the report: pictures and tables on one page", "FILE");
  file("--svg", svg, "the pictures, one file for each", "FOLDER");
  file("--peers", peers, "other libraries' times, from attention_cuda/bench/beside_torch.py",
       "FILE", FileRole::kInput);
  add_option(command, "--commit", commit, "the commit to record in the file")
      .type_name("NAME")
      .group(kOutputGroup);
  add_option(
      command, "--show", show,
      "tables: times, kernels, sentences, models, bytes, flops, intensity, shared-memory, or all; "
      "data-sheet alone needs no calls")
      .capture_default_str()
      .type_name("NAME,...")
      .group(kOutputGroup);
  add_flag(command, "--steps", steps, "a row for each kernel of a call").group(kOutputGroup);
  add_option(command, "--explain", explained,
             "instead of tables, one row of them: what each unit does, and which one binds")
      .type_name("ROW")
      .group(kOutputGroup);
}

void CompareFlags::add_to(CLI::App& command) {
  add_call_flags(command);
  add_machine_flags(command);
  add_output_flags(command);
  terminal.add_to(command);
  note_if_given(command, kCallGroup, chooses_calls);
}

std::vector<std::string> CompareFlags::tables() const {
  const std::vector<std::string> known = {"data-sheet", "times",         "kernels",
                                          "models",     "bytes",         "flops",
                                          "intensity",  "shared-memory", "sentences"};
  if (show == "all") return known;
  std::vector<std::string> result;
  for (const std::string& word : words(show)) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw request_failure("--show '" + printable(word) + "'",
                            "data-sheet, times, kernels, models, bytes, flops, intensity, "
                            "shared-memory, sentences or all",
                            nearest(word, known).value_or(""));
    }
    result.push_back(word);
  }
  return result;
}

bool CompareFlags::shows(const std::string& table) const {
  const std::vector<std::string> all = tables();
  return std::find(all.begin(), all.end(), table) != all.end();
}

void CompareFlags::check() const {
  tables();
  if (resume && (json.empty() || json == "-")) {
    throw request_failure("--resume has no file to continue", "--json FILE as well");
  }
  if (again && measured.empty()) {
    throw request_failure("--again has no rows to predict", "--measured FILE as well");
  }
  if (!gpu.empty() && !gpu::find_gpu(gpu)) {
    std::vector<std::string> keys;
    for (const gpu::GpuSpec& spec : gpu::gpu_specs()) keys.push_back(spec.key);
    throw request_failure("--gpu '" + printable(gpu) + "' is not in gpu/sheets/gpus.json",
                          joined(keys), nearest(gpu, keys).value_or(""));
  }
  const std::pair<const char*, bool> of_one_gpu[] = {{"--json", !json.empty()},
                                                     {"--csv", !csv.empty()},
                                                     {"--html", !html.empty()},
                                                     {"--svg", !svg.empty()},
                                                     {"--tile", !tiles.empty()},
                                                     {"--kernel", !kernels.empty()},
                                                     {"--resume", resume},
                                                     {"--from-ncu", !from_ncu.empty()},
                                                     {"--explain", explained.has_value()},
                                                     {"--calibrate", calibrate}};
  for (const auto& [flag, is_given] : of_one_gpu) {
    if (!gpus.empty() && is_given) {
      throw request_failure("--gpus with " + std::string(flag),
                            "one of them: --gpus prints a table");
    }
  }
  num_gpus();
  if (!tiles.empty() && !measured.empty()) {
    throw request_failure("--tile has no effect with --measured",
                          "one of the two: measurements have the kernels' own tiles");
  }
}

std::vector<int> CompareFlags::num_gpus() const {
  std::vector<int> result;
  if (gpus.empty()) return result;
  for (const std::string& word : words(gpus)) {
    constexpr std::int64_t kMostGpus = 1024;
    std::int64_t value = 0;
    if (!read_whole(word, value) || value < 1 || value > kMostGpus) {
      throw request_failure("--gpus '" + printable(word) + "'",
                            "numbers of GPUs, each from 1 to " + std::to_string(kMostGpus));
    }
    result.push_back(static_cast<int>(value));
  }
  return result;
}

compare::SweepAxes CompareFlags::axes() const {
  constexpr std::array kDataTypes = {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16};
  constexpr std::array kMasks = {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight};
  compare::SweepAxes axes;
  axes.variants = variant_names(variants, !gpus.empty());
  axes.dtypes = values_named("--dtype", kDataTypes, dtypes);
  axes.products = values_named("--products", cuda::kAllProducts, products);
  axes.masks = values_named("--mask", kMasks, masks);
  axes.seqlens = sizes("--n", seqlens);
  axes.head_dims = sizes("--head-dim", head_dims);
  axes.tiles = parse_tiles(tiles);
  if (!kernels.empty()) axes.kernels = words(kernels);
  axes.batch = batch.value_or(axes.batch);
  axes.num_heads = num_heads.value_or(axes.num_heads);
  axes.num_kv_heads = num_kv_heads;
  axes.seqlen_k = seqlen_k;
  axes.tokens = tokens;
  axes.hidden = hidden;
  return axes;
}

}  // namespace flashlab::cli
