#!/usr/bin/env python3
"""The bytes that the generated code of each attention program moves between L2 and the multiprocessors:
those that the machine counts beside those that the hardware's counters find.

  counted_bytes.py table              prints the table of docs/results/generated_bytes.json
  counted_bytes.py measure [FILE]     measures on this machine's GPU with the `flashlab` of the PATH and
                                      the GPU library beside it, writes FILE, and prints its table

N = 4096, head_dim 64, bf16. Level 1 for all programs whose products tensor cores can compute, level 2
for those that have products of warpgroups, level 0 for the rest.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess

import measured_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMITTED = measured_file.RESULTS / "generated_bytes.json"
PROGRAMS = ("bwd_onepass", "bwd_onepass_causal", "bwd_onepass_loads_o", "bwd_twopass",
            "bwd_twopass_causal", "bwd_twopass_loads_o", "bwd_twopass_loads_o_causal",
            "flash1_launches", "flash1_launches_causal", "flash2", "flash2_causal", "flash2_window",
            "fused_softmax", "naive", "online", "split_kv", "split_kv_causal", "three_pass")
TILES = {0: "B=32,Bk=32", 1: "B=64,Bk=64,Bd=64", 2: "B=64,Bk=64,Bd=64"}
N, HEAD_DIM, HEADS = 4096, 64, 4


def flags_of(program, level):
    """The flags of `flashlab gpu`, without parameters that the program does not have."""
    text = (ROOT / f"toymachine/programs/{program}.toy").read_text()
    has = re.findall(r"(\w+) =", re.search(r"^\.param +(.*)$", text, re.M).group(1))
    wanted = [f"n={N}", f"d={HEAD_DIM}", *TILES[level].split(",")]
    named = [one for one in wanted if one.split("=")[0] in has]
    flags = [program, "-D", ",".join(named), "--dtype", "bf16", "--level", str(level)]
    return flags + (["--sram", "h100"] if level == 1 else [])


def levels(program):
    """The levels at which the program is run: the highest of 0 and 1 that it has, and 2."""
    for level in (1, 0):
        done = subprocess.run(["flashlab", "gpu", *flags_of(program, level), "--plan"],
                              capture_output=True)
        if done.returncode == 0:
            found = [level]
            break
    else:
        return []
    wide = subprocess.run(["flashlab", "gpu", *flags_of(program, 2), "--plan", "--json"],
                          capture_output=True, text=True)
    if wide.returncode == 0 and any(launch["warpgroups"] for launch in json.loads(wide.stdout)["launches"]):
        found.append(2)
    return found


def measured(case):
    program, level = case
    command = ["flashlab", "gpu", *flags_of(program, level), "--heads", str(HEADS), "--repeat", "1",
               "--time-limit", "120", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    row = {"program": program, "level": level, "command": " ".join(command)}
    if done.returncode != 0:
        return dict(row, error=done.stderr[:400])
    report = json.loads(done.stdout)
    found = report["measured"]
    return dict(row, gpu=report["gpu"]["name"], counted=report["sm_traffic"],
                measured=found["sm_traffic"], why=found.get("why_no_counters"),
                local_bytes=[launch["local_bytes"] for launch in report["launches"]])


def measure():
    cases = [(program, level) for program in PROGRAMS for level in levels(program)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(measured, cases))
    # Only one process at a time may have the counters.
    rows = [row if row.get("measured") else measured(case) for case, row in zip(cases, rows)]
    gpu = next((row["gpu"] for row in rows if "gpu" in row), "")
    for row in rows:
        row.pop("gpu", None)
    return {"format": "flashlab-generated-bytes", "version": 1, "gpu": gpu,
            **measured_file.made_now(), "n": N, "head_dim": HEAD_DIM, "heads": HEADS, "dtype": "bf16", "rows": rows}


def table(results):
    lines = [f"{results['gpu']}, {results['dtype']}, N {results['n']}, head_dim {results['head_dim']}, "
             f"{results['heads']} heads, commit {results['commit']}, {results['date']}", "",
             "                                       loaded, MB             stored, MB         local bytes",
             "program                     level   counted  ratio       counted  ratio      per thread"]
    for row in results["rows"]:
        text = f"{row['program']:27} {row['level']:5}"
        if not row.get("measured"):
            lines.append(f"{text}   {(row.get('error') or row.get('why') or '').splitlines()[0]}")
            continue
        for part in ("bytes_read", "bytes_written"):
            counted, found = row["counted"][part], row["measured"][part]
            ratio = f"{found / counted:6.3f}" if counted else "     -"
            text += f"  {counted / 1e6:8.1f} {ratio}     "
        lines.append(f"{text}  {max(row['local_bytes']):8}")
    lines += ["", "ratio: measured over counted. Local bytes: registers that did not fit are stored and "
              "loaded, too."]
    return "\n".join(lines)


if __name__ == "__main__":
    measured_file.main(__doc__, COMMITTED, measure, table)
