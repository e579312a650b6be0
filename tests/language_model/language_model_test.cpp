#include "language_model/language_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::language_model;

/// Softmax of each row in double, and of a causal call only over the keys that a query sees.
std::vector<float> plain_attention(const AttentionCall& call) {
  std::vector<float> o;
  for (std::size_t i = 0; i < call.queries; ++i) {
    const std::size_t seen = call.causal ? i + 1 : call.keys;
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      double score = 0;
      for (std::size_t c = 0; c < call.columns; ++c)
        score += static_cast<double>(call.q[i * call.columns + c]) * call.k[j * call.columns + c];
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(call.columns))));
      sum += weights.back();
    }
    for (std::size_t c = 0; c < call.columns; ++c) {
      double value = 0;
      for (std::size_t j = 0; j < seen; ++j)
        value += weights[j] / sum * call.v[j * call.columns + c];
      o.push_back(static_cast<float>(value));
    }
  }
  return o;
}

std::string base64(const std::string& bytes) {
  const std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += digits[bits >> (count - 6) & 63];
  }
  if (count > 0) text += digits[bits << (6 - count) & 63];
  return text;
}

constexpr std::size_t kLetters = 5, kWidth = 8, kInner = 12, kLayers = 2;
const std::string kHead =
    R"({"alphabet": "abcde", "layers": 2, "heads": 2, "width": 8, "inner": 12, "context": 6})";

/// Each row has the factor 0.01, and the numbers (37 i + 11) mod 101 - 50, counted through all matrices.
std::string small_weights() {
  std::string bytes;
  std::size_t count = 0;
  const auto add = [&](std::size_t rows, std::size_t columns) {
    for (std::size_t row = 0; row < rows; ++row) {
      const float factor = 0.01F;
      std::string place(sizeof factor, '\0');
      std::memcpy(place.data(), &factor, sizeof factor);
      bytes += place;
      for (std::size_t c = 0; c < columns; ++c, ++count)
        bytes += static_cast<char>(static_cast<int>((count * 37 + 11) % 101) - 50);
    }
  };
  add(kLetters, kWidth);
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    add(3 * kWidth, kWidth);
    add(kWidth, kWidth);
    add(kInner, kWidth);
    add(kWidth, kInner);
  }
  return kHead + "\n" + base64(bytes) + "\n";
}

TEST_CASE("a model gives the logits that the training script gives") {
  const LanguageModel model(small_weights());
  Text text(model);
  const std::vector<float> logits = text.read("adbecc", plain_attention);
  // Model of train.py in PyTorch 1.13, in double, with the same sizes and weights, on [0, 3, 1, 4, 2, 2].
  const std::vector<double> expected{1.4651162443475374, 1.5119286130639507, 1.8317036088997445,
                                     1.878515950160357, 1.2321012091469052};
  REQUIRE(logits.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(logits[i] == Approx(expected[i]).epsilon(1e-5));
}

TEST_CASE("a model reads at once what it reads one character after the other") {
  const LanguageModel model(small_weights());
  Text at_once(model), one_by_one(model);
  std::vector<float> logits;
  for (const char letter : std::string("adbecc"))
    logits = one_by_one.read({&letter, 1}, plain_attention);
  const std::vector<float> other = at_once.read("adbecc", plain_attention);
  for (std::size_t i = 0; i < kLetters; ++i) CHECK(logits[i] == Approx(other[i]).epsilon(1e-5));
  // And what follows, of several characters or one.
  const std::vector<float> both = at_once.read("ab", plain_attention);
  one_by_one.read("a", plain_attention);
  const std::vector<float> second = one_by_one.read("b", plain_attention);
  for (std::size_t i = 0; i < kLetters; ++i) CHECK(second[i] == Approx(both[i]).epsilon(1e-4));
  CHECK_THROWS_WITH(at_once.read("", plain_attention), "there is nothing to read");
  CHECK_THROWS_WITH(at_once.read("z", plain_attention),
                    "the character 'z' is not in the model's alphabet");
}

TEST_CASE("a text keeps the keys of its last characters only") {
  const LanguageModel model(small_weights());
  Text text(model);
  std::vector<std::size_t> keys;
  const auto attention = [&](const AttentionCall& call) {
    keys.push_back(call.keys);
    return plain_attention(call);
  };
  text.read("abcde", attention);
  text.read("abc", attention);
  // Four calls for each reading: two layers of two heads. The context is 6.
  CHECK(std::vector<std::size_t>(keys.begin() + 4, keys.end()) ==
        std::vector<std::size_t>{6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6});
}

TEST_CASE("weights that are no weights are refused, with what is wrong") {
  const auto message_of = [](const std::string& file) -> std::string {
    try {
      const LanguageModel model(file);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  const std::string good = small_weights();
  CHECK(message_of(good).empty());
  CHECK(message_of("") == "the weights do not begin with a line of JSON that has an alphabet");
  CHECK(message_of("{}\n") == "the weights do not begin with a line of JSON that has an alphabet");
  CHECK_THAT(message_of(good.substr(0, good.size() - 9)), Catch::Contains("within a matrix"));
  CHECK(message_of(good + "AAAA") == "behind the last matrix of the weights are 3 more bytes");
  CHECK(message_of(good + "*") == "the weights have the character '*', expected base64");
  std::string other = good;
  other.replace(other.find("\"heads\": 2"), 10, "\"heads\": 3");
  CHECK(message_of(other) == "the weights' width 8 is no multiple of 6, twice its heads");
  other = good;
  other.replace(other.find("\"inner\": 12"), 11, "\"inner\": -1");
  CHECK(message_of(other) == "the weights' 'inner' is no number from 1 to 4096");
}

TEST_CASE("a character is drawn as often as its logit says") {
  const LanguageModel model(small_weights());
  const std::vector<float> logits{0, std::log(3.F), -100, -100, -100};
  CHECK(draw(model, logits, 0, 12345) == 'b');
  // a has a quarter of the probability: of 64 bits, the lowest quarter of all numbers.
  CHECK(draw(model, logits, 1, 0) == 'a');
  CHECK(draw(model, logits, 1, (UINT64_MAX >> 2) - (std::uint64_t{1} << 50)) == 'a');
  CHECK(draw(model, logits, 1, (UINT64_MAX >> 2) + (std::uint64_t{1} << 50)) == 'b');
  CHECK(draw(model, logits, 1, UINT64_MAX) == 'b');
  // At half the temperature, a has 1 of 1 + 9 parts.
  CHECK(draw(model, logits, 0.5, UINT64_MAX / 10 - (std::uint64_t{1} << 50)) == 'a');
  CHECK(draw(model, logits, 0.5, UINT64_MAX / 10 + (std::uint64_t{1} << 50)) == 'b');
}

}  // namespace
