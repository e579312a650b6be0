#!/usr/bin/env python3
"""Says with the GPU's counters what flash2 in bf16 waits for, beside FA4, in the 18 cells of the comparison.

  forward_counters.py --out FILE.json [--fa4 FOLDER] [--commit X] [--csv FILE --gpu TEXT]

Runs itself under ncu, which needs access to the counters. FLASHLAB_CUDA_LIBRARY says which library.
--fa4  site folder with flash-attn-4
--csv  what ncu has printed before on a GPU (--gpu: its name and driver), instead of running it
Clocks are left as they are: that they fall is one of the answers.
"""
import argparse
import csv
import datetime
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOKENS, HIDDEN = 16384, 2048
CELLS = [(d, n, causal) for d in (64, 128, 256) for n in (1024, 4096, 16384)
         for causal in (False, True)]
METRICS = {  # name here: ncu's
    "time_ns": "gpu__time_duration.sum",
    "sm_cycles": "sm__cycles_elapsed.avg",
    "sm_cycles_with_work": "sm__cycles_active.avg",
    "tensor_cores_busy_percent": "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
    "issue_slots_used_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "exp2_busy_percent": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    "instructions": "smsp__inst_executed.sum",
    "dram_bytes_read": "dram__bytes_read.sum"}


def run_cells(fa4_folder):
    """Calls each side once for each cell, in turns, with nothing in L2."""
    sys.path[:0] = [HERE, os.path.join(HERE, "../python")]
    import torch
    import flash_attention_4
    import flashlab_attention
    peer = flash_attention_4.load(fa4_folder) if fa4_folder else None
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    for d, n, causal in CELLS:
        Q, K, V = (torch.randn(TOKENS // n, HIDDEN // d, n, d, device="cuda", dtype=torch.bfloat16)
                   for _ in range(3))
        mask = "causal" if causal else "none"
        calls = [lambda: flashlab_attention.attention_forward(Q, K, V, variant="flash2", mask=mask)]
        if peer:
            q, k, v = (x.transpose(1, 2).contiguous() for x in (Q, K, V))
            calls.append(lambda: peer._flash_attn_fwd(q, k, v, causal=causal))
        for call in calls:
            call()  # compiles, chooses
        for call in calls:
            flush.zero_()
            torch.cuda.synchronize()
            torch.cuda.cudart().cudaProfilerStart()
            call()
            torch.cuda.synchronize()
            torch.cuda.cudart().cudaProfilerStop()


def counted(fa4_folder):
    command = ["ncu", "--profile-from-start", "off", "--clock-control", "none", "--csv", "--metrics",
               ",".join(METRICS.values()), sys.executable, __file__, "--cells"]
    if fa4_folder:
        command += ["--fa4", fa4_folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"forward_counters: ncu failed: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def rows_in(text):
    """One row for each kernel that ncu saw, in the order of the cells: ours, then FA4's."""
    lines = list(csv.DictReader(line for line in text.splitlines() if line.startswith('"')))
    kernels = {}
    for line in lines:
        found = kernels.setdefault(int(line["ID"]), {"kernel": line["Kernel Name"]})
        if line["Metric Name"] in METRICS.values():
            found[line["Metric Name"]] = float(line["Metric Value"].replace(",", ""))
    sides = ["flash2", "FA4"] if len(kernels) == 2 * len(CELLS) else ["flash2"]
    if len(kernels) != len(sides) * len(CELLS):
        raise SystemExit(f"forward_counters: ncu saw {len(kernels)} kernels: expected {len(CELLS)}, or two for each cell")
    places = [(cell, side) for cell in CELLS for side in sides]
    rows = []
    for ((d, n, causal), side), (_, found) in zip(places, sorted(kernels.items())):
        if ("flash2" in found["kernel"]) != (side == "flash2"):
            raise SystemExit(f"forward_counters: {found['kernel']}: expected {side}'s kernel")
        row = {"head_dim": d, "seqlen": n, "mask": "causal" if causal else "full", "side": side}
        row.update({name: found[metric] for name, metric in METRICS.items()})
        flops = 4 * TOKENS * n * HIDDEN / (2 if causal else 1)
        row["tflops"] = round(flops / row["time_ns"] / 1e3, 1)
        row["ghz"] = round(row["sm_cycles"] / row["time_ns"], 3)
        row["sms_with_work_percent"] = round(100 * row["sm_cycles_with_work"] / row["sm_cycles"], 1)
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out")
    parser.add_argument("--fa4", metavar="FOLDER")
    parser.add_argument("--commit")
    parser.add_argument("--csv", metavar="FILE")
    parser.add_argument("--gpu", metavar="TEXT")
    parser.add_argument("--cells", action="store_true", help=argparse.SUPPRESS)  # under ncu
    options = parser.parse_args()
    if options.cells:
        run_cells(options.fa4)
        return
    if not options.out:
        parser.error("--out FILE: expected where to write the counters")
    if options.csv:
        with open(options.csv, encoding="utf-8") as file:
            text = file.read()
    else:
        text = counted(options.fa4)
    said = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                          capture_output=True, text=True, check=False) if not options.csv else None
    report = {"command": " ".join(["attention_cuda/bench/forward_counters.py", *sys.argv[1:]]),
              "gpu": said.stdout.strip().replace(", ", ", driver ") if said else options.gpu,
              "commit": options.commit,
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "rows": rows_in(text)}
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
