"""What beside_torch.py makes of its samples; needs neither torch nor a GPU."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(SOURCE, "attention_cuda/bench"))

import cases  # noqa: E402
import flash_attention_4  # noqa: E402
import on_a_gpu  # noqa: E402
import tables  # noqa: E402


def side_of(label):
    return label.split()[0] if label.startswith(("torch ", "FA4")) else "ours"


def row(group, direction, **times):
    """A row with these medians; spaces of labels are written as underscores."""
    labels = {label.replace("__", "-").replace("_", " "): ms for label, ms in times.items()}
    entries = {label: {"side": side_of(label)} | ({"median_ms": ms} if ms else {"refused": "why"})
               for label, ms in labels.items()}
    return {"group": group, "direction": direction, "dtype": "bf16", "mask": "none",
            "shape": [1, 2, 3, 4], "entries": entries}


def run_script(name, *arguments):
    return subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "attention_cuda/bench", name),
                           *arguments], capture_output=True, text=True, check=False)


class Sanitizers(unittest.TestCase):
    HAZARDS = """
========= Error: Race reported between Write access at sumKernel(int *, int *)+0x90 in race.cu:12
=========     and Read access at void lab::sum<int, 4>(int *)+0x100 in /home/race.cu:17 [508 hazards]
=========     and Write access at void lab::sum<int, 4>(int *)+0x140 in /home/race.cu:19 [8 hazards]
========= Error: Race reported between Write access at sumKernel(int *, int *)+0x90 in race.cu:12
=========     and Read access at void lab::sum<int, 8>(int *)+0x100 in /home/race.cu:17 [4 hazards]
"""

    def test_racechecks_hazards_are_places_in_kernels(self):
        self.assertEqual(on_a_gpu.hazards_in(self.HAZARDS),
                         ["Write sumKernel race.cu:12 - Read sum race.cu:17",
                          "Write sumKernel race.cu:12 - Write sum race.cu:19"])

    def test_one_test_that_fails_fails_the_tool(self):
        runs = [{"test": test, "outcome": outcome, "seconds": seconds, "summary": summary,
                 "hazards": hazards}
                for test, outcome, seconds, summary, hazards in (
                    ("a", "passed", 1, "0 hazards", []), ("b", "not run", 9, "out of time", []),
                    ("c", "failed", 2, "8 hazards", ["x - y"]))]
        self.assertEqual(on_a_gpu.of_all_tests("racecheck", runs),
                         {"tool": "racecheck", "outcome": "failed", "tests": 3, "seconds": 9,
                          "summary": "8 hazards", "in": ["c"], "hazards": ["x - y"]})
        self.assertEqual(on_a_gpu.of_all_tests("racecheck", runs[:2])["outcome"], "not run")
        self.assertEqual(on_a_gpu.of_all_tests("racecheck", runs[:1])["outcome"], "passed")


class SanitizersInParts(unittest.TestCase):
    def test_each_tool_has_each_part_of_the_tile_shapes_and_one_sample_of_the_grid(self):
        ran = []

        def sanitized(tool, _, test, first_case, case_step, __):
            ran.append((tool, test, first_case, case_step))
            return {"test": test, "outcome": "failed" if first_case == 3 else "passed", "seconds": first_case,
                    "summary": "0 errors", "hazards": []}

        with unittest.mock.patch.object(on_a_gpu, "sanitized", sanitized), \
                unittest.mock.patch.object(on_a_gpu, "test_names", lambda _, tags: [f"all {tags}"]), \
                unittest.mock.patch.object(on_a_gpu.shutil, "which", lambda _: "here"):
            rows = on_a_gpu.run_sanitizers("tests", 60)
        shapes = [("all [ragged]", part, on_a_gpu.PARTS) for part in range(on_a_gpu.PARTS)]
        self.assertEqual(sorted(ran), sorted((tool, *case) for tool in on_a_gpu.SANITIZERS for case in
                                             [*shapes, ("all [grid]", 0, on_a_gpu.SAMPLE_STEP)]))
        self.assertEqual([(row["tool"], row["outcome"], row["tests"], row["seconds"], row["in"]) for row in rows],
                         [(tool, "failed", 2, on_a_gpu.PARTS - 1, ["all [ragged]"])
                          for tool in on_a_gpu.SANITIZERS])


class TestsInParts(unittest.TestCase):
    PROGRAM = """#!/bin/sh
