// The manual and the completions, held against what --help says.
#include <regex>
#include <set>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

/// Every command with its flags, as the help has them: "exercises check" -> "--json", ….
std::map<std::string, std::set<std::string>> commands_by_help(const std::string& path = "") {
  static const std::regex kFlag(R"((?:^|[ ,])(--?[A-Za-z][\w-]*))");
  static const std::regex kCommand(R"(^  ([a-z]+) )");
  std::map<std::string, std::set<std::string>> result;
  const std::string help = flashlab(path + " --help").out;
  INFO(path);
  CHECK(widest_line(help) <= 80);
  std::istringstream lines(help);
  bool in_commands = false;
  std::set<std::string> flags, below;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!line.empty() && line[0] != ' ') in_commands = line.starts_with("Subcommands");
    if (in_commands && std::regex_search(line, match, kCommand)) below.insert(match[1]);
    if (!line.starts_with("  -")) continue;
    const std::string names = line.substr(0, line.find("   "));
    for (std::sregex_iterator flag(names.begin(), names.end(), kFlag), end; flag != end; ++flag) {
      flags.insert((*flag)[1]);
    }
  }
  CHECK(flags.contains("--help"));
  result[path] = flags;
  for (const std::string& name : below) {
    result.merge(commands_by_help(path.empty() ? name : path + " " + name));
  }
  return result;
}

