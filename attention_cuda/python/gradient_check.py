#!/usr/bin/env python3
"""Checks flashlab.attention and its gradients on this machine's GPU.

Values and gradients are compared with PyTorch's attention in double on the CPU, for several shapes,
types, products and masks. Then torch.autograd.gradcheck compares the gradients with finite differences
of our own forward pass. It expects double, but the kernels compute in float. With a step of 1e-2 the
difference quotient of O has an error of some 1e-7 / 1e-2 by rounding and some 1e-4 by curvature. A
tolerance of 1e-2 is far above both and far below a wrong term.

Exit code 0: right, or skipped because there is no GPU, library or torch. 1: wrong.
"""
import argparse
import itertools
import os
import sys
import warnings

try:
    import torch
except ImportError:
    print("gradient_check.py skipped: this Python has no torch")
    sys.exit(0)

import flashlab_attention as flashlab  # noqa: E402  (needs torch too)

# Relative to the norm of the exact result: a few roundings of the operands (2^-9,
# 2^-12, 2^-12, 2^-24, 2^-22).
TOLERANCES = {("bfloat16", "native"): 2e-2, ("float16", "native"): 3e-3, ("float32", "tf32"): 3e-3,
              ("float32", "tf32x3"): 2e-5, ("float32", "native"): 2e-5,
              ("float32", "fp16x3"): 2e-5}
MOST_HEAD_DIM = {"fp16x3": 64}  # of both passes; others: 256
# batch, num_heads, num_kv_heads, seqlen_q, seqlen_k, head_dim, key_lengths
SHAPES = [(1, 2, 2, 33, 33, 64, None), (2, 4, 2, 70, 131, 32, None),
          (2, 2, 1, 65, 40, 128, [40, 7]), (1, 1, 1, 1, 200, 40, None)]
LARGE_SHAPES = [(2, 8, 8, 1024, 1024, 64, None), (1, 8, 2, 500, 1500, 128, None),
                (2, 3, 3, 257, 255, 256, [255, 100])]


def visible(mask, seqlen_q, keys, seqlen_k):
    """Returns for [seqlen_q, seqlen_k] whether a query sees a key."""
    query, key = torch.arange(seqlen_q)[:, None], torch.arange(seqlen_k)[None, :]
    diagonal = {"none": seqlen_k, "causal": 0, "causal-bottom-right": keys - seqlen_q}[mask]
    return (key < keys) & (key <= query + diagonal)


