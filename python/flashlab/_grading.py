"""Grades submissions with the command, which isolates each in a process of its own."""
import json
import os
import subprocess
from typing import Any, Dict, List, Optional, Union

from flashlab._command import CommandError, command


def grade(submissions: "Union[str, os.PathLike[str]]", exercise: "Union[str, int]",
          jobs: Optional[int] = None, seed: Optional[int] = None,
          secret: "Optional[Union[str, os.PathLike[str]]]" = None) -> List[Dict[str, Any]]:
    """Grades one submission, a file, or a class: a folder with a file or a folder for each student.

    Returns a row for each student, for example for pandas.DataFrame: name, outcome, points, max_points,
    passed, message (the first finding), and the student's whole result of `flashlab grade --json` as
    `report`.

    exercise  its number or name
    jobs      submissions graded at once; one per processor unless set
    seed      of the inputs; keep it secret from the students. Unless set, a class has the seed that is
              kept with it, or a drawn one; one submission has that of `flashlab exercises check`
    secret    a file whose text makes the seed, for an autograder that grades one submission at a time

    Raises CommandError: no such exercise, file, folder or secret, with the command's message.
    """
    words = [command(), "grade", str(exercise), *([] if os.path.isfile(submissions) else ["--all"]),
             os.fspath(submissions), "--json", "-", "--quiet"]
    if jobs is not None:
        words += ["--jobs", str(jobs)]
    if seed is not None:
        words += ["--seed", str(seed)]
    if secret is not None:
        words += ["--secret", os.fspath(secret)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise CommandError(done.stderr.decode(errors="replace").strip() or
                           f"flashlab grade ended with exit code {done.returncode}")
    report = json.loads(done.stdout)
    return [_row(student, report["summary"]["max_points"]) for student in report["students"]]


def _row(student: Dict[str, Any], max_points: float) -> Dict[str, Any]:
    findings = student.get("findings") or []
    return {
        "name": student["name"],
        "outcome": student["outcome"],
        "points": student["points"],
        "max_points": max_points,
        "passed": student["passed"],
        "message": findings[0]["what"] if findings else "",
        "report": student,
    }
