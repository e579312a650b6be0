#!/usr/bin/env python3
"""Tests that editors and type checkers know the Python module `flashlab`: types_test.py SOURCE

Its types are beside the code (PEP 561), so there are no .pyi files that could say something else.
"""
import importlib.util
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
PACKAGE = SOURCE / "python" / "flashlab"
sys.path.insert(0, str(SOURCE / "python"))

import flashlab  # noqa: E402  pylint: disable=wrong-import-position

USE = '''
from typing import Any, Dict, List, Tuple
import flashlab
run: flashlab.Run = flashlab.program("softmax_online").run(n=64)
outputs: Dict[str, Any] = run.outputs
domain: str = flashlab.program("flash2").cost(n=10**9).domain
page: str = flashlab.program("matmul_c00").trace(first=2).page()
rows: List[Dict[str, Any]] = flashlab.grade("class", 8, jobs=2, secret="secret.txt")
dQ, dK, dV = flashlab.attention_backward(1, 2, 3, 4, 5, 6, mask="causal")
with flashlab.Session(seconds=1.5, memory="1GiB") as session:
    session.call({"request": "isa"})
try:
    flashlab.program("none")
except flashlab.RequestError as error:
    place: str = error.place
flashlab.attention(1, 2, 3, mask="diagonal")
flashlab.program(3)
flashlab.grade("class")
'''


def public_functions():
    """Yields name and function: what is public, and the public methods of classes that are."""
    for name in flashlab.__all__:
        value = getattr(flashlab, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for method, function in vars(value).items():
                function = function.fget if isinstance(function, property) else function
                if inspect.isfunction(function) and (not method.startswith("_") or method == "__init__"):
                    yield f"{name}.{method}", function


class Types(unittest.TestCase):
    def test_the_package_says_that_it_has_types(self):
        self.assertTrue((PACKAGE / "py.typed").is_file())

    def test_all_that_is_public_has_types_and_a_docstring(self):
        for name, function in public_functions():
            with self.subTest(name):
                signature = inspect.signature(function)
                untyped = [parameter for parameter, entry in signature.parameters.items()
                           if entry.annotation is entry.empty and parameter != "self"]
                self.assertEqual(untyped, [])
                if not name.endswith("__init__"):
                    self.assertIsNot(signature.return_annotation, signature.empty)
                    self.assertTrue(function.__doc__)
        for name in flashlab.__all__:
            self.assertTrue(getattr(flashlab, name).__doc__, name)

    @unittest.skipIf(importlib.util.find_spec("mypy") is None, "this Python has no mypy")
    def test_mypy_accepts_the_module_and_finds_wrong_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            use = pathlib.Path(folder) / "use.py"
            use.write_text(USE)
            checked = [subprocess.run(
                [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-error-summary",
                 "--cache-dir", folder, str(path)], capture_output=True, text=True, check=False, cwd=folder,
                env={**os.environ, "MYPYPATH": str(SOURCE / "python")}) for path in (PACKAGE, use)]
        self.assertEqual(checked[0].stdout, "")
        wrong = [line for line in checked[1].stdout.splitlines() if ": error:" in line]
        self.assertEqual(len(wrong), 3, checked[1].stdout)
        for line, why in zip(wrong, ('"mask"', '"program"', '"exercise"')):
            self.assertIn(why, line)


if __name__ == "__main__":
    if importlib.util.find_spec("mypy") is None:
        print("this Python has no mypy: its test is skipped", file=sys.stderr)
    unittest.main(argv=sys.argv[:1], verbosity=1)
