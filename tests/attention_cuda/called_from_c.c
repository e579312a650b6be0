#include "called_from_c.h"

static flashlab_tensor tensor(void* data, int32_t dtype, const c_problem* p, int32_t rank) {
  const int64_t shape[4] = {p->batch, p->num_heads, p->seqlen, p->head_dim};
  flashlab_tensor result = {0};
  int64_t stride = 1;
  if (data == NULL) return result;
  result.data = data;
  result.dtype = dtype;
  result.rank = rank;
  for (int32_t axis = rank - 1; axis >= 0; --axis) {
    result.shape[axis] = shape[axis];
    result.strides[axis] = stride;
    stride *= shape[axis];
  }
  return result;
}

flashlab_status forward_from_c(const c_problem* p, int32_t mask) {
  flashlab_options options;
  flashlab_forward_tensors tensors;
  uint64_t bytes = 1;
  flashlab_options_init(&options);
  options.mask = mask;
  tensors.Q = tensor(p->Q, FLASHLAB_BFLOAT16, p, 4);
  tensors.K = tensor(p->K, FLASHLAB_BFLOAT16, p, 4);
  tensors.V = tensor(p->V, FLASHLAB_BFLOAT16, p, 4);
  tensors.O = tensor(p->O, FLASHLAB_BFLOAT16, p, 4);
  tensors.lse = tensor(p->lse, FLASHLAB_FLOAT32, p, 3);
  if (flashlab_forward_workspace_bytes(&tensors, &options, &bytes) != FLASHLAB_OK || bytes != 0) {
    return FLASHLAB_ERROR_OTHER; /* flash2 needs none */
  }
  return flashlab_attention_forward(&tensors, &options);
}
