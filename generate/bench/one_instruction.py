#!/usr/bin/env python3
"""Times programs that execute one instruction in a loop, on one tile of each block, on this machine's GPU.

    generate/bench/one_instruction.py --flashlab build/cli/flashlab --out docs/results/one_instruction_h200.json

For each instruction, shape of the tile and number of blocks: the shortest of seven calls. `EMPTY` is the same program
without the instruction; subtract it. Level 0's constants (cli/gpu/level_0_block.cpp) are taken from these times.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import subprocess
import tempfile

ROUNDS = 256
DEPTH = 64
SMS = 132
SHAPES = {0: [(16, 16), (16, 64), (32, 32), (64, 32)], 1: [(16, 64), (64, 64)]}
BLOCKS_PER_SM = [1, 4]
# Level 0: tiles S [B, C], Q [B, 64], K [C, 64], columns M and X, numbers P and Y. Each must stay finite for 256 rounds.
INSTRUCTIONS = {
    0: {"EMPTY": "", "MUL": "MUL S, S, S", "SUBCOL": "SUB S, M, S", "ROWMAX": "ROWMAX S, X", "ROWSUM": "ROWSUM S, X",
        "COLMUL": "MUL M, M, M", "MACQK": "MAC Q, K^T, S, S", "MACPV": "MAC S, K, Q, Q", "LOADK": "LOAD k[r - r][0], K",
        "LOADCOL": "LOAD m[i][0], M", "STORE": "STORE S, o[i][0]", "MOV": "MOV S, P", "FILL": "FILL 0, P",
        "MASK": "MASK S, i*B, r*C, S", "SCALE": "MUL S, Y, S", "MULQ": "MUL Q, M, Q", "EXP": "EXP S, P"},
    # Level 1: S = Q K^T is in fragments. What does not change would be taken out of the loop.
    1: {"EMPTY": "", "SUBCOL": "SUB S, M, S", "DIV": "DIV Y, S, S", "RCP": "RCP S, S",
        "TANH": "TANH S, S", "MACPV": "MAC S, K, Q, Q", "MACQK": "MAC A, K^T, S, S", "ROWN": "ROW S, r, T; ADD S, T, S",
        "LOADF": "LOAD f[i][0], T; ADD S, T, S", "LOADQ": "LOAD k[r - r][0], K",
        "LOADCOL": "LOAD m[i][0], M; ADD S, M, S", "LOADMAC": "LOAD k[r - r][0], K; MAC A, K^T, S, S",
        "STORE": "STORE S, o[i][0]", "STOREF": "STORE S, g[i][0]", "LESS": "LESS S, Y, T; SELECT T, S, Y, S"},
}
TEXTS = {
    0: """.isa attention
.param n = {n}, B = {B}, C = {C}, D = {D}, rounds = {rounds}
.input a(n, C) tile (B, C)
.input q(n, D) tile (B, D)
.input k(C, D) tile (C, D)
.input m(n, 1) tile (B, 1)
.output o(n, C) tile (B, C)
.output o2(n, D) tile (B, D)
.output o3(n, 1) tile (B, 1)
.reg S, Q, K, M, X, P, Y
for i in 0..tiles(a)
  LOAD a[i][0], S
  LOAD q[i][0], Q
  LOAD k[0][0], K
  LOAD m[i][0], M
  FILL 1, Y
  FILL 0, X
  FILL 0, P
  for r in 0..rounds
    {body}
  end
  ADD S, P, S
  ADD M, X, M
  STORE S, o[i][0]
  STORE Q, o2[i][0]
  STORE M, o3[i][0]
end
""",
    1: """.isa attention, RCP, TANH, ROW, LESS, SELECT
.param n = {n}, B = {B}, C = {C}, D = {D}, rounds = {rounds}
.input q(n, D) tile (B, D)
.input k(C, D) tile (C, D)
.input m(n, 1) tile (B, 1)
.input f(n, C) tile (B, C) float
.output o(n, C) tile (B, C)
.output g(n, C) tile (B, C) float
.output o2(n, D) tile (B, D)
.output o3(n, 1) tile (B, 1)
.reg S, Q, K, M, X, A, Y, T
for i in 0..tiles(q)
  LOAD q[i][0], A
  LOAD k[0][0], K
  LOAD m[i][0], M
  FILL 1, Y
  FILL 0, X
  MAC_Z A, K^T, S
  MAC_Z S, K, Q
  for r in 0..rounds
    {body}
  end
  ADD M, X, M
  MAC A, K^T, S, S
  STORE S, o[i][0]
  STORE Q, o2[i][0]
  STORE M, o3[i][0]
end
"""}


def program(level, instruction, shape, blocks):
    body = "\n    ".join(part.strip() for part in INSTRUCTIONS[level][instruction].split(";"))
    return TEXTS[level].format(n=shape[0] * SMS * blocks, B=shape[0], C=shape[1], D=DEPTH, rounds=ROUNDS, body=body)


def timed(flashlab, folder, level, instruction, shape, blocks):
    path = os.path.join(folder, f"{level}_{instruction}_{shape[0]}_{shape[1]}_{blocks}.toy")
    with open(path, "w") as file:
        file.write(program(level, instruction, shape, blocks))
    command = [flashlab, "gpu", path, "--level", str(level), "--dtype", ["float", "bf16"][level], "--repeat", "7",
               "--no-counters", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise SystemExit(f"{flashlab}: {error.strerror}: expected the command flashlab (--flashlab FILE)") from None
    row = {"level": level, "instruction": instruction, "rows": shape[0], "columns": shape[1], "blocks_per_sm": blocks}
    if done.returncode != 0:
        return {**row, "error": done.stderr.strip()[:200]}
    run = json.loads(done.stdout)
    launch = run["launches"][-1]
    return {**row, "threads": launch["threads"], "registers": launch["registers"],
            "least_ms": round(run["measured"]["least_ms"], 5), "gpu": run["gpu"]["name"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flashlab", default="flashlab", help="the command (flashlab)")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--commit", default="unknown", help="to record")
    args = parser.parse_args()
    jobs = [(level, instruction, shape, blocks) for level, instructions in INSTRUCTIONS.items()
            for instruction in instructions for shape in SHAPES[level] for blocks in BLOCKS_PER_SM]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(3) as pool:
        rows = list(pool.map(lambda job: timed(args.flashlab, folder, *job), jobs))
    gpus = sorted({row.pop("gpu") for row in rows if "gpu" in row})
    with open(args.out, "w") as file:
        json.dump({"format": "flashlab-one-instruction", "version": 1, "gpu": gpus, "commit": args.commit,
                   "date": datetime.date.today().isoformat(),
                   "command": "generate/bench/one_instruction.py --out docs/results/one_instruction_h200.json",
                   "rounds": ROUNDS, "depth": DEPTH, "multiprocessors": SMS, "rows": rows}, file, indent=1)
        file.write("\n")
    failed = [row for row in rows if "error" in row]
    print(f"{len(rows)} programs, {len(failed)} failed")
    for row in failed:
        print(f"  {row['instruction']} at level {row['level']}: {row['error']}")


if __name__ == "__main__":
    main()
