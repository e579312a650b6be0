#!/usr/bin/env python3
"""Runs everything that needs a GPU with one command: all tests, sanitizers and benchmarks.

  on_a_gpu.py --build DIR [--out docs/results] [--commit X] [--quick] [--fa4 FOLDER]
  on_a_gpu.py --build DIR --tests      tests and sanitizers alone, in attention_cuda_on_a_gpu_tests.json

DIR is a build of the target flashlab_on_a_gpu (./lab gpu measure makes it). Timings run first, one at a
time; then the tests run in parallel. Writes to --out: attention_cuda_beside_torch.json,
attention_cuda_rounded_statistics.json, attention_cuda_speed.json, on compute capability 9.0
attention_cuda_steps.json and attention_cuda_stamps.json, and attention_cuda_on_a_gpu.json, which lists
what ran, where, and the outcome: passed, failed, or not run and why.

Exit code 0: everything that could run passed. 1: something failed.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SANITIZERS = ("racecheck", "memcheck", "initcheck", "synccheck")  # the slowest one first
PARTS = 7  # of a test that runs in parts; element types repeat every 4 cases, so each part has all of them
SAMPLE_STEP = 211  # of the grid's cases under a sanitizer
DRAM_METRICS = "dram__bytes_read.sum,dram__bytes_write.sum"


class Run:
    """The result of a command: seconds, its output, and one of passed, failed, skipped."""

    def __init__(self, command, limit_s, environment=None):
        start = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s,
                                  env={**os.environ, **(environment or {})}, check=False)
            self.text, self.code = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired as late:
            printed = late.stdout or ""
            printed = printed.decode(errors="replace") if isinstance(printed, bytes) else printed
            self.text, self.code = printed + "\nout of time", -1
        except OSError as error:
            self.text, self.code = f"{command[0]}: {error.strerror}", 127
        self.seconds = round(time.monotonic() - start, 1)

    def outcome(self):
        if "test skipped:" in self.text:
            return "skipped"
        return "passed" if self.code == 0 else "failed"


def library_folders():
    """Returns the folders of cuBLAS, for a library that was linked on another machine."""
    found = subprocess.run(["find", "/usr", "/opt", "-name", "libcublas.so.1[23]"],
                           capture_output=True, text=True, check=False).stdout.split()
    return ":".join([*{os.path.dirname(path) for path in found},
                     os.environ.get("LD_LIBRARY_PATH", "")])


def test_names(program, tags=""):
    """Lists the tests, of these tags if there are any. Catch2 2 and 3 have different flags for this."""
    for flags in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        said = subprocess.run([program, *flags, *filter(None, [tags])], capture_output=True, text=True,
                              check=False)
        names = [line.strip() for line in said.stdout.splitlines() if line.strip()]
        if names and not said.stderr:
            return names
    raise RuntimeError(f"{program} does not list its tests: {said.stdout}{said.stderr}")


def filter_of(name):
    return re.sub(r"([,\[\]\\*~])", r"\\\1", name)


def run_tests(program, limit_s):
    """Runs each test in its own process, in parallel, and tests of many cases in PARTS processes."""
    in_parts = test_names(program, "[parts]")
    names = in_parts + [name for name in test_names(program) if name not in in_parts]  # longest first
    runs = {name: [] for name in names}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in names:
            parts = PARTS if name in in_parts else 1
            for part in range(parts):
                environment = {"FLASHLAB_RATIOS": "1", "OMP_NUM_THREADS": "1"}
                if parts > 1:
                    environment |= {"FLASHLAB_CASE_STEP": str(parts), "FLASHLAB_FIRST_CASE": str(part)}
                runs[name].append(pool.submit(Run, [program, filter_of(name)], limit_s, environment))
    results, errors = [], {}
    for name, futures in runs.items():
        parts = [future.result() for future in futures]
        results.append(of_all_parts(name, parts))
        for run in parts:
            if run.outcome() == "failed":
                print(f"FAILED {name}\n{run.text[-3000:]}")
            for what, ratio in re.findall(r"^(\S+ \S+ \S+ \S+) +([\d.e+-]+) +case", run.text, re.M):
                errors[what] = max(errors.get(what, 0), float(ratio))
    return results, errors


def of_all_parts(name, parts):
    """Returns a test's row: the worst outcome of its parts, their checks, and the longest one's seconds."""
    outcomes = {run.outcome() for run in parts}
    found = [re.search(r"\((\d+) assertions|assertions: +(\d+)", run.text) for run in parts]
    return {"test": name,
            "outcome": next(worst for worst in ("failed", "skipped", "passed") if worst in outcomes),
            "seconds": max(run.seconds for run in parts),
            "checks": sum(int(checks[1] or checks[2]) for checks in found if checks)}


ACCESS = re.compile(r"(between|and) (Read|Write) access (?:at|by thread \S+ at) (.+?)\+0x[0-9a-f]+"
                    r"(?: in (\S+))?")


def hazards_in(text):
    """Returns racecheck's distinct pairs of accesses: which kernel, and where in it. A report names one
    access, then all that race with it."""
    pairs, first = set(), None
    for role, kind, kernel, line in ACCESS.findall(text):
        name = re.search(r"(\w+)\s*[<(]", kernel)
        place = f"{kind} {name[1] if name else kernel} {os.path.basename(line)}".rstrip()
        if role == "between":
            first = place
        else:
            pairs.add(f"{first} - {place}")
    return sorted(pairs)


def sanitized(tool, program, test, first_case, case_step, limit_s):
    """Runs a part of a test's cases under a tool of compute-sanitizer."""
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", program, filter_of(test)]
    run = Run(command, limit_s, {"FLASHLAB_FIRST_CASE": str(first_case),
                                 "FLASHLAB_CASE_STEP": str(case_step), "OMP_NUM_THREADS": "1"})
    summary = re.findall(r"=+ (?:ERROR|RACECHECK) SUMMARY: (.*)", run.text)
    refused = re.search(r"not supported|unsupported|Unable to|error 999", run.text)
    outcome = run.outcome() if summary and not refused else "not run"
    if outcome != "passed":
        print(f"{tool}: {test}: {run.text[-2500:]}")
    return {"test": test, "outcome": outcome, "seconds": run.seconds, "hazards": hazards_in(run.text),
            "summary": summary[-1] if summary else run.text[-300:]}


