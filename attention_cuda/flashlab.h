/// Attention on NVIDIA GPUs, for C (C99) and for whatever can call C: libflashlab_cuda.
///
///   O = softmax(softmax_scale Q K^T + mask) V,   lse = log sum exp of each row of scores
///
/// Shapes   Q, O, dO, dQ   [batch, num_heads,    seqlen_q, head_dim]
///          K, V, dK, dV   [batch, num_kv_heads, seqlen_k, head_dim]
///          lse            [batch, num_heads, seqlen_q]    float, natural logarithm
///          num_heads is a multiple of num_kv_heads; head_dim 1 … 256; any seqlen, 0 too
/// Types    Q, K, V, O and the gradients have one: float, bf16 or fp16. Sums are float.
/// Memory   tensors lie in memory of the current device. Nothing is allocated there: what a kernel
///          needs beside the tensors, flashlab_*_workspace_bytes says, and the caller lends. (The
///          variants of library products, naive and its kin, keep cuBLAS's handle from their first
///          call on.)
/// Stream   a call puts its work on the caller's stream and returns. It never waits for the GPU, so
///          an error of a running kernel shows in a later call or where the caller synchronises.
/// Graphs   calls can be captured in a CUDA graph, but not the first one of a kernel; host memory
/// is
///          read before a call returns.
/// Errors   every call returns a flashlab_status; flashlab_last_error() says more. Nothing is
///          launched by a call that returns FLASHLAB_ERROR_ARGUMENT.
/// Threads  any number may call at once.
///
/// A forward pass with a causal mask:
///
///   flashlab_options options;
///   flashlab_options_init(&options);
///   options.mask = FLASHLAB_MASK_CAUSAL;
///   options.stream = stream;
///   flashlab_forward_tensors tensors = {Q, K, V, O, lse};
///   if (flashlab_attention_forward(&tensors, &options) != FLASHLAB_OK) {
///     puts(flashlab_last_error());
///   }
#ifndef FLASHLAB_H
#define FLASHLAB_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define FLASHLAB_API __attribute__((visibility("default")))
#else
#define FLASHLAB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// What a call returns.
typedef enum flashlab_status {
  FLASHLAB_OK = 0,
  FLASHLAB_ERROR_ARGUMENT = 1,  ///< "K: shape [1, 3, 8, 64]: expected …"
  FLASHLAB_ERROR_CUDA = 2,      ///< a call of CUDA or of one of its libraries, no driver, no GPU
  FLASHLAB_ERROR_OTHER = 3      ///< out of host memory, say
} flashlab_status;

/// What an element is stored as.
enum { FLASHLAB_FLOAT32 = 0, FLASHLAB_BFLOAT16 = 1, FLASHLAB_FLOAT16 = 2 };

/// Which keys a query sees. Two queries, three keys:
///
///   none 1 1 1   causal 1 0 0   causal-bottom-right 1 1 0
///        1 1 1          1 1 0                       1 1 1
enum {
  FLASHLAB_MASK_NONE = 0,
  FLASHLAB_MASK_CAUSAL = 1,              ///< key <= query: aligned at the top left, as in PyTorch
  FLASHLAB_MASK_CAUSAL_BOTTOM_RIGHT = 2  ///< key <= query + keys - seqlen_q, as in FlashAttention
};

/// What multiplies. The sums, the softmax and lse are float in each case.
enum {
  FLASHLAB_PRODUCTS_NATIVE = 0,  ///< float: fp32 multiply-adds; bf16 and fp16: tensor cores
  FLASHLAB_PRODUCTS_TF32 = 1,    ///< float on tensor cores, operands rounded to 11 bits
  FLASHLAB_PRODUCTS_TF32X3 = 2   ///< float on tensor cores, each operand as the sum of two
};

/// A tensor that somebody else owns. Element (i, j, …) lies at data + i strides[0] + j strides[1]
/// + …; an input's stride may be 0 (one head read as many) or negative.
typedef struct flashlab_tensor {
  void* data;          ///< device memory, aligned to an element; 16 bytes are read fastest
  int32_t dtype;       ///< FLASHLAB_FLOAT32, …
  int32_t rank;        ///< 4; 3 for lse; 0 (and data null) for one that is not wanted
  int64_t shape[4];    ///< elements; only the first `rank` count
  int64_t strides[4];  ///< in elements
} flashlab_tensor;

/// O and lse are written, whatever they held. A row that sees no key, or only scores of -inf, has
/// O = 0 and lse = -inf.
typedef struct flashlab_forward_tensors {
  flashlab_tensor Q, K, V;
  flashlab_tensor O;
  flashlab_tensor lse;  ///< rank 0: not wanted
} flashlab_forward_tensors;

