/// Attention on NVIDIA GPUs for C (C99) and for other languages that can call C: libflashlab_cuda.
///
///   O = softmax(softmax_scale Q K^T + mask) V,   lse = log sum exp of each row of scores
///
/// Shapes   Q, O, dO, dQ   [batch, num_heads,    seqlen_q, head_dim]
///          K, V, dK, dV   [batch, num_kv_heads, seqlen_k, head_dim]
///          lse            [batch, num_heads, seqlen_q]    float, natural logarithm
///          num_heads is a multiple of num_kv_heads; head_dim 1 … 256; any seqlen, including 0
/// Types    Q, K, V, O and the gradients have the same type: float, bf16 or fp16. Sums are float.
/// Memory   tensors are in memory of the current device. The library allocates nothing there: the
///          caller provides a workspace of flashlab_*_workspace_bytes bytes. (Variants with library
///          products, such as naive, create a cuBLAS handle in their first call and keep it.)
/// Stream   a call enqueues its work on the caller's stream and returns. It never waits
///          for the GPU, so an error in a running kernel appears in a later call or when
///          the caller synchronises.
/// Graphs   calls can be captured in a CUDA graph, except the first call of a kernel; host memory
///          is read before a call returns.
/// Errors   every call returns a flashlab_status; flashlab_last_error() gives details. A call that
///          returns FLASHLAB_ERROR_ARGUMENT has launched nothing.
/// Threads  any number of threads may call concurrently.
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

/// The result of a call.
typedef enum flashlab_status {
  FLASHLAB_OK = 0,
  FLASHLAB_ERROR_ARGUMENT = 1,  ///< "K: shape [1, 3, 8, 64]: expected …"
  FLASHLAB_ERROR_CUDA = 2,      ///< a call of CUDA or of its libraries failed, or no driver or GPU
  FLASHLAB_ERROR_OTHER = 3,     ///< for example, out of host memory
  FLASHLAB_ERROR_RANK = 4       ///< another rank ended or did not answer (flashlab_ranks.h)
} flashlab_status;

/// The stored type of an element.
enum { FLASHLAB_FLOAT32 = 0, FLASHLAB_BFLOAT16 = 1, FLASHLAB_FLOAT16 = 2 };

/// The keys that a query sees. Two queries, three keys:
///
///   none 1 1 1   causal 1 0 0   causal-bottom-right 1 1 0
///        1 1 1          1 1 0                       1 1 1
enum {
  FLASHLAB_MASK_NONE = 0,
  FLASHLAB_MASK_CAUSAL = 1,              ///< key <= query: aligned at the top left, as in PyTorch
  FLASHLAB_MASK_CAUSAL_BOTTOM_RIGHT = 2  ///< key <= query + keys - seqlen_q, as in FlashAttention
};

/// How products are computed. Sums, softmax and lse are always float.
enum {
  FLASHLAB_PRODUCTS_NATIVE = 0,  ///< float: fp32 multiply-adds; bf16 and fp16: tensor cores
  FLASHLAB_PRODUCTS_TF32 = 1,    ///< float on tensor cores, operands rounded to 11 bits
  FLASHLAB_PRODUCTS_TF32X3 = 2,  ///< float on tensor cores, each operand as the sum of two
  FLASHLAB_PRODUCTS_FP16X3 = 3   ///< the same, of two fp16 numbers (9.0; see attention --list)
};

/// A view of the caller's tensor. Element (i, j, …) is at data + i strides[0] + j strides[1] + …;
/// an input's stride may be 0 (one head used as several) or negative.
typedef struct flashlab_tensor {
  void* data;          ///< device memory, aligned to an element; 16 bytes are fastest
  int32_t dtype;       ///< FLASHLAB_FLOAT32, …
  int32_t rank;        ///< 4; 3 for lse; 0 (and data null) if not requested
  int64_t shape[4];    ///< in elements; only the first `rank` are used
  int64_t strides[4];  ///< in elements
} flashlab_tensor;

/// O and lse are overwritten. A row that sees no key, or only scores of -inf, has O = 0 and
/// lse = -inf.
typedef struct flashlab_forward_tensors {
  flashlab_tensor Q, K, V;
  flashlab_tensor O;
  flashlab_tensor lse;  ///< rank 0: not requested
} flashlab_forward_tensors;

