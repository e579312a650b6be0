#!/usr/bin/env python3
"""Checks flashlab.attention inside PyTorch on this machine's GPU: torch.compile without a break, CUDA
graphs, several streams, tensors beyond 2^31 elements, and a training loop.

Each check compares with the same call outside of that feature, or with PyTorch's own attention.
Exit code 0: right, or skipped because there is no GPU, library or torch. 1: wrong.
"""
import argparse
import concurrent.futures
import os
import sys

try:
    import torch
    from torch import library as torch_operators
except ImportError:
    print("torch_check.py skipped: this Python has no torch")
    sys.exit(0)

import flashlab_attention as flashlab  # noqa: E402  (needs torch too)

CLOSE = {"rtol": 2e-2, "atol": 2e-2}  # a few roundings of bf16


def draw(*sizes, dtype=torch.bfloat16, seed=1):
    """Returns Q, K, V, dO [batch, heads, seqlen, head_dim] with these sizes."""
    device = flashlab.loaded_library().device_type
    generator = torch.Generator(device).manual_seed(seed)
    return [torch.randn(*sizes, generator=generator, device=device, dtype=torch.float32).to(dtype)
            for _ in range(4)]


def gradients_of(function, Q, K, V, dO):
    """Returns O, dQ, dK, dV."""
    leaves = [tensor.detach().clone().requires_grad_() for tensor in (Q, K, V)]
    O = function(*leaves)
    O.backward(dO)
    return [O.detach(), *(leaf.grad for leaf in leaves)]


def check_schemas():
    """PyTorch's own tests of an operation: schema and shape function."""
    Q, K, V, dO = draw(1, 2, 40, 32, dtype=torch.float32)
    tests = ("test_schema", "test_faketensor")
    for lengths in (None, [40]):
        rest, (options,) = flashlab._arguments(("auto",), "causal", 0.3, lengths, None, None, None,
                                               "native", "", 0, 0, False)
        forward = (Q, K, V, *rest, options, 0)
        torch_operators.opcheck(torch.ops.flashlab.attention_forward, forward, test_utils=tests)
        O, lse = torch.ops.flashlab.attention_forward(*forward)
        torch_operators.opcheck(torch.ops.flashlab.attention_backward,
                              (dO, Q, K, V, O, lse, *rest, options, 0), test_utils=tests)


def check_compile():
    """torch.compile(fullgraph=True), values and gradients, for two shapes and a mask."""
    is_emulated = flashlab.loaded_library().is_emulated
    compiled = torch.compile(lambda Q, K, V: 2 * flashlab.attention(Q + 1, K, V, mask="causal"),
                             fullgraph=True, backend="aot_eager" if is_emulated else "inductor")
    eager = lambda Q, K, V: 2 * flashlab.attention(Q + 1, K, V, mask="causal")  # noqa: E731
    for seqlen in (64, 100):
        inputs = draw(1, 2, seqlen, 64)
        for ours, expected in zip(gradients_of(compiled, *inputs), gradients_of(eager, *inputs)):
            torch.testing.assert_close(ours, expected, **CLOSE)


def check_graph():
    """A captured forward and backward pass computes new inputs when it is replayed."""
    Q, K, V, dO = draw(2, 4, 256, 64)

    def run():
        O, lse = flashlab.attention_forward(Q, K, V, mask="causal")
        return [O, *flashlab.attention_backward(Q, K, V, O, lse, dO, mask="causal",
                                                variant="bwd-twopass")]

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run()  # loads the kernels before the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = run()
    for tensor, drawn in zip((Q, K, V, dO), draw(2, 4, 256, 64, seed=2)):
        tensor.copy_(drawn)
    for tensor in results:
        tensor.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    replayed = [tensor.clone() for tensor in results]
    for ours, expected in zip(replayed, run()):
        torch.testing.assert_close(ours, expected, rtol=0, atol=0)


def check_graphed_callables():
    """torch.cuda.make_graphed_callables: forward and backward in graphs, with key lengths as a list."""
    for options in ({"mask": "causal"}, {"key_lengths": [200, 7]}):
        eager = Block(options)
        inputs = tuple(tensor.requires_grad_() for tensor in draw(2, 4, 256, 64)[:3])
        graphed = torch.cuda.make_graphed_callables(Block(options), inputs)
        for seed in (3, 4):
            drawn = draw(2, 4, 256, 64, seed=seed)
            for ours, expected in zip(gradients_of(graphed, *drawn), gradients_of(eager, *drawn)):
                torch.testing.assert_close(ours, expected, **CLOSE)


