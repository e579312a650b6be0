#!/usr/bin/env python3
"""Do the tests see a mistake? Draws small changes of the code, and runs the tests that reach them.

    tests/mutants/mutants.py [--count 300] [--seed N] [--least PERCENT] [--seconds 900] [--jobs 2] [--work DIR] [--json FILE]
    tests/mutants/mutants.py --list     what could be changed: counts for each kind and folder

All mutants are compiled into one build, each behind a switch (switch.hpp), so that 300 of them need one
build and not 300. A first run of every test notes which switches it reaches, and how long it takes. Then each
mutant is switched on for the tests that reach it, short ones first, until one fails; that test is run
again without the mutant, and only counts if it passes then. A mutant that no test reaches may be one that
works at compile time: it is built for itself, and all tests of its folder run.

What does not compile is replaced by the next that was drawn. Each result is a line of DIR/journal.jsonl; a
call with the same sources, count and seed goes on from there. Equivalent mutants, which change nothing that
anybody can see, stand with their argument in tests/mutants/equivalent.tsv: path, line of code, change, why.

Exit code 1: fewer than --least percent are killed, equivalent ones not counted.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import time

import sites as sites_of_source

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("system", "text", "gpu", "results", "toymachine", "exercises/grader", "exercises/isolation", "compare",
           "attention_cpu", "attention_cuda", "optimal", "cli")
KINDS = ("comparison", "plus and minus", "assignment", "constant", "min and max", "dropped call",
         "dropped condition", "condition", "swapped arguments")
MOST_MEMORY = 10 << 30
SPARE = 1.5  # mutants built for each that is wanted: some do not compile


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def run(command, **more):
    return subprocess.run(command, text=True, capture_output=True, errors="replace", **more)


def sources():
    """What the build without CUDA compiles: no benchmarks, none of the files that need a GPU."""
    listed = run(["git", "ls-files", "-z", *FOLDERS], cwd=ROOT, check=True).stdout.split("\0")
    return [path for path in listed if path.endswith((".cpp", ".hpp", ".cu", ".cuh"))
            and not re.search(r"/bench/|^compare/cuda/(?!measure|gpu_measurements)|^attention_cuda/ptx/|library_product", path)]


def all_sites(paths):
    return [site for path in paths for site in sites_of_source.sites(path, (ROOT / path).read_text())]


def drawn(candidates, count, seed):
    """`count` sites in an order that the seed decides, each kind as often as another, none within another."""
    kinds = collections.defaultdict(list)
    for site in candidates:
        kinds[site.kind].append(site)
    chance = random.Random(seed)
    for kind in KINDS:
        chance.shuffle(kinds[kind])
    chosen, taken = [], collections.defaultdict(list)
    while len(chosen) < count and any(kinds.values()):
        for kind in KINDS:
            while kinds[kind]:
                site = kinds[kind].pop()
                if all(site.end <= a or b <= site.start for a, b in taken[site.path]):
                    taken[site.path].append((site.start, site.end))
                    chosen.append(site)
                    break
    return chosen[:count]


class Build:
    """A copy of the sources with switches, and what CMake makes of it."""

    def __init__(self, work, jobs):
        self.tree, self.build, self.jobs = work / "tree", work / "build", jobs
        listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True)
        paths = {path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()}
        for path in paths - set(sources()):  # those get their switches first
            self.write(path, (ROOT / path).read_bytes(), (ROOT / path).stat().st_mode)
        for left in [file for file in self.tree.rglob("*") if file.is_file()]:
            if str(left.relative_to(self.tree)) not in paths:  # of a commit before
                left.unlink()

    def write(self, path, content, mode=0o644):
        """Only what differs, so that little is compiled again."""
        target = self.tree / path
        if target.is_file() and target.read_bytes() == content:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(mode)

    def configure(self):
        flags = f"-O1 -w -include {self.tree}/tests/mutants/switch.hpp"
        made = run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_CXX_FLAGS_RELEASE=-O1", f"-DCMAKE_CXX_FLAGS={flags}", "-DFLASHLAB_CUDA=OFF",
                    "-DFLASHLAB_BUILD_BENCHMARKS=OFF", "-DFLASHLAB_INSTRUCTION_SETS=native",
                    "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"])
        if made.returncode:
            raise SystemExit(f"mutants: cmake: {made.stderr[-2000:]}")

    def put(self, switched, plain=None):
        """Writes the sources with switches; `plain` is a mutant without one."""
        by_path = collections.defaultdict(list)
        for number, site in switched.items():
            by_path[site.path].append((site, site.switched(number)))
        if plain is not None:
            others = by_path[plain.path]
            by_path[plain.path] = [(s, t) for s, t in others if s is not plain]
            text = plain.original if plain.kind == "dropped call" else plain.mutant
            by_path[plain.path].append((plain, "(void)0" if plain.kind == "dropped call" else f"({text})"))
        for path in sources():
            text = (ROOT / path).read_text()
            for site, new in sorted(by_path[path], key=lambda pair: -pair[0].start):
                # The same number of lines, so that the compiler's places stay right.
                text = text[:site.start] + fit_lines(new, site.original.count("\n")) + text[site.end:]
            self.write(path, text.encode())

    def compile(self, *targets):
        """(whether it compiles, the places in errors)"""
        command = ["cmake", "--build", self.build, "--parallel", str(self.jobs)]
        if targets:
            command += ["--target", *targets]
        made = run([*command, "--", "-k", "0"])
        output = made.stdout + made.stderr
        # Ninja starts compilers in the build folder, and a compiler cache may have made their paths relative.
        places = {(os.path.relpath(self.build / path, self.tree), int(line))
                  for path, line in re.findall(r"([^\s:'\"]+):(\d+)", output)}
        return made.returncode == 0, places, output

    def tests(self):
        listed = json.loads(run(["ctest", "--show-only=json-v1"], cwd=self.build, check=True).stdout)
        return [Test(entry) for entry in listed["tests"] if "command" in entry]


def fit_lines(text, lines):
    text = text.replace("\n", " ") if text.count("\n") != lines else text
    return text + "\n" * (lines - text.count("\n"))


class Test:
    def __init__(self, entry):
        self.name, self.command = entry["name"], entry["command"]
        self.key = f"{pathlib.Path(self.command[0]).name}: {self.name}"  # two programs may have tests of one name
        properties = {p["name"]: p["value"] for p in entry["properties"]}
        self.cwd = properties.get("WORKING_DIRECTORY")
        self.environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        self.skip = [re.compile(p) for p in properties.get("SKIP_REGULAR_EXPRESSION", [])]

    def run(self, limit, **more):
        """(passed, skipped, seconds). The output is kept in memory up to its end, as ctest does."""
        environment = {**os.environ, **self.environment, "FLASHLAB_BROWSER": "", **more}
        start = time.monotonic()

        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        process = subprocess.Popen(self.command, cwd=self.cwd, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                   preexec_fn=limits)
        try:
            output = process.communicate(timeout=limit)[0].decode(errors="replace")
            code = process.returncode
        except subprocess.TimeoutExpired:
            output, code = "", -1
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()
        skipped = any(p.search(output) for p in self.skip)
        return code == 0 or skipped, skipped, time.monotonic() - start


class Run:
    def __init__(self, options):
        self.options, self.work = options, options.work
        self.work.mkdir(parents=True, exist_ok=True)
        self.build = Build(self.work, options.jobs)
        self.commit = run(["git", "describe", "--always", "--dirty", "--abbrev=7"], cwd=ROOT).stdout.strip()

    def switches(self):
        """number -> Site of those that compile, in the order of drawing. Kept for the next call."""
        drawing = drawn(all_sites(sources()), int(self.options.count * SPARE) + 10, self.options.seed)
        switched = dict(enumerate(drawing, 1))
        kept = self.work / f"refused-{self.key}.json"
        refused = set(json.loads(kept.read_text())) if kept.exists() else set()
        for _ in range(20):
            alive = {n: s for n, s in switched.items() if n not in refused}
            self.build.put(alive)
            self.build.configure()
            compiled, places, output = self.build.compile()
            if compiled:
                return alive
            found = {n for n, s in alive.items()
                     if any(path == s.path and s.start_line <= line <= s.last_line for path, line in places)}
            found = found or {n for n, s in alive.items() if self.is_missing_a_symbol(s, output)}
            say(f"{len(found)} mutants do not compile")
            if not found:
                raise SystemExit(f"mutants: the build fails elsewhere: {output[-3000:]}")
            refused |= found
            kept.write_text(json.dumps(sorted(refused)))
        raise SystemExit("mutants: twenty builds failed")

    def is_missing_a_symbol(self, site, output):
        """Whether the linker names a function of the site's file: swapped arguments can ask for another
        instance of a template, which compiles but is defined nowhere."""
        functions = re.findall(r"in function `(?:\w+::)*(\w+::\w+)\(", output)
        text = (ROOT / site.path).read_text()
        return site.kind == "swapped arguments" and any(f"{name}(" in text for name in functions)

    @property
    def key(self):
        texts = "".join(hashlib.sha256((ROOT / path).read_bytes()).hexdigest() for path in sources())
        return hashlib.sha256(f"{texts}{self.options.count}{self.options.seed}".encode()).hexdigest()[:12]

    def reached(self, tests):
        """key -> [seconds, numbers reached], of the tests that pass with all switches off."""
        kept = self.work / f"reached-{self.key}.json"
        if kept.exists():
            return json.loads(kept.read_text())

        def one(job):
            number, test = job
            file = self.work / f"reached-{number}"
            file.write_bytes(bytes(4096))
            passed, skipped, seconds = test.run(900, FLASHLAB_MUTANTS_REACHED=str(file))
            numbers = [n for n, byte in enumerate(file.read_bytes()) if byte]
            file.unlink()
            if not passed:
                say(f"left out, as it fails in this build: {test.name}")
            return test.key, None if not passed or skipped else [seconds, numbers]

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            found = {key: entry for key, entry in pool.map(one, enumerate(tests)) if entry}
        kept.write_text(json.dumps(found))
        return found

    def judged(self, number, tests, reached):
        """The result of a mutant behind its switch: killed, survived or unreached."""
        reaching = short_ones_first([t for t in tests if t.key in reached and number in reached[t.key][1]], reached)
        if not reaching:
            return {"result": "unreached"}
        start = time.monotonic()
        for count, test in enumerate(reaching, 1):
            limit = 5 * reached[test.key][0] + 10
            passed, _, took = test.run(limit, FLASHLAB_MUTANT=str(number))
            if not passed and test.run(limit)[0]:
                return {"result": "killed", "by": test.name, "seconds": round(took, 2)}
            if time.monotonic() - start > self.options.seconds:
                break
        return {"result": "survived", "tests": count, "reaching": len(reaching)}

    def judged_alone(self, site, switched, tests, reached):
        """The result of a mutant that is compiled for itself."""
        room = site.path.split("/")[0]
        program = {"attention_cpu": "flashlab_attention_tests", "gpu": "flashlab_compare_tests",
                   "attention_cuda": "flashlab_cuda_emulated_tests", "results": "flashlab_compare_tests",
                   "text": "flashlab_toymachine_tests", "system": "flashlab_exercises_tests"}.get(room, f"flashlab_{room}_tests")
        self.build.put(switched, plain=site)
        compiled, places, _ = self.build.compile("flashlab", program)
        try:
            if not compiled:
                return {"result": "refused"} if places else {"result": "killed", "by": "the tests do not start"}
            own = short_ones_first([t for t in tests if t.command[0].endswith(program) and t.key in reached], reached)
            for test in own:
                passed, _, took = test.run(5 * reached[test.key][0] + 10)
                if not passed:
                    return {"result": "killed", "by": test.name, "seconds": round(took, 2), "alone": True}
            return {"result": "survived", "tests": len(own), "alone": True}
        finally:
            self.build.put(switched)

    def all(self):
        say(f"{self.options.count} mutants, seed {self.options.seed}, sources {self.key}, commit {self.commit}")
        switched = self.switches()
        tests = self.build.tests()
        reached = self.reached(tests)
        wanted = dict(list(switched.items())[:self.options.count])
        journal = self.work / f"journal-{self.key}.jsonl"
        done = {}
        if journal.exists():
            done = {entry["number"]: entry for entry in map(json.loads, journal.read_text().splitlines())}

        def note(number, result):
            site = switched[number]
            entry = {"number": number, "path": site.path, "line": site.line, "kind": site.kind, "was": site.was,
                     "becomes": site.becomes, "code": (ROOT / site.path).read_text().splitlines()[site.line - 1].strip(),
                     **result}
            done[number] = entry
            with journal.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            say(f"{len(done):4d}  {describe(entry)}")

        open_ones = [n for n in wanted if n not in done]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            jobs = {pool.submit(self.judged, n, tests, reached): n for n in open_ones}
            for job in concurrent.futures.as_completed(jobs):
                if job.result()["result"] != "unreached":
                    note(jobs[job], job.result())
        for number in [n for n in wanted if n not in done]:
            note(number, self.judged_alone(switched[number], switched, tests, reached))
        if any(e.get("alone") for e in done.values()):
            self.build.compile()
        return [done[n] for n in wanted]


def short_ones_first(tests, reached):
    return sorted(tests, key=lambda test: (reached[test.key][0], test.key))


def describe(entry):
    by = f" (by: {entry['by']})" if "by" in entry else ""
    return (f"{entry['result']:9} {entry['path']}:{entry['line']}: {entry['kind']}: '{entry['was']}' becomes "
            f"'{entry['becomes']}'{by}: {entry['code']}")


def equivalents():
    path = HERE / "equivalent.tsv"
    rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {(row[0], row[1], row[2]): row[3] for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m%d")))
    parser.add_argument("--least", type=float, default=0, help="percent that must be killed")
    parser.add_argument("--seconds", type=float, default=900, help="a mutant that no test killed by then survived")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-mutants")
    parser.add_argument("--json", type=pathlib.Path, help="writes the results")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.work = options.work.resolve()
    if options.list:
        counts = collections.Counter((s.kind, next(f for f in FOLDERS if s.path.startswith(f)))
                                     for s in all_sites(sources()))
        for (kind, folder), count in sorted(counts.items()):
            print(f"{count:6d}  {kind}, {folder}")
        return 0
    task = Run(options)
    entries = task.all()
    known = equivalents()
    for entry in entries:
        why = known.get((entry["path"], entry["code"], f"{entry['was']} -> {entry['becomes']}"))
        if entry["result"] == "survived" and why:
            entry.update(result="equivalent", why=why)
    counts = collections.Counter(entry["result"] for entry in entries)
    counted = counts["killed"] + counts["survived"]
    percent = 100 * counts["killed"] / max(counted, 1)
    for entry in entries:
        if entry["result"] in ("survived", "equivalent"):
            print(describe(entry) + (f"; {entry['why']}" if "why" in entry else ""))
    print(f"{counts['killed']} killed, {counts['survived']} survived, {counts['equivalent']} equivalent, "
          f"{counts['refused']} refused by the compiler: {percent:.1f} % killed")
    if options.json:
        options.json.write_text(json.dumps({
            "command": f"tests/mutants/mutants.py --count {options.count} --seed {options.seed}",
            "commit": task.commit, "date": time.strftime("%F"), "counts": counts, "percent_killed": round(percent, 1),
            "mutants": entries}, indent=1) + "\n")
    return 1 if counted == 0 or percent < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