def of_all_tests(tool, runs):
    """Returns the worst outcome of a tool's runs, what it said there, and in which tests."""
    outcome = next((worst for worst in ("failed", "not run", "skipped")
                    if any(run["outcome"] == worst for run in runs)), "passed")
    such = [run for run in runs if run["outcome"] == outcome]
    result = {"tool": tool, "outcome": outcome, "tests": len({run["test"] for run in runs}),
              "seconds": max(run["seconds"] for run in runs),
              "summary": "; ".join(sorted({run["summary"] for run in such}))}
    if outcome == "passed":
        return result
    return {**result, "in": list(dict.fromkeys(run["test"] for run in such)),
            "hazards": sorted({hazard for run in such for hazard in run["hazards"]})}


def run_sanitizers(program, limit_s):
    """Runs each tile shape of every kernel at six ragged lengths, and a sample of the grid of cases,
    under each tool of compute-sanitizer. racecheck takes minutes, so the former run in PARTS processes."""
    if not shutil.which("compute-sanitizer"):
        return [{"tool": tool, "outcome": "not run", "why": "no compute-sanitizer"}
                for tool in SANITIZERS]
    cases = [(test, part, PARTS) for test in test_names(program, "[ragged]") for part in range(PARTS)]
    cases += [(test, 0, SAMPLE_STEP) for test in test_names(program, "[grid]")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {tool: [pool.submit(sanitized, tool, program, *case, limit_s) for case in cases]
                for tool in SANITIZERS}
        return [of_all_tests(tool, [run.result() for run in runs[tool]]) for tool in SANITIZERS]


def run_softmax_rows(program, limit_s):
    """Returns times, and the hardware's byte counts if they are accessible."""
    timed = Run([program], limit_s)
    result = {"outcome": timed.outcome(), "printed": timed.text.splitlines()}
    if not shutil.which("ncu"):
        return {**result, "counters": "not run: no ncu"}
    counted = Run(["ncu", "--clock-control", "none", "--metrics", DRAM_METRICS, "--csv",
                   "--launch-count", "7", program], limit_s)
    rows = [line for line in counted.text.splitlines() if "dram__bytes" in line]
    return {**result, "counters": rows or "not run: " + counted.text[-300:]}


def run_speed(program, options, limit_s):
    run = Run([program, *options], limit_s)
    print(run.text, flush=True)
    return {"script": os.path.basename(program), "outcome": run.outcome(), "seconds": run.seconds}


def run_by_kernel(program, limit_s):
    """Times the kernels of eager attention one by one, if the command was built."""
    if not os.path.exists(program):
        return "not run: flashlab was not built here"
    run = Run([program, "attention", "--device", "cuda", "-v", "naive", "-B", "4", "-N", "8192",
               "--by-kernel", "--width", "100", "--ascii"], limit_s)
    print(run.text, flush=True)
    return run.text.splitlines()


def gpu():
    fields = "name,driver_version,memory.total,clocks.sm,clocks.mem,clocks.max.sm"
    said = Run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"], 20)
    return dict(zip(fields.split(","), said.text.strip().split(", "))) if said.code == 0 else None


def script(name, extra, limit_s, library):
    run = Run([sys.executable, os.path.join(HERE, name), "--library", library, *extra], limit_s)
    print(run.text, flush=True)
    return {"script": name, "outcome": run.outcome(), "seconds": run.seconds}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="where flashlab_on_a_gpu was built")
    parser.add_argument("--out", default="docs/results")
    parser.add_argument("--commit", help="commit of the build, if this is not a git checkout")
    parser.add_argument("--quick", action="store_true", help="fewer lengths in the benchmark")
    parser.add_argument("--tests", action="store_true", help="run the tests and sanitizers alone")
    parser.add_argument("--fa4", metavar="FOLDER", help="site folder with flash-attn-4")
    parser.add_argument("--limit", type=int, default=600, help="seconds a step may take")
    return parser.parse_args()


