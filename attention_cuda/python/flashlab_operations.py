"""The operations flashlab::attention_forward and flashlab::attention_backward: their schemas, what they do
without a GPU, and who implements them. flashlab_attention has the functions for callers.
"""
import functools
import os
import warnings

import torch
from torch import library as torch_operators

from flashlab_library import MASKS, PRODUCTS, Call, loaded_library, number_of, window_of

_REST = ("Tensor? key_lengths, Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, float? softmax_scale, "
         "int[] options, int score")
_SCHEMAS = (f"attention_forward(Tensor Q, Tensor K, Tensor V, {_REST}) -> (Tensor, Tensor)",
            "attention_backward(Tensor dO, Tensor Q, Tensor K, Tensor V, Tensor O, Tensor lse, "
            f"{_REST}) -> (Tensor, Tensor, Tensor)")
# The places in `options` (TorchOption in torch/operations.hpp), before the lists.
_OPTIONS = ("mask", "products", "variant", "kernel", "flags", "window_left", "window_right",
            "num_splits", "query_offset", "num_key_lengths", "num_bounds_q", "num_bounds_k")
_HAS_WINDOW_LEFT, _HAS_WINDOW_RIGHT, _DETERMINISTIC, _ROUND_STATISTICS = 1, 2, 4, 8  # flags
NO_SCORE = 0  # the last argument: a function of scores, of which there is none yet

_definitions = torch_operators.Library("flashlab", "DEF")
for _schema in _SCHEMAS:
    _definitions.define(_schema, tags=(torch.Tag.pt2_compliant_tag,))
forward_operation = torch.ops.flashlab.attention_forward.default
backward_operation = torch.ops.flashlab.attention_backward.default


# ------------------------------------------------------------ what the operations do without a GPU

def _dense_like(tensor):
    """A dense tensor of the same shape and type, with heads inside of rows if the tensor has them
    so: dense_like in torch/operations.cpp."""
    batch, heads, rows, columns = tensor.shape
    if tensor.stride(1) < tensor.stride(2):
        return tensor.new_empty((batch, rows, heads, columns)).transpose(1, 2)
    return tensor.new_empty(tensor.shape)


def results_for(Q):
    return _dense_like(Q), Q.new_empty(Q.shape[:3], dtype=torch.float32)


@torch_operators.register_fake("flashlab::attention_forward", lib=_definitions)
def _(Q, K, V, *_):
    return results_for(Q)


@torch_operators.register_fake("flashlab::attention_backward", lib=_definitions)
def _(dO, Q, K, V, *_):
    return tuple(_dense_like(tensor) for tensor in (Q, K, V))


# ------------------------------------------------------------------------------- vmap

def _over_samples(operation, num_tensors):
    """A rule for vmap: samples become batch entries, or, of packed sequences, calls."""

    def rule(info, in_dims, *arguments):
        samples = info.batch_size

        def first(tensor, dim):
            return tensor.movedim(dim, 0) if dim is not None else tensor.expand(samples, *tensor.shape)

        arrays = [first(tensor, dim) if isinstance(tensor, torch.Tensor) else tensor
                  for tensor, dim in zip(arguments, in_dims)]
        scale, options, score = arguments[num_tensors + 3:]
        dims = dict(zip(_OPTIONS, options))
        if dims["num_bounds_q"] or arrays[num_tensors + 1] is not None:
            of_samples = [operation(*(array[k] if isinstance(array, torch.Tensor) else array
                                      for array in arrays)) for k in range(samples)]
            return tuple(map(torch.stack, zip(*of_samples))), (0,) * len(of_samples[0])
        batch = arrays[0].shape[1]
        folded = [array.flatten(0, 1) if array is not None else None
                  for array in arrays[:num_tensors + 3]]
        if dims["num_key_lengths"]:
            dims["num_key_lengths"] *= samples
            options = (*dims.values(), *(options[len(_OPTIONS):] * samples))
        results = operation(*folded, scale, options, score)
        return tuple(result.unflatten(0, (samples, batch)) for result in results), (0,) * len(results)

    return rule


if hasattr(torch_operators, "register_vmap"):  # 2.5
    torch_operators.register_vmap("flashlab::attention_forward", _over_samples(forward_operation, 3),
                                lib=_definitions)
    torch_operators.register_vmap("flashlab::attention_backward", _over_samples(backward_operation, 6),
                                lib=_definitions)


# ------------------------------------------------------------------------------- ctypes