class Block(torch.nn.Module):
    """Attention with its options."""

    def __init__(self, options):
        super().__init__()
        self.options = options

    def forward(self, Q, K, V):
        return flashlab.attention(Q, K, V, **self.options)


def check_deterministic():
    """Under torch.use_deterministic_algorithms equal calls give equal bits, for every head_dim."""
    torch.use_deterministic_algorithms(True)
    try:
        for head_dim in (64, 256):
            inputs = draw(2, 8, 1024, head_dim)
            first = gradients_of(flashlab.attention, *inputs)
            for _ in range(3):
                for ours, expected in zip(gradients_of(flashlab.attention, *inputs), first):
                    torch.testing.assert_close(ours, expected, rtol=0, atol=0)
    finally:
        torch.use_deterministic_algorithms(False)


def check_threads():
    """Calls from several threads at once give what each gives alone."""
    problems = [draw(1, 4, 300 + 10 * k, 64, seed=k) for k in range(4)]
    alone = [flashlab.attention_forward(*tensors[:3])[0] for tensors in problems]
    torch.cuda.synchronize()
    with concurrent.futures.ThreadPoolExecutor(len(problems)) as pool:
        for _ in range(10):
            together = list(pool.map(lambda tensors: flashlab.attention_forward(*tensors[:3])[0],
                                     problems))
            torch.cuda.synchronize()
            for ours, expected in zip(together, alone):
                torch.testing.assert_close(ours, expected, rtol=0, atol=0)


def check_streams():
    """Calls on four streams at once give what each gives alone."""
    problems = [draw(1, 4, 700 + 10 * k, 64, seed=k) for k in range(4)]
    alone = [flashlab.attention_forward(*tensors[:3])[0] for tensors in problems]
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in problems]
    for _ in range(10):
        together = []
        for stream, tensors in zip(streams, problems):
            with torch.cuda.stream(stream):
                together.append(flashlab.attention_forward(*tensors[:3])[0])
        torch.cuda.synchronize()
        for ours, expected in zip(together, alone):
            torch.testing.assert_close(ours, expected, rtol=0, atol=0)


def check_large():
    """Q and O have 2^31 + 2^20 elements; the last head is compared with that head alone."""
    heads, seqlen, head_dim = 2049, 16384, 64
    free, _ = torch.cuda.mem_get_info()
    needed = 2 * 2 * heads * seqlen * head_dim + 4 * heads * seqlen
    if free < needed + (1 << 30):
        return f"skipped: {needed >> 30} GiB needed, {free >> 30} free"
    Q = torch.randn(1, heads, seqlen, head_dim, device="cuda", dtype=torch.bfloat16)
    K, V = (torch.randn(1, 1, 64, head_dim, device="cuda", dtype=torch.bfloat16) for _ in "KV")
    O, _ = flashlab.attention_forward(Q, K, V)
    alone, _ = flashlab.attention_forward(Q[:, -1:].contiguous(), K, V)
    torch.testing.assert_close(O[:, -1:], alone, rtol=0, atol=0)
    return None


def check_training():
    """A projection in front of attention is trained as it is with PyTorch's attention."""
    data, K, V, wanted = draw(2, 2, 128, 64)

    def losses(attention):
        weights = torch.eye(64, device="cuda", dtype=torch.float32).requires_grad_()
        optimizer = torch.optim.SGD([weights], lr=20.0)
        result = []
        for _ in range(20):
            optimizer.zero_grad()
            O = attention(data @ weights.to(data.dtype), K, V)
            loss = torch.nn.functional.mse_loss(O.float(), wanted.float())
            loss.backward()
            optimizer.step()
            result.append(loss.item())
        return result

    ours = losses(flashlab.attention)
    theirs = losses(torch.nn.functional.scaled_dot_product_attention)
    torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs), rtol=1e-2, atol=0)
    assert ours[-1] < ours[0], f"the loss went from {ours[0]} to {ours[-1]}"


ANYWHERE = [check_schemas, check_compile]
ON_A_GPU = [check_graph, check_graphed_callables, check_deterministic, check_threads, check_streams,
             check_large, check_training]


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
        print(f"torch_check.py skipped: {error}")
        return 0
    wrong = 0
    for check in ANYWHERE + ([] if library.is_emulated else ON_A_GPU):
        try:
            outcome = check() or "right"
        except Exception as error:  # every kind of failure is one line, and the others go on
            outcome, wrong = f"WRONG: {type(error).__name__}: {error}", wrong + 1
        print(f"{check.__name__.removeprefix('check_'):10} {outcome}", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
