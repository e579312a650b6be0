#include "toymachine/count/polynomial/rational.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace flashlab::toy::detail {
namespace {

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

bool fits(const mpz_class& value) { return value.fits_slong_p() && value != kSmallest; }

bool multiply(std::int64_t a, std::int64_t b, std::int64_t& result) {
  return !__builtin_mul_overflow(a, b, &result) && result != kSmallest;
}

}  // namespace

Rational::Rational(const mpq_class& value) {
  mpq_class reduced = value;
  reduced.canonicalize();
  if (fits(reduced.get_num()) && fits(reduced.get_den())) {
    numerator_ = reduced.get_num().get_si();
    denominator_ = reduced.get_den().get_si();
  } else {
    big_ = std::make_shared<const mpq_class>(std::move(reduced));
  }
}

Rational::Rational(std::int64_t numerator, std::int64_t denominator)
    : numerator_(numerator), denominator_(denominator) {
  if (denominator_ < 0) {
    numerator_ = -numerator_;
    denominator_ = -denominator_;
  }
  if (denominator_ == 1) return;
  const std::int64_t divisor = std::gcd(numerator_, denominator_);
  numerator_ /= divisor;
  denominator_ /= divisor;
}

void Rational::widen_smallest() {
  if (numerator_ != kSmallest) return;
  numerator_ = 0;
  big_ = std::make_shared<const mpq_class>(mpz_class(kSmallest));
}

Rational Rational::of(double value) {
  if (std::abs(value) < 1e15 && value == std::floor(value)) {
    return Rational(static_cast<std::int64_t>(value));
  }
  return Rational(mpq_class(value));
}

bool Rational::is_integer() const { return big_ ? big_->get_den() == 1 : denominator_ == 1; }

int Rational::sign() const {
  if (big_) return sgn(*big_);
  return numerator_ < 0 ? -1 : numerator_ > 0 ? 1 : 0;
}

std::size_t Rational::bits() const {
  if (!big_) return 64;
  return std::max(mpz_sizeinbase(big_->get_num_mpz_t(), 2),
                  mpz_sizeinbase(big_->get_den_mpz_t(), 2));
}

mpq_class Rational::value() const {
  if (big_) return *big_;
  return mpq_class(mpz_class(numerator_), mpz_class(denominator_));
}

std::uint64_t Rational::numerator_modulo(std::uint64_t prime) const {
  if (big_) return mpz_fdiv_ui(big_->get_num_mpz_t(), prime);
  const auto magnitude = static_cast<std::uint64_t>(std::abs(numerator_)) % prime;
  return numerator_ < 0 && magnitude != 0 ? prime - magnitude : magnitude;
}

std::uint64_t Rational::denominator_modulo(std::uint64_t prime) const {
  if (big_) return mpz_fdiv_ui(big_->get_den_mpz_t(), prime);
  return static_cast<std::uint64_t>(denominator_) % prime;
}

Rational Rational::operator-() const {
  if (big_) return Rational(mpq_class(-*big_));
  Rational result = *this;
  result.numerator_ = -numerator_;
  return result;
}

Rational operator+(const Rational& a, const Rational& b) {
  if (!a.big_ && !b.big_) {
    std::int64_t left = 0, right = 0, sum = 0, denominator = 0;
    if (multiply(a.numerator_, b.denominator_, left) &&
        multiply(b.numerator_, a.denominator_, right) &&
        multiply(a.denominator_, b.denominator_, denominator) &&
        !__builtin_add_overflow(left, right, &sum) && sum != kSmallest) {
      return {sum, denominator};
    }
  }
  return Rational(mpq_class(a.value() + b.value()));
}

Rational operator*(const Rational& a, const Rational& b) {
  if (!a.big_ && !b.big_) {
    std::int64_t numerator = 0, denominator = 0;
    if (multiply(a.numerator_, b.numerator_, numerator) &&
        multiply(a.denominator_, b.denominator_, denominator)) {
      return {numerator, denominator};
    }
  }
  return Rational(mpq_class(a.value() * b.value()));
}

Rational operator/(const Rational& a, const Rational& b) {
  if (!a.big_ && !b.big_) {
    std::int64_t numerator = 0, denominator = 0;
    if (multiply(a.numerator_, b.denominator_, numerator) &&
        multiply(a.denominator_, b.numerator_, denominator)) {
      return {numerator, denominator};
    }
  }
  return Rational(mpq_class(a.value() / b.value()));
}

bool operator==(const Rational& a, const Rational& b) {
  if (a.big_ || b.big_) return a.big_ && b.big_ && *a.big_ == *b.big_;
  return a.numerator_ == b.numerator_ && a.denominator_ == b.denominator_;
}

std::string to_string(const Rational& number) {
  const mpq_class value = number.value();
  std::string text = value.get_str();
  const double rounded = value.get_d();
  if (!std::isfinite(rounded) || value != mpq_class(rounded)) return text;
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), rounded).ptr;
  const std::string decimal(buffer.data(), end);
  return decimal.size() < text.size() && decimal.find('e') == std::string::npos ? decimal : text;
}

}  // namespace flashlab::toy::detail
