// Replaces cuBLAS: computes products element by element, with sums in double.
#include "attention_cuda/detail/library_product.hpp"

#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ptx/convert.cuh"

namespace flashlab::cuda {
namespace {

/// The value that a tensor core reads from an operand.
template <class Element>
double operand(Element value, Products products) {
  const float number = ptx::to_float(value);
  if (products != Products::kTensorFloat32) return number;
  return __uint_as_float(ptx::to_tf32(number));
}

template <class Element>
Element element_of(const ProductOperand& matrix, std::int64_t batch, std::int64_t row,
                   std::int64_t column) {
  const auto* const data = static_cast<const Element*>(matrix.data) + batch * matrix.batch_stride;
  return matrix.is_transposed ? data[column * matrix.row_stride + row]
                              : data[row * matrix.row_stride + column];
}

template <class Element, class Result>
void multiply(Products products, const ProductShape& shape, const ProductOperand& A,
              const ProductOperand& B, const ProductResult& C) {
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      Result* const c = static_cast<Result*>(C.data) + batch * C.batch_stride + row * C.row_stride;
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < shape.depth; ++k) {
          sum += operand(element_of<Element>(A, batch, row, k), products) *
                 operand(element_of<Element>(B, batch, k, column), products);
        }
        sum *= shape.alpha;
        if (shape.beta != 0) sum += shape.beta * ptx::to_float(c[column]);
        c[column] = ptx::from_float<Result>(static_cast<float>(sum));
      }
    }
  }
}

template <class Element>
void multiply_into(const Arithmetic& arithmetic, const ProductShape& shape, const ProductOperand& A,
                   const ProductOperand& B, const ProductResult& C) {
  if (C.dtype == DataType::kFloat32) {
    multiply<Element, float>(arithmetic.products, shape, A, B, C);
  } else {
    multiply<Element, Element>(arithmetic.products, shape, A, B, C);
  }
}

}  // namespace

void library_product(const Call& call, std::string_view name, const Arithmetic& arithmetic,
                     const ProductShape& shape, const ProductOperand& A, const ProductOperand& B,
                     const ProductResult& C, std::byte*) {
  const Step step(call, name);
  switch (arithmetic.dtype) {
    case DataType::kBFloat16:
      return multiply_into<BFloat16>(arithmetic, shape, A, B, C);
    case DataType::kFloat16:
      return multiply_into<Float16>(arithmetic, shape, A, B, C);
    default:
      return multiply_into<float>(arithmetic, shape, A, B, C);
  }
}

}  // namespace flashlab::cuda