def run_tests_alone(options, tests, report):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        of_tests = pool.submit(run_tests, tests, options.limit)
        of_sanitizers = pool.submit(run_sanitizers, tests, options.limit)
        report["tests"], report["worst_error_in_errors_of_the_plain_one"] = of_tests.result()
        report["sanitizers"] = of_sanitizers.result()
    return finish(os.path.join(options.out, "attention_cuda_on_a_gpu_tests.json"), report)


def finish(path, report):
    """Writes the report, prints a line for everything that ran, and returns the exit code."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    softmax_rows = [report["softmax_rows"]] if "softmax_rows" in report else []
    ended = [*report["tests"], *report["sanitizers"], *report["scripts"], *softmax_rows]
    for row in ended:
        name = row.get("test") or row.get("tool") or row.get("script") or "softmax_rows_speed"
        print(f"{row['outcome']:8} {row.get('seconds', '')!s:>6}  {name}")
    return int(any(row["outcome"] == "failed" for row in ended))


def main():
    options = parse_arguments()
    at = lambda *parts: os.path.join(options.build, *parts)  # noqa: E731
    library = at("attention_cuda", "libflashlab_cuda.so")
    tests = at("tests", "attention_cuda", "flashlab_cuda_tests")
    for needed in (library, tests):
        if not os.path.exists(needed):
            print(f"on_a_gpu: --build {options.build}: no {needed}: expected a build of the target "
                  "flashlab_on_a_gpu", file=sys.stderr)
            return 2
    if gpu() is None:
        print("on_a_gpu: no GPU here (nvidia-smi does not answer)", file=sys.stderr)
        return 2
    os.environ["LD_LIBRARY_PATH"] = library_folders()
    os.makedirs(options.out, exist_ok=True)
    out = lambda name: os.path.join(options.out, f"attention_cuda_{name}.json")  # noqa: E731
    commit = ["--commit", options.commit] if options.commit else []
    report = {"gpu": gpu(), "commit": options.commit,
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "command": " ".join(["attention_cuda/bench/on_a_gpu.py", *sys.argv[1:]]),
              "scripts": []}
    if options.tests:
        return run_tests_alone(options, tests, report)
    quick = ["--quick"] if options.quick else []
    fa4 = ["--fa4", options.fa4] if options.fa4 else []
    report["scripts"].append(script("beside_torch.py",
                                    ["--out", out("beside_torch"), *commit, *quick, *fa4],
                                    options.limit, library))
    report["scripts"].append(run_speed(at("attention_cuda", "bench", "attention_speed_cuda"),
                                       ["--json", out("speed"), "--runs", "3", *commit],
                                       options.limit))
    steps = at("attention_cuda", "bench", "flash2_steps")
    if os.path.exists(steps):  # built for compute capability 9.0 only
        report["scripts"].append(run_speed(steps, ["--json", out("steps"), "--stamps", out("stamps"),
                                                   *commit], options.limit))
        report["scripts"].append(run_speed(at("attention_cuda", "bench", "bwd_stamps"),
                                           ["--json", out("bwd_stamps"), *commit], options.limit))
    report["by_kernel"] = run_by_kernel(at("cli", "flashlab"), options.limit)
    report["softmax_rows"] = run_softmax_rows(
        at("attention_cuda", "bench", "softmax_rows_speed"), options.limit)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        steps = {
            "rounded": pool.submit(script, "rounded_statistics.py",
                                   ["--out", out("rounded_statistics"), *commit], options.limit,
                                   library),
            "gradients": pool.submit(script, "../python/gradient_check.py", [],
                                     options.limit, library),
            "torch": pool.submit(script, "../python/torch_check.py", [], options.limit, library),
            "tests": pool.submit(run_tests, tests, options.limit),
            "sanitizers": pool.submit(run_sanitizers, tests, options.limit)}
    report["scripts"] += [steps[name].result() for name in ("rounded", "gradients", "torch")]
    report["tests"], report["worst_error_in_errors_of_the_plain_one"] = steps["tests"].result()
    report["sanitizers"] = steps["sanitizers"].result()
    return finish(out("on_a_gpu"), report)


if __name__ == "__main__":
    sys.exit(main())
