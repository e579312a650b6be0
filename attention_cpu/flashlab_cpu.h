/// Attention on CPU cores for C (C99) and for other languages that can call C: libflashlab_cpu.
///
///   O = softmax(softmax_scale Q K^T + mask) V,   lse = log sum exp of each row of scores
///
/// Shapes   Q, O, dO, dQ   [batch, num_heads,    seqlen_q, head_dim]
///          K, V, dK, dV   [batch, num_kv_heads, seqlen_k, head_dim]
///          lse            [batch, num_heads, seqlen_q]    float (double if Q is), natural logarithm
///          num_heads is a multiple of num_kv_heads; head_dim 1 … 512; any seqlen, including 0
/// Types    all tensors but lse have the same type: float, double, bf16 or fp16 (16 bits in float)
/// Memory   tensors are the caller's, with any strides; nothing is copied
/// Errors   a call that does not return 0 has described the reason in `message`
/// Threads  any number of threads may call at the same time; a call itself uses num_threads
#ifndef FLASHLAB_CPU_H
#define FLASHLAB_CPU_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FLASHLAB_CPU_API __attribute__((visibility("default")))
#else
#define FLASHLAB_CPU_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { FLASHLAB_CPU_OK = 0, FLASHLAB_CPU_ERROR_ARGUMENT = 1, FLASHLAB_CPU_ERROR_OTHER = 2 };
enum {
  FLASHLAB_CPU_FLOAT32 = 0,
  FLASHLAB_CPU_FLOAT64 = 1,
  FLASHLAB_CPU_BFLOAT16 = 2,
  FLASHLAB_CPU_FLOAT16 = 3
};
enum {
  FLASHLAB_CPU_MASK_NONE = 0,
  FLASHLAB_CPU_MASK_CAUSAL = 1,              ///< key <= query
  FLASHLAB_CPU_MASK_CAUSAL_BOTTOM_RIGHT = 2  ///< key <= query + seqlen_k - seqlen_q
};

/// A view of the caller's tensor. Element (i, j, …) is at data + i strides[0] + j strides[1] + …
typedef struct flashlab_cpu_tensor {
  void* data;
  int32_t dtype;       ///< FLASHLAB_CPU_FLOAT32, …
  int32_t rank;        ///< 4; 3 for lse; 0 (and data null) if there is none
  int64_t shape[4];    ///< in elements; only the first `rank` are used
  int64_t strides[4];  ///< in elements; an input's may be 0 or negative
} flashlab_cpu_tensor;

typedef struct flashlab_cpu_call {
  uint64_t struct_bytes;  ///< sizeof(flashlab_cpu_call)
  const char* variant;    ///< "flash2", "bwd-onepass", …; null: these two
  int32_t mask;           ///< FLASHLAB_CPU_MASK_NONE, …
  int32_t num_threads;    ///< 0: one for each core
  double softmax_scale;   ///< NaN: 1 / sqrt(head_dim)
  int64_t window_left;    ///< keys before a query that it sees; negative: all
  int64_t window_right;   ///< keys after it; negative: all that the mask leaves
  flashlab_cpu_tensor Q, K, V, O, lse;
  flashlab_cpu_tensor dO, dQ, dK, dV;  ///< of the backward pass alone
} flashlab_cpu_call;

/// Overwrites O, and lse unless its rank is 0. `message` gets at most message_bytes bytes, with the zero
/// at its end.
FLASHLAB_CPU_API int flashlab_cpu_forward(const flashlab_cpu_call* call, char* message,
                                          size_t message_bytes);

/// Overwrites dQ, dK and dV. O and lse are those of the forward pass.
FLASHLAB_CPU_API int flashlab_cpu_backward(const flashlab_cpu_call* call, char* message,
                                           size_t message_bytes);

#ifdef __cplusplus
}
#endif

#endif  // FLASHLAB_CPU_H