def exact_attention(Q, K, V, mask, key_lengths):
    """Computes attention in double; rows that see no key are 0."""
    seqlen_q, seqlen_k = Q.shape[2], K.shape[2]
    lengths = key_lengths or [seqlen_k] * Q.shape[0]
    sees = torch.stack([visible(mask, seqlen_q, keys, seqlen_k) for keys in lengths])[:, None]
    K, V = (tensor.repeat_interleave(Q.shape[1] // K.shape[1], dim=1) for tensor in (K, V))
    scores = (Q @ K.mT / Q.shape[-1]**0.5).masked_fill(~sees, -1e300)
    return (torch.softmax(scores, dim=-1) * sees) @ V


def relative_error(ours, exact):
    """Returns the error relative to the norm, or to that of elements of 0.1 if that is larger. NaN
    counts as infinite."""
    norm = max(float(exact.norm()), 0.1 * exact.numel()**0.5)
    error = float((ours.detach().cpu().double() - exact).norm()) / norm
    return error if error == error else float("inf")


def errors_of(shape, mask, dtype, products, backward_variant):
    """Returns the relative errors of O, dQ, dK, dV."""
    batch, num_heads, num_kv_heads, seqlen_q, seqlen_k, head_dim, key_lengths = shape
    generator = torch.Generator().manual_seed(seqlen_q)
    sizes = [(num_heads, seqlen_q), (num_kv_heads, seqlen_k), (num_kv_heads, seqlen_k),
             (num_heads, seqlen_q)]
    drawn = [torch.randn(batch, heads, seqlen, head_dim, generator=generator).to(dtype)
             for heads, seqlen in sizes]
    device = flashlab.loaded_library().device_type
    ours = [tensor.to(device, copy=True).requires_grad_() for tensor in drawn[:3]]
    exact = [tensor.double().requires_grad_() for tensor in drawn[:3]]
    dO = drawn[3]
    O = flashlab.attention(*ours, backward_variant=backward_variant, mask=mask,
                           key_lengths=key_lengths, products=products)
    exact_O = exact_attention(*exact, mask, key_lengths)
    O.backward(dO.to(device))
    exact_O.backward(dO.double())
    pairs = [(O, exact_O)] + [(a.grad, b.grad) for a, b in zip(ours, exact)]
    return [relative_error(a, b.detach()) for a, b in pairs]


def arithmetics_of(backward_variant):
    """Returns the (dtype, products) that flash2 and the variant both support in this library."""
    words = {"float": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    have = {variant: {pair for kernel in flashlab.loaded_library().kernels() if kernel.variant == variant
                      for pair in kernel.arithmetic} for variant in ("flash2", backward_variant)}
    return [(words[dtype], products) for dtype, products in
            sorted(have["flash2"] & have[backward_variant])]


def check_values(backward_variant, shapes):
    """Prints the wrong cases and returns their number."""
    wrong = 0
    for dtype, products in arithmetics_of(backward_variant):
        tolerance, worst = TOLERANCES[str(dtype).removeprefix("torch."), products], 0
        for shape, mask in itertools.product(shapes, flashlab.MASKS):
            if shape[5] > MOST_HEAD_DIM.get(products, 256):
                continue
            errors = errors_of(shape, mask, dtype, products, backward_variant)
            worst = max(worst, *errors)
            if max(errors) > tolerance:
                wrong += 1
                named = ", ".join(f"{name} {error:.1e}"
                                  for name, error in zip(("O", "dQ", "dK", "dV"), errors))
                print(f"WRONG: {shape} {mask}: {named}: expected less than {tolerance:.0e}")
        print(f"{backward_variant:12} {str(dtype):16} {products:7} worst relative error "
              f"{worst:.1e} (allowed {tolerance:.0e})")
    return wrong


def check_against_differences(backward_variant):
    """Runs torch.autograd.gradcheck and returns the number of wrong cases."""
    if (torch.float32, "native") not in arithmetics_of(backward_variant):
        print(f"{backward_variant:12} no kernel in float: no finite differences")
        return 0
    wrong = 0
    for mask in flashlab.MASKS:
        generator = torch.Generator().manual_seed(7)
        device = flashlab.loaded_library().device_type
        inputs = [torch.randn(1, heads, seqlen, 8, generator=generator).to(device).requires_grad_()
                  for heads, seqlen in ((2, 5), (1, 6), (1, 6))]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*double precision.*")
            is_right = torch.autograd.gradcheck(
                lambda *tensors, mask=mask: flashlab.attention(
                    *tensors, mask=mask, backward_variant=backward_variant),
                inputs, eps=1e-2, atol=1e-2, rtol=1e-2, nondet_tol=1e-5, raise_exception=False)
        print(f"{backward_variant:12} finite differences, mask {mask}: "
              f"{'right' if is_right else 'WRONG'}")
        wrong += not is_right
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", dest="shared_object", metavar="FILE",
                        help="libflashlab_cuda.so (FLASHLAB_CUDA_LIBRARY or build/)")
    options = parser.parse_args()
    if options.shared_object:
        os.environ["FLASHLAB_CUDA_LIBRARY"] = options.shared_object
    try:
        library = flashlab.loaded_library()
    except RuntimeError as error:
        print(f"gradient_check.py skipped: {error}")
        return 0
    shapes = SHAPES + ([] if library.is_emulated else LARGE_SHAPES)
    wrong, checked = 0, 0
    for backward_variant in ("bwd-onepass", "bwd-twopass", "bwd-naive"):
        if arithmetics_of(backward_variant):
            wrong += check_values(backward_variant, shapes)
            wrong += check_against_differences(backward_variant)
            checked += 1
    print(f"{wrong} wrong" if checked else "skipped: no backward kernel in this library")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