/// Q, K, V, O and lse are from the forward pass; dO is the gradient of O. dQ, dK,
/// dV are overwritten.
typedef struct flashlab_backward_tensors {
  flashlab_tensor Q, K, V, O, lse, dO;
  flashlab_tensor dQ, dK, dV;
} flashlab_backward_tensors;

/// What flash2 knows after some of the keys, so that several calls, each with a part of K and V,
/// compute one attention. All float, in device memory, of any strides.
typedef struct flashlab_state {
  flashlab_tensor
      m;  ///< [batch, num_heads, seqlen_q]: an exponent near the largest S log2 e, or -inf
  flashlab_tensor l;  ///< [batch, num_heads, seqlen_q]: the sum of 2^(S log2 e - m)
  flashlab_tensor O;  ///< [batch, num_heads, seqlen_q, head_dim]: the sum of 2^(S log2 e - m) V
} flashlab_state;

/// Zeros are the defaults, except for struct_bytes: call flashlab_options_init.
typedef struct flashlab_options {
  uint64_t struct_bytes;  ///< sizeof(flashlab_options); tells a later library the fields
  /// The algorithm. Null or "auto": forward "split-kv" or "flash2", as suits the problem and the GPU;
  /// backward "bwd-onepass", or "bwd-twopass" where `deterministic` asks for it.
  const char* variant;
  const char* kernel;    ///< stem of a kernel file of the variant; null: the best one
  int32_t mask;          ///< FLASHLAB_MASK_NONE, …
  int32_t products;      ///< FLASHLAB_PRODUCTS_NATIVE, …
  double softmax_scale;  ///< used if has_softmax_scale is not 0; else 1 / sqrt(head_dim)
  int32_t has_softmax_scale;
  int32_t num_splits;          ///< split-kv: parts of the keys; 0: enough to fill the GPU
  const int64_t* key_lengths;  ///< host memory, one per batch entry, 0 … seqlen_k; null: seqlen_k
  int64_t num_key_lengths;     ///< batch, or 0
  /// The same in device memory, instead of key_lengths: batch entries, read when the kernel runs.
  /// Values outside 0 … seqlen_k are clamped. Null: none.
  const int64_t* device_key_lengths;
  void* stream;              ///< cudaStream_t of the current device; null: its default stream
  void* workspace;           ///< device memory, 256-byte aligned; in use until the kernels end
  uint64_t workspace_bytes;  ///< at least flashlab_*_workspace_bytes; flash2 without: slower
  /// Not 0: rounds lse and delta to 16 bits before the backward pass reads them (an experiment:
  /// what does it cost to store them so?). bwd-onepass and bwd-twopass, bf16 and fp16.
  int32_t round_statistics;
  /// Not 0: bwd-onepass adds to dQ in a fixed order, so that equal calls give equal bits. For bf16 and
  /// fp16 and compute capability 9.0, without packed sequences. All other variants do so anyway.
  int32_t deterministic;
  /// The window: of the keys that the mask leaves, a query at position p sees p - window_left to
  /// p + window_right. p is the query's index; under causal-bottom-right, query + keys - seqlen_q.
  /// Each is used if has_window_… is not 0; else that side has no limit. A causal mask has no
  /// window_right. FlashAttention's window_size = (left, 0) is causal-bottom-right with window_left.
  int64_t window_left, window_right;
  int32_t has_window_left, has_window_right;
  /// Packed sequences (FlashAttention's varlen), batch 1: sequence s has queries cu_seqlens_q[s] …
  /// cu_seqlens_q[s + 1] - 1 and keys likewise; mask and window count within it. Host memory,
  /// num_sequences + 1 numbers each, rising from 0 to seqlen_q (seqlen_k). Null: not packed.
  const int64_t *cu_seqlens_q, *cu_seqlens_k;
  /// The same in device memory, instead; read when the kernel runs. Tokens after the last bound belong to no
  /// sequence: O = 0, lse = -inf, gradients 0. Bounds that fall or lie outside are not seen: they are
  /// clamped, so that no other memory is read, and then the results are not specified.
  const int64_t *device_cu_seqlens_q, *device_cu_seqlens_k;
  int64_t num_sequences;
  /// The position of query 0 minus that of key 0, -2^30 … 2^30, if Q and K are parts of longer
  /// sequences: query i has position i + query_offset. Not with causal-bottom-right or packed sequences.
  int64_t query_offset;
  /// Only flash2, except fp16x3. Null state_in: these are the first keys. With state_out, the state is
  /// stored instead of O and lse, which are not written; it may be the same as state_in.
  const flashlab_state *state_in, *state_out;
  /// In host memory that the device can read. Once it is not 0, kernels leave out what they have not
  /// begun, and results are not valid. For flash2, and for bwd-onepass with head_dim to 128: bf16 and
  /// fp16, compute capability 9.0; refused otherwise. Null: nothing can stop the call.
  const int32_t* stop_flag;
  /// Not 0: the caller knows that all tensors and arrays are in memory of the current device, and that
  /// outputs overlap nothing. They are not checked, which saves microseconds.
  int32_t memory_is_checked;
} flashlab_options;

