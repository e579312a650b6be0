// `flashlab write`: a small language model that reads and writes with the learner's programs.
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include "cli/exercises/learner.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "language_model/language_model.hpp"
#include "language_model/machine_attention.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/count/count_json.hpp"

namespace flashlab::cli {
namespace {

using language_model::AttentionCall;
using language_model::LanguageModel;
using language_model::MachineAttention;

constexpr std::size_t kTile = 32;

struct WriteFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  std::optional<std::string> prompt;
  std::string reads, writes;
  std::int64_t characters = 300;
  std::int64_t seed = 1;
  double temperature = 0.6;
  bool json = false;
};

/// A program that takes a part: the learner's, or the one of the course.
struct Part {
  LoadedProgram loaded;
  std::string name;  // to print
  std::string note;  // why it is not the learner's; empty if it is, or was asked for
};

/// The learner's program for an exercise once it is right; before, the course's.
Part part_of(const Learner& learner, const std::string& id, const std::string& asked,
             const std::string& ours) {
  if (!asked.empty()) return {load_program(asked, toy::Limits{}), shown_path(asked), ""};
  const auto* entry = learner.progress().find(id);
  if (learner.progress().passed(id) && entry != nullptr && !entry->file.empty()) {
    return {load_program(entry->file, toy::Limits{}), shown_path(entry->file), ""};
  }
  return {load_program(ours, toy::Limits{}), ours,
          "You have not solved exercise " + id.substr(0, 2) + " yet, so our " + ours + " "};
}

/// Prints words as they are completed, in lines that fit.
class WrappedWriter {
 public:
  explicit WrappedWriter(std::size_t width) : width_(width) {}

  void add(char letter) {
    if (letter != ' ' && letter != '\n') {
      word_ += letter;
      return;
    }
    end_word();
    if (letter == '\n') end_line();
  }
  void end() {
    end_word();
    end_line();
  }

 private:
  void end_word() {
    if (word_.empty()) return;
    if (column_ > 0 && column_ + 1 + word_.size() > width_) end_line();
    std::cout << (column_ > 0 ? " " : "  ") << word_ << std::flush;
    column_ += word_.size() + (column_ > 0 ? 1 : 2);
    word_.clear();
  }
  void end_line() {
    if (column_ > 0) std::cout << "\n";
    column_ = 0;
  }

  std::size_t width_, column_ = 0;
  std::string word_;
};

struct Written {
  std::string text;
  std::size_t prompt = 0;                                           // characters
  toy::Count prompt_bytes, naive_prompt_bytes, bytes, naive_bytes;  // loaded; bytes: of the writing
  double seconds = 0;                                               // of the writing
};

/// Reads the prompt and writes on, one character after the other, each of which goes to `sink`.
template <class Sink>
Written write_on(const LanguageModel& model, const std::string& prompt, const Part& reads,
                 const Part& writes, const WriteFlags& options, const Sink& sink) {
  MachineAttention reading(reads.loaded.program, kTile), writing(writes.loaded.program, kTile);
  MachineAttention naive_reading(load_program("naive_causal", toy::Limits{}).program, kTile),
      naive_writing(load_program("naive", toy::Limits{}).program, kTile);
  const auto attention = [&](const AttentionCall& call) {
    (call.causal ? naive_reading : naive_writing).count(call);
    return call.causal ? reading(call) : writing(call);
  };
  Written written;
  written.prompt = prompt.size();
  language_model::Text text(model);
  std::vector<float> logits = text.read(prompt, attention);
  const toy::Count other = writing.bytes_loaded(), naive_other = naive_writing.bytes_loaded();
  written.prompt_bytes = reading.bytes_loaded() + other;
  written.naive_prompt_bytes = naive_reading.bytes_loaded() + naive_other;
  std::mt19937_64 random(static_cast<std::uint64_t>(options.seed));
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < options.characters; ++i) {
    const char next = language_model::draw(model, logits, options.temperature, random());
    written.text += next;
    sink(next);
    logits = text.read({&next, 1}, attention);
  }
  written.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  written.bytes = writing.bytes_loaded() - other;
  written.naive_bytes = naive_writing.bytes_loaded() - naive_other;
  return written;
}

/// The prompt, or the one that is compiled in. Throws Failure if it is empty, or for a character
/// that the model does not know.
std::string prompt_of(const WriteFlags& options, const LanguageModel& model) {
  std::string prompt = options.prompt.value_or(std::string(language_model::built_in_prompt()));
  if (prompt.empty()) {
    throw request_failure("the prompt is empty", "a text, or no argument for a prompt of our own");
  }
  const std::size_t unknown = prompt.find_first_not_of(model.alphabet());
  if (unknown != std::string::npos) {
    throw request_failure("character " + std::to_string(unknown + 1) +
                              " of the prompt is not in the model's alphabet",
                          "letters, digits and signs of ASCII");
  }
  if (prompt.size() > model.context()) {
    print_note("the model reads the last " + std::to_string(model.context()) + " of the prompt's " +
               std::to_string(prompt.size()) + " characters");
    prompt.erase(0, prompt.size() - model.context());
  }
  return prompt;
}

std::string naive_over(const toy::Count& large, const toy::Count& small) {
  return three_digits(large.get_d() / small.get_d()) + " times";
}

