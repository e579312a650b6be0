#!/usr/bin/env python3
"""Makes a wheel from an installed flashlab: packaging/wheel.py PREFIX VERSION DIST --summary TEXT

pip copies `scripts` into bin/ and `data` into the environment's own folders, so that a virtual
environment looks like PREFIX without what C++ needs. The command is the program itself and does not start Python. Beside
it lie two Python modules: flashlab, which asks the command, and flashlab_attention, which calls the GPU
library.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "flashlab_attention"  # PyPI has another project named `flashlab`
TAG = "py3-none-manylinux_2_28_x86_64"

WHEEL = f"""\
Wheel-Version: 1.0
Generator: flashlab
Root-Is-Purelib: false
Tag: {TAG}
"""

METADATA = """\
Metadata-Version: 2.1
Name: flashlab-attention
Version: {version}
Summary: {summary}
License: MIT; the parts of others in it: see THIRD_PARTY.md
Requires-Python: >=3.8
Provides-Extra: torch
Requires-Dist: torch; extra == "torch"
Description-Content-Type: text/markdown

{description}"""


def description():
    """Returns the text of README.md between its title and its first block of commands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return text[text.index("\n") :].split("\n```")[0].strip() + "\n"


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def is_for_cpp(relative):
    """Whether a file is for projects in C and C++: they build with the .deb or the tar.gz."""
    return relative.parts[0] == "include" or relative.suffix == ".a" or "cmake" in relative.parts


def lay_out(prefix, version, summary, tree):
    data = tree / f"{NAME}-{version}.data"
    for source in sorted(path for path in prefix.rglob("*") if not path.is_dir()):
        relative = source.relative_to(prefix)
        if is_for_cpp(relative):
            continue
        if relative.parts[0] == "bin":
            copy(source, data / "scripts" / pathlib.Path(*relative.parts[1:]))
        else:
            copy(source, data / "data" / relative)
    for module in (NAME, "flashlab_library", "flashlab_operations", "flashlab_ranks"):
        copy(ROOT / f"attention_cuda/python/{module}.py", tree / f"{module}.py")
    package = ROOT / "python/flashlab"
    for source in [*sorted(package.glob("*.py")), package / "py.typed"]:
        copy(source, tree / "flashlab" / source.name)
    subprocess.run([sys.executable, ROOT / "python/notebooks.py", data / "data/share/flashlab/notebooks"],
                   check=True)
    info = tree / f"{NAME}-{version}.dist-info"
    for name in ("LICENSE", "THIRD_PARTY.md"):
        copy(ROOT / name, info / "licenses" / name)
    (info / "WHEEL").write_text(WHEEL)
    (info / "METADATA").write_text(
        METADATA.format(version=version, summary=summary, description=description()),
        encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("version")
    parser.add_argument("dist", type=pathlib.Path)
    parser.add_argument("--summary", required=True)
    arguments = parser.parse_args()
    arguments.dist.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "wheel"
        lay_out(arguments.prefix.resolve(), arguments.version, arguments.summary, tree)
        subprocess.run([sys.executable, "-m", "wheel", "pack", str(tree),
                        "--dest-dir", str(arguments.dist)], check=True, stdout=subprocess.DEVNULL)
    print(arguments.dist / f"{NAME}-{arguments.version}-{TAG}.whl")


if __name__ == "__main__":
    main()
