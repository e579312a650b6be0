"""Attention on NVIDIA GPUs for PyTorch: the functions of flashlab.h for tensors.

    import flashlab_attention as flashlab
    O = flashlab.attention(Q, K, V, mask="causal")            # part of autograd's graph
    O, lse = flashlab.attention_forward(Q, K, V)              # the passes one by one
    dQ, dK, dV = flashlab.attention_backward(Q, K, V, O, lse, dO, variant="bwd-twopass")
    state = flashlab.attention_state(Q, K0, V0)               # of the keys K0, then of K1 too
    O, lse = flashlab.attention_forward(Q, K1, V1, state=state, query_offset=-K0.shape[2])

Shapes   Q, O, dO, dQ  [batch, num_heads,    seqlen_q, head_dim]   float32, bfloat16 or float16
         K, V, dK, dV  [batch, num_kv_heads, seqlen_k, head_dim]   num_kv_heads divides num_heads
         lse           [batch, num_heads, seqlen_q]                float32, natural logarithm
Memory   results and workspace use torch's allocator; calls use torch's current stream
Torch    2.10 or later; 2.4 to 2.9 work through ctypes, where a call costs some 100 µs more.
         flashlab::attention_forward and flashlab::attention_backward are operations, so that
         torch.compile, torch.export, autograd and torch.func know them
Errors   ValueError: argument, value, what was expected. RuntimeError: CUDA, no library, no GPU
Library  $FLASHLAB_CUDA_LIBRARY, else the one in build/, else the one installed with this module.
         FLASHLAB_CTYPES=1: through ctypes in any version
"""
from flashlab_library import (  # noqa: F401  (all of these are for callers, too)
    DTYPES, MASKS, PRODUCTS, Call, Kernel, Library, State, default_library_path, device_numbers,
    loaded_library)
from flashlab_operations import (  # noqa: F401
    NO_SCORE, backward_operation, forward_operation, implementation, packed, packed_before,
    results_for)
import torch
from torch.autograd import forward_ad


def _arguments(variants, mask, softmax_scale, key_lengths, window, cu_seqlens_q, cu_seqlens_k,
               products, kernel, num_splits, query_offset, deterministic, round_statistics=False):
    """Returns what follows the tensors in an operation, with the `options` of each variant."""
    tensors, lists = [None, None, None], [(), (), ()]
    if key_lengths is not None or cu_seqlens_q is not None or cu_seqlens_k is not None:
        for k, numbers in enumerate((key_lengths, cu_seqlens_q, cu_seqlens_k)):
            if isinstance(numbers, torch.Tensor):
                tensors[k] = device_numbers(numbers)
            elif numbers is not None:
                lists[k] = tuple(map(int, numbers))
        if ((cu_seqlens_q is None) != (cu_seqlens_k is None)
                or (tensors[1] is None) != (tensors[2] is None)):
            raise ValueError("cu_seqlens_q, cu_seqlens_k: expected both, as lists or as tensors")
        if len(lists[1]) != len(lists[2]) or (cu_seqlens_q is not None and len(cu_seqlens_q) == 0):
            raise ValueError(f"cu_seqlens_k: {len(lists[2])} entries: expected as many as "
                             "cu_seqlens_q has, one more than sequences: "
                             f"{max(len(lists[1]), 1)}")
    if torch.are_deterministic_algorithms_enabled():
        deterministic = True
    window = tuple(window) if isinstance(window, list) else window
    pack = packed if torch.compiler.is_compiling() else packed_before
    options = [pack(variant, mask, window, products, kernel, num_splits, query_offset, deterministic,
                   round_statistics, *lists) for variant, kernel in zip(variants, (kernel, ""))]
    return (*tensors, None if softmax_scale is None else float(softmax_scale)), options


def _as_autocast_says(*tensors):
    """Casts tensors as torch.autocast casts those of PyTorch's own attention."""
    if not torch._C._is_any_autocast_enabled():  # the usual answer, in a tenth of the time
        return tensors
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(tensor.to(dtype) if tensor.is_floating_point() and tensor.dtype != torch.float64
                 else tensor for tensor in tensors)


