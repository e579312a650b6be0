// The TOML parser. It compiles slowly, so it has a file of its own.
#include <algorithm>

#include "exercises/grader/exercise/read_program.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

/// Finds keys of very many parts, a.b.c.…: each part is a table inside the one before, and
/// destroying 100 000 nested tables overflows the stack. Skips strings and comments.
class KeyDepth {
 public:
  explicit KeyDepth(std::string_view text) : text_(text) {}

  /// Returns the byte at which a key has too many parts.
  std::optional<std::size_t> first_too_deep() {
    constexpr int kMostParts = 8;
    int dots = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (c == '.' && ++dots >= kMostParts) return at_;
      if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots = 0;
      ++at_;
    }
    return std::nullopt;
  }

 private:
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool long_one = text_.substr(at_).starts_with(three);
    const std::string end = long_one ? three : std::string(1, quote);
    at_ += end.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
      if (!long_one && text_[at_] == '\n') return;  // not closed: the parser reports it
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    at_ += end.size();
    while (long_one && at_ < text_.size() && text_[at_] == quote) ++at_;  // """a"""""
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

toy::SourceSpan place_of(const toy::SourceText& source, std::size_t byte) {
  toy::SourceSpan span{1, 1, 1};
  for (std::size_t i = 0; i < byte && i < source.text().size(); ++i) {
    span.column = source.text()[i] == '\n' ? 1 : span.column + 1;
    span.line += source.text()[i] == '\n' ? 1 : 0;
  }
  return span;
}

}  // namespace

std::optional<toml::table> parse_toml(ErrorList& errors) {
  const toy::SourceText& source = errors.source();
  if (const auto bad = first_unprintable(source.text())) {
    errors.add(place_of(source, *bad), "a character that is not text",
               "UTF-8 without control characters");
    return std::nullopt;
  }
  if (const auto deep = KeyDepth(source.text()).first_too_deep()) {
    errors.add(place_of(source, *deep), "a key with too many parts", "at most 8, as in a.b.c");
    return std::nullopt;
  }
  try {
    return toml::parse(source.text());
  } catch (const toml::parse_error& error) {
    errors.add(error.source(), printable(on_one_line(error.description())), "TOML 1.0");
    return std::nullopt;
  }
}

}  // namespace flashlab::exercises
