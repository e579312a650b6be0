#include "cli/machine/figure_request.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "cli/options/execution.hpp"
#include "cli/terminal/failure.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {
namespace {

constexpr std::array<const char*, 4> kNaive{"naive", "naive_causal", "bwd_naive",
                                            "bwd_naive_causal"};

/// The instructions that replace elements by their place: the masks of a program.
std::set<std::uint16_t> masks(const toy::BoundProgram& bound) {
  std::set<std::uint16_t> found;
  for (const toy::BoundInstruction& instruction : bound.instructions) {
    if (toy::instruction_set()[instruction.row].is_mask()) found.insert(instruction.row);
  }
  return found;
}

std::set<std::string> array_names(const toy::Program& program, bool inputs) {
  std::set<std::string> names;
  for (const toy::ArrayDeclaration& array : program.arrays) {
    if (array.role == toy::ArrayRole::kTemp) continue;
    if ((array.role == toy::ArrayRole::kInput) == inputs) names.insert(array.name);
  }
  return names;
}

bool includes(const std::set<std::string>& all, const std::set<std::string>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

/// Powers of two with few enough tiles, and the size that was asked for.
std::vector<std::int64_t> slider_values(std::int64_t extent, std::int64_t own) {
  std::set<std::int64_t> values{own};
  for (std::int64_t size = 1; size / 2 < extent; size *= 2) {
    const std::int64_t fitting = std::min(size, extent);
    const std::int64_t count = (extent + fitting - 1) / fitting;
    if (count <= toy::kMostFigureTiles) values.insert(fitting);
  }
  return {values.begin(), values.end()};
}

std::vector<toy::FigureSlider> sliders_of(const toy::FigureRun& run) {
  std::vector<toy::FigureSlider> sliders;
  for (const toy::FigureAxis* axis : {&run.rows, &run.columns}) {
    if (!axis->param) continue;
    const std::string& name = run.program->program->params[*axis->param].name;
    const bool is_new = std::none_of(sliders.begin(), sliders.end(),
                                     [&](const auto& slider) { return slider.param == name; });
    if (!is_new) continue;
    sliders.push_back({name, slider_values(axis->extent, run.program->params[*axis->param])});
  }
  return sliders;
}

/// Every combination of the sliders' values, the first slider outermost.
std::vector<std::vector<std::int64_t>> combinations(const std::vector<toy::FigureSlider>& sliders) {
  std::vector<std::vector<std::int64_t>> all{{}};
  for (const toy::FigureSlider& slider : sliders) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& before : all) {
      for (const std::int64_t value : slider.values) {
        longer.push_back(before);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace

toy::Result<toy::FigureChoice> figure_of_run(const LoadedProgram& loaded,
                                             const toy::BoundProgram& bound, const RunOptions& run,
                                             const toy::Limits& limits) {
  toy::FigureRecorder recorder;
  toy::TraceOptions options;
  options.symbols = false;
  options.max_claim_work = 0;
  const auto execution = trace_to(recorder, loaded, bound, run, options);
  if (!execution) return execution.diagnostics;
  toy::FigureChoice choice;
  choice.run = recorder.finish(choice.why_not);
  if (choice.run) choice.beside = naive_beside(bound, limits);
  return choice;
}

std::optional<toy::FigureBeside> naive_beside(const toy::BoundProgram& bound,
                                              const toy::Limits& limits) {
  const std::set<std::string> inputs = array_names(*bound.program, true);
  const std::set<std::string> outputs = array_names(*bound.program, false);
  for (const char* name : kNaive) {
    const LoadedProgram naive = load_program(name, limits);
    if (naive.program->title == bound.program->title) return std::nullopt;  // it is that program
    if (!includes(inputs, array_names(*naive.program, true)) ||
        !includes(outputs, array_names(*naive.program, false))) {
      continue;
    }
    toy::CapacityBinding binding;
    for (std::size_t i = 0; i < bound.params.size(); ++i) {
      const std::string& param = bound.program->params[i].name;
      const auto& known = naive.program->params;
      const bool is_known =
          std::any_of(known.begin(), known.end(), [&](const auto& p) { return p.name == param; });
      if (is_known) binding.params[param] = bound.params[i];
    }
    const toy::BoundProgram other = naive.bind(binding);
    if (masks(other) != masks(bound)) continue;
    const auto executions = value_or_fail(toy::count_executions(other), *naive.source);
    const toy::Counters counters = toy::count(other, executions, {});
    const toy::Count loaded = counters.bytes_loaded + counters.bytes_updated / 2;
    const toy::Count stored = counters.bytes_stored + counters.bytes_updated / 2;
    if (!loaded.fits_slong_p() || !stored.fits_slong_p()) return std::nullopt;
    return toy::FigureBeside{name, loaded.get_si(), stored.get_si()};
  }
  return std::nullopt;
}

namespace {

/// The run of the program that was bound last.
toy::FigureChoice run_for_choice(const FigureRequest& request, const Figure& figure) {
  return value_or_fail(
      figure_of_run(figure.loaded, *figure.programs.back(), request.run, request.machine.limits),
      *figure.loaded.source);
}

}  // namespace

Figure make_figure(const FigureRequest& request) {
  Figure figure{load_program(request.program, request.machine), {}, {}, {}, 0};
  toy::CapacityBinding binding = request.machine.binding();
  figure.programs.push_back(std::make_unique<toy::BoundProgram>(figure.loaded.bind(binding)));
  toy::FigureChoice own = run_for_choice(request, figure);
  if (!own.run) {
    throw request_failure(figure.loaded.short_name() + " has no figure: " + own.why_not,
                          "a program on tiles with a product of two arrays, such as q and k, and "
                          "a small n");
  }
  figure.sliders = sliders_of(*own.run);
  for (const toy::FigureSlider& slider : figure.sliders) {
    const auto& params = figure.loaded.program->params;
    const auto param = std::find_if(params.begin(), params.end(),
                                    [&](const auto& p) { return p.name == slider.param; });
    const auto number = static_cast<std::size_t>(param - params.begin());
    own.values.push_back(figure.programs.front()->params[number]);
  }
  const std::vector<std::int64_t> values_of_own = own.values;
  for (const std::vector<std::int64_t>& values : combinations(figure.sliders)) {
    if (values == values_of_own) {
      figure.opens = figure.choices.size();
      figure.choices.push_back(std::exchange(own, {}));
      continue;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      binding.params[figure.sliders[i].param] = values[i];
    }
    figure.programs.push_back(std::make_unique<toy::BoundProgram>(figure.loaded.bind(binding)));
    toy::FigureChoice choice = run_for_choice(request, figure);
    choice.values = values;
    figure.choices.push_back(std::move(choice));
  }
  return figure;
}

}  // namespace flashlab::cli
