// `flashlab exercises predict`: asks for the counts of a program before it is written.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/exercises/learner.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "exercises/grader/judge/predictions.hpp"
#include "exercises/grader/judge/records.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

struct PredictFlags {
  ExerciseOptions exercises;
  std::string id;
  std::vector<std::string> answers;  // "loads=12"
  bool json = false;
};

/// Whether a person types the answers.
bool is_conversation() { return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0; }

/// Returns why the answer is no number and no formula; empty: it is one.
std::string objection_to(const exercises::Exercise& exercise, const std::string& answer) {
  const auto formula = exercises::read_prediction(exercise, answer);
  return formula ? "" : formula.diagnostics.front().what;
}

/// "a number", "a number, or a formula in n and d".
std::string answers_words(const exercises::Exercise& exercise) {
  const std::vector<std::string> parameters = exercises::parameters_of(exercise);
  return parameters.empty() ? "a number" : "a number, or a formula in " + joined(parameters);
}

Failure wrong_answer(const exercises::Exercise& exercise, const std::string& key,
                     const std::string& answer, const std::string& objection) {
  return request_failure(key + " = '" + printable(answer) + "': " + objection,
                         answers_words(exercise));
}

/// " at n = 16", the size at which costs are counted; empty if there is one size alone.
std::string size_words(const exercises::Exercise& exercise) {
  const exercises::ProgramTask& task = exercise.program;
  if (!task.counted.ranges.empty()) return " at sizes that are drawn";
  const exercises::Size& size = task.sizes.back();
  return size.empty() ? "" : " at " + exercises::to_string(size);
}

exercises::Predictions given_answers(const exercises::Exercise& exercise,
                                     const std::vector<std::string>& asked,
                                     const std::vector<std::string>& answers) {
  exercises::Predictions predictions;
  for (const std::string& given : answers) {
    const std::size_t sign = given.find('=');
    const std::string key = given.substr(0, sign);
    if (sign == std::string::npos || std::find(asked.begin(), asked.end(), key) == asked.end()) {
      throw request_failure("--answer '" + printable(given) + "' is no answer",
                            "COUNT=NUMBER, where COUNT is one of " + joined(asked),
                            nearest(key, asked).value_or(""));
    }
    const std::string answer(trimmed(std::string_view(given).substr(sign + 1)));
    const std::string objection = objection_to(exercise, answer);
    if (!objection.empty()) throw wrong_answer(exercise, key, answer, objection);
    predictions[key] = answer;
  }
  return predictions;
}

/// Reads a line for each count. A person is asked again after a mistake.
exercises::Predictions typed_answers(const exercises::Exercise& exercise,
                                     const std::vector<std::string>& asked,
                                     const exercises::Predictions& before) {
  const bool asks = is_conversation();
  exercises::Predictions predictions;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::string& key = asked[i];
    const auto earlier = before.find(key);
    const std::string question =
        "  " + exercises::counted_things(key) +
        (earlier == before.end() ? "" : " (" + printable(earlier->second) + ")") + "? ";
    const auto line = typed_line(asks ? question : "");
    if (!line) break;
    const std::string answer(trimmed(*line));
    const std::string objection = answer.empty() ? "" : objection_to(exercise, answer);
    if (!objection.empty() && !asks) throw wrong_answer(exercise, key, answer, objection);
    if (!objection.empty()) {
      std::cout << "  " << objection << "; wanted is " << answers_words(exercise) << "\n";
      --i;
    } else if (!answer.empty()) {
      predictions[key] = answer;
    } else if (earlier != before.end()) {
      predictions[key] = earlier->second;
    }
  }
  return predictions;
}

void print_questions(const exercises::Exercise& exercise, const Learner& learner) {
  std::cout << printable(exercise.id + ": " + exercise.title) << "\n\n";
  if (learner.progress().passed(exercise.id)) {
    std::cout << "You have solved it already. The next check compares.\n";
  }
  std::cout << "What will your program count" << size_words(exercise) << "? Type "
            << answers_words(exercise) << ".\nAn empty line leaves a count out.\n\n";
}

/// "12 loads, 24 cycles".
std::string predictions_words(const std::vector<std::string>& asked,
                              const exercises::Predictions& predictions) {
  std::vector<std::string> parts;
  for (const std::string& key : asked) {
    const auto found = predictions.find(key);
    if (found == predictions.end()) continue;
    parts.push_back(printable(found->second) + " " + exercises::counted_things(key));
  }
  return joined(parts);
}

int predict(const PredictFlags& options) {
  Learner learner(options.exercises);
  const ExercisePointer exercise = learner.find(options.id);
  const std::vector<std::string> asked = exercises::counts_to_predict(*exercise);
  const std::string name = short_name(*exercise);
  if (asked.empty()) {
    throw request_failure("exercise " + name + " has no counts to predict",
                          "an exercise with a program whose counts earn points, such as 4");
  }
  const exercises::Predictions before = learner.progress().predictions_of(exercise->id);
  exercises::Predictions predictions;
  if (!options.answers.empty()) {
    predictions = given_answers(*exercise, asked, options.answers);
  } else {
    if (is_conversation()) print_questions(*exercise, learner);
    predictions = typed_answers(*exercise, asked, before);
  }
  if (predictions.empty()) {
    if (!is_conversation()) {
      throw request_failure(
          "nothing was predicted for exercise " + name,
          "a line for each of " + joined(asked) + ", or --answer " + asked.front() + "=NUMBER");
    }
    std::cout << "\nNothing was predicted.\n";
    return kExitGood;
  }
  learner.remember([&](exercises::Progress& progress) {
    progress.predict(exercise->id, predictions);
    progress.set_current(exercise->id);
  });
  if (options.json) {
    const Json json = {{"id", exercise->id}, {"predictions", predictions}};
    print_json(json);
    return kExitGood;
  }
  std::cout << (is_conversation() ? "\n" : "") << "You predict "
            << predictions_words(asked, predictions) << " for exercise " << name << ".\n"
            << "`flashlab check " << name << "` compares when your program is right.\n";
  return kExitGood;
}

}  // namespace

CommandAction add_exercises_predict(CLI::App& exercises) {
  auto options = std::make_shared<PredictFlags>();
  CLI::App& command =
      add_command(exercises, "predict", "Say what your program will cost, before you write it",
                  "  flashlab predict 4                         asks; check compares\n"
                  "  flashlab predict 4 --answer loads=12 --answer cycles=24\n"
                  "  printf '12\\n24\\n' | flashlab predict 4\n");
  add_option(command, "id", options->id, "number or name of an exercise (the current one)")
      .type_name("ID");
  add_option(command, "--answer", options->answers,
             "an answer: a number, or a formula in the exercise's sizes; may be repeated")
      .type_name("COUNT=NUMBER")
      .allow_extra_args(false);
  add_flag(command, "--json", options->json, "print what is kept as JSON");
  options->exercises.add_to(command);
  return [options] { return predict(*options); };
}

}  // namespace flashlab::cli
