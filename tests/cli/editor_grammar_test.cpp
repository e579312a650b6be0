// The editor grammar, held against every bundled program by a small reader of TextMate rules.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/cli/command.hpp"

namespace {

using namespace flashlab::test;
using Json = nlohmann::json;

/// A scope for each byte of a line; empty: none.
using Scopes = std::vector<std::string>;

/// Rules of one line: `match`, `name`, `captures` and `include`, which is all that the grammar
/// uses.
class Reader {
 public:
  explicit Reader(Json grammar) : grammar_(std::move(grammar)) {}

  Scopes read(const std::string& line) {
    Scopes scopes(line.size());
    apply(grammar_["patterns"], line, 0, line.size(), scopes);
    return scopes;
  }

 private:
  const std::regex& regex(const std::string& text) {
    const auto found = regexes_.find(text);
    if (found != regexes_.end()) return found->second;
    const bool any_case = text.rfind("(?i)", 0) == 0;
    const auto flags =
        any_case ? std::regex::ECMAScript | std::regex::icase : std::regex::ECMAScript;
    return regexes_.emplace(text, std::regex(any_case ? text.substr(4) : text, flags))
        .first->second;
  }

  /// The rules with what they include in its place.
  void flatten(const Json& patterns, std::vector<Json>& rules) const {
    for (const Json& rule : patterns) {
      if (!rule.contains("include")) {
        rules.push_back(rule);
        continue;
      }
      const std::string name = rule["include"].get<std::string>().substr(1);
      REQUIRE(grammar_["repository"].contains(name));
      flatten(grammar_["repository"][name]["patterns"], rules);
    }
  }

  void apply(const Json& patterns, const std::string& line, std::size_t from, std::size_t to,
             Scopes& scopes) {
    std::vector<Json> rules;
    flatten(patterns, rules);
    while (from < to) {
      std::smatch best;
      const Json* chosen = nullptr;
      for (const Json& rule : rules) {
        std::smatch match;
        const auto flags =
            from > 0 ? std::regex_constants::match_prev_avail : std::regex_constants::match_default;
        const auto begin = line.begin() + static_cast<std::ptrdiff_t>(from);
        const auto end = line.begin() + static_cast<std::ptrdiff_t>(to);
        const bool found = std::regex_search(begin, end, match, regex(rule["match"]), flags);
        if (found && match.length() > 0 &&
            (chosen == nullptr || match.position() < best.position())) {
          best = match;
          chosen = &rule;
        }
      }
      if (chosen == nullptr) return;
      paint(*chosen, best, line, from, scopes);
      from += static_cast<std::size_t>(best.position() + best.length());
    }
  }

  void paint(const Json& rule, const std::smatch& match, const std::string& line, std::size_t from,
             Scopes& scopes) {
    const auto fill = [&](std::size_t group, const std::string& name) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(match.length(group)); ++i) {
        scopes[from + static_cast<std::size_t>(match.position(group)) + i] = name;
      }
    };
    if (rule.contains("name")) fill(0, rule["name"]);
    if (!rule.contains("captures")) return;
    for (const auto& [number, capture] : rule["captures"].items()) {
      const std::size_t group = std::stoul(number);
      REQUIRE(group < match.size());
      if (!match[group].matched) continue;
      if (capture.contains("name")) fill(group, capture["name"]);
      if (!capture.contains("patterns")) continue;
      const std::size_t start = from + static_cast<std::size_t>(match.position(group));
      apply(capture["patterns"], line, start, start + static_cast<std::size_t>(match.length(group)),
            scopes);
    }
  }

  Json grammar_;
  std::map<std::string, std::regex> regexes_;
};

struct Word {
  std::string text, scope;
  char before = ' ', after = ' ';
};

/// The words outside comments, each with the scope of its first letter.
std::vector<Word> words_of(const std::string& line, const Scopes& scopes) {
  static const std::regex kWord("[A-Za-z_][A-Za-z0-9_]*");
  const std::string code = line.substr(0, line.find_first_of(";#"));
  std::vector<Word> words;
  for (std::sregex_iterator it(code.begin(), code.end(), kWord), end; it != end; ++it) {
    const auto at = static_cast<std::size_t>(it->position()), end_at = at + it->str().size();
    words.push_back({it->str(), scopes[at], at > 0 ? code[at - 1] : ' ',
                     end_at < code.size() ? code[end_at] : ' '});
  }
  return words;
}