/// Writes the defaults.
static inline void flashlab_options_init(flashlab_options* options) {
  memset(options, 0, sizeof(*options));
  options->struct_bytes = sizeof(*options);
}

/// Computes O and, if requested, lse on the stream.
///
/// Bits    reproducible on one kind of GPU
/// Cost    4 batch num_heads seqlen_q seqlen_k head_dim FLOPs, half of it with a causal mask
/// Errors  FLASHLAB_ERROR_ARGUMENT: an unsupported shape, type, stride, overlap, length or name,
///         host memory, too little workspace, no kernel for this type on this GPU
FLASHLAB_API flashlab_status flashlab_attention_forward(const flashlab_forward_tensors* tensors,
                                                        const flashlab_options* options);

/// Computes dQ, dK, dV from the results of the forward pass: P = exp(S - lse), delta =
/// rowsum(dO o O).
///
/// Error   lse is one float, so P has a relative error of up to 2^-20 |lse| besides its rounding. The forward
///         pass has no such limit: scores may be as large as a float holds
/// Bits    reproducible, except for bwd-onepass, which adds dQ in order of arrival unless
///         `deterministic` is set
/// Cost    10 batch num_heads seqlen_q seqlen_k head_dim FLOPs, half of it with a causal mask
/// Errors  as forward
FLASHLAB_API flashlab_status flashlab_attention_backward(const flashlab_backward_tensors* tensors,
                                                         const flashlab_options* options);

/// Sets *bytes to the workspace of that call with the same tensors and options (except workspace);
/// often 0. Errors are those of the call.
FLASHLAB_API flashlab_status flashlab_forward_workspace_bytes(
    const flashlab_forward_tensors* tensors, const flashlab_options* options, uint64_t* bytes);
FLASHLAB_API flashlab_status flashlab_backward_workspace_bytes(
    const flashlab_backward_tensors* tensors, const flashlab_options* options, uint64_t* bytes);

/// Returns the error of this thread's last failed call: argument, value, what was expected. Empty
/// if none failed. Valid until the thread's next call.
FLASHLAB_API const char* flashlab_last_error(void);

/// Returns the version:
/// "0.2.0"
FLASHLAB_API const char* flashlab_version(void);

/// One kernel of this library. The texts are valid while the library is loaded.
typedef struct flashlab_kernel {
  const char* stem;                ///< "flash2_mma_sm80", for flashlab_options.kernel
  const char* variant;             ///< "flash2", for flashlab_options.variant
  const char* pass;                ///< "forward" or "backward"
  const char* arithmetic;          ///< types and products: "bf16 native, fp16 native"
  const char* source;              ///< the paper and algorithm
  int32_t min_compute_capability;  ///< 80 means 8.0
} flashlab_kernel;

/// Return the number of kernels, and each: 0 … count - 1, in the order of the course. No
/// GPU is needed.
FLASHLAB_API int32_t flashlab_kernel_count(void);
FLASHLAB_API flashlab_status flashlab_get_kernel(int32_t index, flashlab_kernel* kernel);

#ifdef __cplusplus
}
#endif

#endif  // FLASHLAB_H
