// Parts that the files of polynomials share.
#pragma once

#include <gmpxx.h>

#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::toy::detail {

inline unsigned total_degree(const Monomial& monomial) {
  unsigned sum = 0;
  for (const auto& factor : monomial) sum += factor.second;
  return sum;
}

inline mpz_class floor_of(const mpq_class& value) {
  mpz_class result;
  mpz_fdiv_q(result.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return result;
}

}  // namespace flashlab::toy::detail
