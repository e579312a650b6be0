#include "toymachine/history/rescaled_sum.hpp"

#include <algorithm>
#include <cmath>

#include "cli/picture/pictures.hpp"
#include "cli/terminal/failure.hpp"
#include "text/numbers.hpp"
#include "text/picture/axes.hpp"
#include "text/picture/svg.hpp"

namespace flashlab::cli {
namespace {

constexpr std::size_t kMostTerms = 8;
constexpr double kTermBox = 34, kTermPitch = 44, kTermRow = 62, kTermsTop = 74, kTermsLeast = 96;
constexpr double kMostOfInput = 200;  // width of an input's text

using toy::RescaledRow;

class RescaledSumPicture {
 public:
  RescaledSumPicture(const PicturedProgram& program, toy::RescaledSum sum)
      : program_(program), sum_(std::move(sum)) {
    for (const RescaledRow& row : sum_.rows) {
      for (const double term : row.terms) largest_ = std::max(largest_, std::fabs(term));
      const double sum_room = picture::text_room(sum_text(row)) + 20;
      if (row.input) left_ = std::max(left_, picture::text_room(input_text(row)) + 22);
      const double terms = kTermPitch * static_cast<double>(row.terms.size());
      width_ = std::max(width_, left_ + terms + sum_room);
    }
    svg_ = picture::Svg(width_);
  }

  std::string draw() {
    const std::string name =
        sum_.name.empty() ? program_.bound->register_name(sum_.register_number) : sum_.name;
    const std::string title = program_.name + ": the terms of " + name + " after each input";
    picture::draw_heading(svg_, title, "area: the term's size; a row is rescaled as a whole");
    for (std::size_t i = 0; i < sum_.rows.size(); ++i) draw_row(i);
    const double height = kTermsTop + kTermRow * static_cast<double>(sum_.rows.size());
    return svg_.finish(height, title, description(name));
  }

 private:
  std::string input_text(const RescaledRow& row) const {
    const std::string value = " = " + short_text(row.input_value, 3);
    return picture::fitted_to_room(toy::to_string(row.input->name, {true, nullptr}),
                                   kMostOfInput - picture::text_room(value)) +
           value;
  }
  static std::string sum_text(const RescaledRow& row) { return "sum " + short_text(row.sum, 3); }

  void draw_row(std::size_t index) {
    const RescaledRow& row = sum_.rows[index];
    const double y = kTermsTop + kTermRow * static_cast<double>(index);
    const double middle = y + kTermBox / 2;
    if (row.input) svg_.text({left_ - 12, middle + 5.5}, input_text(row), "end");
    for (std::size_t j = 0; j < row.terms.size(); ++j) draw_term(row, j, middle);
    svg_.text({width_ - 10, middle + 5.5}, sum_text(row), "strong end");
    if (index > 0) draw_factor(row, y);
  }

  void draw_term(const RescaledRow& row, std::size_t j, double middle) {
    const double centre = left_ + kTermPitch * (static_cast<double>(j) + 0.5);
    const double side = kTermBox * std::sqrt(std::fabs(row.terms[j]) / largest_);
    svg_.rect({centre - kTermBox / 2, middle - kTermBox / 2}, kTermBox, kTermBox, "grid paper");
    const bool is_new = j + 1 == row.terms.size();
    const bool is_rescaled = !is_new && row.factor != 1;
    svg_.rect({centre - side / 2, middle - side / 2}, side, side,
              is_new        ? "c5 filled"
              : is_rescaled ? "c6 series"
                            : "c5 series");
  }

  /// The brace above a row: all earlier terms are multiplied by one number.
  void draw_factor(const RescaledRow& row, double y) {
    const double left = left_ + 4;
    const double right = left_ + kTermPitch * static_cast<double>(row.terms.size() - 1) - 4;
    const bool changes = row.factor != 1;
    const std::string classes = changes ? "series c6" : "thin c7";
    svg_.polyline({{left, y - 3}, {left, y - 8}, {right, y - 8}, {right, y - 3}}, classes);
    svg_.text({left, y - 13}, "× " + short_text(row.factor, 3), changes ? "strong" : "soft");
  }

  std::string description(const std::string& name) const {
    std::string text = "A triangle of squares, a row after each input.";
    for (std::size_t i = 0; i < sum_.rows.size(); ++i) {
      const RescaledRow& row = sum_.rows[i];
      text += " After " + (row.input ? input_text(row) : std::string("a start"));
      if (i > 0) text += " the earlier terms are multiplied by " + short_text(row.factor, 3) + ",";
      text += " " + name + " is " + short_text(row.sum, 3) + ".";
    }
    return text;
  }

  const PicturedProgram& program_;
  toy::RescaledSum sum_;
  double largest_ = 1e-300;
  double left_ = kTermsLeast, width_ = picture::kPictureWidth;
  picture::Svg svg_{picture::kPictureWidth};
};

}  // namespace

std::string rescaled_sum_svg(const PicturedProgram& program) {
  auto sum = toy::rescaled_sum(program.run);
  if (!sum || sum->rows.size() < 2) {
    throw request_failure(program.name + " has no sum of scalars that it rescales",
                          "a register that is multiplied in place and then added to, as in "
                          "softmax_online");
  }
  if (sum->rows.size() > kMostTerms) {
    throw request_failure(program.name + " adds " + std::to_string(sum->rows.size()) + " terms",
                          "at most " + std::to_string(kMostTerms) + ": -D n=5");
  }
  return RescaledSumPicture(program, std::move(*sum)).draw();
}

}  // namespace flashlab::cli
