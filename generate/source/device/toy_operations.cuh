// The operations that are done element by element: each is a function of numbers, and a function of
// operands (toy_tiles.cuh) whose result is computed when an element is asked for.
#ifndef FLASHLAB_TOY_OPERATIONS
#define FLASHLAB_TOY_OPERATIONS

namespace toy {

/// An element of an operand, of which a scalar or a column is repeated.
template <class Operand>
__device__ inline auto repeated(const Operand& a, int row, int col) {
  return a(a.rows == 1 ? 0 : row, a.cols == 1 ? 0 : col);
}

template <class Function, class A, class B>
struct Elementwise {
  A a;
  B b;
  int rows, cols;
  __device__ auto operator()(int row, int col) const {
    return Function()(repeated(a, row, col), repeated(b, row, col));
  }
  template <class Place>  // of a fragment
  __device__ auto at(const Place& p) const {
    return Function()(a.at(p), b.at(p));
  }
};
template <class Function, class A, class B>
__device__ inline Elementwise<Function, A, B> elementwise(const A& a, const B& b) {
  return {a, b, a.rows > b.rows ? a.rows : b.rows, a.cols > b.cols ? a.cols : b.cols};
}

struct Add {
  template <class Real>
  __device__ Real operator()(Real x, Real y) const {
    return add(x, y);
  }
};
struct Subtract {
  template <class Real>
  __device__ Real operator()(Real x, Real y) const {
    return subtract(x, y);
  }
};
struct Multiply {
  template <class Real>
  __device__ Real operator()(Real x, Real y) const {
    return multiply(x, y);
  }
};
struct Divide {
  template <class Real>
  __device__ Real operator()(Real x, Real y) const {
    return divide(x, y);
  }
};
struct Larger {
  template <class Real>
  __device__ Real operator()(Real x, Real y) const {
    return x > y ? x : y;
  }
};
struct Smaller {
  template <class Real>
  __device__ Real operator()(Real x, Real y) const {
    return x < y ? x : y;
  }
};
struct Less {
  template <class Real>
  __device__ Real operator()(Real x, Real y) const {
    return x < y ? 1 : 0;
  }
};
template <class A, class B>
__device__ inline auto operator+(const A& a, const B& b) {
  return elementwise<Add>(a, b);
}
template <class A, class B>
__device__ inline auto operator-(const A& a, const B& b) {
  return elementwise<Subtract>(a, b);
}
template <class A, class B>
__device__ inline auto operator*(const A& a, const B& b) {
  return elementwise<Multiply>(a, b);
}
template <class A, class B>
__device__ inline auto operator/(const A& a, const B& b) {
  return elementwise<Divide>(a, b);
}
template <class A, class B>
__device__ inline auto maximum(const A& a, const B& b) {
  return elementwise<Larger>(a, b);
}
template <class A, class B>
__device__ inline auto minimum(const A& a, const B& b) {
  return elementwise<Smaller>(a, b);
}

template <class A, class B>
__device__ inline auto less(const A& a, const B& b) {
  return elementwise<Less>(a, b);
}

/// Of b where the condition is not 0, of c elsewhere.
template <class A, class B, class C>
struct Selected {
  A condition;
  B b;
  C c;
  int rows, cols;
  __device__ auto operator()(int row, int col) const {
    const auto x = repeated(b, row, col);
    const auto y = repeated(c, row, col);
    return repeated(condition, row, col) != 0 ? x : y;
  }
  template <class Place>
  __device__ auto at(const Place& p) const {
    const auto x = b.at(p);
    const auto y = c.at(p);
    return condition.at(p) != 0 ? x : y;
  }
};
__device__ inline int largest_of(int a, int b, int c) {
  return a > b ? (a > c ? a : c) : (b > c ? b : c);
}
template <class A, class B, class C>
__device__ inline Selected<A, B, C> selected(const A& a, const B& b, const C& c) {
  return {a, b, c, largest_of(a.rows, b.rows, c.rows), largest_of(a.cols, b.cols, c.cols)};
}

template <class Function, class A>
struct OfEachElement {
  A a;
  int rows, cols;
  __device__ auto operator()(int row, int col) const { return Function()(a(row, col)); }
  template <class Place>
  __device__ auto at(const Place& p) const {
    return Function()(a.at(p));
  }
};
template <class Function, class A>
__device__ inline OfEachElement<Function, A> of_each_element(const A& a) {
  return {a, a.rows, a.cols};
}

struct Absolute {
  __device__ float operator()(float x) const { return fabsf(x); }
  __device__ double operator()(double x) const { return fabs(x); }
};
struct Exponential {
  template <class Real>
  __device__ Real operator()(Real x) const {
    return exponential_of(x);
  }
};
struct Logarithm {
  template <class Real>
  __device__ Real operator()(Real x) const {
    return log(x);
  }
};
struct HyperbolicTangent {
  __device__ float operator()(float x) const { return tanhf(x); }
  __device__ double operator()(double x) const { return tanh(x); }
};
/// By way of double, as the machine computes it.
struct ReciprocalRoot {
  template <class Real>
  __device__ Real operator()(Real x) const {
    return static_cast<Real>(divide(1.0, sqrt(static_cast<double>(x))));
  }
};
struct Reciprocal {
  template <class Real>
  __device__ Real operator()(Real x) const {
    return divide(static_cast<Real>(1), x);
  }
};
struct BinaryExponential {
  __device__ float operator()(float x) const { return exp2f(x); }
  __device__ double operator()(double x) const { return exp2(x); }
};
struct BinaryLogarithm {
  __device__ float operator()(float x) const { return log2f(x); }
  __device__ double operator()(double x) const { return log2(x); }
};
template <class A>
__device__ inline auto absolute(const A& a) {
  return of_each_element<Absolute>(a);
}
template <class A>
__device__ inline auto exponential(const A& a) {
  return of_each_element<Exponential>(a);
}
template <class A>
__device__ inline auto logarithm(const A& a) {
  return of_each_element<Logarithm>(a);
}
template <class A>
__device__ inline auto hyperbolic_tangent(const A& a) {
  return of_each_element<HyperbolicTangent>(a);
}
template <class A>
__device__ inline auto reciprocal_root(const A& a) {
  return of_each_element<ReciprocalRoot>(a);
}
template <class A>
__device__ inline auto reciprocal(const A& a) {
  return of_each_element<Reciprocal>(a);
}
template <class A>
__device__ inline auto binary_exponential(const A& a) {
  return of_each_element<BinaryExponential>(a);
}
template <class A>
__device__ inline auto binary_logarithm(const A& a) {
  return of_each_element<BinaryLogarithm>(a);
}

}  // namespace toy

#endif  // FLASHLAB_TOY_OPERATIONS
