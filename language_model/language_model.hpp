// A small language model: the next character of a text, from those before it. Its attention is not
// in here: the caller gives it, for instance as programs of the machine. train.py makes the weights
// and states the formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::language_model {

/// One head's attention. Rows are characters, row by row: q has `queries` rows, k and v have `keys`.
struct AttentionCall {
  std::size_t queries = 0, keys = 0, columns = 0;
  bool causal =
      false;  // then queries = keys, and query i sees keys 0 to i; otherwise each sees all keys
  std::span<const float> q, k, v;
};
/// Returns O = softmax(Q K^T / sqrt(columns)) V, `queries` rows.
using Attention = std::function<std::vector<float>(const AttentionCall&)>;

/// Rows of weights in 8 bits, each with a factor: weight = factor * number.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns, std::vector<float> factors,
         std::vector<std::int8_t> numbers);

  std::size_t rows() const { return factors_.size(); }
  std::size_t columns() const { return columns_; }
  /// Adds the product with x, `columns` numbers, to y, `rows` numbers.
  void add_product(std::span<const float> x, std::span<float> y) const;
  std::vector<float> row(std::size_t row) const;

 private:
  std::size_t columns_ = 0;
  std::vector<float> factors_;
  std::vector<std::int8_t> numbers_;
};

class LanguageModel {
 public:
  /// Reads what train.py wrote. Throws std::runtime_error that names what is wrong.
  explicit LanguageModel(std::string_view file);

  const std::string& alphabet() const { return alphabet_; }
  /// How many characters the model looks back, at most.
  std::size_t context() const { return context_; }
  std::size_t layers() const { return layers_.size(); }
  std::size_t heads() const { return heads_; }
  std::size_t head_columns() const { return embedding_.columns() / heads_; }

 private:
  friend class Text;
  struct Layer {
    Matrix qkv, out, up, down;
  };
  std::string alphabet_;
  std::size_t heads_ = 0, context_ = 0;
  Matrix embedding_;  // a row for each character
  std::vector<Layer> layers_;
};

/// What is compiled in: the weights that LanguageModel reads, and a text of 256 characters to begin with.
std::string_view built_in_weights();
std::string_view built_in_prompt();

/// A text that the model reads and continues. It keeps the keys and values of the last `context` characters.
class Text {
 public:
  explicit Text(const LanguageModel& model);

  /// Reads characters of the alphabet, at least one: if nothing was read before, all at once with one
  /// causal call for each layer and head, otherwise one after the other. Returns a number for each
  /// character of the alphabet: the larger, the likelier it comes next.
  std::vector<float> read(std::string_view characters, const Attention& attention);

 private:
  /// x has a row for each of the characters that begin at `place`.
  void attend(const LanguageModel::Layer& layer, std::size_t layer_number, std::size_t rows,
              std::vector<float>& x, const Attention& attention);

  const LanguageModel* model_;
  std::size_t place_ = 0;  // of the next character
  std::vector<std::vector<float>> k_,
      v_;  // by layer and head, a row for each character that is kept
};

/// Draws a character with a probability proportional to e^(logit / temperature); at temperature 0 it
/// is the likeliest one. `random`: 64 random bits.
char draw(const LanguageModel& model, std::span<const float> logits, double temperature,
          std::uint64_t random);

}  // namespace flashlab::language_model
