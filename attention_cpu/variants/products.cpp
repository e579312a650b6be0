// The matrix products of the readable variants: Eigen's, in one place.
//
// Eigen packs both operands into memory on the stack up to a limit and allocates beyond it. Tiles
// of kBlockQ x head_dim and kBlockKV x head_dim stay below the limit, so nothing is allocated.
#include "attention_cpu/detail/build.hpp"
//
#include "attention/problem.hpp"
#include "attention_cpu/detail/finite.hpp"
#include "attention_cpu/detail/matrix.hpp"
#include "attention_cpu/detail/tiles.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

template <class Element>
constexpr bool fits_on_stack(std::int64_t rows) {
  return rows * kMaxHeadDim * std::int64_t{sizeof(Element)} <= EIGEN_STACK_ALLOCATION_LIMIT;
}
static_assert(fits_on_stack<float>(kBlockQ<float>) && fits_on_stack<float>(kBlockKV<float>));
static_assert(fits_on_stack<double>(kBlockQ<double>) && fits_on_stack<double>(kBlockKV<double>));

template <class Element>
bool is_finite(const ConstTile<Element>& tile) {
  return is_finite(Operand<const Element>{tile.data(), tile.outerStride()}, tile.rows(),
                   tile.cols());
}

}  // namespace

template <class Element>
void set_product(Element scale, const ConstTile<Element>& A, const ConstTile<Element>& B,
                 Tile<Element> C) {
  C.matrix().noalias() = scale * A.matrix() * B.matrix().transpose();
}

template <class Element>
void add_product(const Tile<Element>& A, const ConstTile<Element>& B,
                 const std::int64_t* num_weighed, Tile<Element> C) {
  if (is_finite(B)) {
    C.matrix().noalias() += A.matrix() * B.matrix();
    return;
  }
  for (std::int64_t r = 0; r < A.rows(); ++r) {
    for (std::int64_t k = 0; k < num_weighed[r]; ++k) C.row(r) += A(r, k) * B.row(k);
  }
}

template <class Element>
void add_transposed_product(const Tile<Element>& A, const ConstTile<Element>& B,
                            const std::int64_t* num_weighed, Tile<Element> C) {
  if (is_finite(B)) {
    C.matrix().noalias() += A.matrix().transpose() * B.matrix();
    return;
  }
  for (std::int64_t r = 0; r < A.rows(); ++r) {
    for (std::int64_t k = 0; k < num_weighed[r]; ++k) C.row(k) += A(r, k) * B.row(r);
  }
}

template void set_product(float, const ConstTile<float>&, const ConstTile<float>&, Tile<float>);
template void set_product(double, const ConstTile<double>&, const ConstTile<double>&, Tile<double>);
template void add_product(const Tile<float>&, const ConstTile<float>&, const std::int64_t*,
                          Tile<float>);
template void add_product(const Tile<double>&, const ConstTile<double>&, const std::int64_t*,
                          Tile<double>);
template void add_transposed_product(const Tile<float>&, const ConstTile<float>&,
                                     const std::int64_t*, Tile<float>);
template void add_transposed_product(const Tile<double>&, const ConstTile<double>&,
                                     const std::int64_t*, Tile<double>);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
