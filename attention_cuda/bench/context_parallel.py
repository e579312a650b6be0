#!/usr/bin/env python3
"""Times attention over several GPUs, ours beside PyTorch's context parallel, in the same processes.

  torchrun --nproc-per-node 2 attention_cuda/bench/context_parallel.py --json OUT [--lengths 65536,262144]

bf16, 1 batch, 16 heads, head_dim 128. Ours: flashlab_ranks.py, on NCCL; full masks in contiguous order,
causal ones in zigzag order. PyTorch's: its patched scaled_dot_product_attention with cuDNN, both ways of
rotating, load-balanced for causal masks. A time is that of CUDA events on the slowest rank, the median of
--repeat runs after one. First, results and gradients of ours are compared with PyTorch's on one GPU.
"""
import argparse
import datetime
import itertools
import json
import os
import statistics
import sys

import torch
import torch.distributed
import torch.distributed.device_mesh
import torch.nn.functional

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../python"))
import flashlab_ranks  # noqa: E402  (lies beside this folder)

HEADS, HEAD_DIM = 16, 128
ROTATIONS = ("alltoall", "allgather")
ORDER = {"full": "contiguous", "causal": "zigzag"}


def say(*words):
    if torch.distributed.get_rank() == 0:
        print(*words, flush=True)


def draw(rows, count, seed):
    generator = torch.Generator("cuda").manual_seed(seed)
    return [torch.randn(1, HEADS, rows, HEAD_DIM, device="cuda", dtype=torch.bfloat16,
                        generator=generator) for _ in range(count)]


def time_ms(call, repeat):
    """Returns the median of the slowest rank's times, after a run without a watch."""
    samples = []
    for _ in range(repeat + 1):
        torch.cuda.synchronize()
        torch.distributed.barrier()
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        slowest = torch.tensor([start.elapsed_time(end)], device="cuda")
        torch.distributed.all_reduce(slowest, torch.distributed.ReduceOp.MAX)
        samples.append(slowest.item())
    return statistics.median(samples[1:])


def time_ours(ranks, variant, length, mask, repeat):
    """Returns milliseconds forward and backward."""
    Q, K, V, dO = draw(length // ranks.num_ranks, 4, 1 + ranks.rank)
    options = {"variant": variant, "mask": {"full": "none"}.get(mask, mask)}
    O, lse = ranks.attention_forward(Q, K, V, **options)
    times = (time_ms(lambda: ranks.attention_forward(Q, K, V, **options), repeat),
             time_ms(lambda: ranks.attention_backward(Q, K, V, O, lse, dO, **options), repeat))
    ranks.finish()
    return times


def time_theirs(mesh, rotation, length, mask, repeat):
    from torch.distributed.tensor.experimental import context_parallel
    from torch.distributed.tensor.experimental import _attention
    from torch.nn.attention import SDPBackend, sdpa_kernel
    is_causal = mask == "causal"
    _attention.set_rotate_method(rotation)
    _attention._cp_options.enable_load_balance = is_causal
    whole = draw(length, 3, 1)
    with context_parallel(mesh, buffers=whole, buffer_seq_dims=[2, 2, 2]), \
            sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        Q, K, V = (tensor.detach().requires_grad_() for tensor in whole)
        attend = torch.nn.functional.scaled_dot_product_attention

        def forward():
            with torch.no_grad():
                attend(Q, K, V, is_causal=is_causal)

        def backward():
            Q.grad = K.grad = V.grad = None
            O.backward(dO, retain_graph=True)

        forward_ms = time_ms(forward, repeat)
        O, dO = attend(Q, K, V, is_causal=is_causal), torch.randn_like(Q)
        return forward_ms, time_ms(backward, repeat)


def check(ranks_of):
    """Compares ours with PyTorch's on one GPU, in float32, and the bits of two runs. Returns the largest
    difference."""
    worst = 0.0
    for order, variant, mask in itertools.product(ranks_of, ("ring", "gather-kv"),
                                                  ("none", "causal")):
        ranks = ranks_of[order]
        length = 1000 * ranks.num_ranks
        Q, K, V, dO = (tensor.float() for tensor in draw(length, 4, 5))
        leaves = [tensor.detach().clone().requires_grad_() for tensor in (Q, K, V)]
        expected = torch.nn.functional.scaled_dot_product_attention(*leaves,
                                                                    is_causal=mask == "causal")
        expected.backward(dO)
        runs = []
        for _ in range(2):
            own = [ranks.shard(tensor).detach().requires_grad_() for tensor in (Q, K, V)]
            O = ranks.attention(*own, variant=variant, mask=mask)
            O.backward(ranks.shard(dO))
            ranks.finish()
            runs.append([ranks.unshard(tensor) for tensor in (O, *(leaf.grad for leaf in own))])
        for ours, right in zip(runs[0], (expected.detach(), *(leaf.grad for leaf in leaves))):
            torch.testing.assert_close(ours, right, rtol=1e-3, atol=1e-3)
            worst = max(worst, (ours - right).abs().max().item())
    return worst


def refusals(ranks):
    """What ranks that disagree are told."""
    Q, K, V = (tensor.float() for tensor in draw(64, 3, 7))
    mask = "causal" if ranks.rank == 1 else "none"
    try:
        ranks.attention(Q, K, V, mask=mask)
    except ValueError as error:
        return str(error)
    raise RuntimeError("ranks with different masks were not refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="where the results go")
    parser.add_argument("--lengths", default="65536,262144")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only-check", action="store_true")
    options = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl", timeout=datetime.timedelta(seconds=60))
    num_ranks = torch.distributed.get_world_size()
    ranks_of = {order: flashlab_ranks.Ranks(sharding=order, timeout_s=60)
                for order in ORDER.values()}
    results = {"command": "torchrun --nproc-per-node %d context_parallel.py --lengths %s --repeat %d"
                          % (num_ranks, options.lengths, options.repeat),
               "gpu": torch.cuda.get_device_name(), "gpus": num_ranks, "torch": torch.__version__,
               "largest_difference": check(ranks_of), "refusal": refusals(ranks_of["zigzag"]),
               "rows": []}
    say(f"checked: at most {results['largest_difference']:.1e} off; {results['refusal']}")
    lengths = [] if options.only_check else [int(word) for word in options.lengths.split(",")]
    mesh = torch.distributed.device_mesh.init_device_mesh("cuda", (num_ranks,),
                                                           mesh_dim_names=("cp",))
    calls = [(f"ours, {variant}", lambda *rest, variant=variant: time_ours(
        ranks_of[ORDER[rest[1]]], variant, *rest)) for variant in ("ring", "gather-kv")]
    calls += [(f"PyTorch, {rotation}", lambda *rest, rotation=rotation: time_theirs(
        mesh, rotation, *rest)) for rotation in ROTATIONS]
    for (who, call), length, mask in itertools.product(calls, lengths, ORDER):
        forward_ms, backward_ms = call(length, mask, options.repeat)
        results["rows"].append({"who": who, "length": length, "mask": mask,
                                "forward_ms": round(forward_ms, 3),
                                "backward_ms": round(backward_ms, 3)})
        say(json.dumps(results["rows"][-1]))
        if options.json and torch.distributed.get_rank() == 0:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
    for ranks in ranks_of.values():
        ranks.close()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
