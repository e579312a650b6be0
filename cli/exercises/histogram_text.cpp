#include "cli/exercises/histogram_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/terminal/text_table.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

using exercises::Histogram;
using exercises::HistogramBin;
using exercises::HistogramMark;

constexpr std::size_t kMostBarColumns = 50, kFewestBarColumns = 5;

/// The first letter of a mark, capitalised; the best ever is E. letters() combines them:
/// "F", "FB", ….
char letter_of(const std::string& mark) {
  if (mark == "best ever") return 'E';
  return static_cast<char>(mark.front() - ('a' - 'A'));
}

std::string letters(const Histogram& histogram, const HistogramBin& bin) {
  std::string text;
  for (const std::string& mark : histogram.marks_in(bin)) text += letter_of(mark);
  return text;
}

std::string marks_legend(const Histogram& histogram, const Terminal& terminal) {
  std::string text;
  for (const HistogramMark& mark : histogram.marks) {
    text += (text.empty() ? "" : ",  ") + std::string(1, letter_of(mark.name)) + " " + mark.name +
            " " + grouped(mark.value.get_str());
  }
  std::string lines;
  for (const std::string& line : wrap(text, terminal.width - 2)) lines += "  " + line + "\n";
  return lines;
}

/// Draws a bar in eighths of a column if the terminal supports them.
std::string bar(double columns, const Terminal& terminal) {
  if (!terminal.unicode) return std::string(std::max<std::size_t>(1, std::lround(columns)), '#');
  constexpr std::array<const char*, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(8 * columns)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kParts[eighths % 8];
}

}  // namespace

std::string histogram_text(const Histogram& histogram, const Terminal& terminal) {
  std::size_t label_width = 0, letters_width = 0;
  for (const HistogramBin& bin : histogram.bins) {
    label_width = std::max(label_width, bin.label().size());
    letters_width = std::max(letters_width, letters(histogram, bin).size());
  }
  const std::size_t most = std::max<std::size_t>(1, histogram.most_students());
  const std::size_t taken = 2 + label_width + 3 + std::to_string(most).size() + 2 + letters_width;
  const std::size_t columns = std::clamp(terminal.width - std::min(terminal.width, taken),
                                         kFewestBarColumns, kMostBarColumns);
  std::string text = styled("Students by " + histogram.title(), Style::kBold, terminal) + "\n";
  for (const HistogramBin& bin : histogram.bins) {
    const std::string label = bin.label();
    std::string line = "  " + std::string(label_width - label.size(), ' ') + label +
                       (terminal.unicode ? " │" : " |");
    if (bin.students > 0) {
      const double share = static_cast<double>(bin.students) / static_cast<double>(most);
      line += styled(bar(share * static_cast<double>(columns), terminal), Style::kBlue, terminal) +
              " " + std::to_string(bin.students);
    }
    const std::string marks = letters(histogram, bin);
    text += line + (marks.empty() ? "" : "  " + marks) + "\n";
  }
  return text + marks_legend(histogram, terminal);
}

}  // namespace flashlab::cli
