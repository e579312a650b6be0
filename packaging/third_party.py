#!/usr/bin/env python3
"""Compares what a build compiled in and linked with the table of THIRD_PARTY.md, in both directions:
packaging/third_party.py build-package. Debian's package manager gives the package of each file."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def known():
    """Returns the names in the table's last column, by row."""
    rows = {}
    for line in (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| [") and len(cells) == 4:
            rows[cells[0]] = re.findall(r"`([^`]+)`", cells[3])
    return rows


def headers(build):
    """Returns every file outside this tree that a compiler read for the build."""
    lines = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    return {line.strip() for line in lines if line.startswith("    /")}


def linked(build):
    """Returns the files that the linker opened for the command: objects, archives, libraries."""
    text = (build / "link.map").read_text(encoding="utf-8")
    found = set(re.findall(r"^LOAD (\S+)", text, re.MULTILINE))
    members = set(re.findall(r"^(\S+\.a)\(", text, re.MULTILINE))
    return {path for path in found if not path.endswith(".a")} | members


def places(paths, build):
    """Returns the origin of the files: a Debian package, the stubs, CUDA."""
    result, rest = {}, []
    for path in paths:
        real = pathlib.Path(path) if path.startswith("/") else build / path
        resolved = real.resolve()
        if (build / "glibc-2.28") in real.parents and resolved.parent == (build / "glibc-2.28").resolve():
            if real.name != "old_glibc.o":
                result[path] = "glibc-2.28"
        elif ROOT in resolved.parents:
            continue
        elif re.match(r"/usr/local/cuda", str(resolved)):
            result[path] = "cuda"
        else:
            rest.append((path, str(resolved)))
    for start in range(0, len(rest), 500):
        part = rest[start:start + 500]
        names = {name for _, real in part for name in (real, real.removeprefix("/usr"))}
        output = subprocess.run(["dpkg", "-S", *sorted(names)], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        owners = {}
        for line in output.splitlines():
            packages, _, file = line.partition(": ")
            owners[file] = packages.split(",")[0].split(":")[0]
        for path, real in part:
            # If /lib is a link to /usr/lib, packages use either path for their files.
            result[path] = (owners.get(real) or owners.get(real.removeprefix("/usr"))
                            or owners.get("/usr" + real) or "of no package")
    return result


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rows = known()
    names = {name: row for row, listed in rows.items() for name in listed}
    found = places(headers(build) | linked(build), build)
    wrong = [f"{path} ({package}) is in no row of THIRD_PARTY.md"
             for path, package in sorted(found.items()) if package not in names]
    used = {names[package] for package in found.values() if package in names}
    wrong += [f"THIRD_PARTY.md lists {row}, which is not in this build"
              for row in rows if row not in used and "cuda" not in rows[row]]
    for line in wrong[:20]:
        print(line)
    print(f"{len(used)} third-party parts, from {len(found)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
