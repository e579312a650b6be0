"""The Python reader of the data sheets finds for each device what device_names_test.cpp finds."""
import json
import os
import sys
import unittest

SHEETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../gpu/sheets")
sys.path.insert(0, SHEETS)

import gpu_sheets  # noqa: E402


class Devices(unittest.TestCase):
    def test_each_device_of_the_table_has_its_sheet_or_none(self):
        with open(os.path.join(SHEETS, "device_names.json"), encoding="utf-8") as file:
            rows = json.load(file)["devices"]
        self.assertGreater(len(rows), 20)
        for row in rows:
            with self.subTest(row["device"]):
                sheet = gpu_sheets.sheet_of(row["device"])
                self.assertEqual(sheet and sheet["key"], row["key"])

    def test_each_sheet_is_found_by_its_name(self):
        with open(gpu_sheets.SHEETS, encoding="utf-8") as file:
            rows = json.load(file)["gpus"]
        for row in rows:
            self.assertEqual(gpu_sheets.sheet_of("NVIDIA " + row["name"]), row)


if __name__ == "__main__":
    unittest.main()
