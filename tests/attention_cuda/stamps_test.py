"""stamps.py and steps_picture.py on a block with one warpgroup whose times are typed in here."""
import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "../../docs/results")
sys.path.insert(0, os.path.join(HERE, "../../attention_cuda/bench"))
import stamps  # noqa: E402
import steps_picture  # noqa: E402

# A step takes 100 cycles: 10 issue, 30 wait for S, 40 softmax, 15 wait for O, 5 the rest.
STEP = [(0, "issues Q K^T"), (5, "issues P V"), (10, "waits for S"), (40, "has S"), (80, "has P"),
        (80, "waits for O"), (95, "has O")]


def run_with(num_steps):
    """One warpgroup, and a loading warp that copies for 20 of 100 cycles: the second query tile. The
    first one ends 70 cycles before it."""
    found = [stamps.Stamp(-150, 1, 0, 1, "has S"), stamps.Stamp(-120, 1, 0, 0, "has S"),
             stamps.Stamp(-100, 1, 0, 0, "stores O"), stamps.Stamp(-70, 1, 0, 0, "ends"),
             stamps.Stamp(-10, 1, 1, 0, "waits for Q")]
    for step in range(num_steps):
        start, tile = 100 * step, num_steps - 1 - step
        found += [stamps.Stamp(start + at, 1, 1, tile, mark) for at, mark in STEP]
        found += [stamps.Stamp(start, 0, 1, tile, "waits for K"),
                  stamps.Stamp(start + 80, 0, 1, tile, "loads K")]
    return stamps.Run(64, 2048, "maxima of three", 64, 128, sorted(found), 1.0, 1.0)


class Stamps(unittest.TestCase):
    def test_a_file_without_stamps_is_refused_with_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wrong.json")
            for text in ("one", "[]", '{"runs": [{}]}', '{"runs": [{"shape": [1]}]}'):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                with self.assertRaisesRegex(SystemExit, "wrong.json: .*expected a file that"):
                    stamps.load_runs(path)
            with self.assertRaisesRegex(SystemExit, "absent.json: No such file"):
                stamps.load_runs(os.path.join(folder, "absent.json"))

    def test_a_step_is_the_time_from_one_S_to_the_next_after_two_tiles(self):
        self.assertEqual(stamps.steady_steps(run_with(5)), [240, 340, 440])
        self.assertEqual(stamps.step_cycles(run_with(5)), [100, 100])

    def test_shares_are_those_of_the_typed_step_and_add_up(self):
        found = stamps.shares(run_with(6), 1)
        self.assertEqual({state: round(share, 6) for state, share in found.items() if share},
                         {"issues": 0.10, "S": 0.30, "softmax": 0.40, "O": 0.15, "other": 0.05})
        self.assertEqual({state: round(share, 6) for state, share in
                          stamps.shares(run_with(6), 0).items()}, {"empty": 0.8, "loads": 0.2})

    def test_a_chain_is_softmax_then_what_comes_before_the_next_products_then_the_wait_for_S(self):
        self.assertEqual(stamps.chain_cycles(run_with(5), 1), [40, 20, 40])

    def test_between_query_tiles_are_the_typed_differences(self):
        self.assertEqual(stamps.between_query_tiles(run_with(3)), [20, 30, 60, 50])

    def test_from_the_end_of_a_query_tile_on_a_warpgroup_finds_its_next_queries(self):
        self.assertIn(stamps.Interval("next", -70, -10), stamps.intervals(run_with(3), 1))

    def test_products_are_in_flight_from_their_issue_to_the_end_of_the_wait(self):
        self.assertEqual([(product.label, start, end) for product, start, end in
                          stamps.products_in_flight(run_with(1), 1)], [("Q Kᵀ", 0, 40), ("P V", 5, 95)])

    def test_the_backward_pass_has_its_own_marks_and_products(self):
        marks = [(0, "waits for Q"), (10, "issues S"), (20, "waits for dO"), (30, "issues dP"),
                 (40, "waits for S"), (45, "has S"), (60, "waits for dP"), (61, "has dP"),
                 (75, "waits for dS"), (76, "issues gradients"), (80, "waits for dQ"), (82, "has dQ"),
                 (95, "waits for dV"), (96, "waits for dK"), (98, "ends")]
        found = [stamps.Stamp(100 * tile + at, 1, 0, tile, mark) for tile in range(5) for at, mark in marks]
        run = stamps.Run(128, 2048, "bwd-onepass", 64, 128, found, 1.0, 1.0)
        self.assertEqual({state: round(share, 6) for state, share in stamps.shares(run, 1).items() if share},
                         {"full": 0.20, "issues": 0.24, "S": 0.06, "softmax": 0.15, "gradient": 0.14,
                          "dS": 0.01, "O": 0.05, "adds": 0.13, "other": 0.02})
        self.assertEqual([(product.label, start, end) for product, start, end in
                          stamps.products_in_flight(run, 1)][:3],
                         [("S", 10, 45), ("dP", 30, 61), ("dQdVdK", 76, 98)])

    def test_a_step_that_was_not_recorded_is_refused_with_those_that_were(self):
        with self.assertRaisesRegex(SystemExit, "step turns of head_dim 64: expected one of 64 maxima of three"):
            stamps.run_of([run_with(1)], 64, "turns")


