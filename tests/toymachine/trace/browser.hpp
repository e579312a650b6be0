// Pages in a headless browser, where one is installed.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

inline std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 4096> bytes{};
  for (std::size_t n = 1; pipe && n > 0;) {
    n = std::fread(bytes.data(), 1, bytes.size(), pipe.get());
    output.append(bytes.data(), n);
  }
  return output;
}

/// Empty when there is none. FLASHLAB_BROWSER names another one.
inline std::string browser() {
  if (const char* named = std::getenv("FLASHLAB_BROWSER")) return named;
  std::string found = output_of(
      "command -v chromium || command -v chromium-browser || command -v google-chrome || true");
  return found.substr(0, found.find('\n'));
}

/// What the driver, a script of this folder, left as JSON in an element with the id "report" after
/// it ran in the page. window.errorsSoFar lists what went wrong before.
inline nlohmann::json drive(std::string page, const std::string& driver_name, int width = 1280) {
  std::ifstream driver(FLASHLAB_SOURCE_DIR "/tests/" + driver_name);
  std::ostringstream script;
  script << "<script>" << driver.rdbuf() << "</script></body>";
  page.replace(page.rfind("</body>"), 7, script.str());
  page.insert(
      page.find("<body>") + 6,
      "<script>window.errorsSoFar = []; for (const kind of ['error', 'unhandledrejection',"
      " 'securitypolicyviolation']) addEventListener(kind, (e) => errorsSoFar.push(kind + ': '"
      " + (e.message || e.reason || e.violatedDirective)));"
      " console.error = (...words) => errorsSoFar.push(words.join(' '));</script>");
  const auto folder =
      std::filesystem::temp_directory_path() / ("flashlab-page-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "page.html") << page;
  const std::string dump = output_of(
      "'" + browser() + "' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage" +
      " --no-first-run --virtual-time-budget=30000 --window-size=" + std::to_string(width) +
      ",900" + " --user-data-dir='" + (folder / "profile").string() + "' --dump-dom 'file://" +
      (folder / "page.html").string() + "' 2>/dev/null");
  std::error_code ignored;  // the browser may still be writing its profile
  std::filesystem::remove_all(folder, ignored);
  const std::string begin = "<pre id=\"report\">";
  const std::size_t at = dump.find(begin);
  REQUIRE(at != std::string::npos);
  const std::size_t from = at + begin.size();
  return nlohmann::json::parse(dump.substr(from, dump.find("</pre>", from) - from));
}

}  // namespace flashlab::test