/// Q, K, V, O and lse as the forward pass left them, dO the gradient of O. dQ, dK, dV are written,
/// not added to.
typedef struct flashlab_backward_tensors {
  flashlab_tensor Q, K, V, O, lse, dO;
  flashlab_tensor dQ, dK, dV;
} flashlab_backward_tensors;

/// Zeros are the defaults, but for struct_bytes: flashlab_options_init writes them.
typedef struct flashlab_options {
  uint64_t struct_bytes;  ///< sizeof(flashlab_options), by which a later library knows the fields
  const char* variant;    ///< the algorithm; null: "flash2" forward, "bwd-onepass" backward
  const char* kernel;     ///< the stem of one kernel file of the variant; null: the best that can
  int32_t mask;           ///< FLASHLAB_MASK_NONE, …
  int32_t products;       ///< FLASHLAB_PRODUCTS_NATIVE, …
  double softmax_scale;   ///< counts where has_softmax_scale is not 0; else 1 / sqrt(head_dim)
  int32_t has_softmax_scale;
  int32_t num_splits;          ///< split-kv: parts of the keys; 0: as many as fill the GPU
  const int64_t* key_lengths;  ///< host memory, one a batch entry, 0 … seqlen_k; null: seqlen_k
  int64_t num_key_lengths;     ///< how many those are: batch, or 0
  /// The same in device memory, instead of key_lengths: batch of them, read when the kernel runs;
  /// a value outside 0 … seqlen_k counts as the nearer end. Null: none.
  const int64_t* device_key_lengths;
  void* stream;              ///< cudaStream_t of the current device; null: its default stream
  void* workspace;           ///< device memory, 256-byte aligned; free again when the kernels ended
  uint64_t workspace_bytes;  ///< at least what flashlab_*_workspace_bytes says
  /// Not 0: lse and delta are rounded to 16 bits before the backward pass reads them (an
  /// experiment: what does it cost to store them so?). bwd-onepass and bwd-twopass, bf16 and fp16.
  int32_t round_statistics;
  int32_t reserved;  ///< 0
} flashlab_options;

/// Writes the defaults.
static inline void flashlab_options_init(flashlab_options* options) {
  memset(options, 0, sizeof(*options));
  options->struct_bytes = sizeof(*options);
}

/// O, and lse where it is wanted, will hold the result when the stream comes to it.
///
/// Bits    the same every time on one kind of GPU
/// Cost    4 batch num_heads seqlen_q seqlen_k head_dim FLOPs, half of it with a causal mask
/// Errors  FLASHLAB_ERROR_ARGUMENT: a shape, type, stride, overlap, length or name that is not
///         taken, host memory, too little workspace, no kernel for this type on this GPU
FLASHLAB_API flashlab_status flashlab_attention_forward(const flashlab_forward_tensors* tensors,
                                                        const flashlab_options* options);

/// dQ, dK, dV from what the forward pass left: P = exp(S - lse), delta = rowsum(dO o O).
///
/// Bits    the same every time but for bwd-onepass, whose dQ is added up in the order of arrival
/// Cost    10 batch num_heads seqlen_q seqlen_k head_dim FLOPs, half of it with a causal mask
/// Errors  as forward
FLASHLAB_API flashlab_status flashlab_attention_backward(const flashlab_backward_tensors* tensors,
                                                         const flashlab_options* options);

/// *bytes: how much workspace that call needs, with the same tensors and options (workspace itself
/// apart); often 0. Errors as the call's.
FLASHLAB_API flashlab_status flashlab_forward_workspace_bytes(
    const flashlab_forward_tensors* tensors, const flashlab_options* options, uint64_t* bytes);
FLASHLAB_API flashlab_status flashlab_backward_workspace_bytes(
    const flashlab_backward_tensors* tensors, const flashlab_options* options, uint64_t* bytes);

/// What the last call of this thread that failed has to say: argument, value, what was expected.
/// Empty if none failed. Valid until the thread's next call.
FLASHLAB_API const char* flashlab_last_error(void);

/// "0.2.0"
FLASHLAB_API const char* flashlab_version(void);

/// One kernel of this library. The texts live as long as the library is loaded.
typedef struct flashlab_kernel {
  const char* stem;                ///< "flash2_mma_sm80", which flashlab_options.kernel takes
  const char* variant;             ///< "flash2", which flashlab_options.variant takes
  const char* pass;                ///< "forward" or "backward"
  const char* arithmetic;          ///< types and products: "bf16 native, fp16 native"
  const char* source;              ///< the paper and algorithm
  int32_t min_compute_capability;  ///< 80: 8.0
} flashlab_kernel;

/// How many there are, and each: 0 … count - 1, in the order of the course. Need no GPU.
FLASHLAB_API int32_t flashlab_kernel_count(void);
FLASHLAB_API flashlab_status flashlab_get_kernel(int32_t index, flashlab_kernel* kernel);

#ifdef __cplusplus
}
#endif

#endif  // FLASHLAB_H
