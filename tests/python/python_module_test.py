#!/usr/bin/env python3
"""Tests the Python module `flashlab` with the built command: python_module_test.py COMMAND SOURCE LIBRARY"""
import os
import sys

try:  # python3-minimal lacks some of these
    import json
    import pathlib
    import subprocess
    import tempfile
    import threading
    import timeit
    import unittest
except ImportError as error:
    print(f"test skipped: this Python has no {error.name}")
    sys.exit(0)

COMMAND, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
os.environ["FLASHLAB"] = str(COMMAND)
os.environ["FLASHLAB_CPU_LIBRARY"] = sys.argv[3]
sys.path.insert(0, str(SOURCE / "python"))

import flashlab  # noqa: E402  pylint: disable=wrong-import-position

try:
    import numpy
except ImportError:
    numpy = None
try:
    import sympy
except ImportError:
    sympy = None


def printed(*words):
    """What the command prints as JSON."""
    return json.loads(subprocess.run([COMMAND, *words], capture_output=True, check=True).stdout)


class Programs(unittest.TestCase):
    def test_a_run_is_what_the_command_prints(self):
        run = flashlab.program("softmax_online").run(n=6, cost={"LOAD": 3})
        self.assertEqual(run, printed("run", "softmax_online", "-D", "n=6", "--cost", "LOAD=3",
                                      "--json"))
        self.assertEqual(len(run.outputs["out"]), 6)

    def test_a_cost_has_formulas_numbers_and_their_domain(self):
        cost = flashlab.program("softmax_online").cost(n=10**9)
        self.assertEqual(cost.whole, printed("cost", "softmax_online", "-D", "n=1000000000", "--json"))
        self.assertEqual(cost["loads"], "2n")
        self.assertEqual(cost.value["loads"], 2 * 10**9)
        self.assertEqual(cost.domain, "n >= 1")

    def test_a_trace_shows_the_player_in_a_notebook(self):
        trace = flashlab.program("matmul_c00").trace(last=3)
        self.assertEqual(trace, printed("trace", "matmul_c00", "--to", "3", "--json", "-"))
        shown = trace._repr_html_()  # pylint: disable=protected-access
        self.assertTrue(shown.startswith("<iframe sandbox="))
        self.assertEqual(shown.count("<"), 2, "the page is escaped inside the frame")

    def test_a_sweep_is_rows(self):
        rows = flashlab.program("softmax_online").sweep(n=[4, 8])
        self.assertEqual([row["loads"] for row in rows], [8, 16])

    def test_a_file_is_read_here_and_inputs_are_lists(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "twice.toy"
            path.write_text(".input x[2]\n.output y[2]\nfor i in 0..2\n  LOAD x[i], R0\n"
                            "  ADD R0, R0, R1\n  STORE R1, y[i]\nend\n")
            run = flashlab.program(path).run(inputs={"x": (1.5, -float("inf"))})
            self.assertEqual(run.outputs["y"], [3, -float("inf")])

    @unittest.skipIf("FLASHLAB_SLOW" in os.environ, "a build for finding mistakes is slow")
    def test_a_small_run_takes_less_than_a_millisecond(self):
        program = flashlab.program("softmax_online")
        # The shortest of 300: other work of the computer is not included.
        took = min(timeit.repeat(lambda: program.run(n=8), number=1, repeat=300))
        self.assertLess(took, 1e-3)

    def test_every_bundled_program_is_listed(self):
        self.assertEqual(list(flashlab.programs()), [row["name"] for row in printed("programs", "--json")])


class Errors(unittest.TestCase):
    def test_a_wrong_argument_names_place_value_and_what_was_expected(self):
        with self.assertRaises(flashlab.RequestError) as caught:
            flashlab.program("softmax_online").run(n="many")
        self.assertEqual((caught.exception.place, caught.exception.value, caught.exception.expected),
                         ("/params/n", '"many"', "a whole number"))
        self.assertIsInstance(caught.exception, ValueError)

    def test_an_unknown_program_has_a_suggestion(self):
        with self.assertRaises(flashlab.RequestError) as caught:
            flashlab.program("softmax_onlin")
        self.assertEqual(caught.exception.suggestion, "softmax_online")

    def test_a_wrong_program_has_diagnostics_and_the_trace_so_far(self):
        program = flashlab.Program("bad.toy", ".input x[1]\nLOAD x[0], R0\nADD R0, R1, R2\n")
        with self.assertRaises(flashlab.ProgramError) as caught:
            program.trace()
        self.assertEqual(caught.exception.diagnostics[0]["line"], 3)
        self.assertEqual(len(caught.exception.answer["steps"]), 1)

    def test_a_limit_is_an_error_of_its_own_and_the_session_goes_on(self):
        with flashlab.Session(steps=100) as session:
            program = flashlab.program("softmax_online", session)
            with self.assertRaises(flashlab.LimitError):
                program.run(n=1000)
            self.assertEqual(program.run(n=2)["loads"], 4)

    def test_a_process_that_ended_is_started_again(self):
        with flashlab.Session() as session:
            session.call({"request": "isa"})
            session._process.kill()  # pylint: disable=protected-access
            session._process.wait()  # pylint: disable=protected-access
            self.assertTrue(session.call({"request": "isa"}))

    def test_a_missing_command_is_named(self):
        good, os.environ["FLASHLAB"] = os.environ["FLASHLAB"], "/nowhere/flashlab"
        try:
            with self.assertRaisesRegex(flashlab.CommandError, "/nowhere/flashlab"):
                flashlab.Session().call({"request": "isa"})
        finally:
            os.environ["FLASHLAB"] = good

    def test_threads_and_forks_get_their_own_answers(self):
        program = flashlab.program("softmax_online")
        loads = {}
        threads = [threading.Thread(target=lambda n=n: loads.update({n: program.run(n=n)["loads"]}))
                   for n in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(loads, {n: 2 * n for n in range(1, 9)})
        child = os.fork()
        if child == 0:
            os._exit(program.run(n=3)["loads"])
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 6)
        self.assertEqual(program.run(n=4)["loads"], 8)


class Grading(unittest.TestCase):
    def setUp(self):
        state = tempfile.TemporaryDirectory()
        self.addCleanup(state.cleanup)
        self.addCleanup(os.environ.pop, "XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = state.name  # where a class's seed is kept

    def test_a_secret_makes_the_seed(self):
        mistake = SOURCE / "exercises" / "08_online_softmax" / "wrong"
        mistake = sorted(mistake.glob("*.toy"))[0]
        with tempfile.TemporaryDirectory() as folder:
            secret = pathlib.Path(folder) / "secret.txt"
            with self.assertRaisesRegex(flashlab.CommandError, "is not a file"):
                flashlab.grade(mistake, 8, secret=secret)
            said = []
            for text in ("the first of two secrets", "the second of two secrets", "the first of two secrets\n"):
                secret.write_text(text, encoding="utf-8")
                said.append(flashlab.grade(mistake, 8, secret=secret)[0]["report"]["findings"])
        self.assertEqual(said[0], said[2])
        self.assertNotEqual(said[0], said[1])

    def test_a_class_is_a_row_for_each_student(self):
        exercise = SOURCE / "exercises" / "02_c00"
        wrong = sorted((exercise / "wrong").glob("*.toy"))[0]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "ada.toy").write_bytes((exercise / "solution.toy").read_bytes())
            (pathlib.Path(folder) / "ben.toy").write_bytes(wrong.read_bytes())
            rows = flashlab.grade(folder, 2, jobs=1)
        self.assertEqual([row["name"] for row in rows], ["ada", "ben"])
        self.assertEqual([row["passed"] for row in rows], [True, False])
        self.assertEqual(rows[0]["points"], rows[0]["max_points"])
        self.assertTrue(rows[1]["message"])

    def test_one_submission_is_one_row_as_of_a_class(self):
        folder = SOURCE / "docs" / "examples" / "class"
        of_class = {row["name"]: row for row in flashlab.grade(folder, 8, seed=7)}
        fatou = flashlab.grade(folder / "fatou.toy", 8, seed=7)[0]
        self.assertEqual(fatou["points"], of_class["fatou"]["points"])
        self.assertEqual(len(flashlab.grade(folder / "emil.toy", 8)), 1)

    def test_a_missing_submission_is_an_error(self):
        with self.assertRaisesRegex(flashlab.CommandError, "nowhere.toy"):
            flashlab.grade("nowhere.toy", 8)

    def test_an_unknown_exercise_is_an_error(self):
        with self.assertRaisesRegex(flashlab.CommandError, "800"):
            flashlab.grade(".", "800")


@unittest.skipIf(numpy is None, "this Python has no NumPy")
class NumPy(unittest.TestCase):
    def test_arrays_go_in_and_out(self):
        x = numpy.array([0.5, 2.0, -numpy.inf], dtype=numpy.float32)
        run = flashlab.program("softmax_online").run(n=numpy.int64(3), inputs={"x": x})
        exact = numpy.exp(x - x.max())
        numpy.testing.assert_allclose(run.arrays()["out"], exact / exact.sum(), rtol=1e-6)


@unittest.skipIf("FLASHLAB_SANITIZED" in os.environ, "Python cannot load a library with a sanitizer")
@unittest.skipIf(numpy is None, "this Python has no NumPy")
class Attention(unittest.TestCase):
    def setUp(self):
        random = numpy.random.default_rng(1)
        self.Q, self.K, self.V = (random.standard_normal(shape) for shape in
                                  ((2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 8)))

    @staticmethod
    def exact(Q, K, V, visible):
        """O and lse of the definition; each kv head serves two heads."""
        K, V = numpy.repeat(K, 2, axis=1), numpy.repeat(V, 2, axis=1)
        S = numpy.where(visible, Q @ K.swapaxes(2, 3) / numpy.sqrt(Q.shape[3]), -numpy.inf)
        lse = numpy.log(numpy.exp(S).sum(axis=3))
        return numpy.exp(S - lse[..., None]) @ V, lse

    def test_it_is_the_definition_for_each_type_and_mask(self):
        causal = numpy.tri(5, 7, dtype=bool)
        window = causal & ~numpy.tri(5, 7, -2, dtype=bool)
        for dtype, tolerance in ((numpy.float64, 1e-12), (numpy.float32, 1e-5), (numpy.float16, 1e-2)):
            Q, K, V = (array.astype(dtype) for array in (self.Q, self.K, self.V))
            for settings, visible in (({}, True), ({"mask": "causal"}, causal),
                                      ({"mask": "causal", "window": (1, None)}, window)):
                O, lse = flashlab.attention_forward(Q, K, V, **settings)
                expected = self.exact(*(array.astype(float) for array in (Q, K, V)), visible)
                numpy.testing.assert_allclose(O, expected[0], atol=tolerance)
                numpy.testing.assert_allclose(lse, expected[1], atol=tolerance)
                self.assertEqual(O.dtype, dtype)

    def test_arrays_are_read_and_written_where_they_are(self):
        tokens_first = [numpy.ascontiguousarray(array.swapaxes(1, 2)).swapaxes(1, 2)
                        for array in (self.Q, self.K, self.V)]
        out = numpy.zeros((2, 5, 4, 8)).swapaxes(1, 2)
        result = flashlab.attention(*tokens_first, out=out)
        self.assertIs(result, out)
        numpy.testing.assert_allclose(out, self.exact(self.Q, self.K, self.V, True)[0], atol=1e-12)

    def test_gradients_are_those_of_differences(self):
        O, lse = flashlab.attention_forward(self.Q, self.K, self.V, mask="causal")
        dO = numpy.cos(O)
        gradients = flashlab.attention_backward(self.Q, self.K, self.V, O, lse, dO, mask="causal")
        step = 1e-5
        for position, gradient in enumerate(gradients):
            sides = []
            for sign in (1, -1):
                arrays = [array.copy() for array in (self.Q, self.K, self.V)]
                arrays[position][1, 1, 3, 2] += sign * step
                sides.append((dO * flashlab.attention(*arrays, mask="causal")).sum())
            self.assertAlmostEqual((sides[0] - sides[1]) / (2 * step), gradient[1, 1, 3, 2], places=7)

    def test_wrong_arrays_are_named(self):
        for arguments, settings, why in (
                ((self.Q, self.K[:, :, :, :4], self.V), {}, "K"),
                ((self.Q, self.K, self.V.astype(numpy.float32)), {}, "V"),
                ((self.Q.astype(int), self.K, self.V), {}, "Q.*int64.*float32"),
                ((self.Q[0], self.K, self.V), {}, "Q.*3 axes.*4"),
                ((self.Q, self.K, self.V), {"mask": "diagonal"}, "mask.*diagonal.*causal"),
                ((self.Q, self.K, self.V), {"variant": "flash9"}, "flash9"),
                ((self.Q, self.K, self.V), {"threads": -1}, "num_threads.*-1"),
                ((self.Q, self.K, self.V), {"out": self.Q}, "O")):
            with self.assertRaisesRegex(ValueError, why):
                flashlab.attention(*arguments, **settings)
        with self.assertRaisesRegex(ValueError, "read-only"):
            out = numpy.zeros_like(self.Q)
            out.flags.writeable = False
            flashlab.attention(self.Q, self.K, self.V, out=out)


@unittest.skipIf(sympy is None, "this Python has no SymPy")
class SymPy(unittest.TestCase):
    def test_formulas_become_expressions_with_the_same_values(self):
        for name, sizes in {"flash2": {"n": 12, "d": 5, "B": 4, "Bd": 2, "nk": 9, "Bk": 3},
                            "spectrum": {"n": 12, "d": 5, "B": 4, "Bd": 2, "nk": 9, "Bk": 3, "s": 1},
                            "softmax_online": {"n": 7}}.items():
            cost = flashlab.program(name).cost(**sizes)
            for counter in ("loads", "cycles", "stores"):
                value = cost.sympy(counter).subs({symbol: sizes[str(symbol)] for symbol in
                                                  cost.sympy(counter).free_symbols})
                self.assertEqual(value, cost.value[counter], (name, counter))

    def test_a_counter_without_a_formula_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "flops has no formula"):
            flashlab.program("spectrum").cost(s=1).sympy("flops")


if __name__ == "__main__":
    for module, name in ((numpy, "NumPy"), (sympy, "SymPy")):
        if module is None:
            print(f"this Python has no {name}: its tests are skipped", file=sys.stderr)
    unittest.main(argv=sys.argv[:1], verbosity=1)
