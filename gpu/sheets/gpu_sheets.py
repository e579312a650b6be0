"""The data sheets of gpus.json for Python, and the rule that finds a device's. device_name.hpp has
the rule for C++, and its words."""
import json
import os
import re

SHEETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpus.json")


def words(text):
    """Returns the runs of letters and digits of a name, in lower case."""
    return set(re.findall("[a-z0-9]+", text.lower()))


def sheet_of(device_name):
    """Returns the row of gpus.json that describes a device, or None."""
    with open(SHEETS, encoding="utf-8") as file:
        rows = json.load(file)["gpus"]
    of_device = words(device_name)
    for row in rows:
        others = set().union(*map(words, row["not_with"]))
        if words(row["name"]) <= of_device and not others & of_device:
            return row
    return None
