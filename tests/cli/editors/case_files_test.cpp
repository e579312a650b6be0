// Runs the case files of cases/: messages in, conditions on messages out. cases/README.md describes
// them; a new file is a new test.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/cli/editors/case_pattern.hpp"
#include "tests/cli/editors/case_process.hpp"
#include "tests/cli/editors/protocol_session.hpp"
#include "tests/cli/editors/pseudo_terminal.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPatience{20'000};

/// The members of an object inside a case. A loop over items() of a temporary would outlive it.
std::map<std::string, json> members(const json& test, const std::string& name) {
  std::map<std::string, json> all;
  if (!test.contains(name)) return all;
  for (const auto& [key, value] : test.at(name).items()) all[key] = value;
  return all;
}

/// What all kinds of cases have: a folder with the case's files, and saved values.
class CaseFolder {
 public:
  explicit CaseFolder(const json& test) {
    saved["folder"] = place.path("").parent_path().string();
    saved["binary"] = FLASHLAB_BINARY;
    for (const auto& [name, text] : members(test, "files")) {
      fs::create_directories(place.path(name).parent_path());
      place.write(name, case_text(with_saved(text, saved)));
    }
    for (const auto& [name, mode] : members(test, "modes")) {
      chmod(place.path(name).c_str(),
            static_cast<mode_t>(std::stoul(mode.get<std::string>(), nullptr, 8)));
    }
  }

  std::string problem(const json& value, const json& pattern, const std::string& what) {
    return PatternMatch(saved).problem(value, with_saved(pattern, saved), what);
  }

  /// Checks "after": what files are there then, with which text and mode.
  std::string files_problem(const json& test) {
    for (const auto& [name, pattern] : members(test, "after")) {
      const fs::path path = place.path(name);
      json value{{"exists", fs::exists(fs::symlink_status(path))}};
      struct stat status {};
      if (lstat(path.c_str(), &status) == 0) {
        char mode[8];
        snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
        value["mode"] = mode;
        value["links"] = status.st_nlink;
        value["is_link"] = S_ISLNK(status.st_mode);
        value["text"] = place.read(name);
      }
      if (auto why = problem(value, pattern, name); !why.empty()) return why;
    }
    return {};
  }

  Workplace place;
  SavedValues saved;
};

/// A session with a server: "steps" of messages.
class SessionCase : CaseFolder {
 public:
  SessionCase(const json& test, const std::string& kind)
      : CaseFolder(test), test_(test), is_lsp_(kind == "lsp") {
    std::vector<std::string> words{kind};
    for (const json& flag : test.value("flags", json::array())) {
      words.push_back(with_saved(flag, saved).get<std::string>());
    }
    server_ = std::make_unique<CaseProcess>(saved["folder"].get<std::string>(), words,
                                            test.value("nonblocking", false));
  }

  std::string run() {
    begin();
    std::size_t number = 0;
    for (const json& step : test_.at("steps")) {
      ++number;
      if (auto why = take(step); !why.empty()) {
        return "step " + std::to_string(number) + " " + step.dump() + ": " + why;
      }
    }
    for (const json& pattern : test_.value("never", json::array())) {
      for (const json& message : all_) {
        if (problem(message, pattern, "a message").empty()) return "received " + message.dump();
      }
    }
    return files_problem(test_);
  }

 private:
  /// Opens "opens" in a language server, or launches "launches" in a debug adapter.
  void begin() {
    const json client = test_.value("client", json::object());
    if (test_.contains("opens")) {
      const std::string text = case_text(test_["opens"]);
      texts_["file:///p.toy"] = text;
      json params = client;
      if (!params.contains("capabilities")) {  // as most editors
        params["capabilities"] = {{"textDocument", {{"hover", {{"contentFormat", {"markdown"}}}}}}};
      }
      send({{"id", "initialize"}, {"method", "initialize"}, {"params", params}});
      send({{"method", "initialized"}, {"params", json::object()}});
      send({{"method", "textDocument/didOpen"},
            {"params",
             {{"textDocument",
               {{"uri", "file:///p.toy"},
                {"languageId", "toy"},
                {"version", 1},
                {"text", text}}}}}});
    }
    if (test_.contains("launches")) {
      send({{"command", "initialize"}, {"arguments", client}});
      send({{"command", "launch"}, {"arguments", with_saved(test_["launches"], saved)}});
      find({{"event", "initialized"}});
    }
  }

  void send(json message) {
    if (is_lsp_) {
      message.emplace("jsonrpc", "2.0");
    } else {
      message.emplace("seq", ++sequence_);
      message.emplace("type", "request");
    }
    server_->write_bytes(frame_of(message.dump()));
  }

