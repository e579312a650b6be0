#include "toymachine/trace/trace_html.hpp"

#include <array>
#include <cstddef>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "player_files.hpp"
#include "text/page.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::toy {
namespace {

// The player parses one block when it shows a step of it, so a block is small enough for
// one key press.
constexpr std::uint64_t kEntriesPerBlock = 256;
constexpr std::uint64_t kBytesPerBlock = 256 * 1024;
constexpr std::size_t kFlushBytes = 64 * 1024;
constexpr std::string_view kStepsKey = "steps";

constexpr std::string_view kBeginHead = "<script type=\"application/json\" id=\"trace-head\">";
constexpr std::string_view kBeginSteps = "<script type=\"application/json\" class=\"trace-steps\">";
constexpr std::string_view kBeginTail = "<script type=\"application/json\" id=\"trace-tail\">";
constexpr std::string_view kBeginTimeline =
    "<script type=\"application/json\" id=\"trace-timeline\">";
constexpr std::string_view kBeginFigure = "<script type=\"application/json\" id=\"trace-figure\">";
constexpr std::string_view kBeginOpening =
    "<script type=\"application/json\" id=\"trace-opens-at\">";
constexpr std::string_view kBeginWhy = "<script type=\"application/json\" id=\"trace-why\">";
constexpr std::string_view kEnd = "</script>\n";

// The places in player.html for style, trace and script.
constexpr std::string_view kStyleMark = "/* flashlab: style */";
constexpr std::string_view kTraceMark = "<!-- flashlab: trace -->";
constexpr std::string_view kScriptMark = "/* flashlab: script */";

// In the order of their dependencies.
constexpr std::array<std::string_view, 9> kScripts{
    "trace.js",       "text.js",  "tiles.js",          "panels.js", "machine_panels.js",
    "steps_table.js", "lanes.js", "timeline_panel.js", "player.js"};
constexpr std::string_view kFigureScript = "figure.js";  // in pages with a figure
constexpr std::array<std::string_view, 4> kStyles{"player.css", "tiles.css", "lanes.css",
                                                  "figure.css"};

/// The template with style and script filled in, split where the trace belongs.
struct PlayerPage {
  std::string before_trace;
  std::string after_trace;
};

PlayerPage player_page(bool has_figure) {
  std::string page(file_text(player_files, "player.html"));
  const auto fill = [&page](std::string_view mark, std::string_view text) {
    page.replace(page.find(mark), mark.size(), text);
  };
  const auto joined = [](const auto& names) {
    std::string text;
    for (const std::string_view name : names) text += file_text(player_files, name);
    return text;
  };
  fill(kStyleMark, page_style(joined(kStyles)));
  const std::string_view figure = has_figure ? file_text(player_files, kFigureScript) : "";
  fill(kScriptMark, std::string(figure) + joined(kScripts));
  const std::size_t trace = page.find(kTraceMark);
  return {page.substr(0, trace), page.substr(trace + kTraceMark.size())};
}

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

}  // namespace

TraceHtmlBuffer::TraceHtmlBuffer(std::ostream& out) : out_(out) {
  pending_ = player_page(false).before_trace;
  pending_ += kBeginHead;
}

TraceHtmlBuffer::int_type TraceHtmlBuffer::overflow(int_type character) {
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    take(traits_type::to_char_type(character));
  }
  return out_ ? traits_type::not_eof(character) : traits_type::eof();
}

std::streamsize TraceHtmlBuffer::xsputn(const char* bytes, std::streamsize count) {
  for (std::streamsize i = 0; i < count; ++i) take(bytes[i]);
  return out_ ? count : 0;
}

void TraceHtmlBuffer::take(char byte) {
  if (in_string_) {
    take_in_string(byte);
  } else if (part_ == Part::kSteps) {
    take_step_structure(byte);
  } else {
    take_structure(byte);
  }
}

void TraceHtmlBuffer::take_in_string(char byte) {
  // JSON has no control characters in strings; a line break would split an entry of steps.
  put(static_cast<unsigned char>(byte) < 0x20 ? ' ' : byte);
  if (escaped_) {
    escaped_ = false;
  } else if (byte == '\\') {
    escaped_ = true;
  } else if (byte == '"') {
    in_string_ = false;
    return;
  }
  if (depth_ == 1 && key_.size() <= kStepsKey.size()) key_ += byte;
}

