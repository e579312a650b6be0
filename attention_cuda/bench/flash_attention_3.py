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

    def calls_in_a_row(self, direction, sets, is_causal, num_calls):
        """Returns a function that takes a number of programs, each of `num_calls` calls. It runs them one after another, waits
        for them, and returns the results of the last call as torch's tensors: O, or dQ, dK and dV. The set of inputs changes
        with each call.

        direction  "forward", or "backward", whose O and lse are those of its own forward pass, which is not among the calls
        sets       [(Q, K, V, dO), …]
        """
        import torch
        torch.cuda.synchronize()  # JAX has a stream of its own
        inputs = [tuple(self._jax.dlpack.from_dlpack(tensor) for tensor in some) for some in sets]
        one = self._forward if direction == "forward" else self._backward
        if direction == "backward":
            forward = self._jax.jit(functools.partial(self._forward, is_causal=is_causal))
            inputs = [(*some, *forward(*some)) for some in inputs]
            self._jax.block_until_ready(inputs)

        def traced(inputs):
            for number in range(num_calls):
                results = one(*inputs[number % len(inputs)], is_causal=is_causal)
            return results
        compiled = self._jax.jit(traced)

        def run(num_programs):
            for _ in range(num_programs):
                results = compiled(inputs)
            self._jax.block_until_ready(results)
            return [torch.from_dlpack(result) for result in results]
        return run

    def _traced(self, Q, K, V, dO, is_causal):
        O, lse = self._forward(Q, K, V, dO, is_causal)
        return O, *self._backward(Q, K, V, dO, O, lse, is_causal)

    def _forward(self, Q, K, V, dO, is_causal):
        del dO
        batch, seqlen, heads, _ = Q.shape
        shape, number = self._jax.ShapeDtypeStruct, self._jax.numpy.float32
        return self._call("dew_flash3_mha_fwd", (
            shape(Q.shape, Q.dtype), shape((batch, heads, seqlen), number),
            shape((1, 1, 1, 1), number), shape((1, 1, 1), number)), (Q, K, V), is_causal)[:2]

    def _backward(self, Q, K, V, dO, O, lse, is_causal):
        batch, seqlen, heads, _ = Q.shape
        shape = self._jax.ShapeDtypeStruct
        rows = shape((heads * (batch * seqlen + 128 * (batch + 1)),), self._jax.numpy.float32)
        return self._call("dew_flash3_mha_bwd", (
            *(shape(tensor.shape, tensor.dtype) for tensor in (Q, K, V)), rows, rows),
            (dO, Q, K, V, O, lse), is_causal)[:3]

    def _call(self, target, results, inputs, is_causal):
        import numpy
        # Without a side effect, equal calls in a row would become one.
        return self._jax.ffi.ffi_call(target, results, has_side_effect=True)(
            *inputs, softmax_scale=numpy.float64(inputs[0].shape[-1]**-0.5),
            is_causal=is_causal, window_size_left=numpy.int64(-1),
            window_size_right=numpy.int64(0 if is_causal else -1))