  /// Returns the first message since the last match that matches, or why there is none.
  std::string find(const json& pattern, std::chrono::milliseconds patience = kPatience) {
    std::string nearest;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (std::size_t at = 0;; ++at) {
      if (at == waiting_.size()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        auto message = server_->next_message(left);
        if (!message) return "no such message; " + (nearest.empty() ? "none came" : nearest);
        all_.push_back(*message);
        waiting_.push_back(std::move(*message));
      }
      const std::string why = problem(waiting_[at], pattern, "the message");
      if (why.empty()) {
        last_ = waiting_[at];
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
        return {};
      }
      nearest = "the last one: " + why;
    }
  }

  std::string take(const json& step) {
    if (step.contains("send")) {
      send(with_saved(step["send"], saved));
    } else if (step.contains("raw")) {
      server_->write_bytes(step["raw"].get<std::string>());
    } else if (step.contains("expect")) {
      return find(step["expect"]);
    } else if (step.contains("next")) {  // the very next message
      if (waiting_.empty()) {
        auto message = server_->next_message(kPatience);
        if (!message) return "no message came";
        all_.push_back(*message);
        waiting_.push_back(std::move(*message));
      }
      last_ = waiting_.front();
      waiting_.erase(waiting_.begin());
      return problem(last_, step["next"], "the message");
    } else if (step.contains("within_ms")) {  // a limit for the next one
      return find(step["of"], std::chrono::milliseconds(step["within_ms"].get<int>()));
    } else if (step.contains("wait_ms")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(step["wait_ms"].get<int>()));
    } else if (step.contains("edited")) {  // the text after the edits of the last answer
      const std::string text = edited("file:///p.toy");
      return text == case_text(step["edited"]) ? std::string() : "the text is " + json(text).dump();
    } else if (step.contains("write")) {
      for (const auto& [name, text] : members(step, "write")) place.write(name, case_text(text));
    } else if (step.contains("start_process")) {
      const pid_t other = fork();
      if (other == 0) {
        execlp("sleep", "sleep", "60", nullptr);
        _exit(127);
      }
      saved[step["start_process"].get<std::string>()] = other;
    } else if (step.contains("end_process")) {
      const pid_t other = saved.at(step["end_process"].get<std::string>()).get<pid_t>();
      kill(other, SIGKILL);
      waitpid(other, nullptr, 0);
    } else if (step.contains("close")) {
      server_->close_input();
    } else if (step.contains("exit")) {
      const auto code = server_->exit_code(kPatience);
      if (!code) return "it does not end";
      return *code == step["exit"] ? std::string() : "it ended with " + std::to_string(*code);
    } else {
      return "there is no such step";
    }
    return {};
  }

  /// The byte of a place in a client's text, which counts units of UTF-16 and knows three line ends.
  static std::size_t byte_of(const std::string& text, const json& position) {
    std::size_t at = 0;
    for (int line = position.at("line").get<int>(); line > 0; --line) {
      at = text.find_first_of("\r\n", at);
      REQUIRE(at != std::string::npos);
      at += text.compare(at, 2, "\r\n") == 0 ? 2 : 1;
    }
    for (int units = position.at("character").get<int>(); units > 0;) {
      const auto lead = static_cast<unsigned char>(text.at(at));
      REQUIRE((lead != '\n' && lead != '\r'));
      const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      units -= bytes == 4 ? 2 : 1;
      at += bytes;
    }
    return at;
  }

  std::string edited(const std::string& uri) const {
    std::string text = texts_.at(uri);
    json edits = last_.at("result");
    if (edits.is_object()) edits = edits.at("changes").at(uri);
    std::vector<std::tuple<std::size_t, std::size_t, std::string>> places;
    for (const json& edit : edits) {
      places.emplace_back(byte_of(text, edit["range"]["start"]),
                          byte_of(text, edit["range"]["end"]), edit["newText"]);
    }
    std::sort(places.rbegin(), places.rend());
    for (const auto& [first, last, with] : places) text.replace(first, last - first, with);
    return text;
  }

  const json& test_;
  bool is_lsp_;
  std::unique_ptr<CaseProcess> server_;
  std::int64_t sequence_ = 0;
  std::vector<json> all_, waiting_;
  json last_;
  std::map<std::string, std::string> texts_;  // by URI
};

/// A command on a terminal: keys in, conditions on the screen.
class TerminalCase : CaseFolder {
 public:
  explicit TerminalCase(const json& test) : CaseFolder(test), test_(test) {}

