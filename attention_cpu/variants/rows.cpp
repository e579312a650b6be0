// The functions of the variants (attention/variant_rows.hpp), each defined in its own file here.
#include "attention_cpu/detail/build.hpp"
//
#include "attention/variant_rows.hpp"
#include "attention_cpu/detail/half.hpp"
#include "attention_cpu/detail/kernels.hpp"
#include "attention_cpu/detail/square_product.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

// NOLINTBEGIN(bugprone-macro-parentheses): `function` names a template
#define FLASHLAB_FORWARD(function, name, text, source) \
  template <class Element>                             \
  void function(const ForwardCall<Element>&);
#define FLASHLAB_BACKWARD(function, name, text, source) \
  template <class Element>                              \
  void function(const BackwardCall<Element>&);
FLASHLAB_VARIANTS(FLASHLAB_FORWARD, FLASHLAB_BACKWARD)
#undef FLASHLAB_FORWARD
#undef FLASHLAB_BACKWARD

// The build may put the definitions into the same translation unit, in front of these.
// NOLINTBEGIN(readability-redundant-declaration)
template <class Element>
void project(const ProjectionCall<Element>&);
template <class Element>
void project_gradients(const ProjectionGradientCall<Element>&);
template <class Element>
void projections_streamed(const StreamedBackwardCall<Element>&);
// NOLINTEND(readability-redundant-declaration)

namespace {

#define FLASHLAB_FORWARD(function, name, text, source) {name, function<float>, function<double>},
#define FLASHLAB_BACKWARD(function, name, text, source) \
  {name, nullptr, nullptr, function<float>, function<double>},
// NOLINTEND(bugprone-macro-parentheses)
constexpr KernelRow kRows[] = {FLASHLAB_VARIANTS(FLASHLAB_FORWARD, FLASHLAB_BACKWARD)};
#undef FLASHLAB_FORWARD
#undef FLASHLAB_BACKWARD

constexpr ProjectionKernels kProjections = {project<float>,
                                            project<double>,
                                            project_gradients<float>,
                                            project_gradients<double>,
                                            projections_streamed<float>,
                                            projections_streamed<double>};

}  // namespace

extern const KernelTable kKernels;
const KernelTable kKernels = {kRows,        sizeof(kRows) / sizeof(kRows[0]),
                              load_floats,  store_floats,
                              kProjections, square_product};

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
