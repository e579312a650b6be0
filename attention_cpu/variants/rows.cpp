// The table of variants. A new one: its file in this folder, its declaration and its row here.
#include "attention_cpu/detail/build.hpp"
//
#include "attention_cpu/detail/half.hpp"
#include "attention_cpu/detail/kernels.hpp"
#include "attention_cpu/detail/square_product.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

template <class Element>
void naive(const ForwardCall<Element>&);
template <class Element>
void fused_softmax(const ForwardCall<Element>&);
template <class Element>
void three_pass(const ForwardCall<Element>&);
template <class Element>
void online(const ForwardCall<Element>&);
template <class Element>
void flash1(const ForwardCall<Element>&);
template <class Element>
void flash2(const ForwardCall<Element>&);
template <class Element>
void split_kv(const ForwardCall<Element>&);
template <class Element>
void bwd_naive(const BackwardCall<Element>&);
template <class Element>
void bwd_onepass(const BackwardCall<Element>&);
template <class Element>
void bwd_twopass(const BackwardCall<Element>&);

template <class Element>
void project(const ProjectionCall<Element>&);
template <class Element>
void project_gradients(const ProjectionGradientCall<Element>&);
template <class Element>
void projections_streamed(const StreamedBackwardCall<Element>&);

namespace {

constexpr KernelRow kRows[] = {
    {"naive", naive<float>, naive<double>},
    {"fused-softmax", fused_softmax<float>, fused_softmax<double>},
    {"three-pass", three_pass<float>, three_pass<double>},
    {"online", online<float>, online<double>},
    {"flash1", flash1<float>, flash1<double>},
    {"flash2", flash2<float>, flash2<double>},
    {"split-kv", split_kv<float>, split_kv<double>},
    {"bwd-naive", nullptr, nullptr, bwd_naive<float>, bwd_naive<double>},
    {"bwd-onepass", nullptr, nullptr, bwd_onepass<float>, bwd_onepass<double>},
    {"bwd-twopass", nullptr, nullptr, bwd_twopass<float>, bwd_twopass<double>},
};

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