# ------------------------------------------------------------------------------- autograd

def _without_broadcast(dO):
    """The kernels that add in order read rows of adjacent elements: dO of a sum has strides of 0."""
    strides = dO.stride()
    return dO.contiguous() if strides[-1] != 1 or 0 in strides else dO


class _Gradient(torch.autograd.Function):
    """attention_backward as a part of autograd's graph, which only says that it ends here."""
    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments):
        return backward_operation(*arguments)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *_):
        raise NotImplementedError("flashlab.attention has no second derivative: expected a first one, "
                                  "without create_graph=True")


def _save(ctx, inputs, output):
    Q, K, V, key_lengths, cu_seqlens_q, cu_seqlens_k, ctx.scale, _, ctx.options = inputs
    ctx.save_for_backward(Q, K, V, *output, key_lengths, cu_seqlens_q, cu_seqlens_k)
    ctx.mark_non_differentiable(output[1])  # lse
    ctx.set_materialize_grads(False)  # of lse


def _differentiate(ctx, dO, _):
    if dO is None:
        return (None,) * 9
    arguments = (_without_broadcast(dO), *ctx.saved_tensors, ctx.scale, ctx.options, NO_SCORE)
    twice = torch.is_grad_enabled() and not torch.compiler.is_compiling()
    return (*(_Gradient.apply if twice else backward_operation)(*arguments), *(None,) * 6)


class _Attention(torch.autograd.Function):
    """attention_forward as a part of autograd's graph."""

    @staticmethod
    def forward(ctx, *inputs):
        output = forward_operation(*inputs[:-1], NO_SCORE)
        _save(ctx, inputs, output)
        return output

    backward = staticmethod(_differentiate)


class _TransformedAttention(torch.autograd.Function):
    """The same for the transforms of torch.func, which want the context apart. PyTorch then binds the
    arguments by their names, which takes 100 µs."""
    generate_vmap_rule = True

    @staticmethod
    def forward(*inputs):
        return forward_operation(*inputs[:-1], NO_SCORE)

    setup_context = staticmethod(_save)
    backward = staticmethod(_differentiate)


def _needs_gradient(Q, K, V):
    if forward_ad._current_level >= 0:  # otherwise a tangent would be lost without a word
        _refuse_tangents(Q, K, V)
    return torch.is_grad_enabled() and (Q.requires_grad or K.requires_grad or V.requires_grad)


def _refuse_tangents(*tensors):
    if any(forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors):
        raise NotImplementedError("flashlab.attention has no forward-mode derivative: expected "
                                  "torch.func.grad, vjp or jacrev")


# ------------------------------------------------------------------------------- for callers

def attention_forward(Q, K, V, *, variant="auto", state=None, mask="none", softmax_scale=None,
                      key_lengths=None, window=None, cu_seqlens_q=None, cu_seqlens_k=None,
                      query_offset=0, products="native", kernel="", num_splits=0,
                      deterministic=False):
    """Returns (O, lse). variant "auto": "split-kv" for few queries and many keys, else "flash2".
    Options: mask "none", "causal" or "causal-bottom-right", softmax_scale,
    key_lengths (a list, or an int64 or int32 tensor on the GPU), window (the keys that a query sees
    before its position, or a pair: before and after, None or -1 for no limit), cu_seqlens_q and
    cu_seqlens_k (the bounds of sequences packed in one batch entry: lists, or int64 or int32 tensors
    on the GPU, after whose last bound tokens see nothing), query_offset (the position of query 0 minus
    that of key 0, if Q and K are parts of longer sequences), products "native", "tf32", "tf32x3" or
    "fp16x3" (backward: head_dim to 64), kernel, num_splits. With a state of attention_state, O and lse
    are those of its keys and of these; only flash2, except fp16x3, and torch.compile does not trace
    it. Not part of autograd's graph."""
    Q, K, V = _as_autocast_says(Q, K, V)
    if state is not None:
        return _forward_of_state(Q, K, V, variant, state, None, dict(
            mask=mask, softmax_scale=softmax_scale, key_lengths=key_lengths, window=window,
            cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_k, query_offset=query_offset,
            products=products, kernel=kernel, num_splits=num_splits))
    rest, (options,) = _arguments((variant,), mask, softmax_scale, key_lengths, window, cu_seqlens_q,
                                  cu_seqlens_k, products, kernel, num_splits, query_offset,
                                  deterministic)
    if _needs_gradient(Q, K, V):
        with torch.no_grad():
            return forward_operation(Q, K, V, *rest, options, NO_SCORE)
    return forward_operation(Q, K, V, *rest, options, NO_SCORE)


