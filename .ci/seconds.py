#!/usr/bin/env python3
"""Where a build and its tests spend their seconds, by target, by compilation and by test.

    .ci/seconds.py BUILD [--json FILE] [--no-tests] [-R REGEX]

BUILD was built by ninja, without a compiler cache and on a quiet computer; its log has the seconds of each
compilation, of which as many ran at a time as there are cores. Then the tests run, as many at a time, and the
processor time of each is counted, with that of the processes that it waited for.

  --json FILE   writes all compilations, and all tests of at least 0.2 s
  --no-tests    reads the log alone
  -R REGEX      runs only tests whose names match
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
LEAST_SECONDS = 0.2


def compilations(build):
    """(seconds, target, what), the last of each output in ninja's log, the longest first."""
    took, steps = {}, set()
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, command = line.split("\t")
        if (begin, end, command) not in steps:  # one step may write several files
            steps.add((begin, end, command))
            took[output] = (int(end) - int(begin)) / 1000
    found = []
    for output, seconds in took.items():
        parts = re.match(r"(?:.*/)?CMakeFiles/([^/]+)\.dir/(.*)", output)
        target, what = parts.groups() if parts else ("linking and writing", output.replace(str(build), ""))
        found.append((seconds, target, what))
    return sorted(found, reverse=True)


def tests(build, chosen):
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, check=True).stdout
    return [test for test in json.loads(listed)["tests"] if "command" in test and re.search(chosen, test["name"])]


def processor_seconds(test):
    """(seconds, whether it passed)"""
    properties = {entry["name"]: entry["value"] for entry in test["properties"]}
    environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
    child = subprocess.Popen(test["command"], cwd=properties.get("WORKING_DIRECTORY"), stdin=subprocess.DEVNULL,
                             env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, child.returncode == 0


def table(title, rows, most=30):
    print(f"\n{title}")
    for seconds, *words in rows[:most]:
        print(f"{seconds:8.1f}  {'  '.join(words)}"[:118])


def sums(rows):
    added = collections.Counter()
    for seconds, of, *_ in rows:
        added[of] += seconds
    return [(seconds, of) for of, seconds in added.most_common()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("-R", dest="chosen", default="", metavar="REGEX")
    options = parser.parse_args()
    build = options.build.resolve()
    if not (build / ".ninja_log").is_file():
        parser.error(f"{options.build}: has no .ninja_log: expected a folder in which ninja built")
    compiled = compilations(build)
    print(f"{sum(row[0] for row in compiled):.0f} s in {len(compiled)} steps of the build")
    table("by target", sums(compiled))
    table("by compilation", compiled, 15)
    ran, failed = [], []
    chosen = [] if options.no_tests else tests(build, options.chosen)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for test, (seconds, passed) in zip(chosen, pool.map(processor_seconds, chosen)):
            ran.append((seconds, pathlib.Path(test["command"][0]).name, test["name"]))
            if not passed:
                failed.append(test["name"])
    ran.sort(reverse=True)
    if ran:
        print(f"\n{sum(row[0] for row in ran):.0f} s of processor time in {len(ran)} tests")
        table("by program", sums(ran))
        table("by test", ran, 60)
    for name in failed:
        print(f"failed: {name}")
    if options.json:
        commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=8"], cwd=ROOT, text=True,
                                capture_output=True).stdout.strip()
        processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
        options.json.write_text(json.dumps({
            "command": " ".join([".ci/seconds.py build", *(["--no-tests"] if options.no_tests else []),
                                 f"--json docs/results/{options.json.name}"]), "commit": commit,
            "date": time.strftime("%F"), "cores": os.cpu_count(), "processor": processor and processor[1],
            "unit": "seconds", "least_of_a_test": LEAST_SECONDS,
            "compilations": [[round(seconds, 2), target, what] for seconds, target, what in compiled],
            "programs": [[round(seconds, 2), of] for seconds, of in sums(ran)], "number_of_tests": len(ran),
            "tests": [[round(seconds, 2), of, name] for seconds, of, name in ran if seconds >= LEAST_SECONDS],
        }, indent=0) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
