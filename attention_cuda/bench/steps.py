#!/usr/bin/env python3
"""Prints the tables of docs/13_who_loads_who_multiplies.md and docs/who_waits_backward.md from committed results.

  steps.py run              where and when
  steps.py bounds           lower bounds of a tile, in cycles, from the sizes of the tiles
  steps.py times [HEAD_DIM] TFLOP/s of each step, at all sizes or those of one head_dim
  steps.py table            forecast and gain of each step, its cycles and TFLOP/s, at head_dim 128, at the length of the
                            stamps, without a mask; gains are in cycles where there are cycles
  steps.py sketch STEP      what the warpgroups did at head_dim 128 from tile to tile, a letter for 100 cycles
  steps.py chain STEP       what a warpgroup did at head_dim 128 from S of a tile to S of the next one
  steps.py waits            what the warpgroups of a block did, from the stamps
  steps.py backward         what the warpgroups of the backward kernel did, from its stamps
  steps.py between          from the last tile of some queries to the first one of the next, from the stamps

All but bounds read docs/results/attention_cuda_steps.json, attention_cuda_stamps.json or, for backward,
attention_cuda_bwd_stamps.json.
"""
import os
import re
import statistics
import sys

from stamps import (between_query_tiles, chain_cycles, gaps_in_flight, kind_of, load_runs, run_of, shares, sketch,
                    steady_steps, step_cycles)
from tables import HERE, print_table, results

sys.path.insert(0, os.path.join(HERE, "../../gpu/sheets"))

import gpu_sheets  # noqa: E402

STEPS = ["portable", "wgmma", "overlap", "turns", "maxima of three", "three stages"]
PER_CLOCK = gpu_sheets.sheet_of("NVIDIA H200")["per_clock_per_sm"]
TENSOR_FLOPS = PER_CLOCK["tensor_flops"]["bf16"]
EXPONENTIALS, SHARED_BYTES = PER_CLOCK["exps"], PER_CLOCK["shared_bytes"]
QUERIES = 64  # of a warpgroup: the rows of one wgmma
HEAD_DIMS = (64, 128, 256)
KERNEL = os.path.join(HERE, "../kernels/flash2_wgmma_sm90.hpp")


def tiles_of_kernel():
    """Returns {head_dim: (warpgroups, keys)} from kWgmmaShapes."""
    with open(KERNEL, encoding="utf-8") as file:
        table = re.search(r"kWgmmaShapes\[\] = \{(.*?)\};", file.read(), re.S)[1]
    rows = [tuple(map(int, row.split(",")[:3])) for row in re.findall(r"\{([\w, ]+)\}", table)]
    return {row[0]: row[1:] for row in rows if row[0] in HEAD_DIMS}


TILES = tiles_of_kernel()


def times_of(head_dim, mask, seqlen):
    """Returns {step: FLOP/s}."""
    return {row["step"]: row["flops_per_s"] for row in results("steps")["rows"]
            if row["shape"][2:] == [seqlen, head_dim] and row["mask"] == mask}


LENGTHS = (1024, 2048, 16384)
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
    spreads = sorted((high - low) / middle for low, middle, high in quartiles)
    print(f"{len(rows[0]['samples_ms'])} samples of each, in turns")
    print(f"between the quartiles of a row lie {100 * statistics.median(spreads):.1f} % of its median, "
          f"at most {100 * spreads[-1]:.1f} %")
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
                 "taking turns"], table)


def times(words):
    """TFLOP/s of each step, and how much faster the last one is than the first one."""
    wanted = [int(word) for word in words] or list(TILES)
    if len(words) > 1 or wanted[0] not in TILES:
        sys.exit(f"steps.py times: expected no head_dim, or one of {', '.join(map(str, TILES))}")
    table = []
    for head_dim, mask in problems():
        if head_dim not in wanted:
            continue
        for seqlen in LENGTHS:
            rates = list(times_of(head_dim, MASKS[mask], seqlen).values())
            row = [f"{rate / 1e12:.0f}" for rate in rates]
            table.append([head_dim, mask, seqlen, *row, *[""] * (len(STEPS) - len(row)),
                          f"{rates[-1] / rates[0]:.2f} x"])
    print_table(["head_dim", "mask", "N", *STEPS, "in all"], table)


SHOWN_HEAD_DIM, SHOWN_LENGTH = 128, 2048  # of the chapter; stamps are of this length
LETTERS, CYCLES_A_LETTER = 60, 100


def step_named(words, command, steps):
    if len(words) != 1 or words[0] not in steps:
        sys.exit(f"steps.py {command}: expected one of {', '.join(steps)}")
    return words[0]


MMA_SYNC_OF_PEAK = 0.62  # docs/attention_cuda_log.md


def marks_cost(run):
    """The time of a call with marks over that of one without."""
    return run.ms_with_marks / run.ms


def bound_of_block(head_dim):
    """Cycles that the products of all warpgroups need for a tile of keys."""
    warpgroups, keys = TILES[head_dim]
    return warpgroups * tensor_cycles(head_dim, keys)


def cycles_of(run):
    """Cycles from tile to tile without marks: an estimate, as if marks cost the same everywhere in a call."""
    return statistics.median(step_cycles(run)) / marks_cost(run)


def forecasts(rates, runs):
    """Returns {step: its gain as the chapter forecasts it}: from the rates and the stamps of the steps before."""
    share = rates["portable"] / gpu_sheets.sheet_of("NVIDIA H200")["rates"]["flops_per_s"]["bf16"]
    alternating = statistics.median(step_cycles(runs["overlap"])) / marks_cost(runs["wgmma"])
    return {
        # The products go from this part of their peak to the peak; the rest of the time stays.
        "wgmma": 1 / (1 - share / MMA_SYNC_OF_PEAK + share),
        "overlap": cycles_of(runs["wgmma"]) / bound_of_block(SHOWN_HEAD_DIM),
        "turns": cycles_of(runs["overlap"]) / alternating,
    }


