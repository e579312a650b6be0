#include "language_model/language_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "language_model_files.hpp"

namespace flashlab::language_model {
namespace {

/// The bytes of a text in base64, as RFC 4648 has it.
std::vector<unsigned char> bytes_of_base64(std::string_view text) {
  std::array<int, 256> digits;
  digits.fill(-1);
  const std::string_view all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < all.size(); ++i)
    digits[static_cast<unsigned char>(all[i])] = static_cast<int>(i);
  std::vector<unsigned char> bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    if (letter == '\n' || letter == '=') continue;
    const int digit = digits[static_cast<unsigned char>(letter)];
    if (digit < 0) {
      throw std::runtime_error("the weights have the character '" + std::string(1, letter) +
                               "', expected base64");
    }
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes.push_back(static_cast<unsigned char>(bits >> (count -= 8)));
  }
  return bytes;
}

/// Takes matrices from the front of what is left: for each row a float, then its numbers in 8 bits.
class MatrixReader {
 public:
  explicit MatrixReader(std::vector<unsigned char> bytes) : bytes_(std::move(bytes)) {}

  Matrix take(std::size_t rows, std::size_t columns) {
    std::vector<float> factors(rows);
    std::vector<std::int8_t> numbers(rows * columns);
    if (bytes_.size() - at_ < rows * (columns + sizeof(float))) {
      throw std::runtime_error("the weights end after " + std::to_string(bytes_.size()) +
                               " bytes, within a matrix");
    }
    for (std::size_t row = 0; row < rows; ++row) {
      std::memcpy(&factors[row], &bytes_[at_], sizeof(float));
      std::memcpy(&numbers[row * columns], &bytes_[at_ + sizeof(float)], columns);
      at_ += columns + sizeof(float);
    }
    return {rows, columns, std::move(factors), std::move(numbers)};
  }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::vector<unsigned char> bytes_;
  std::size_t at_ = 0;
};

/// x / sqrt(mean(x^2) + 1e-5)
std::vector<float> norm(std::span<const float> x) {
  float squares = 0;
  for (const float value : x) squares += value * value;
  const float factor = 1 / std::sqrt(squares / static_cast<float>(x.size()) + 1e-5F);
  std::vector<float> result(x.begin(), x.end());
  for (float& value : result) value *= factor;
  return result;
}

/// Turns the points (x[c], x[c + half]) by place * 10000^(-c / half).
void turn(std::span<float> x, std::size_t place) {
  const std::size_t half = x.size() / 2;
  for (std::size_t c = 0; c < half; ++c) {
    const double angle = static_cast<double>(place) *
                         std::pow(10000.0, -static_cast<double>(c) / static_cast<double>(half));
    const auto cosine = static_cast<float>(std::cos(angle)),
               sine = static_cast<float>(std::sin(angle));
    const float one = x[c], other = x[c + half];
    x[c] = one * cosine - other * sine;
    x[c + half] = one * sine + other * cosine;
  }
}

std::size_t number_of(const nlohmann::json& head, const char* name, std::size_t most) {
  const auto found = head.find(name);
  if (found == head.end() || !found->is_number_unsigned() || found->get<std::size_t>() == 0 ||
      found->get<std::size_t>() > most) {
    throw std::runtime_error(std::string("the weights' '") + name + "' is no number from 1 to " +
                             std::to_string(most));
  }
  return found->get<std::size_t>();
}

}  // namespace

Matrix::Matrix(std::size_t rows, std::size_t columns, std::vector<float> factors,
               std::vector<std::int8_t> numbers)
    : columns_(columns), factors_(std::move(factors)), numbers_(std::move(numbers)) {
  if (factors_.size() != rows || numbers_.size() != rows * columns) {
    throw std::invalid_argument("a matrix of " + std::to_string(rows) + " rows has " +
                                std::to_string(factors_.size()) + " factors");
  }
}

void Matrix::add_product(std::span<const float> x, std::span<float> y) const {
  const std::int8_t* number = numbers_.data();
  for (std::size_t row = 0; row < rows(); ++row, number += columns_) {
    float sum = 0;
    for (std::size_t c = 0; c < columns_; ++c) sum += static_cast<float>(number[c]) * x[c];
    y[row] += factors_[row] * sum;
  }
}

std::vector<float> Matrix::row(std::size_t row) const {
  std::vector<float> result(columns_);
  for (std::size_t c = 0; c < columns_; ++c)
    result[c] = factors_[row] * static_cast<float>(numbers_[row * columns_ + c]);
  return result;
}

