"""What the programs of this folder that measure once and print one table have in common."""
import argparse
import datetime
import json
import pathlib
import subprocess

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs/results"


def made_now():
    """Date and commit of a measurement with the `flashlab` of the PATH."""
    version = subprocess.run(["flashlab", "--version"], check=True, capture_output=True, text=True)
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "commit": version.stdout.splitlines()[0].split()[-1].strip("()")}


def main(description, committed, measure, table):
    """Runs `table`, which prints the committed file, or `measure [FILE]`, which first writes it again."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("table", help="print the committed table")
    made = commands.add_parser("measure", help="measure here")
    made.add_argument("file", type=pathlib.Path, nargs="?", default=committed)
    arguments = parser.parse_args()
    file = committed
    if arguments.command == "measure":
        file = arguments.file
        file.write_text(json.dumps(measure(), indent=0) + "\n")
    print(table(json.loads(file.read_text())))
