"""Calls FlashAttention-3: the library of the package dew-flash-attn-cu13, through JAX, which must be there.

Its tensors are [batch, seqlen, num_heads, head_dim] without gaps, in bf16 or fp16."""
import ctypes
import functools
import importlib.metadata
import os


def versions():
    return {"jax": importlib.metadata.version("jax")}


class Package:
    """The passes as one function.

    path  libdew_flash_attn3.so"""

    def __init__(self, path):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax  # takes seconds, and is needed here only
        self._jax = jax
        library = ctypes.CDLL(path)
        for name in ("fwd", "bwd"):
            target = f"dew_flash3_mha_{name}"
            jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(getattr(library, target)),
                                        platform="CUDA")
        self._both = functools.partial(jax.jit, static_argnums=4)(self._traced)

    def both_passes(self, Q, K, V, dO, is_causal):
        """Takes and returns torch's tensors: O, dQ, dK, dV."""
        import torch
        torch.cuda.synchronize()  # JAX has a stream of its own
        results = self._both(*(self._jax.dlpack.from_dlpack(tensor) for tensor in (Q, K, V, dO)),
                             is_causal)
        self._jax.block_until_ready(results)
        return [torch.from_dlpack(result) for result in results]

    def _traced(self, Q, K, V, dO, is_causal):
        import numpy
        batch, seqlen, heads, head_dim = Q.shape
        shape, number = self._jax.ShapeDtypeStruct, self._jax.numpy.float32
        options = {"softmax_scale": numpy.float64(head_dim**-0.5), "is_causal": is_causal,
                   "window_size_left": numpy.int64(-1),
                   "window_size_right": numpy.int64(0 if is_causal else -1)}
        O, lse, *_ = self._jax.ffi.ffi_call("dew_flash3_mha_fwd", (
            shape(Q.shape, Q.dtype), shape((batch, heads, seqlen), number),
            shape((1, 1, 1, 1), number), shape((1, 1, 1), number)))(Q, K, V, **options)
        rows = shape((heads * (batch * seqlen + 128 * (batch + 1)),), number)
        gradients = self._jax.ffi.ffi_call("dew_flash3_mha_bwd", (
            shape(Q.shape, Q.dtype), shape(K.shape, Q.dtype), shape(V.shape, Q.dtype), rows, rows))(
                dO, Q, K, V, O, lse, **options)
        return O, *gradients[:3]