def table_of_steps(_):
    """Forecast and gain of each step: in TFLOP/s if the step before has no cycles. The last two steps are one row."""
    rates = times_of(SHOWN_HEAD_DIM, "none", SHOWN_LENGTH)
    runs = {run.step: run for run in load_runs()[1] if run.head_dim == SHOWN_HEAD_DIM}
    forecast = forecasts(rates, runs)
    table = [[STEPS[0], *["-"] * 4, f"{rates[STEPS[0]] / 1e12:.0f}"]]
    shown = [*STEPS[:4], STEPS[-1]]
    for before, name in zip(shown, shown[1:]):
        cycles = cycles_of(runs[name])
        gain = cycles_of(runs[before]) / cycles if before in runs else rates[name] / rates[before]
        table.append([name if name in forecast else "finished",
                      f"{100 * (forecast[name] - 1):+.0f} %" if name in forecast else "-",
                      f"{100 * (gain - 1):+.0f} %", f"{cycles:.0f}",
                      f"{bound_of_block(SHOWN_HEAD_DIM) / cycles:.2f}", f"{rates[name] / 1e12:.0f}"])
    print_table(["step", "forecast", "seen", "cycles", "of bound", "TFLOP/s"], table)


def sketch_of_step(words):
    """Rows of letters, and for how long no product is in flight; no row of what always is."""
    run = run_of(load_runs()[1], SHOWN_HEAD_DIM, step_named(words, "sketch", STEPS[1:]))
    for lane, row in sketch(run, CYCLES_A_LETTER, LETTERS).items():
        if row.strip("#"):
            print(f"{lane:12}  {row}")
    tiles = steady_steps(run)
    idle = sum(end - start for start, end in gaps_in_flight(run, tiles[0], tiles[-1]))
    print(f"with stamps {statistics.median(step_cycles(run)):.0f} cycles from tile to tile, for "
          f"{idle / (len(tiles) - 1):.0f} of them no product in flight")


def chain(words):
    """Cycles, with marks, of what a warpgroup does one after the other."""
    run = run_of(load_runs()[1], SHOWN_HEAD_DIM, step_named(words, "chain", STEPS[1:]))
    table = []
    for lane in (1, 2):
        cycles = chain_cycles(run, lane)
        table.append([f"warpgroup {lane}", *(f"{part:.0f}" for part in cycles), f"{sum(cycles):.0f}"])
    print_table(["", "softmax", "then until it issues", "then until it has S", "in all"], table)


def waits(_):
    """Shares of the time in which a block goes from tile to tile, and what the marks cost."""
    _, runs = load_runs()
    table = []
    for one in (one for one in runs if one.head_dim == SHOWN_HEAD_DIM):
        found, loader = shares(one, 1), shares(one, 0)
        products = bound_of_block(one.head_dim)
        cycles = statistics.median(step_cycles(one))
        sums = [found.get("issues", 0), found.get("softmax", 0), found.get("other", 0),
                found.get("S", 0) + found.get("O", 0), found.get("full", 0) + found.get("turn", 0),
                loader.get("empty", 0)]
        table.append([one.step, f"{100 * (marks_cost(one) - 1):+.0f} %", f"{cycles:.0f}",
                      f"{100 * products / cycles:.0f} %", *(f"{100 * share:.0f} %" for share in sums)])
    print_table(["step", "marks cost", "cycles", "tensor cores", "issues", "softmax", "the rest",
                 "waits for S, O", "asks", "loader waits"], table)


def backward(_):
    """Shares of the time in which the warpgroups of bwd_onepass_wgmma_sm90 go from tile to tile."""
    content, runs = load_runs(os.path.join(HERE, "../../docs/results/attention_cuda_bwd_stamps.json"))
    one = runs[0]
    cycles = statistics.median(step_cycles(one))
    products = 10 * one.block_q * one.block_kv * one.head_dim // TENSOR_FLOPS
    print(f"{content['gpu']}, commit {content['commit']}; with marks a call takes "
          f"{100 * (marks_cost(one) - 1):.0f} % longer")
    print(f"{cycles:.0f} cycles for {one.block_q} queries and {one.block_kv} keys, head_dim {one.head_dim}; "
          f"the products need {products}: {100 * products / cycles:.0f} %")
    of_lanes = [shares(one, lane) for lane in (1, 2)]
    print_table(["", "warpgroup 1", "warpgroup 2"],
                [[state.meaning, *(f"{100 * found.get(name, 0):.0f} %" for found in of_lanes)]
                 for name, state in kind_of(one).states.items() if any(found.get(name) for found in of_lanes)])


def between(_):
    """Cycles of warpgroup 1 from its last S of a query tile to its first S of the next one."""
    _, runs = load_runs()
    table = []
    for one in (one for one in runs if one.step == STEPS[-1]):
        cycles = between_query_tiles(one)
        table.append([one.head_dim, *cycles,
                      f"{sum(cycles) / statistics.median(step_cycles(one)):.1f} tiles of keys"])
    print_table(["head_dim", "softmax and P V", "stores O", "finds its next queries", "first S", "in all"],
                table)


COMMANDS = {"run": run, "bounds": bounds, "times": times, "waits": waits,
            "between": between, "backward": backward, "table": table_of_steps, "sketch": sketch_of_step,
            "chain": chain}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"steps.py: expected one of {', '.join(COMMANDS)}")
    COMMANDS[sys.argv[1]](sys.argv[2:])
