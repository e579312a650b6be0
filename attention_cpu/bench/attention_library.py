"""attention_cpu for Python: calls the library of attention_module.cpp with torch's float tensors."""
import ctypes

import torch


class Problem(ctypes.Structure):
    """FlashlabAttentionProblem of attention_module.cpp."""
    _fields_ = ([(name, ctypes.c_int64) for name in
                 ("batch", "num_heads", "num_kv_heads", "seqlen_q", "seqlen_k", "head_dim")] +
                [("is_causal", ctypes.c_int32), ("num_threads", ctypes.c_int32),
                 ("variant", ctypes.c_char_p), ("instruction_set", ctypes.c_char_p),
                 ("workspace_bytes", ctypes.c_int64)])


class Library:
    def __init__(self, path, instruction_set="best"):
        self._library = ctypes.CDLL(path)
        self._library.flashlab_attention_error.restype = ctypes.c_char_p
        best = self._library.flashlab_attention_best_instruction_set
        best.restype = ctypes.c_char_p
        name = best()
        if name is None:
            raise self._error()
        self.instruction_set = name.decode() if instruction_set == "best" else instruction_set

    def problem(self, variant, Q, K, is_causal, num_threads):
        """Reads the sizes from Q [batch, num_heads, seqlen_q, head_dim] and K; top-left causal mask."""
        batch, num_heads, seqlen_q, head_dim = Q.shape
        return Problem(batch, num_heads, K.shape[1], seqlen_q, K.shape[2], head_dim,
                       int(is_causal), num_threads, variant.encode(),
                       self.instruction_set.encode(), 0)

    def forward(self, problem, Q, K, V, O, lse):
        self._call(self._library.flashlab_attention_forward, problem, (Q, K, V, O, lse))

    def backward(self, problem, Q, K, V, O, lse, dO, dQ, dK, dV):
        self._call(self._library.flashlab_attention_backward, problem,
                   (Q, K, V, O, lse, dO, dQ, dK, dV))

    def _call(self, function, problem, tensors):
        for tensor in tensors:
            if tensor.dtype != torch.float32 or not tensor.is_contiguous():
                raise ValueError(f"a {tensor.dtype} tensor, strides {tensor.stride()}: expected "
                                 "float32 without gaps")
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
        if function(ctypes.byref(problem), *pointers) != 0:
            raise self._error()

    def _error(self):
        return RuntimeError(self._library.flashlab_attention_error().decode())