std::string with_hyphens(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

/// The words that bash offers for a line whose last word is being typed, sorted.
std::vector<std::string> completed(const Workplace& place, const std::string& line) {
  place.write("complete.bash",
              "source <(flashlab completion bash)\n"
              "words=(" +
                  line +
                  ")\n"
                  "COMP_WORDS=(\"${words[@]}\") COMP_CWORD=$((${#words[@]} - 1))\n"
                  "_flashlab\nprintf '%s\\n' \"${COMPREPLY[@]}\" | sort\n");
  const Outcome outcome = place.shell(". ./complete.bash");
  CHECK(outcome.err == "");
  std::vector<std::string> words;
  std::istringstream lines(outcome.out);
  for (std::string word; std::getline(lines, word);) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

bool holds(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_here(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null").c_str()) == 0;
}

}  // namespace

TEST_CASE("every command has a page of the manual, with every flag of its help") {
  const Workplace place;
  REQUIRE(place.shell("flashlab manual --all pages").code == 0);
  const auto commands = commands_by_help();
  CHECK(commands.size() > 25);
  std::size_t pages = 0;
  for (const auto& file : std::filesystem::directory_iterator(place.path("pages"))) {
    pages += file.path().extension() == ".1";
  }
  CHECK(pages == commands.size());
  for (const auto& [path, flags] : commands) {
    const std::string name = "flashlab" + (path.empty() ? "" : "-" + with_hyphens(path));
    const std::string page = place.read("pages/" + name + ".1");
    CAPTURE(name);
    CHECK_THAT(page, contains(".SH \"NAME\""));
    CHECK(page == flashlab("manual " + path).out);
    for (const std::string& flag : flags) {
      std::string escaped = std::regex_replace(flag, std::regex("-"), "\\-");
      CHECK_THAT(page, contains("\\fB" + escaped + "\\fR"));
    }
  }
}

TEST_CASE("the pages are ones that roff reads without a warning, and fit 80 columns") {
  if (!is_here("groff")) FLASHLAB_SKIP("no groff");
  const Workplace place;
  const Outcome outcome = place.shell(
      "flashlab manual --all pages\n"
      "for page in pages/*.1; do MANWIDTH=80 groff -man -ww -Tascii -P-cbou \"$page\"; done");
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");
  CHECK(widest_line(outcome.out) <= 80);
  CHECK_THAT(outcome.out, contains("flashlab trace PROGRAM [FLAG ...]"));
  CHECK_THAT(outcome.out, contains("NAME=NUMBER"));
}

TEST_CASE("a page of a command that is not there is refused") {
  CHECK(flashlab("manual exercises nothing").code == 2);
  CHECK(flashlab("completion tcsh").code == 2);
}

TEST_CASE("a flag that may be repeated is taken twice, in every command that has it") {
  const std::regex repeated(R"(\\fB\\-\\-([a-z\\-]+)\\fR[^\n]*\n[^\n]*may be repeated)");
  std::size_t count = 0;
  for (const auto& [path, flags] : commands_by_help()) {
    const std::string page = flashlab("manual " + path).out;
    for (std::sregex_iterator flag(page.begin(), page.end(), repeated), end; flag != end; ++flag) {
      const std::string name =
          "--" + std::regex_replace((*flag)[1].str(), std::regex(R"(\\-)"), "-");
      CAPTURE(path, name);
      // The program is missing: that is told after each flag was taken.
      CHECK_THAT(flashlab(path + " " + name + " a=1 " + name + " b=2").err,
                 !contains("required but received"));
      ++count;
    }
  }
  CHECK(count > 20);
}

TEST_CASE("manual and completion stand in no list of commands") {
  CHECK_THAT(flashlab("--help").out, !contains("manual"));
  CHECK_THAT(flashlab("manual").out, !contains("completion"));
}

TEST_CASE("every command and flag is completed in every shell") {
  const auto commands = commands_by_help();
  const std::string bash = flashlab("completion bash").out;
  const std::string fish = flashlab("completion fish").out;
  const std::string zsh = flashlab("completion zsh").out;
  for (const auto& [path, flags] : commands) {
    const std::string bash_path = path.empty() ? "''" : "' " + path + "'";
    const std::string fish_path = "__flashlab_is \\'" + path + "\\''";
    const std::size_t zsh_case = zsh.find("    (" + bash_path + ") _arguments");
    CAPTURE(path);
    CHECK_THAT(bash, contains(bash_path));
    CHECK_THAT(fish, contains(fish_path));
    REQUIRE(zsh_case != std::string::npos);
    const std::string zsh_flags = zsh.substr(zsh_case, zsh.find(" ;;\n", zsh_case) - zsh_case);
    for (const std::string& flag : flags) {
      CAPTURE(flag);
      const bool is_long = flag.starts_with("--");
      const std::regex in_zsh("'\\*" + flag + "[=+]?\\[");
      CHECK(std::regex_search(zsh_flags, in_zsh));
      const std::regex in_fish("__flashlab_is ..?" + path + "..?'[^\n]* -" +
                               (is_long ? "l " + flag.substr(2) : "s " + flag.substr(1)) + " ");
      CHECK(std::regex_search(fish, in_fish));
    }
  }
  const Workplace place;
  for (const auto& [path, flags] : commands) {
    CAPTURE(path);
    const std::vector<std::string> words = completed(place, "flashlab " + path + " -");
    for (const std::string& flag : flags) {
      CAPTURE(flag);
      CHECK(holds(words, flag));
    }
  }
}

TEST_CASE("bash completes commands, programs, exercises, choices, lists and files") {
  const Workplace place;
  place.write("mine.toy", "");
  std::filesystem::create_directory(place.path("work"));
  using Words = std::vector<std::string>;
  CHECK(completed(place, "flashlab tr") == Words{"trace"});
  CHECK(completed(place, "flashlab exercises ch") == Words{"check"});
  CHECK(completed(place, "flashlab trace softmax_o") == Words{"softmax_online"});
  CHECK(completed(place, "flashlab trace min") == Words{"mine.toy"});
  CHECK(completed(place, "flashlab format min") == Words{"mine.toy"});
  CHECK(completed(place, "flashlab picture ce") == Words{"cells"});
  CHECK(completed(place, "flashlab picture ti") == Words{"tiles", "timeline"});
  CHECK(completed(place, "flashlab picture cells min") == Words{"mine.toy"});
  CHECK(completed(place, "flashlab picture --svg a.svg cells ce") == Words{});
  CHECK(completed(place, "flashlab picture cells softmax_o") == Words{"softmax_online"});
  CHECK(completed(place, "flashlab exercises check 02") == Words{"02_c00"});
  CHECK(completed(place, "flashlab attention --mask causal-") == Words{"causal-bottom-right"});
  CHECK(completed(place, "flashlab attention --mask = causal-") == Words{"causal-bottom-right"});
  CHECK(completed(place, "flashlab attention --verify -v flash2") == Words{"flash2"});
  CHECK(completed(place, "flashlab compare -v naive,bwd-o") == Words{"naive,bwd-onepass"});
  CHECK(completed(place, "flashlab grade 2 --all wo") == Words{"work"});
  CHECK(completed(place, "flashlab run x -D n") == Words{});
  CHECK(completed(place, "flashlab help tou") == Words{"tour"});
  CHECK(holds(completed(place, "flashlab trace x --color a"), "always"));
}

TEST_CASE("the scripts are ones that their shells read") {
  const Workplace place;
  CHECK(place.shell("flashlab completion bash | bash -n").code == 0);
  if (is_here("zsh")) CHECK(place.shell("flashlab completion zsh | zsh -n").code == 0);
  if (!is_here("fish")) FLASHLAB_SKIP("no fish");
  const Outcome outcome = place.shell(
      "flashlab completion fish >flashlab.fish\n"
      "fish --no-config -c 'source flashlab.fish; complete -C \"flashlab exercises che\"; "
      "complete -C \"flashlab attention --mask \"; complete -C \"flashlab compare -v naive,fl\"; "
      "complete -C \"flashlab picture cells softmax_on\"; "
      "complete -C \"flashlab picture cells resc\"'");
  CHECK(outcome.err == "");
  CHECK_THAT(outcome.out, contains("check\t"));
  CHECK_THAT(outcome.out, contains("causal-bottom-right"));
  CHECK_THAT(outcome.out, contains("naive,flash2"));
  CHECK_THAT(outcome.out, contains("softmax_online"));
  CHECK_THAT(outcome.out, !contains("rescaled"));
}

}  // namespace flashlab::test
