/* A program in C99 that uses flashlab.h, for the tests. */
#ifndef FLASHLAB_TESTS_CALLED_FROM_C_H
#define FLASHLAB_TESTS_CALLED_FROM_C_H

#include "attention_cuda/flashlab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* bf16 tensors without gaps; as many heads of K and V as of Q; lse may be null. */
typedef struct c_problem {
  void *Q, *K, *V, *O, *lse;
  int64_t batch, num_heads, seqlen, head_dim;
} c_problem;

flashlab_status forward_from_c(const c_problem* problem, int32_t mask);

#ifdef __cplusplus
}
#endif

#endif