def attention_state(Q, K, V, *, state=None, variant="auto", **options):
    """Returns the State after the keys of `state` (None: there are none) and these. Several calls,
    each with a part of K and V, so compute one attention; attention_forward with the state ends it.
    The options are attention_forward's; only flash2 has a state, except fp16x3. Not part of
    autograd's graph."""
    with torch.no_grad():
        m, l, O = (Q.new_empty(shape, dtype=torch.float32)
                   for shape in (Q.shape[:3], Q.shape[:3], Q.shape))
        result = State(m, l, O)
        _forward_of_state(Q, K, V, variant, state, result, options)
        return result


def _forward_of_state(Q, K, V, variant, state_in, state_out, options):
    with torch.no_grad():
        O, lse = results_for(Q)
        Call("forward", {"Q": Q, "K": K, "V": V, "O": O, "lse": lse}, variant=variant,
             state_in=state_in, state_out=state_out, **options)()
        return O, lse


def attention_backward(Q, K, V, O, lse, dO, *, variant="auto", round_statistics=False, mask="none",
                       softmax_scale=None, key_lengths=None, window=None, cu_seqlens_q=None,
                       cu_seqlens_k=None, query_offset=0, products="native", kernel="",
                       num_splits=0, deterministic=False):
    """Returns (dQ, dK, dV) from the results of attention_forward with the same options. variant "auto":
    "bwd-onepass". deterministic=True, or torch.use_deterministic_algorithms(True): equal calls give
    equal bits. bwd-onepass then adds to dQ in a fixed order (bf16 and fp16, compute
    capability 9.0, no packed sequences); otherwise "auto" is "bwd-twopass", which always does so."""
    rest, (options,) = _arguments((variant,), mask, softmax_scale, key_lengths, window, cu_seqlens_q,
                                  cu_seqlens_k, products, kernel, num_splits, query_offset,
                                  deterministic, round_statistics)
    return backward_operation(_without_broadcast(dO), Q, K, V, O, lse, *rest, options, NO_SCORE)


def attention(Q, K, V, *, forward_variant="auto", backward_variant="auto", mask="none",
              softmax_scale=None, key_lengths=None, window=None, cu_seqlens_q=None,
              cu_seqlens_k=None, query_offset=0, products="native", kernel="", num_splits=0,
              deterministic=False):
    """Returns O, as part of autograd's graph. Options: mask, softmax_scale, key_lengths, window,
    cu_seqlens_q, cu_seqlens_k, query_offset, products, as for attention_forward, and deterministic,
    as for attention_backward. Keeps Q, K, V and O (no copies of them) and lse, 4 bytes for each
    query of each head, for the backward pass, which needs the gradients and Call.workspace_bytes
    more while it runs. torch.compile traces it without a break (fullgraph=True). torch.autocast casts
    Q, K and V as for PyTorch's own attention."""
    Q, K, V = _as_autocast_says(Q, K, V)
    rest, (forward, backward) = _arguments(
        (forward_variant, backward_variant), mask, softmax_scale, key_lengths, window, cu_seqlens_q,
        cu_seqlens_k, products, kernel, num_splits, query_offset, deterministic)
    if _needs_gradient(Q, K, V):
        is_transformed = torch._C._are_functorch_transforms_active()
        function = _TransformedAttention if is_transformed else _Attention
        return function.apply(Q, K, V, *rest, forward, backward)[0]
    return forward_operation(Q, K, V, *rest, forward, NO_SCORE)[0]
