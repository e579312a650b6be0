// `flashlab manual`: manual pages in roff, one per command, from the parser's tree.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/options/command_tree.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/options/version.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

struct ManualFlags {
  std::vector<std::string> words;
  std::string folder;
};

struct ManualEntry {
  const char *term, *text;
};

constexpr std::array<ManualEntry, 5> kExitCodes{{
    {"0", "All is well."},
    {"1", "The program, the answer or the result is wrong."},
    {"2", "The command is wrong: an unknown flag, an unreadable file."},
    {"3", "A limit was hit."},
    {"130", "You interrupted it. Other signals: 128 and their number, 143 for SIGTERM."},
}};

constexpr std::array<ManualEntry, 8> kEnvironment{{
    {"FLASHLAB_EXERCISES", "Folders with exercises of your own, separated by colons."},
    {"FLASHLAB_CPU",
     "The instruction set that attention on the CPU takes: baseline, avx2 or avx512."},
    {"FLASHLAB_CUDA_LIBRARY",
     "The library for NVIDIA GPUs, when it does not lie beside the command or in ../lib."},
    {"OMP_NUM_THREADS", "Threads of attention on the CPU, when --threads is left out."},
    {"XDG_DATA_HOME", "Where your progress in the exercises is kept; ~/.local/share without it."},
    {"NO_COLOR", "When it is not empty, no colours."},
    {"FORCE_COLOR, CLICOLOR_FORCE",
     "When one is neither empty nor 0, colours without a terminal, too."},
    {"CLICOLOR", "When it is 0, no colours unless they are forced."},
}};

/// Escapes text for roff, which would replace some characters by typographic ones, and treats a dot
/// or an apostrophe at the start of a line as a command.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '"':
        result += "\\(dq";
        break;
      case '.':
        result += result.empty() ? "\\&." : ".";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string roff_bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string roff_italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }
std::string roff_heading(const std::string& title) { return ".SH \"" + roff(title) + "\"\n"; }
std::string roff_entry(const std::string& term, const std::string& text) {
  return ".TP\n" + term + "\n" + (text.empty() ? "\\&" : roff(text)) + "\n";
}

/// "flashlab-exercises-check".
std::string page_name(const CommandTree& command) {
  std::string name = command.full_name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string roff_reference(const std::string& page) { return roff_bold(page) + "(1)"; }

std::string roff_synopsis(const CommandTree& command) {
  std::string text = roff_heading("SYNOPSIS") + roff_bold(command.full_name);
  return text + roff(command.usage.substr(command.full_name.size())) + "\n";
}

std::string roff_parameter(const Parameter& parameter) {
  std::string term = joined(parameter.names, ", ", roff_bold);
  if (!parameter.value.empty()) term += (term.empty() ? "" : " ") + roff_italic(parameter.value);
  std::string text = parameter.description;
  if (!parameter.initial.empty()) text += " (" + parameter.initial + ")";
  return roff_entry(term, text);
}

/// Returns the flags in the groups and the order of the help.
std::string roff_flags(const CommandTree& command) {
  std::vector<std::string> groups;
  for (const Parameter& flag : command.flags) {
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) {
      groups.push_back(flag.group);
    }
  }
  std::string text = roff_heading("OPTIONS");
  for (const std::string& group : groups) {
    if (group != groups.front()) text += ".SS \"" + roff(group) + "\"\n";
    for (const Parameter& flag : command.flags) {
      if (flag.group == group) text += roff_parameter(flag);
    }
  }
  return text;
}

std::string roff_commands(const CommandTree& command) {
  if (command.commands.empty()) return "";
  std::string text = roff_heading("COMMANDS");
  for (const CommandTree& below : command.commands) {
    text += roff_entry(roff_bold(below.name), below.summary);
  }
  return text;
}