class Picture(unittest.TestCase):
    def picture(self, first, last):
        return steps_picture.picture(run_with(4), {"gpu": "a GPU & more"}, first, last)

    def rects(self, text, classes):
        return [node for node in xml.dom.minidom.parseString(text).getElementsByTagName("rect")
                if node.getAttribute("class") == classes and float(node.getAttribute("y")) < 300
                and node.getAttribute("height") == str(steps_picture.LANE)]

    def test_a_picture_is_xml_with_title_and_description(self):
        page = xml.dom.minidom.parseString(self.picture(0, 400))
        self.assertEqual(page.documentElement.getAttribute("role"), "img")
        self.assertIn("head_dim 64", page.getElementsByTagName("title")[0].firstChild.data)
        self.assertEqual(len(page.getElementsByTagName("desc")), 1)

    def test_the_width_of_a_softmax_is_its_share_of_the_window(self):
        softmax = self.rects(self.picture(0, 400), "filled c6")
        drawn = steps_picture.WIDTH - steps_picture.LEFT - steps_picture.RIGHT
        self.assertEqual(len(softmax), 4)
        self.assertAlmostEqual(float(softmax[0].getAttribute("width")), drawn * 40 / 400, places=1)
        self.assertAlmostEqual(float(softmax[0].getAttribute("x")),
                               steps_picture.LEFT + drawn * 40 / 400, places=1)

    def test_every_kind_of_work_has_a_letter_of_its_own_in_the_legend(self):
        works = [state.letter for state in stamps.STATES.values() if not state.is_wait]
        waits = [state.letter for state in stamps.STATES.values() if state.is_wait]
        self.assertEqual(works, ["C", "I", "X", "R", "W", "Q"])
        self.assertEqual(waits, ["e", "c", "t", "S", "O"])  # hatched
        page = xml.dom.minidom.parseString(self.picture(0, 1))  # too narrow for letters in the lanes
        drawn = [node.firstChild.data for node in page.getElementsByTagName("text")
                 if "strong" in node.getAttribute("class") and "middle" in node.getAttribute("class")]
        self.assertEqual(drawn[-11:], works + waits)

    def test_the_committed_picture_shows_the_committed_stamps(self):
        committed = os.path.join(RESULTS, "pictures/who_waits_wgmma_d128.svg")
        with tempfile.TemporaryDirectory() as folder:
            drawn = os.path.join(folder, "drawn.svg")
            subprocess.run([sys.executable, steps_picture.__file__, "--out", drawn], check=True)
            with open(drawn, encoding="utf-8") as mine, open(committed, encoding="utf-8") as theirs:
                self.assertTrue(mine.read() == theirs.read(),
                                f"steps_picture.py --out {committed} draws another picture")

    def test_what_lies_outside_of_the_window_is_not_drawn(self):
        self.assertEqual(len(self.rects(self.picture(100, 200), "filled c6")), 1)


if __name__ == "__main__":
    unittest.main()
