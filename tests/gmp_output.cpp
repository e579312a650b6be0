// What Catch2 prints GMP's numbers with. libgmpxx has it too, for one standard library.
#include <gmpxx.h>

#include <ostream>

std::ostream& operator<<(std::ostream& out, mpz_srcptr number) {
  return out << mpz_class(number).get_str();
}

std::ostream& operator<<(std::ostream& out, mpq_srcptr number) {
  return out << mpq_class(number).get_str();
}
