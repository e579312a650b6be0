#!/usr/bin/env python3
"""Every program of the course on a GPU, at random sizes: are the results right?

  random_sizes.py table [FILE]      prints the summary of a file, or of docs/results/generated_sizes.json
  random_sizes.py draw [--level 2 | --arch compute_75] FILE
                                    draws the sizes that the machine can run; needs no GPU
  random_sizes.py measure FILE OUT  runs the sizes of FILE on this machine's GPU, writes OUT

20 sizes of each program, level 0, float; with --level 2, 4 sizes of each program that has products of
warpgroups, in bf16 or fp16; with --arch, 2 sizes of each program at level 0, and 2 at level 1 in fp16 of
those that have products of tiles, compiled to PTX for that GPU. `flashlab` is the one of the PATH.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results/generated_sizes.json"
SIZES, SIZES_OF_ARCH, SEED, LIMIT = 20, 2, 20261125, 60
TILED = {"n": (1, 150), "nk": (1, 150), "d": (1, 48), "dm": (1, 40), "w": (1, 60), "s": (1, 20),
         "splits": (1, 4), "B": (1, 24), "Bk": (1, 24), "Bd": (1, 24), "Bm": (1, 24)}
WIDE = {"n": range(1, 400), "nk": range(1, 400), "d": range(8, 129, 8), "w": range(1, 200),
        "splits": range(1, 4), "B": (64, 128, 192), "Bk": range(16, 129, 16)}
WIDE_SIZES = 4
SCALAR = {"n": (1, 40), "m": (1, 24), "k": (1, 24), "d": (1, 8), "nk": (1, 40)}


def parameters(text):
    """Names of parameters whose values are free."""
    line = re.search(r"^\.param +(.*?)(?:;.*)?$", text, re.M)
    return re.findall(r"(?:^|, )(\w+) =", line.group(1)) if line else []


def setting_of(params):
    return ",".join(f"{name}={value}" for name, value in params.items())


def draw(sizes, level=()):
    """`sizes` of each program that `flashlab gpu` can plan with the flags `level`."""
    generator, cases = random.Random(SEED), []
    for path in sorted((ROOT / "toymachine/programs").glob("*.toy")):
        text = path.read_text()
        ranges = TILED if " tile " in text else SCALAR
        names = [name for name in parameters(text) if name in ranges]
        chosen = []
        for _ in range(60 * sizes):
            if len(chosen) == (sizes if names else 1):
                break
            params = {name: generator.randint(*ranges[name]) for name in names}
            setting = setting_of(params)
            if setting in chosen:
                continue
            flags = ["-D", setting] if setting else []
            runs = all(subprocess.run(["flashlab", *command, path.stem, *flags, *more],
                                      capture_output=True).returncode == 0
                       for command, more in ((["gpu"], [*level, "--plan"]),
                                             (["run"], ["--no-outputs"])))
            if runs:
                chosen.append(setting)
        cases += [{"program": path.stem, "params": setting} for setting in chosen]
    return cases


def draw_for(arch):
    tensor_cores = ["--level", "1", "--dtype", "fp16"]
    return ([dict(case, flags=["--arch", arch]) for case in draw(SIZES_OF_ARCH)] +
            [dict(case, flags=[*tensor_cores, "--arch", arch])
             for case in draw(SIZES_OF_ARCH, tensor_cores)])


def run(case):
    flags = (["-D", case["params"]] if case["params"] else []) + case.get("flags", [])
    start = time.monotonic()
    done = subprocess.run(["flashlab", "gpu", case["program"], *flags, "--heads", "3", "--check", "3",
                           "--repeat", "1", "--no-counters", "--json", "--time-limit", str(LIMIT)],
                          capture_output=True, text=True)
    result = dict(case, seconds=round(time.monotonic() - start, 2), code=done.returncode)
    if done.returncode != 0:
        result["error"] = done.stderr[:400]
        return result
    report = json.loads(done.stdout)
    result["compile_seconds"] = round(report["gpu"]["compile_seconds"], 3)
    result["gpu"] = report["gpu"]["name"]
    return result


def draw_wide():
    """Sizes at which level 2 gives some product to warpgroups."""
    generator, cases = random.Random(SEED), []
    for path in sorted((ROOT / "toymachine/programs").glob("*.toy")):
        names = [name for name in parameters(path.read_text()) if name in WIDE]
        chosen = []
        for _ in range(20 * WIDE_SIZES if " tile " in path.read_text() else 0):
            if len(chosen) == WIDE_SIZES:
                break
            setting = setting_of({name: generator.choice(WIDE[name]) for name in names})
            level = ["--level", "2", "--dtype", generator.choice(("bf16", "fp16"))]
            planned = subprocess.run(["flashlab", "gpu", path.stem, "-D", setting, *level, "--plan",
                                      "--json"], capture_output=True, text=True)
            if planned.returncode != 0 or setting in [params for params, _ in chosen]:
                continue
            is_wide = any(launch["warpgroups"] for launch in json.loads(planned.stdout)["launches"])
            run_by_machine = ["flashlab", "run", path.stem, "-D", setting, "--no-outputs"]
            if is_wide and subprocess.run(run_by_machine, capture_output=True).returncode == 0:
                chosen.append((setting, level))
        cases += [{"program": path.stem, "params": setting, "flags": level}
                  for setting, level in chosen]
    return cases


def cases_before(cases, case):
    return cases.index(case) - next(i for i, one in enumerate(cases)
                                    if one["program"] == case["program"])


def measure(cases, workers, most_seconds):
    """Runs the cases, those of each program spread over the time, until the time is over."""
    end = time.monotonic() + most_seconds
    spread = sorted(cases, key=lambda case: cases_before(cases, case))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        rows = list(pool.map(lambda case: run(case) if time.monotonic() < end else None, spread))
    not_run = sum(row is None for row in rows)
    rows = [row for row in rows if row is not None]
    version = subprocess.run(["flashlab", "--version"], check=True, capture_output=True, text=True)
    gpu = next((row["gpu"] for row in rows if "gpu" in row), "")
    for row in rows:
        row.pop("gpu", None)
    return {"format": "flashlab-generated-sizes", "version": 1, "gpu": gpu, "seed": SEED,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "commit": version.stdout.splitlines()[0].split()[-1].strip("()"), "workers": workers, "not_run": not_run,
            "rows": rows}


def table(results):
    rows = results["rows"]
    right = [row for row in rows if row["code"] == 0]
    seconds = sorted(row["compile_seconds"] for row in right)
    lines = [f"{results['gpu']}, commit {results['commit']}, {results['date']}", "",
             f"programs                      {len({row['program'] for row in rows})}",
             f"programs and sizes            {len(rows)}",
             f"not run, for lack of time     {results['not_run']}", f"right                         {len(right)}"]
    if seconds:
        lines.append(f"NVRTC, median and 90 % in s   {statistics.median(seconds):.2f} "
                     f"{seconds[int(0.9 * (len(seconds) - 1))]:.2f} "
                     f"({results['workers']} at a time)")
    lines += [f"not right: {row['program']} -D {row['params']}: {row['error'].splitlines()[0]}"
              for row in rows if row["code"] != 0]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    printed = commands.add_parser("table", help="print a summary that is committed")
    printed.add_argument("file", type=pathlib.Path, nargs="?", default=RESULTS)
    drawn = commands.add_parser("draw", help="draw the sizes")
    which = drawn.add_mutually_exclusive_group()
    which.add_argument("--level", type=int, choices=(0, 2), default=0)
    which.add_argument("--arch", help="compute_75 or a later one")
    drawn.add_argument("file", type=pathlib.Path)
    measured = commands.add_parser("measure", help="run them on this machine's GPU")
    measured.add_argument("file", type=pathlib.Path)
    measured.add_argument("out", type=pathlib.Path)
    measured.add_argument("--seconds", type=float, default=600, help="no further run after these")
    measured.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    if arguments.command == "draw":
        if arguments.arch:
            cases = draw_for(arguments.arch)
        else:
            cases = draw_wide() if arguments.level == 2 else draw(SIZES)
        arguments.file.write_text(json.dumps(cases, indent=0) + "\n")
        return
    file = arguments.file
    if arguments.command == "measure":
        file = arguments.out
        file.write_text(json.dumps(measure(json.loads(arguments.file.read_text()),
                                           arguments.workers, arguments.seconds), indent=0) + "\n")
    results = json.loads(file.read_text())
    if results.get("format") != "flashlab-generated-sizes":
        raise SystemExit(f"random_sizes.py: {file}: format {results.get('format')!r}: expected "
                         "'flashlab-generated-sizes'")
    print(table(results))


if __name__ == "__main__":
    main()