/// Before and after the steps: copies bytes, and watches for the start of the array "steps".
void TraceHtmlBuffer::take_structure(char byte) {
  put(byte);
  if (is_space(byte)) return;
  const bool is_value = after_colon_;
  after_colon_ = byte == ':';
  if (byte == '"') {
    in_string_ = true;
    if (!is_value) key_.clear();
  } else if (byte == '[' || byte == '{') {
    ++depth_;
    const bool is_steps = byte == '[' && depth_ == 2 && is_value && key_ == kStepsKey;
    if (is_steps && part_ == Part::kHead) {
      pending_ += kEnd;
      part_ = Part::kSteps;
    }
  } else if (byte == ']' || byte == '}') {
    if (depth_ == 0) malformed_ = true;
    if (depth_ > 0) --depth_;
  }
}

/// Inside the array "steps": each entry becomes one line, and several entries become one block.
void TraceHtmlBuffer::take_step_structure(char byte) {
  if (is_space(byte)) return;
  if (depth_ == 2 && byte == ',') {
    if (bytes_in_block_ > 0) put('\n');
    if (entries_in_block_ >= kEntriesPerBlock || bytes_in_block_ >= kBytesPerBlock) end_block();
    return;
  }
  if (depth_ == 2 && byte == ']') {
    end_block();
    part_ = Part::kTail;
    pending_ += kBeginTail;
    --depth_;
    put(byte);
    return;
  }
  if (bytes_in_block_ == 0) begin_block();
  if (depth_ == 2 && byte == '{') {
    ++entries_;
    ++entries_in_block_;
  }
  put(byte);
  if (byte == '"') in_string_ = true;
  if (byte == '[' || byte == '{') ++depth_;
  if (byte == ']' || byte == '}') --depth_;
}

void TraceHtmlBuffer::begin_block() { pending_ += kBeginSteps; }

void TraceHtmlBuffer::end_block() {
  if (bytes_in_block_ > 0) pending_ += kEnd;
  bytes_in_block_ = 0;
  entries_in_block_ = 0;
}

/// All bytes of the trace go into the page through here. In JSON, "<" is only in strings, where it
/// can be written like this. Without it, no text can end the script element or begin another.
void TraceHtmlBuffer::put(char byte) {
  if (byte == '<') {
    pending_ += "\\u003c";
  } else {
    pending_ += byte;
  }
  if (part_ == Part::kSteps) ++bytes_in_block_;
  if (pending_.size() >= kFlushBytes) flush();
}

void TraceHtmlBuffer::flush() {
  out_.write(pending_.data(), static_cast<std::streamsize>(pending_.size()));
  pending_.clear();
}

Result<std::uint64_t> TraceHtmlBuffer::finish(std::string_view timeline, std::uint64_t opens_at,
                                              std::string_view why, std::string_view figure) {
  const bool is_whole = part_ == Part::kTail && depth_ == 0 && !in_string_ && !malformed_;
  if (part_ == Part::kSteps) {
    end_block();
  } else {
    pending_ += kEnd;
  }
  if (is_whole && !timeline.empty()) {
    pending_ += kBeginTimeline;
    for (const char byte : timeline) put(byte);
    pending_ += kEnd;
  }
  if (is_whole && !figure.empty()) {
    pending_ += kBeginFigure;
    for (const char byte : figure) put(byte);
    pending_ += kEnd;
  }
  if (opens_at > 0) {
    pending_ += kBeginOpening;
    pending_ += std::to_string(opens_at);
    pending_ += kEnd;
  }
  if (!why.empty()) {
    pending_ += kBeginWhy;
    const nlohmann::json text(why);
    for (const char byte : text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
      put(byte);
    }
    pending_ += kEnd;
  }
  pending_ += player_page(is_whole && !figure.empty()).after_trace;
  flush();
  out_.flush();
  if (!out_) return request_error("the page cannot be written", "a file with room for it");
  if (!is_whole) {
    return request_error("the input is not a whole trace",
                         "one JSON object with an array \"steps\"");
  }
  return entries_;
}

Result<std::uint64_t> write_html(std::istream& trace_json, std::ostream& out) {
  TraceHtmlBuffer page(out);
  std::array<char, kFlushBytes> bytes{};
  while (trace_json && out) {
    trace_json.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    page.sputn(bytes.data(), trace_json.gcount());
  }
  return page.finish();
}

}  // namespace flashlab::toy
