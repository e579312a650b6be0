#!/usr/bin/env python3
"""Runs the notebooks of the first chapters: notebook_test.py COMMAND SOURCE

Every cell is run here, in the few forms that the notebooks have, and by Jupyter where this Python has it.
What a cell prints must be what the chapter prints.
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMMAND, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
os.environ["FLASHLAB"] = str(COMMAND)
os.environ["PYTHONPATH"] = str(SOURCE / "python")
sys.path.insert(0, str(SOURCE / "python"))

CHAPTERS = ("01_the_machine", "02_the_language", "03_matmul")


def written_to(folder):
    """The notebooks by name, made in the folder."""
    subprocess.run([sys.executable, "-B", str(SOURCE / "python/notebooks.py"), folder], check=True)
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(pathlib.Path(folder).glob("*.ipynb"))}


def cells_of(notebook):
    """Yields the source and the output of every cell of code."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"]), "".join("".join(output["text"]) for output in cell["outputs"])


def run_cell(source, names, folder):
    """Runs a cell as Jupyter would. Returns what it prints, or the page that it shows."""
    first, _, rest = source.partition("\n")
    if first.startswith("%%writefile "):
        (pathlib.Path(folder) / first.split()[1]).write_text(rest + "\n", encoding="utf-8")
        return ""
    if first.startswith("%%sh"):
        done = subprocess.run(["sh", "-c", rest], stdout=subprocess.PIPE, cwd=folder, check=False,
                              env={**os.environ, "HOME": folder})
        if "--no-raise-error" not in first and done.returncode not in (0, -13):
            raise AssertionError(f"{rest}: exit code {done.returncode}")
        return done.stdout.decode()
    before = os.getcwd()
    os.chdir(folder)
    try:
        if source.startswith("import "):
            exec(source, names)  # pylint: disable=exec-used
            return ""
        return eval(source, names)._repr_html_()  # pylint: disable=eval-used,protected-access
    finally:
        os.chdir(before)


class Notebooks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.notebooks = written_to(self.folder)

    def test_there_is_one_for_each_of_the_first_chapters(self):
        self.assertEqual(tuple(self.notebooks), CHAPTERS)

    def test_every_command_prints_what_the_chapter_prints_and_every_trace_has_a_player(self):
        environment = dict(os.environ)
        for name, notebook in self.notebooks.items():
            names, players = {}, 0
            for source, expected in cells_of(notebook):
                with self.subTest(f"{name}: {source}"):
                    shown = run_cell(source, names, self.folder)
                    if source.startswith("flashlab."):
                        self.assertTrue(shown.startswith("<iframe sandbox="))
                        players += 1
                    else:
                        self.assertEqual(shown, expected)
            self.assertEqual(players, {"01_the_machine": 3}.get(name, 0))
            os.environ.clear()
            os.environ.update(environment)

    def test_all_blocks_of_the_chapters_are_there_and_no_mark_is_left(self):
        for name, notebook in self.notebooks.items():
            page = (SOURCE / "docs" / f"{name}.md").read_text(encoding="utf-8")
            whole = "".join("".join(cell["source"]) for cell in notebook["cells"])
            self.assertNotIn("<!--", whole)
            self.assertNotIn(".md)", whole)
            commands = sum(source.startswith("%%sh") for source, _ in cells_of(notebook))
            self.assertEqual(commands, page.count("<!-- $ flashlab ") - page.count("--markdown -->"))
            for heading in (line for line in page.splitlines() if line.startswith("#")):
                self.assertIn(heading, whole)

    @unittest.skipIf(importlib.util.find_spec("nbclient") is None or
                     importlib.util.find_spec("ipykernel") is None, "this Python has no Jupyter")
    def test_jupyter_runs_them(self):
        import nbclient  # pylint: disable=import-outside-toplevel,import-error
        import nbformat  # pylint: disable=import-outside-toplevel,import-error
        for name, notebook in self.notebooks.items():
            read = nbformat.reads(json.dumps(notebook), as_version=4)
            nbformat.validate(read)
            nbclient.NotebookClient(read, timeout=120, resources={"metadata": {"path": self.folder}}).execute()
            ran = [cell for cell in read.cells if cell.cell_type == "code"]
            for cell, (source, expected) in zip(ran, cells_of(notebook)):
                with self.subTest(f"{name}: {source}"):
                    if expected:
                        self.assertEqual("".join(output.text for output in cell.outputs), expected)
                    elif source.startswith("flashlab."):
                        self.assertIn("<iframe sandbox=", cell.outputs[0].data["text/html"])


if __name__ == "__main__":
    if importlib.util.find_spec("nbclient") is None:
        print("this Python has no Jupyter: its test is skipped", file=sys.stderr)
    unittest.main(argv=sys.argv[:1], verbosity=1)