case "$*" in
  "--list-test-names-only [parts]") echo long;;
  --list-test-names-only) printf 'short\\nlong\\n';;
  *) [ "$FLASHLAB_FIRST_CASE" != "$WRONG" ] && echo "All tests passed ($((FLASHLAB_CASE_STEP + FLASHLAB_FIRST_CASE)) \
assertions in 1 test case)";;
esac
"""

    def results(self, wrong):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "tests")
            with open(program, "w", encoding="utf-8") as file:
                file.write(self.PROGRAM)
            os.chmod(program, 0o755)
            kept = {name: value for name, value in os.environ.items() if not name.startswith("FLASHLAB_")}
            with unittest.mock.patch.dict(os.environ, {**kept, "WRONG": wrong}, clear=True), \
                    contextlib.redirect_stdout(io.StringIO()):
                return {row["test"]: row for row in on_a_gpu.run_tests(program, 60)[0]}

    def test_each_part_of_a_test_runs_once_and_counts(self):
        results = self.results(wrong="none")
        self.assertEqual([results[name]["outcome"] for name in ("long", "short")], ["passed"] * 2)
        self.assertEqual(results["long"]["checks"], on_a_gpu.PARTS**2 + sum(range(on_a_gpu.PARTS)))
        self.assertEqual(results["short"]["checks"], 0)

    def test_each_part_has_cases_of_each_element_type(self):
        self.assertEqual(on_a_gpu.PARTS % 2, 1)  # types repeat every 4 cases (tests/attention_cpu/generated_case.cpp)

    def test_one_part_that_fails_fails_the_test(self):
        results = self.results(wrong="3")
        self.assertEqual(results["long"]["outcome"], "failed")
        self.assertEqual(results["short"]["outcome"], "passed")


class BadArguments(unittest.TestCase):
    def test_a_build_that_is_not_there_is_named(self):
        done = run_script("on_a_gpu.py", "--build", "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--build nowhere: no nowhere/attention_cuda/libflashlab_cuda.so", done.stderr)

    def test_an_architecture_is_a_number(self):
        done = run_script("kernel_resources.py", "--arch", "9x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("9x: expected a number such as 80", done.stderr)


class Cases(unittest.TestCase):
    def test_the_rows_are_those_of_the_issue(self):
        a = [case for case in cases.all_cases("a")]
        self.assertEqual(len(a), 3 * 2 * 3 * 2)  # head_dim, mask, N, direction
        for case in a:
            self.assertEqual(case.batch * case.seqlen, 16384)
            self.assertEqual(case.num_heads * case.head_dim, 2048)
        self.assertEqual({case.seqlen for case in cases.all_cases("b")},
                         {8192, 16384, 32768, 65536})
        self.assertEqual({case.seqlen for case in cases.all_cases("c")},
                         {128, 256, 512, 1024, 2048, 4096})
        self.assertEqual({case.dtype for case in cases.all_cases("d")}, {"float"})

    def test_a_mark_names_entries_that_its_row_has(self):
        for mark in cases.MARKS:
            rows = [case for case in cases.all_cases("abcd")
                    if (case.group, case.direction) == (mark.group, mark.direction)]
            self.assertTrue(rows)
            for case in rows:
                labels = {entry.label for entry in case.entries}
                self.assertLessEqual(set(mark.ours), labels)
                self.assertTrue(mark.peer in labels or mark.at_most_ms)

    def test_flops_are_those_of_the_visible_pairs(self):
        case = cases.Case("a", "bf16", 2, 3, 4, 8, "none", "forward", ())
        self.assertEqual(case.flops(), 4 * 2 * 3 * 4 * 4 * 8)
        causal = case._replace(mask="causal", direction="backward")
        self.assertEqual(causal.flops(), 10 * 2 * 3 * (1 + 2 + 3 + 4) * 8)

    def test_queries_of_a_group_share_K_and_V(self):
        case = cases.Case("f", "bf16", 2, 8, 4096, 16, "none", "forward", (), 4, 3)
        self.assertEqual((case.q_shape, case.kv_shape), ((2, 8, 3, 16), (2, 4, 4096, 16)))
        self.assertEqual(case.flops(), 4 * 2 * 8 * 3 * 4096 * 16)
        self.assertEqual(case.kv_bytes(), 2 * 2 * 4 * 4096 * 16 * 2)
        self.assertEqual(case.bytes_read(), case.kv_bytes() + 2 * 8 * 3 * 16 * 2)
        self.assertEqual(case._replace(num_kv_heads=0, seqlen_q=0).bytes_read(),
                         3 * 2 * 8 * 4096 * 16 * 2)

    def test_with_few_queries_K_and_V_of_other_sets_fill_L2_several_times(self):
        l2_bytes = 60 << 20
        for case in cases.all_cases("af"):
            num_sets = cases.num_input_sets(case, l2_bytes)
            self.assertEqual(num_sets, 2)
            self.assertEqual(case.has_few_queries, case.group == "f")
            if case.has_few_queries:
                self.assertGreaterEqual((num_sets - 1) * case.kv_bytes(), 4 * l2_bytes)
                short = case._replace(batch=1, seqlen=8192)  # 32 MiB
                self.assertEqual(cases.num_input_sets(short, l2_bytes), 1 + 8)

    def test_quick_is_a_part_of_the_whole(self):
        quick, whole = (cases.all_cases("abcdf", quick) for quick in (True, False))
        self.assertLess(len(quick), len(whole))
        self.assertLessEqual(set(quick), set(whole))

    def test_a_side_that_is_not_there_is_in_no_case(self):
        whole = cases.all_cases("abcdf")
        present = [case for case in whole if "FA4" in {entry.side for entry in case.entries}]
        self.assertEqual({case.dtype for case in present}, {"bf16"})
        for case in cases.without("FA4", whole):
            self.assertEqual({entry.side for entry in case.entries}, {"ours", "torch"})

    def test_a_tiny_case_of_each_kind_remains(self):
        whole = cases.all_cases("abcdf")
        kinds = {(case.group, case.mask, case.direction) for case in whole}
        self.assertEqual({(case.group, case.mask, case.direction) for case in cases.tiny(whole)},
                         kinds)
        self.assertLess(len(cases.tiny(whole)), len(whole))


class Marks(unittest.TestCase):
    def test_a_ratio_is_the_peers_time_over_ours(self):
        found = row("a", "forward", flash2=2.0, torch_flash=3.0, torch_cudnn=1.0)
        self.assertEqual(cases.ratios(found), {"flash2": {"torch flash": 1.5, "torch cudnn": 0.5}})
        found = row("a", "forward", flash2=2.0, FA4=1.0, torch_flash=None)
        self.assertEqual(cases.ratios(found), {"flash2": {"FA4": 0.5}})

    def test_the_faster_of_two_variants_counts(self):
        judged, = cases.judge_all([row("a", "backward", bwd__onepass=4.0, bwd__twopass=3.0,
                                       torch_flash=2.7)])
        self.assertEqual(judged["ours"], "bwd-twopass")
        self.assertAlmostEqual(judged["value"], 0.9)
        self.assertTrue(judged["met"])

    def test_a_mark_below_its_ratio_is_missed(self):
        judged, = cases.judge_all([row("a", "forward", flash2=1.01, torch_flash=1.0)])
        self.assertFalse(judged["met"])

    def test_a_mark_without_times_is_missed(self):
        judged, = cases.judge_all([row("a", "forward", flash2=1.0, torch_flash=None)])
        self.assertEqual((judged["value"], judged["met"]), (None, False))
        judged, = cases.judge_all([row("a", "backward", torch_flash=1.0)])
        self.assertEqual((judged["ours"], judged["met"]), ("bwd-onepass or bwd-twopass", False))

    def test_a_mark_can_be_a_time(self):
        found = row("d", "forward", **{"flash2_tf32": 0.9, "torch_efficient": 1.0})
        limits = [judged for judged in cases.judge_all([found]) if "at_most_ms" in judged]
        self.assertEqual([(judged["value"], judged["met"]) for judged in limits], [(0.9, True)])

    def test_memory_beyond_O_and_lse_misses_the_mark(self):
        def judged(peak):
            return cases.judge_memory([{"shape": [1], "O_and_lse_bytes": 4096,
                                        "peak_extra_bytes": {"flash2": peak}}])[0]["met"]
        self.assertTrue(judged(4096 + 512))
        self.assertFalse(judged(8192))
        self.assertFalse(judged("out of memory"))

    def test_one_pass_and_two_passes_are_compared_where_both_ran(self):
        found = cases.onepass_against_twopass(
            [row("d", "backward", bwd__onepass=1.0, bwd__twopass=3.0, bwd__onepass_tf32=1.0)])
        self.assertEqual([(one["how"], one["ratio"]) for one in found], [("native", 3.0)])

    def test_a_summary_is_median_and_relative_quartile_distance(self):
        summary = cases.summary([1.0, 2.0, 3.0])
        self.assertEqual(summary, {"median_ms": 2.0, "spread": 0.5})
        self.assertEqual(cases.summary([5.0]), {"median_ms": 5.0, "spread": 0.0})


class FlashAttention4(unittest.TestCase):
    def load(self, text):
        """Loads a package with this text in its module, and no other packages."""
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.object(sys, "path", []), \
                unittest.mock.patch.dict(sys.modules):
            os.makedirs(os.path.join(folder, "flash_attn/cute"))
            with open(os.path.join(folder, "flash_attn/cute/interface.py"), "w",
                      encoding="utf-8") as file:
                file.write(text)
            return flash_attention_4.load(folder)

    def test_it_is_found_in_a_folder(self):
        self.assertEqual(self.load("answer = 42").answer, 42)

    def test_the_reason_why_it_cannot_be_imported_is_one_line(self):
        for text, reason in (("import no_such_compiler",
                              "ModuleNotFoundError: No module named 'no_such_compiler'"),
                             ("raise RuntimeError('first\\nsecond')", "RuntimeError: first")):
            with self.assertRaises(flash_attention_4.Missing) as raised:
                self.load(text)
            self.assertEqual(str(raised.exception), reason)


class Tables(unittest.TestCase):
    def printed(self, name, rows, **fields):
        """Returns the words of each line of a table of these rows."""
        for found in rows:
            found["flops"] = 1e12
        output = io.StringIO()
        with unittest.mock.patch.object(tables, "results", lambda: {"rows": rows} | fields), \
                contextlib.redirect_stdout(output):
            tables.TABLES[name]()
        return [line.split() for line in output.getvalue().replace(" / ", "/").splitlines()]

    def test_FA4_has_columns_if_it_was_measured(self):
        times = {"flash2": 2.0, "torch_flash": 3.0, "torch_cudnn": 1.0}
        header, line = self.printed("fa2", [row("a", "forward", **times, FA4=4.0)])
        self.assertEqual(header[3:], ["ours", "FA2", "cuDNN", "FA4", "FA2/ours", "cuDNN/ours",
                                      "FA4/ours"])
        self.assertEqual(line[4:], ["500", "333", "1000", "250", "1.50", "0.50", "2.00"])
        for without in ({}, {"FA4": None}):
            header, line = self.printed("fa2", [row("a", "forward", **times, **without)])
            self.assertEqual(header[3:], ["ours", "FA2", "cuDNN", "FA2/ours", "cuDNN/ours"])
            self.assertEqual(line[4:], ["500", "333", "1000", "1.50", "0.50"])

    def test_a_fixed_order_is_compared_with_the_default(self):
        times = {"bwd__onepass": 2.0, "bwd__onepass_ordered": 2.5, "FA4": 1.0}
        for theirs, text in ((4.0, "0.25"), (None, "-")):
            found = row("a", "backward", **times, FA4_ordered=theirs)
            _, line = self.printed("ordered", [found, row("a", "backward", bwd__onepass=1.0)])
            self.assertEqual(line[3:], ["400", "0.80", text])

    def test_training_is_compared_with_each_peer_that_was_measured(self):
        found = [row("g", "both", flash2__OURS=2.0, torch_cudnn=cudnn) for cudnn in (3.0, 12.0)]
        for one in found:
            entries = one["entries"]
            entries["flash2+bwd-onepass autograd"] = entries.pop("flash2-OURS")
        lines = self.printed("training", found)
        self.assertEqual(lines[1][3:], ["2.000", "-", "1.50", "-"])
        self.assertEqual(lines[-1], ["cuDNN/ours,", "geometric", "mean", "3.000"])

    def test_few_queries_are_compared_by_bytes_of_K_and_V(self):
        found = row("f", "forward", split__kv=0.5, torch_flash=1.0, FA4=None)
        found |= {"num_kv_heads": 8, "seqlen_k": 9}
        for ms, entry in ((0.5, found["entries"]["split-kv"]), (1.0, found["entries"]["torch flash"])):
            entry |= {"kv_bytes_per_s": 2e12 / ms, "share_of_plain_read": 0.5 / ms}
        lines = self.printed("few", [found], plain_read_bytes_per_s={"torch.sum": 4.1e12})
        self.assertEqual(lines[0][-2:], ["torch.sum", "4.10"])
        self.assertEqual(lines[2:], [
            ["split-kv", "1", "2", "8", "9", "0.5000", "4.00", "1.00", "1.00"],
            ["torch", "flash", "1", "2", "8", "9", "1.0000", "2.00", "0.50", "2.00"]])


if __name__ == "__main__":
    unittest.main()