def _named(options):
    """Returns the options of Call for an operation's `options`."""
    found = dict(zip(_OPTIONS, options))
    kernels, flags = loaded_library().kernels(), found["flags"]
    sizes = [found[name] for name in ("num_key_lengths", "num_bounds_q", "num_bounds_k")]
    lists, first = [], len(_OPTIONS)
    for size in sizes:
        lists.append(list(options[first:first + size]) or None)
        first += size
    name = lambda names, value: next(text for text, number in names.items() if number == value)  # noqa: E731
    result = {"variant": "auto" if found["variant"] < 0 else kernels[found["variant"]].variant,
              "kernel": "" if found["kernel"] < 0 else kernels[found["kernel"]].stem,
              "mask": name(MASKS, found["mask"]), "products": name(PRODUCTS, found["products"]),
              "window": (found["window_left"] if flags & _HAS_WINDOW_LEFT else None,
                         found["window_right"] if flags & _HAS_WINDOW_RIGHT else None),
              "num_splits": found["num_splits"], "query_offset": found["query_offset"],
              "deterministic": bool(flags & _DETERMINISTIC),
              "round_statistics": bool(flags & _ROUND_STATISTICS)}
    return result, lists


def _run_call(direction, tensors, numbers, scale, options):
    named, lists = _named(options)
    names = ("key_lengths", "cu_seqlens_q", "cu_seqlens_k")
    for name, tensor, numbers_of_list in zip(names, numbers, lists):
        named[name] = numbers_of_list if tensor is None else tensor
    Call(direction, tensors, softmax_scale=scale, **named)()


def _forward_by_ctypes(Q, K, V, key_lengths, cu_seqlens_q, cu_seqlens_k, scale, options, _):
    O, lse = results_for(Q)
    _run_call("forward", {"Q": Q, "K": K, "V": V, "O": O, "lse": lse},
              (key_lengths, cu_seqlens_q, cu_seqlens_k), scale, options)
    return O, lse


def _backward_by_ctypes(dO, Q, K, V, O, lse, key_lengths, cu_seqlens_q, cu_seqlens_k, scale,
                        options, _):
    gradients = tuple(_dense_like(tensor) for tensor in (Q, K, V))
    _run_call("backward", dict(zip(("Q", "K", "V", "O", "lse", "dO", "dQ", "dK", "dV"),
                                   (Q, K, V, O, lse, dO, *gradients))),
              (key_lengths, cu_seqlens_q, cu_seqlens_k), scale, options)
    return gradients


def _refuse_cpu(*_):
    raise ValueError("Q: on cpu: expected a cuda tensor")


@functools.cache
def implementation():
    """Implements the operations, once. Returns "native", or "ctypes: " and why."""
    library = loaded_library()
    why = ("FLASHLAB_CTYPES is set" if os.environ.get("FLASHLAB_CTYPES")
           else library.register_torch_operations())
    if not library.is_emulated:
        _definitions.impl("attention_forward", _refuse_cpu, "CPU")
        _definitions.impl("attention_backward", _refuse_cpu, "CPU")
    if why is None:
        return "native"
    key = "CPU" if library.is_emulated else "CUDA"
    _definitions.impl("attention_forward", _forward_by_ctypes, key)
    _definitions.impl("attention_backward", _backward_by_ctypes, key)
    if not os.environ.get("FLASHLAB_CTYPES"):
        warnings.warn(f"flashlab calls go through ctypes, some 100 µs each: {why}", stacklevel=2)
    return "ctypes: " + why


# ------------------------------------------------------------------------------- options

@functools.cache
def _kernel_numbers():
    """Returns the number of a kernel of each variant, and of each (variant, kernel)."""
    implementation()
    kernels = loaded_library().kernels()
    variants = {"auto": -1, **{kernel.variant: k for k, kernel in reversed([*enumerate(kernels)])}}
    return variants, {(kernel.variant, kernel.stem): k for k, kernel in enumerate(kernels)}


@torch.compiler.assume_constant_result
def packed(variant, mask, window, products, kernel, num_splits, query_offset, deterministic,
            round_statistics, key_lengths, bounds_q, bounds_k):
    """Returns the `options` of an operation. Lists are tuples here."""
    variants, kernels = _kernel_numbers()
    if variant not in variants:
        names = [kernel.variant for kernel in loaded_library().kernels()]
        raise ValueError(f"variant: {variant}: expected one of {', '.join(dict.fromkeys(names))}")
    stem = -1
    if kernel:
        stem = next((k for (of, name), k in kernels.items()
                     if name == kernel and variant in (of, "auto")), -1)
        if stem < 0:
            raise ValueError(f"kernel: {kernel}: expected a kernel of {variant}")
    left, right = window_of(window)
    flags = ((left is not None) * _HAS_WINDOW_LEFT | (right is not None) * _HAS_WINDOW_RIGHT
             | bool(deterministic) * _DETERMINISTIC | bool(round_statistics) * _ROUND_STATISTICS)
    number_of("mask", mask, MASKS), number_of("products", products, PRODUCTS)
    return (MASKS[mask], PRODUCTS[products], variants[variant], stem, flags, left or 0, right or 0,
            num_splits, query_offset, len(key_lengths), len(bounds_q), len(bounds_k), *key_lengths,
            *bounds_q, *bounds_k)


packed_before = functools.lru_cache(maxsize=1024)(packed)