LanguageModel::LanguageModel(std::string_view file) {
  const std::size_t end = file.find('\n');
  const auto head = nlohmann::json::parse(file.substr(0, end), nullptr, false);
  if (end == std::string_view::npos || !head.is_object() || !head.contains("alphabet") ||
      !head["alphabet"].is_string()) {
    throw std::runtime_error("the weights do not begin with a line of JSON that has an alphabet");
  }
  alphabet_ = head["alphabet"].get<std::string>();
  constexpr std::size_t kMost = 4096;
  const std::size_t layers = number_of(head, "layers", 64);
  const std::size_t width = number_of(head, "width", kMost);
  const std::size_t inner = number_of(head, "inner", kMost);
  heads_ = number_of(head, "heads", width);
  context_ = number_of(head, "context", kMost);
  if (width % (2 * heads_) != 0) {
    throw std::runtime_error("the weights' width " + std::to_string(width) + " is no multiple of " +
                             std::to_string(2 * heads_) + ", twice its heads");
  }
  MatrixReader reader(bytes_of_base64(file.substr(end + 1)));
  embedding_ = reader.take(alphabet_.size(), width);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    Layer& added = layers_.emplace_back();
    added.qkv = reader.take(3 * width, width);
    added.out = reader.take(width, width);
    added.up = reader.take(inner, width);
    added.down = reader.take(width, inner);
  }
  if (reader.left() != 0) {
    throw std::runtime_error("behind the last matrix of the weights are " +
                             std::to_string(reader.left()) + " more bytes");
  }
}

std::string_view built_in_weights() { return file_text(language_model_files, "weights.txt"); }

std::string_view built_in_prompt() {
  const std::string_view text = file_text(language_model_files, "prompt.txt");
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

Text::Text(const LanguageModel& model)
    : model_(&model), k_(model.layers() * model.heads()), v_(model.layers() * model.heads()) {}

void Text::attend(const LanguageModel::Layer& layer, std::size_t layer_number, std::size_t rows,
                  std::vector<float>& x, const Attention& attention) {
  const std::size_t heads = model_->heads(), columns = model_->head_columns();
  const std::size_t width = heads * columns;
  std::vector<std::vector<float>> queries(heads), outputs(heads);
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<float> qkv(3 * width);
    layer.qkv.add_product(norm(std::span(x).subspan(row * width, width)), qkv);
    for (std::size_t head = 0; head < heads; ++head) {
      const auto part = [&](std::size_t which) {
        return std::span(qkv).subspan(which * width + head * columns, columns);
      };
      turn(part(0), place_ + row);
      turn(part(1), place_ + row);
      const std::size_t kept = layer_number * heads + head;
      queries[head].insert(queries[head].end(), part(0).begin(), part(0).end());
      k_[kept].insert(k_[kept].end(), part(1).begin(), part(1).end());
      v_[kept].insert(v_[kept].end(), part(2).begin(), part(2).end());
    }
  }
  for (std::size_t head = 0; head < heads; ++head) {
    std::vector<float>&k = k_[layer_number * heads + head], &v = v_[layer_number * heads + head];
    const std::size_t most = std::max(model_->context(), rows) * columns;
    if (k.size() > most) {
      k.erase(k.begin(), k.end() - static_cast<std::ptrdiff_t>(most));
      v.erase(v.begin(), v.end() - static_cast<std::ptrdiff_t>(most));
    }
    outputs[head] = attention({rows, k.size() / columns, columns, rows > 1, queries[head], k, v});
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<float> side_by_side(width);
    for (std::size_t head = 0; head < heads; ++head) {
      std::copy_n(outputs[head].begin() + static_cast<std::ptrdiff_t>(row * columns), columns,
                  side_by_side.begin() + static_cast<std::ptrdiff_t>(head * columns));
    }
    layer.out.add_product(side_by_side, std::span(x).subspan(row * width, width));
  }
}

std::vector<float> Text::read(std::string_view characters, const Attention& attention) {
  if (characters.empty()) throw std::invalid_argument("there is nothing to read");
  std::vector<float> logits;
  if (place_ > 0 && characters.size() > 1) {
    for (const char& one : characters) logits = read({&one, 1}, attention);
    return logits;
  }
  const std::size_t rows = characters.size(), width = model_->embedding_.columns();
  std::vector<float> x;
  for (const char letter : characters) {
    const std::size_t number = model_->alphabet().find(letter);
    if (number == std::string::npos) {
      throw std::invalid_argument("the character '" + std::string(1, letter) +
                                  "' is not in the model's alphabet");
    }
    const std::vector<float> row = norm(model_->embedding_.row(number));
    x.insert(x.end(), row.begin(), row.end());
  }
  for (std::size_t layer = 0; layer < model_->layers(); ++layer) {
    attend(model_->layers_[layer], layer, rows, x, attention);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::span<float> mine = std::span(x).subspan(row * width, width);
      std::vector<float> inner(model_->layers_[layer].up.rows());
      model_->layers_[layer].up.add_product(norm(mine), inner);
      for (float& value : inner) value = value > 0 ? value * value : 0;
      model_->layers_[layer].down.add_product(inner, mine);
    }
  }
  place_ += rows;
  logits.resize(model_->alphabet().size());
  model_->embedding_.add_product(norm(std::span(x).last(width)), logits);
  return logits;
}

char draw(const LanguageModel& model, std::span<const float> logits, double temperature,
          std::uint64_t random) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  if (temperature <= 0) return model.alphabet()[static_cast<std::size_t>(largest - logits.begin())];
  std::vector<double> sums;
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp((static_cast<double>(logit) - static_cast<double>(*largest)) / temperature);
    sums.push_back(sum);
  }
  const double point = static_cast<double>(random >> 11) * 0x1p-53 * sum;
  const auto found = std::upper_bound(sums.begin(), sums.end(), point);
  return model.alphabet()[static_cast<std::size_t>(found - sums.begin())];
}

}  // namespace flashlab::language_model
