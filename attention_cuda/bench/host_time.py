#!/usr/bin/env python3
"""Measures what a call costs the host: microseconds per call of problems so small that the GPU waits,
beside PyTorch's own attention in the same process.

Each side calls in a row, many times; a side's time is the median over rounds, in which the sides take
turns. The first time ends when the GPU is idle, so that its own work is in it, too. The second one, "enqueued",
is taken while the GPU sleeps, and is the host's alone.
"""
import argparse
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../python", "../../attention_cpu/bench"):
    sys.path.insert(0, os.path.join(HERE, folder))

import flashlab_attention as flashlab  # noqa: E402  (found by the paths above)
from sides import add_report_arguments, device_of, write_report  # noqa: E402

BACKENDS = {"FA2": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
# num_heads, num_kv_heads, seqlen_q, seqlen_k, head_dim
PROBLEMS = {"2 heads, N 128": (2, 2, 128, 128, 64),
            "one query, 4096 keys, 32 heads over 8": (32, 8, 1, 4096, 128),
            "one query, 128 keys, 32 heads over 8": (32, 8, 1, 128, 128)}


def draw(problem, device, dtype):
    heads, kv_heads, seqlen_q, seqlen_k, head_dim = problem
    sizes = ((heads, seqlen_q), (kv_heads, seqlen_k), (kv_heads, seqlen_k), (heads, seqlen_q))
    return [torch.randn(1, h, n, head_dim, device=device).to(dtype) for h, n in sizes]


def forward_sides(problem, device):
    """Returns a call of each side, without gradients."""
    Q, K, V, _ = draw(problem, device, torch.bfloat16)
    grouped = {"enable_gqa": True} if problem[0] != problem[1] else {}
    O, lse = flashlab.attention_forward(Q, K, V)
    kept = flashlab.Call("forward", {"Q": Q, "K": K, "V": V, "O": O, "lse": lse}, variant="auto")
    sides = {"ours": lambda: flashlab.attention_forward(Q, K, V),
             "ours, attention()": lambda: flashlab.attention(Q, K, V),
             "ours, causal": lambda: flashlab.attention(Q, K, V, mask="causal-bottom-right"),
             "ours, a kept Call": kept}
    for name, backend in BACKENDS.items():
        sides[name] = with_backend(backend, lambda: F.scaled_dot_product_attention(Q, K, V, **grouped))
    return sides


def with_backend(backend, call):
    """The context is entered once for a row of calls, not by each: it is not what is measured."""
    call.backend = backend
    return call


def training_sides(problem, device):
    """Returns a call of each side: forward, and backward through autograd."""
    *inputs, dO = draw(problem, device, torch.bfloat16)
    for tensor in inputs:
        tensor.requires_grad_()

    def step(attention):
        return lambda: torch.autograd.grad(attention(*inputs), inputs, dO)

    sides = {"ours": step(flashlab.attention)}
    for name, backend in BACKENDS.items():
        sides[name] = with_backend(backend, step(F.scaled_dot_product_attention))
    return sides


def microseconds(call, repeats):
    with sdpa_kernel(getattr(call, "backend", list(BACKENDS.values()))):
        for _ in range(20):
            call()
        synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        synchronize()
        return 1e6 * (time.perf_counter() - start) / repeats


def enqueue_microseconds(call, repeats):
    """The GPU sleeps longer than the calls take; its queue holds more of them."""
    if not torch.cuda.is_available():
        return microseconds(call, repeats)
    with sdpa_kernel(getattr(call, "backend", list(BACKENDS.values()))):
        torch.cuda._sleep(50_000_000)
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        taken = 1e6 * (time.perf_counter() - start) / repeats
        torch.cuda.synchronize()
        return taken


def synchronize():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def times(sides, rounds, repeats, microseconds=microseconds):
    samples = {name: [] for name in sides}
    for number in range(rounds):
        for name in (list(sides) if number % 2 == 0 else reversed(sides)):
            try:
                samples[name].append(microseconds(sides[name], repeats))
            except RuntimeError as error:  # a backend that this GPU lacks
                samples[name].append(None)
                print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
    return {name: None if None in taken else round(statistics.median(taken), 1)
            for name, taken in samples.items()}


def both_times(sides, options):
    few = min(options.repeats, 100)  # launches fit the queue
    return {"us": times(sides, options.rounds, options.repeats),
            "enqueued_us": times(sides, options.rounds, few, enqueue_microseconds)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_report_arguments(parser)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=300, help="calls in a row")
    options = parser.parse_args()
    device = device_of(options)
    rows = []
    for name, problem in PROBLEMS.items():
        row = {"pass": "forward", "problem": name, "sizes": problem,
               **both_times(forward_sides(problem, device), options)}
        rows.append(row)
        print("forward:", name, row["us"], "enqueued:", row["enqueued_us"], flush=True)
    name, problem = next(iter(PROBLEMS.items()))
    rows.append({"pass": "forward and backward", "problem": name, "sizes": problem,
                 **both_times(training_sides(problem, device), options)})
    print("forward and backward:", name, rows[-1]["us"], "enqueued:", rows[-1]["enqueued_us"],
          flush=True)
    write_report(options, __file__,
                 {"what": "microseconds per call, sides in turns in one process", "dtype": "bf16",
                  "implementation": flashlab.implementation(), "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
