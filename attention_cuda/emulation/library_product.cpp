// Replaces cuBLAS: computes products element by element, with sums in double.
#include "attention_cuda/detail/library_product.hpp"

#include <algorithm>
#include <vector>

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

/// Row by row, once for the whole product.
template <class Element>
std::vector<double> operands(const ProductOperand& matrix, std::int64_t batch, std::int64_t rows,
                             std::int64_t columns, Products products) {
  const auto* const data = static_cast<const Element*>(matrix.data) + batch * matrix.batch_stride;
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      values.push_back(operand(matrix.is_transposed ? data[column * matrix.row_stride + row]
                                                    : data[row * matrix.row_stride + column],
                               products));
    }
  }
  return values;
}

template <class Element, class Result>
void multiply(Products products, const ProductShape& shape, const ProductOperand& A,
              const ProductOperand& B, const ProductResult& C) {
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    const auto a = operands<Element>(A, batch, shape.rows, shape.depth, products),
               b = operands<Element>(B, batch, shape.depth, shape.columns, products);
    std::vector<double> sums(static_cast<std::size_t>(shape.columns));
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      std::fill(sums.begin(), sums.end(), 0);
      for (std::int64_t k = 0; k < shape.depth; ++k) {
        const double factor = a[static_cast<std::size_t>(row * shape.depth + k)];
        const double* const b_row = b.data() + k * shape.columns;
        for (std::size_t column = 0; column < sums.size(); ++column) {
          sums[column] += factor * b_row[column];
        }
      }
      Result* const c = static_cast<Result*>(C.data) + batch * C.batch_stride + row * C.row_stride;
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        double sum = shape.alpha * sums[static_cast<std::size_t>(column)];
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