/// Returns each example with its description below, if there is one.
std::string roff_examples(const CommandTree& command) {
  if (command.examples.empty()) return "";
  std::string text = roff_heading("EXAMPLES");
  for (const Example& example : command.examples) {
    text += example.shows.empty()
                ? ".PP\n" + roff_bold(example.line) + "\n"
                : ".TP\n" + roff_bold(example.line) + "\n" + roff(example.shows) + "\n";
  }
  return text;
}

template <std::size_t kSize>
std::string roff_entries(const std::string& title, const std::array<ManualEntry, kSize>& list) {
  std::string text = roff_heading(title);
  for (const ManualEntry& row : list) text += roff_entry(roff_bold(row.term), row.text);
  return text;
}

std::string roff_see_also(const CommandTree& root, const CommandTree& command) {
  std::vector<std::string> pages;
  if (&command != &root) pages.push_back(page_name(root));
  for (const CommandTree& below : command.commands) pages.push_back(page_name(below));
  std::string text = roff_heading("SEE ALSO");
  for (std::size_t k = 0; k < pages.size(); ++k) {
    text += roff_reference(pages[k]) + (k + 1 < pages.size() ? ",\n" : "\n");
  }
  return text;
}

/// Contains no date: the same source gives the same bytes.
std::string manual_page(const CommandTree& root, const CommandTree& command) {
  std::string title = page_name(command);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  std::string text = ".\\\" Made by `flashlab manual`.\n.TH \"" + roff(title) + "\" 1 \"\" \"" +
                     "flashlab " + version() + "\" \"flashlab\"\n.ad l\n.nh\n" +
                     roff_heading("NAME") + roff(page_name(command)) + " \\- " +
                     roff(command.summary) + "\n" + roff_synopsis(command) + roff_commands(command);
  if (!command.arguments.empty()) {
    text += roff_heading("ARGUMENTS");
    for (const Parameter& argument : command.arguments) text += roff_parameter(argument);
  }
  text += roff_flags(command) + roff_examples(command);
  if (&command == &root) text += roff_entries("ENVIRONMENT", kEnvironment);
  return text + roff_entries("EXIT STATUS", kExitCodes) + roff_see_also(root, command);
}

const CommandTree& find_command(const CommandTree& root, const std::vector<std::string>& words) {
  const CommandTree* command = &root;
  for (const std::string& word : words) {
    const auto found = std::find_if(command->commands.begin(), command->commands.end(),
                                    [&](const CommandTree& below) { return below.name == word; });
    if (found == command->commands.end()) {
      throw request_failure("there is no command '" + printable(word) + "'",
                            "one of those that `" + command->full_name + " --help` lists");
    }
    command = &*found;
  }
  return *command;
}

void write_pages(const CommandTree& root, const std::string& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) {
    throw request_failure("the folder '" + printable(folder) +
                          "' cannot be made: " + code.message());
  }
  for (const CommandTree* const command : all_commands(root)) {
    const auto file = std::filesystem::path(folder) / (page_name(*command) + ".1");
    write_file(file.string(), [&](std::ostream& stream) { stream << manual_page(root, *command); });
  }
}

int print_manual(const CLI::App& app, const ManualFlags& options) {
  const CommandTree root = command_tree(app);
  if (options.folder.empty()) {
    std::cout << manual_page(root, find_command(root, options.words));
  } else {
    write_pages(root, options.folder);
  }
  return kExitGood;
}

}  // namespace

CommandAction add_manual(CLI::App& app) {
  auto options = std::make_shared<ManualFlags>();
  CLI::App& command =
      add_command(app, "manual", "The manual's pages, as roff",
                  "  flashlab manual | man -l -                 the first page\n"
                  "  flashlab manual exercises check            a command's\n"
                  "  flashlab manual --all share/man/man1       all, into a folder\n");
  hide(command);
  const Flag words =
      add_option(command, "command", options->words, "a command; flashlab itself without")
          .type_name("[COMMAND ...]");
  add_option(command, "--all", options->folder, "write every page into this folder")
      .excludes(words)
      .file(FileRole::kOutput)
      .type_name("DIR");
  return [&app, options] { return print_manual(app, *options); };
}

}  // namespace flashlab::cli