  std::string run() {
    std::vector<std::string> words;
    for (const json& word : test_.at("command")) words.push_back(with_saved(word, saved));
    std::map<std::string, std::string> environment{{"HOME", saved["folder"].get<std::string>()},
                                                   {"XDG_DATA_HOME", ""}};
    for (const auto& [name, value] : members(test_, "environment")) {
      environment[name] = value.get<std::string>();
    }
    PseudoTerminal terminal(test_.value("rows", static_cast<unsigned short>(24)),
                            test_.value("columns", static_cast<unsigned short>(80)), words,
                            environment, saved["folder"].get<std::string>(),
                            test_.value("nonblocking", false),
                            case_text(test_.value("input", json(""))));
    if (!terminal.is_possible()) return {};
    std::size_t number = 0;
    for (const json& step : test_.at("steps")) {
      ++number;
      if (auto why = take(terminal, step); !why.empty()) {
        return "step " + std::to_string(number) + " " + step.dump() + ": " + why;
      }
    }
    return files_problem(test_);
  }

 private:
  std::string take(PseudoTerminal& terminal, const json& step) {
    if (step.contains("type")) {
      terminal.type(step["type"].get<std::string>());
    } else if (step.contains("wait_ms")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(step["wait_ms"].get<int>()));
    } else if (step.contains("signal")) {
      terminal.signal(step["signal"]);
    } else if (step.contains("forget")) {
      terminal.forget();
    } else if (step.contains("resize")) {
      terminal.resize(step["resize"][0], step["resize"][1]);
    } else if (step.contains("screen")) {  // the frame that was drawn last
      const json pattern = with_saved(step["screen"], saved);
      const std::string frame = terminal.frame_that(
          [&](const std::string& text) { return problem(text, pattern, "").empty(); });
      return problem(frame, pattern, "the screen");
    } else if (step.contains("output")) {  // everything so far
      const json pattern = with_saved(step["output"], saved);
      const std::string text = terminal.output_that(
          [&](const std::string& one) { return problem(one, pattern, "").empty(); });
      return problem(text, pattern, "the output");
    } else if (step.contains("exit")) {
      const int code = terminal.exit_code();
      return code == step["exit"] ? std::string() : "it ended with " + std::to_string(code);
    } else {
      return "there is no such step";
    }
    return {};
  }

  const json& test_;
};

/// A line of shell: conditions on what it prints and leaves.
class CommandCase : CaseFolder {
 public:
  explicit CommandCase(const json& test) : CaseFolder(test), test_(test) {}

  std::string run() {
    const Outcome outcome = place.shell("export HOME=$PWD; unset XDG_DATA_HOME\n" +
                                        case_text(with_saved(test_.at("shell"), saved)));
    const std::string printed = " (printed " + json(outcome.out.substr(0, 500)).dump() + ", " +
                                json(outcome.err.substr(0, 500)).dump() + ")";
    if (outcome.code != test_.value("code", 0)) {
      return "it ended with " + std::to_string(outcome.code) + printed;
    }
    for (const auto& [name, text] :
         {std::pair{"out", outcome.out}, std::pair{"err", outcome.err}}) {
      if (!test_.contains(name)) continue;
      if (auto why = problem(text, test_[name], name); !why.empty()) return why;
    }
    return files_problem(test_);
  }

 private:
  const json& test_;
};

std::vector<fs::path> files_of(const std::string& kind) {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(fs::path(FLASHLAB_SOURCE_DIR) / "tests/cli/editors/cases" / kind)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Runs all cases of a kind. FLASHLAB_CASE=TEXT runs those whose name contains the text.
template <class Run>
void run_cases(const std::string& kind, const Run& run) {
  const char* const only = std::getenv("FLASHLAB_CASE");
  std::size_t number = 0;
  for (const fs::path& file : files_of(kind)) {
    const std::string name = file.stem().string();
    if (only != nullptr && name.find(only) == std::string::npos) continue;
    ++number;
    std::ifstream stream(file);
    std::string why;
    try {
      const json test = json::parse(stream, nullptr, true, true);
      INFO(test.at("about").dump());
      why = run(test);
    } catch (const std::exception& error) {
      why = error.what();
    }
    INFO(kind << "/" << name << ": " << why);
    CHECK(why.empty());
  }
  if (only == nullptr) CHECK(number > 0);
}

}  // namespace

TEST_CASE("the language server answers as the case files say", "[cases]") {
  run_cases("lsp", [](const json& test) { return SessionCase(test, "lsp").run(); });
}

TEST_CASE("the debug adapter answers as the case files say", "[cases]") {
  run_cases("dap", [](const json& test) { return SessionCase(test, "dap").run(); });
}

TEST_CASE("commands on a terminal show what the case files say", "[cases]") {
  run_cases("terminal", [](const json& test) { return TerminalCase(test).run(); });
}

TEST_CASE("commands print and leave what the case files say", "[cases]") {
  run_cases("command", [](const json& test) { return CommandCase(test).run(); });
}

}  // namespace flashlab::test
