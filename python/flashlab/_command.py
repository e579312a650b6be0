"""Finds the command `flashlab`, which does the work."""
import os
import pathlib
import shutil
import sys
import sysconfig
from typing import Iterator


class CommandError(RuntimeError):
    """The command `flashlab` was not found, or ended without an answer."""


def _candidates() -> Iterator[pathlib.Path]:
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        if folder:
            yield pathlib.Path(folder) / "flashlab"
    yield pathlib.Path(__file__).resolve().parents[2] / "build" / "cli" / "flashlab"  # the source tree


def command() -> str:
    """Returns the path of the command. Raises CommandError: there is none, with the places searched."""
    chosen = os.environ.get("FLASHLAB")
    if chosen:
        if not os.access(chosen, os.X_OK):
            raise CommandError(f"$FLASHLAB is {chosen!r}, expected an executable file")
        return chosen
    tried = []
    for path in _candidates():
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
        tried.append(str(path))
    found = shutil.which("flashlab")
    if found:
        return found
    raise CommandError("the command flashlab is missing, expected in " + ", ".join(tried) +
                       ", on the PATH, or named by $FLASHLAB")