std::string traffic_table(const Written& written, const Terminal& terminal) {
  TextTable table({{"bytes loaded"},
                   {"these programs", Align::kRight},
                   {"naive", Align::kRight},
                   {"naive needs", Align::kRight}});
  table.row({"the prompt, " + std::to_string(written.prompt) + " characters",
             grouped(written.prompt_bytes.get_str()), grouped(written.naive_prompt_bytes.get_str()),
             naive_over(written.naive_prompt_bytes, written.prompt_bytes)});
  if (!written.text.empty()) {
    const toy::Count each = written.bytes / written.text.size(),
                     naive = written.naive_bytes / written.text.size();
    table.row({"each character after it", grouped(each.get_str()), grouped(naive.get_str()),
               naive_over(naive, each)});
  }
  return table.to_string(terminal);
}

constexpr const char* kWhy =
    "Only the prompt gains much. There, 32 queries share each key and value that is loaded, and "
    "scores "
    "and weights never leave the registers. A character that is written is one query: it shares "
    "with "
    "nobody, so every program loads all keys and values for it. What naive loads besides is one "
    "row of "
    "scores and weights.";

nlohmann::ordered_json json_of_written(const Written& written, const std::string& prompt,
                                       const Part& reads, const Part& writes) {
  return {{"prompt", prompt},
          {"text", written.text},
          {"reads", reads.name},
          {"writes", writes.name},
          {"prompt_bytes_loaded", toy::count_json(written.prompt_bytes)},
          {"naive_prompt_bytes_loaded", toy::count_json(written.naive_prompt_bytes)},
          {"bytes_loaded", toy::count_json(written.bytes)},
          {"naive_bytes_loaded", toy::count_json(written.naive_bytes)},
          {"seconds", written.seconds}};
}

int print_written(const WriteFlags& options) {
  Learner learner(options.exercises);
  const Part reads = part_of(learner, "29_flash2_causal", options.reads, "flash2_causal");
  const Part writes = part_of(learner, "28_flash2", options.writes, "flash2");
  learner.print_notes();
  const LanguageModel model(language_model::built_in_weights());
  const std::string prompt = prompt_of(options, model);
  if (options.json) {
    const Written written = write_on(model, prompt, reads, writes, options, [](char) {});
    print_json(json_of_written(written, prompt, reads, writes));
    return kExitGood;
  }
  const Terminal terminal = options.terminal.terminal();
  const auto say = [&](const std::string& text) { std::cout << wrapped(text, terminal.width); };
  if (!reads.note.empty()) say(reads.note + "reads the prompt.");
  if (!writes.note.empty()) say(writes.note + "writes on.");
  say(reads.name + " reads, one causal call for each of " + std::to_string(model.layers()) +
      " layers and " + std::to_string(model.heads()) + " heads:");
  std::cout << "\n";
  const std::size_t width = std::min<std::size_t>(terminal.width, 100);
  WrappedWriter shown(width);
  for (const char letter : prompt) shown.add(letter);
  shown.end();
  std::cout << "\n";
  say(writes.name + " writes on, one query for each character:");
  std::cout << "\n";
  WrappedWriter writer(width);
  const Written written =
      write_on(model, prompt, reads, writes, options, [&](char letter) { writer.add(letter); });
  writer.end();
  std::cout << "\n" << traffic_table(written, terminal) << "\n";
  say(kWhy);
  if (written.seconds > 0) {
    std::cout << "\n";
    say(three_digits(static_cast<double>(written.text.size()) / written.seconds) +
        " characters per second. Another text: --seed " + std::to_string(options.seed + 1) + ".");
  }
  return kExitGood;
}

int write(const WriteFlags& options) {
  if (options.characters < 0 || options.characters > 100'000) {
    throw request_failure("--characters is " + std::to_string(options.characters),
                          "a number from 0 to 100000");
  }
  if (!(options.temperature >= 0 && options.temperature <= 10)) {
    throw request_failure("--temperature is " + three_digits(options.temperature),
                          "a number from 0, always the likeliest character, to 10");
  }
  try {
    return print_written(options);
  } catch (const language_model::ProgramFailure& failure) {
    throw Failure(kExitProgramWrong, failure.what() + std::string("\n"));
  }
}

}  // namespace

CommandAction add_write(CLI::App& app) {
  auto options = std::make_shared<WriteFlags>();
  CLI::App& command =
      add_command(app, "write", "Let your attention read and write, in a language model",
                  "  flashlab write                            a prompt of 256 characters\n"
                  "  flashlab write \"The softmax of a row\" --seed 2\n"
                  "  flashlab write --writes my_flash2.toy --reads my_causal.toy\n");
  add_option(command, "prompt", options->prompt, "what the model reads first").type_name("TEXT");
  add_option(command, "--reads", options->reads,
             "program for the prompt (yours of exercise 29, once it is right)")
      .type_name("PROGRAM");
  add_option(command, "--writes", options->writes,
             "program for each further character (yours of exercise 28)")
      .type_name("PROGRAM");
  add_option(command, "--characters", options->characters, "how many to write (300)");
  add_option(command, "--temperature", options->temperature,
             "0: always the likeliest character; 1: as the model has it (0.6)");
  add_option(command, "--seed", options->seed, "which text is drawn (1)");
  add_flag(command, "--json", options->json, "as JSON");
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return [options] { return write(*options); };
}

}  // namespace flashlab::cli