std::string scope_of(Reader& reader, const std::string& line, const std::string& word) {
  return reader.read(line)[line.find(word)];
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Names after `.reg`, or after `.input`, `.temp`, `.output`.
std::set<std::string> declared(const std::vector<std::string>& lines, const std::regex& directive) {
  static const std::regex kName("([A-Za-z_][A-Za-z0-9_]*)(\\[[^\\]]*\\])?");
  std::set<std::string> names;
  for (const std::string& line : lines) {
    std::smatch match;
    const std::string code = line.substr(0, line.find_first_of(";#"));
    if (!std::regex_search(code, match, directive)) continue;
    const std::string rest = match.suffix();
    for (std::sregex_iterator it(rest.begin(), rest.end(), kName), end; it != end; ++it) {
      names.insert((*it)[1]);
      if (match.str().find(".reg") == std::string::npos) break;
    }
  }
  return names;
}

}  // namespace

TEST_CASE("every word of every bundled program has the colour of what it is", "[grammar]") {
  Reader reader(json_of(flashlab::test::flashlab("isa --textmate")));
  std::set<std::string> mnemonics;
  for (const auto& row : json_of(flashlab::test::flashlab("isa --json")))
    mnemonics.insert(row["mnemonic"]);
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(FLASHLAB_SOURCE_DIR) / "toymachine/programs")) {
    const std::vector<std::string> lines = lines_of(entry.path());
    const auto registers = declared(lines, std::regex("^\\s*\\.reg\\s"));
    const auto arrays = declared(lines, std::regex("^\\s*\\.(?:input|temp|output)\\s"));
    for (const std::string& line : lines) {
      const std::vector<Word> words = words_of(line, reader.read(line));
      const bool instruction = !words.empty() && mnemonics.contains(words.front().text);
      for (const Word& word : words) {
        INFO(entry.path().filename().string() << ": " << line << " -> " << word.text);
        CHECK(word.scope != "");
        if (!instruction) continue;
        if (&word == &words.front()) {
          CHECK(word.scope == "support.function.instruction.flashlab");
        } else if (word.before == '^') {
          CHECK(word.scope == "keyword.operator.transpose.flashlab");
        } else if (registers.contains(word.text)) {
          CHECK(word.scope == "variable.language.register.flashlab");
        } else if (arrays.contains(word.text) && word.after == '[') {
          CHECK(word.scope == "variable.other.array.flashlab");
        }
      }
      if (const auto comment = line.find_first_of(";#"); comment != std::string::npos) {
        CHECK(reader.read(line)[comment] == "comment.line.flashlab");
      }
    }
  }
}

TEST_CASE("operands are coloured by what the instruction takes", "[grammar]") {
  Reader reader(json_of(flashlab::test::flashlab("isa --textmate")));
  const std::string in_register = "variable.language.register.flashlab",
                    array = "variable.other.array.flashlab",
                    parameter = "variable.parameter.flashlab";
  CHECK(scope_of(reader, "  load q[i][c], Q[c]", "q") == array);
  CHECK(scope_of(reader, "  load q[i][c], Q[c]", "Q") == in_register);
  CHECK(scope_of(reader, "STORE acc[j], out[j]", "acc") == in_register);
  CHECK(scope_of(reader, "STORE acc[j], out[j]", "out") == array);
  CHECK(scope_of(reader, "FILL scale, X", "scale") == parameter);
  CHECK(scope_of(reader, "FILL scale, X", "X") == in_register);
  CHECK(scope_of(reader, "MASK S, i*B, tiles(k, 1)*Bk, P", "tiles") ==
        "support.function.expression.flashlab");
  CHECK(scope_of(reader, "MASK S, i*B, tiles(k, 1)*Bk, P", "P") == in_register);
  CHECK(scope_of(reader, "MAC Q, K^T, S, S", "^T") == "keyword.operator.transpose.flashlab");
  CHECK(scope_of(reader, ".isa softmax, FILL", "FILL") == "support.function.instruction.flashlab");
  CHECK(scope_of(reader, ".isa softmax, FILL", "softmax") == "constant.language.flashlab");
  CHECK(scope_of(reader, ".pass Get max", "Get") == "entity.name.section.flashlab");
  CHECK(scope_of(reader, ".name R1 = m' = max(j in 0..n: x[j])", "m'") ==
        "entity.name.label.flashlab");
  CHECK(scope_of(reader, ".input q(n, d) tile (B, Bd) bf16", "bf16") == "storage.type.flashlab");
  CHECK(scope_of(reader, "MAC R0, ", "MAC") == "support.function.instruction.flashlab");
}
