#!/usr/bin/env python3
"""Prints the tables of docs/13_who_loads_who_multiplies.md from the committed results of flash2_steps.

  steps.py run              where and when
  steps.py bounds           lower bounds of a tile, in cycles, from the sizes of the tiles
  steps.py times            TFLOP/s of each step
  steps.py gain STEP        what a step gained over the one before, in per cent
  steps.py waits            what the warpgroups of a block did, from the stamps
  steps.py marks            what recording the stamps cost

All but bounds read docs/results/attention_cuda_steps.json or attention_cuda_stamps.json.
"""
import statistics
import sys

from stamps import load_runs, shares, step_cycles
from tables import print_table, results

STEPS = ["portable", "wgmma", "overlap", "turns", "guesses", "three stages"]
# Per clock and multiprocessor of compute capability 9.0: gpus/gpus.json has the first one as FLOP/s.
TENSOR_FLOPS, EXPONENTIALS, SHARED_BYTES = 4096, 16, 128
QUERIES = 64  # of a warpgroup: the rows of one wgmma
TILES = {64: (3, 128), 128: (2, 128), 256: (2, 64)}  # warpgroups, keys


def times_of(head_dim, mask, seqlen):
    """Returns {step: FLOP/s}."""
    return {row["step"]: row["flops_per_s"] for row in results("steps")["rows"]
            if row["shape"][2:] == [seqlen, head_dim] and row["mask"] == mask}


LENGTHS = (1024, 4096, 16384)
MASKS = {"full": "none", "causal": "causal"}


def problems():
    return [(head_dim, mask) for head_dim in TILES for mask in MASKS]


def run(_):
    found = results("steps")
    driver = found["gpu_before"].splitlines()[-1].split(",")[0]
    print(f"{found['gpu']}, driver {driver}, CUDA {found['cuda'] // 1000}.{found['cuda'] % 1000 // 10}")
    print(f"commit {found['commit']}, {found['date']}")
    rows = found["rows"]
    quartiles = [statistics.quantiles(row["samples_ms"], n=4) for row in rows]
    spread = max((high - low) / middle for low, middle, high in quartiles)
    print(f"{len(rows[0]['samples_ms'])} samples of each, in turns; the middle half of the samples of any "
          f"row lies within {100 * spread:.1f} % of its median")
    print(f"largest difference to the outputs of the portable kernel: "
          f"{max(row['largest_difference_to_first'] for row in rows):.4f}")


def tensor_cycles(head_dim, keys):
    return 4 * QUERIES * keys * head_dim // TENSOR_FLOPS


def bounds(_):
    """Cycles that 64 queries and one tile of keys take at least, by each unit."""
    table = []
    for head_dim, (warpgroups, keys) in TILES.items():
        tensor = tensor_cycles(head_dim, keys)
        exponentials = QUERIES * keys // EXPONENTIALS
        # A wgmma reads its operands from shared memory: Q and K for S, V for O. P is in registers.
        shared = 2 * head_dim * (QUERIES + 2 * keys) // SHARED_BYTES
        sums = tensor + exponentials
        table.append([head_dim, warpgroups, keys, tensor, exponentials, shared,
                      f"{100 * tensor / sums:.0f} %"])
    print_table(["head_dim", "warpgroups", "keys", "products", "exponentials", "shared memory",
                 "products / (products + exponentials)"], table)


def times(_):
    table = []
    for head_dim, mask in problems():
        for seqlen in LENGTHS:
            found = times_of(head_dim, MASKS[mask], seqlen)
            table.append([head_dim, mask, seqlen,
                          *(f"{found[step] / 1e12:.0f}" if step in found else "-" for step in STEPS)])
    print_table(["head_dim", "mask", "N", *STEPS], table)


def gain(words):
    if len(words) != 1 or words[0] not in STEPS[1:]:
        sys.exit(f"steps.py gain: expected one of {', '.join(STEPS[1:])}")
    before, after = STEPS[STEPS.index(words[0]) - 1], words[0]
    table = []
    for head_dim, mask in problems():
        rates = [times_of(head_dim, MASKS[mask], seqlen) for seqlen in LENGTHS]
        if all(after in found for found in rates):
            table.append([head_dim, mask, *(f"{100 * (found[after] / found[before] - 1):+.1f} %"
                                            for found in rates)])
    print_table(["head_dim", "mask", *(f"N {seqlen}" for seqlen in LENGTHS)], table)


def waits(_):
    """Shares of the time in which a block goes from tile to tile."""
    _, runs = load_runs()
    states = {"issues": "issues", "S": "waits: S", "softmax": "softmax", "O": "O", "other": "the rest",
              "full": "copies", "turn": "turn"}
    table = []
    for one in runs:
        warpgroups, keys = TILES[one.head_dim]
        found, loader = shares(one, 1), shares(one, 0)
        products = warpgroups * tensor_cycles(one.head_dim, keys)
        cycles = statistics.median(step_cycles(one))
        table.append([one.head_dim, one.step, f"{cycles:.0f}", f"{100 * products / cycles:.0f} %",
                      *(f"{100 * found.get(state, 0):.0f} %" for state in states),
                      f"{100 * loader.get('empty', 0):.0f} %"])
    print_table(["head_dim", "step", "cycles", "products, bound", *states.values(),
                 "loading warp waits"], table)


def marks(_):
    """What recording costs: the time of the kernel with marks over that of the same without."""
    _, runs = load_runs()
    costs = [one.ms_with_marks / one.ms - 1 for one in runs]
    print(f"marks cost {100 * min(costs):.1f} to {100 * max(costs):.1f} % of the time")


COMMANDS = {"run": run, "bounds": bounds, "times": times, "gain": gain, "waits": waits, "marks": marks}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"steps.py: expected one of {', '.join(COMMANDS)}")
    COMMANDS[sys.argv[1]](sys.argv[2:])
