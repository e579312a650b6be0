"""The Python module and the scripts that stand on it, over the emulated library: needs torch, no
GPU. The library is the only argument."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
for folder in ("attention_cuda/bench", "attention_cuda/python"):
    sys.path.insert(0, os.path.join(SOURCE, folder))
sys.dont_write_bytecode = True
try:
    import torch
except ImportError:
    print("test skipped: this Python has no torch")
    sys.exit(0)
import flashlab_attention as flashlab  # noqa: E402
import gradient_check  # noqa: E402
import reference  # noqa: E402

SIZES = ((4, 20), (2, 33), (2, 33), (4, 20))


def draw(dtype=torch.float32):
    """Q, K, V, dO with grouped heads."""
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(2, heads, seqlen, 32, generator=generator).to(dtype)
            for heads, seqlen in SIZES]


def run_script(path, *arguments):
    return subprocess.run([sys.executable, os.path.join(SOURCE, path), *arguments], text=True,
                          capture_output=True, check=False)


class Forward(unittest.TestCase):
    def test_values_are_those_of_double_within_the_types_rounding(self):
        for dtype, products, tolerance in ((torch.float32, "native", 1e-6),
                                           (torch.float32, "tf32x3", 1e-6),
                                           (torch.float32, "fp16x3", 1e-6),
                                           (torch.bfloat16, "native", 1e-2)):
            Q, K, V, _ = draw(dtype)
            for mask in flashlab.MASKS:
                for key_lengths in (None, [33, 5]):
                    O, lse = flashlab.attention_forward(Q, K, V, mask=mask, products=products,
                                                        key_lengths=key_lengths)
                    exact = gradient_check.exact_attention(Q.double(), K.double(), V.double(),
                                                           mask, key_lengths)
                    self.assertLess(gradient_check.relative_error(O, exact), tolerance)
                    self.assertEqual((lse.dtype, lse.shape), (torch.float32, O.shape[:3]))

    def test_key_lengths_may_be_a_list_or_a_tensor(self):
        Q, K, V, _ = draw()
        from_list, _ = flashlab.attention_forward(Q, K, V, key_lengths=[7, 33])
        from_tensor, _ = flashlab.attention_forward(Q, K, V, key_lengths=torch.tensor([7, 33]))
        self.assertTrue(torch.equal(from_list, from_tensor))

    def test_a_window_hides_what_a_mask_of_torch_hides(self):
        Q, K, V, _ = draw()
        rows, columns = torch.arange(20)[:, None], torch.arange(33)[None, :]
        for window, sees in ((4, columns >= rows - 4),
                             ((4, 2), (columns >= rows - 4) & (columns <= rows + 2)),
                             ((None, 0), columns <= rows)):
            O, _ = flashlab.attention_forward(Q, K, V, window=window)
            expected = torch.nn.functional.scaled_dot_product_attention(
                Q, K.repeat_interleave(2, 1), V.repeat_interleave(2, 1), attn_mask=sees)
            self.assertLess(gradient_check.relative_error(O, expected.double()), 1e-5)

    def test_packed_sequences_are_each_alone(self):
        Q, K, V, dO = (tensor[:1].clone().requires_grad_() for tensor in draw())
        bounds = {"cu_seqlens_q": [0, 8, 20], "cu_seqlens_k": [0, 3, 33]}
        as_tensors = {name: torch.tensor(numbers) for name, numbers in bounds.items()}
        O = flashlab.attention(Q, K, V, **bounds)
        self.assertTrue(torch.equal(O, flashlab.attention(Q, K, V, **as_tensors)))
        alone = flashlab.attention(Q[:, :, 8:], K[:, :, 3:], V[:, :, 3:])
        self.assertTrue(torch.allclose(O[:, :, 8:], alone, atol=1e-6))
        gradient, = torch.autograd.grad(O, K, dO, retain_graph=True)
        of_alone, = torch.autograd.grad(alone, K, dO[:, :, 8:])
        self.assertTrue(torch.allclose(gradient[:, :, 3:], of_alone[:, :, 3:], atol=1e-5))

    def test_an_offset_moves_the_queries_along_the_mask(self):
        Q, K, V, dO = (tensor.requires_grad_() for tensor in draw())
        moved = flashlab.attention(Q[:, :, 5:], K, V, mask="causal", query_offset=5)
        whole = flashlab.attention(Q, K, V, mask="causal")
        self.assertTrue(torch.allclose(moved, whole[:, :, 5:], atol=1e-6))
        for ours, expected in zip(torch.autograd.grad(moved, (Q, K), dO[:, :, 5:]),
                                  torch.autograd.grad(whole[:, :, 5:], (Q, K), dO[:, :, 5:])):
            self.assertTrue(torch.allclose(ours, expected, atol=1e-5))

    def test_a_state_takes_the_keys_in_parts(self):
        Q, K, V, _ = draw(torch.bfloat16)
        for mask in ("none", "causal"):
            O, lse = flashlab.attention_forward(Q, K, V, mask=mask)
            state = flashlab.attention_state(Q, K[:, :, :7], V[:, :, :7], mask=mask)
            state = flashlab.attention_state(Q, K[:, :, 7:20], V[:, :, 7:20], state=state, mask=mask,
                                             query_offset=-7)
            in_parts = flashlab.attention_forward(Q, K[:, :, 20:], V[:, :, 20:], state=state,
                                                  mask=mask, query_offset=-20)
            self.assertLess(gradient_check.relative_error(in_parts[0], O.double()), 1e-2)
            self.assertTrue(torch.allclose(in_parts[1], lse, atol=1e-5))

    def test_strides_are_taken_as_they_are(self):
        Q, K, V, _ = draw()
        expected, _ = flashlab.attention_forward(Q, K, V)
        turned = [tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in (Q, K, V)]
        O, _ = flashlab.attention_forward(*turned)
        self.assertEqual(O.stride(), turned[0].stride())
        self.assertTrue(torch.equal(O, expected))

    def test_a_scale_of_ones_own_replaces_the_default(self):
        Q, K, V, _ = draw()
        O, _ = flashlab.attention_forward(Q, K, V, softmax_scale=0.0)
        mean = V.mean(dim=2, keepdim=True).repeat_interleave(2, dim=1).expand_as(O)
        self.assertTrue(torch.allclose(O, mean, atol=1e-6))

    def test_a_call_can_run_again(self):
        Q, K, V, _ = draw()
        O, lse = torch.empty_like(Q), torch.empty(Q.shape[:3])
        call = flashlab.Call("forward", {"Q": Q, "K": K, "V": V, "O": O, "lse": lse},
                             variant="naive")
        self.assertGreater(call.workspace_bytes, 0)
        call()
        first = O.clone()
        V.mul_(2)
        call()
        self.assertTrue(torch.equal(O, 2 * first))


class Errors(unittest.TestCase):
    def refusal(self, *tensors, **options):
        with self.assertRaises(ValueError) as raised:
            flashlab.attention_forward(*tensors, **options)
        return str(raised.exception)

    def test_an_error_names_argument_value_and_what_was_expected(self):
        Q, K, V, _ = draw()
        self.assertIn("K: shape [2, 2, 33, 16]: expected Q's", self.refusal(Q, K[..., :16], V))
        self.assertIn("K: bf16: expected float", self.refusal(Q, K.bfloat16(), V))
        self.assertIn("Q: torch.float64: expected one of torch.float32", self.refusal(
            Q.double(), K, V))
        self.assertIn("mask: all: expected one of none, causal", self.refusal(Q, K, V, mask="all"))
        self.assertIn("variant: flash9: expected one of naive",
                      self.refusal(Q, K, V, variant="flash9"))
        self.assertIn("products", self.refusal(Q, K, V, products="fp8"))
        state = flashlab.State(*(torch.zeros(shape) for shape in ((2, 4, 20), (2, 4), Q.shape)))
        self.assertIn("l: shape [2, 4]: expected", self.refusal(
            Q.bfloat16(), K.bfloat16(), V.bfloat16(), state=state))
        self.assertIn("key_lengths: torch.int16 [2]", self.refusal(
            Q, K, V, key_lengths=torch.tensor([1, 2], dtype=torch.int16)))
        self.assertIn("softmax_scale: nan: expected a number", self.refusal(
            Q, K, V, softmax_scale=float("nan")))
        self.assertIn("window_left: -5: expected 0 keys or more", self.refusal(Q, K, V, window=-5))
        self.assertIn("kernel: flash9: expected a kernel of flash2", self.refusal(
            Q, K, V, variant="flash2", kernel="flash9"))
        self.assertIn("Q: shape [4, 20, 32]: expected 4 axes", self.refusal(Q[0], K, V))

    def test_lists_of_bounds_are_checked_before_anything_runs(self):
        Q, K, V = (tensor[:1] for tensor in draw()[:3])
        right = {"cu_seqlens_q": [0, 8, 20], "cu_seqlens_k": [0, 3, 33]}
        for name, length in (("cu_seqlens_q", 20), ("cu_seqlens_k", 33)):
            for wrong, found in (([1, 8, length], "entry 0 is 1"), ([-1, 8, length], "entry 0 is -1"),
                                 ([0, 9, 8, length], "entry 2 is 8, after 9"),
                                 ([0, 8, length - 1], f"the last entry is {length - 1}"),
                                 ([0, 8, length + 1], f"the last entry is {length + 1}")):
                bounds = {key: value if key == name or len(wrong) == 3 else [0, *value]
                          for key, value in {**right, name: wrong}.items()}
                self.assertIn(f"{name}: {found}: expected bounds that rise from 0 to",
                              self.refusal(Q, K, V, **bounds))
        self.assertIn("expected both, as lists or as tensors",
                      self.refusal(Q, K, V, cu_seqlens_q=[0, 20]))
        self.assertIn("expected both, as lists or as tensors", self.refusal(
            Q, K, V, cu_seqlens_q=[0, 20], cu_seqlens_k=torch.tensor([0, 33])))

    def test_an_error_is_a_value_error_under_compile_too(self):
        Q, K, V, _ = draw()
        compiled = torch.compile(flashlab.attention, fullgraph=True, backend="aot_eager")
        with self.assertRaisesRegex(ValueError, "K: shape .2, 2, 33, 16.: expected Q's"):
            compiled(Q, K[..., :16], V)

    def test_a_missing_library_is_said_to_be_missing(self):
        with self.assertRaisesRegex(RuntimeError, "nowhere.so.*FLASHLAB_CUDA_LIBRARY"):
            flashlab.Library("/nowhere.so")


class Kinds(unittest.TestCase):
    """What other people's kernels got wrong, of what a caller in Python sees."""

    def test_tokens_after_the_last_bound_see_nothing(self):
        Q, K, V, dO = (tensor[:1].clone().requires_grad_() for tensor in draw())
        bounds = [torch.tensor([0, 8, 15]), torch.tensor([0, 3, 30])]
        O, lse = flashlab.attention_forward(Q, K, V, cu_seqlens_q=bounds[0], cu_seqlens_k=bounds[1])
        self.assertEqual(float(O[:, :, 15:].abs().max()), 0)
        self.assertTrue((lse[:, :, 15:] == float("-inf")).all())
        self.assertTrue(lse[:, :, :15].isfinite().all())
        flashlab.attention(Q, K, V, cu_seqlens_q=bounds[0], cu_seqlens_k=bounds[1]).backward(dO)
        for tensor, end in ((Q, 15), (K, 30), (V, 30)):
            self.assertEqual(float(tensor.grad[:, :, end:].abs().max()), 0)
            self.assertGreater(float(tensor.grad[:, :, end - 1].abs().max()), 0)

    def test_numbers_may_be_int32_and_minus_one_is_no_limit(self):
        Q, K, V, _ = draw()
        expected, _ = flashlab.attention_forward(Q, K, V)
        for window in (-1, (-1, -1), [None, -1]):
            self.assertTrue(torch.equal(flashlab.attention(Q, K, V, window=window), expected))
        lengths = [7, 33]
        from_list = flashlab.attention(Q, K, V, key_lengths=lengths)
        of_int32 = torch.tensor(lengths, dtype=torch.int32)
        self.assertTrue(torch.equal(flashlab.attention(Q, K, V, key_lengths=of_int32), from_list))

    def test_autocast_casts_as_for_the_attention_of_pytorch(self):
        Q, K, V, _ = draw()
        Q.requires_grad_()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            ours = flashlab.attention(Q, K, V.bfloat16())
            theirs = torch.nn.functional.scaled_dot_product_attention(
                Q, K.repeat_interleave(2, 1), V.repeat_interleave(2, 1))
        self.assertEqual(ours.dtype, theirs.dtype)
        ours.sum().backward()
        self.assertEqual(Q.grad.dtype, torch.float32)

    def test_the_deterministic_flag_of_pytorch_is_heard(self):
        Q, K, V, _ = draw()  # float: bwd-onepass adds in the order of arrival
        Q.requires_grad_()
        torch.use_deterministic_algorithms(True)
        try:
            flashlab.attention(Q, K, V).sum().backward()  # bwd-twopass takes it
            with self.assertRaisesRegex(ValueError, "deterministic: true"):
                flashlab.attention(Q, K, V, backward_variant="bwd-onepass").sum().backward()
        finally:
            torch.use_deterministic_algorithms(False)

    def test_a_gradient_may_be_broadcast(self):
        Q, K, V, _ = (tensor.bfloat16().requires_grad_() for tensor in draw())
        ones = torch.ones_like(Q)
        for deterministic in (False, True):
            O = flashlab.attention(Q, K, V, deterministic=deterministic)
            of_sum = torch.autograd.grad(O.sum(), (Q, K, V), retain_graph=True)
            for ours, expected in zip(of_sum, torch.autograd.grad(O, (Q, K, V), ones)):
                self.assertTrue(torch.allclose(ours, expected, rtol=1e-2, atol=1e-2))

    def test_torch_func_gives_gradients_of_samples(self):
        Q, K, V, _ = draw()

        def loss(Q, K, V):
            return flashlab.attention(Q[None], K[None], V[None], mask="causal").square().sum()

        gradients = torch.func.grad(loss, argnums=(0, 1, 2))
        of_samples = torch.func.vmap(gradients)(Q, K, V)
        alone = [gradients(Q[k], K[k], V[k]) for k in range(len(Q))]
        for together, each in zip(of_samples, zip(*alone)):
            self.assertTrue(torch.allclose(together, torch.stack(each), atol=1e-5))
        shared = torch.func.vmap(lambda Q: flashlab.attention(
            Q[None], K[:1], V[:1], key_lengths=[5])[0])(Q)
        self.assertTrue(torch.equal(shared[1:], flashlab.attention(
            Q[1:], K[:1], V[:1], key_lengths=[5])))
        bounds = {"cu_seqlens_q": [0, 8, 20], "cu_seqlens_k": [0, 3, 33]}
        packed = torch.func.vmap(lambda *tensors: flashlab.attention(
            *(tensor[None] for tensor in tensors), **bounds)[0])(Q, K, V)
        self.assertTrue(torch.equal(packed[1:], flashlab.attention(Q[1:], K[1:], V[1:], **bounds)))

    def test_derivatives_that_do_not_exist_are_said_not_to(self):
        Q, K, V, _ = (tensor.requires_grad_() for tensor in draw())
        first, = torch.autograd.grad(flashlab.attention(Q, K, V).sum(), Q, create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "no second derivative"):
            first.sum().backward()
        with self.assertRaisesRegex(NotImplementedError, "no forward-mode derivative"):
            torch.func.jvp(lambda Q: flashlab.attention(Q, K, V), (Q,), (Q,))

    def test_without_gradients_no_result_wants_one(self):
        Q, K, V, _ = (tensor.requires_grad_() for tensor in draw())
        O, lse = flashlab.attention_forward(Q, K, V)
        self.assertFalse(O.requires_grad or lse.requires_grad)
        self.assertTrue(flashlab.attention(Q, K, V).requires_grad)

    def test_a_model_can_be_exported(self):
        class Model(torch.nn.Module):
            def forward(self, Q, K, V):
                return flashlab.attention(Q, K, V, mask="causal")

        inputs = draw()[:3]
        exported = torch.export.export(Model(), tuple(inputs)).module()
        self.assertTrue(torch.equal(exported(*inputs), Model()(*inputs)))

    def test_ctypes_does_what_the_operations_do(self):
        script = ("import torch, flashlab_attention as flashlab; torch.manual_seed(1); "
                  "Q, K, V = (torch.randn(1, 2, n, 32, requires_grad=True) for n in (20, 33, 33)); "
                  "O = flashlab.attention(Q, K, V, window=(4, 2), key_lengths=[30]); "
                  "O.sum().backward(); print(flashlab.implementation()); "
                  "print(*(float(t.double().sum()) for t in (O, Q.grad, K.grad, V.grad)))")
        said = {}
        for way in ("", "1"):
            result = subprocess.run(
                [sys.executable, "-c", script], text=True, capture_output=True, check=True,
                env={**os.environ, "FLASHLAB_CTYPES": way,
                     "PYTHONPATH": os.path.join(SOURCE, "attention_cuda/python")})
            said[way] = result.stdout.splitlines()
        self.assertEqual(said[""][0], "native")
        self.assertEqual(said["1"][0], "ctypes: FLASHLAB_CTYPES is set")
        self.assertEqual(said[""][1], said["1"][1])


class Scripts(unittest.TestCase):
    def test_pytorch_knows_the_operations_and_compiles_them_without_a_break(self):
        result = run_script("attention_cuda/python/torch_check.py")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, "compile +right")

    def test_gradients_are_right(self):
        result = run_script("attention_cuda/python/gradient_check.py")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_without_a_library_the_gradient_check_is_skipped(self):
        result = run_script("attention_cuda/python/gradient_check.py", "--library", "/nowhere.so")
        self.assertEqual(result.returncode, 0)
        self.assertIn("skipped: /nowhere.so", result.stdout)

    def test_the_benchmark_checks_times_and_writes_every_entry(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            result = run_script("attention_cuda/bench/beside_torch.py", "--out", path,
                                "--commit", "abc", "--rows", "a,b,d,f,g")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        for field in ("commit", "date", "command", "machine", "versions", "marks", "memory",
                      "onepass_against_twopass"):
            self.assertIn(field, found)
        self.assertEqual({row["group"] for row in found["rows"]}, {"a", "b", "d", "f", "g"})
        for row in found["rows"]:
            for entry in row["entries"].values():
                self.assertTrue("refused" in entry or len(entry["samples_ms"]) >= 4)
        self.assertEqual(found["left_out"], {"FA4": "the emulation has no GPU"})
        self.assertIn(f"FA4 is left out: {found['left_out']['FA4']}\n", result.stdout)
        few = next(row for row in found["rows"] if row["group"] == "f")
        self.assertGreater(few["entries"]["flash2"]["kv_bytes_per_s"], 0)
        forward = next(row for row in found["rows"] if row["dtype"] == "float")
        self.assertIn("torch math", forward["ratios"]["flash2"])

    def test_the_benchmark_refuses_bad_arguments(self):
        for argument, value, expected in (
                ("--directions", "sideways", "expected some of forward,backward,both"),
                ("--fa4", "/nowhere", "expected a folder with the package flash-attn-4")):
            result = run_script("attention_cuda/bench/beside_torch.py", argument, value)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"{argument} {value}: {expected}", result.stderr)

    def test_the_benchmark_says_what_is_missing(self):
        result = run_script("attention_cuda/bench/beside_torch.py", "--library", "/nowhere.so")
        self.assertEqual(result.returncode, 2)
        self.assertIn("expected a built libflashlab_cuda.so", result.stderr)


class Turns(unittest.TestCase):
    """builds_in_turns.py, on two builds that are the same."""

    def test_builds_and_kinds_of_data_take_turns(self):
        library = os.environ["FLASHLAB_CUDA_LIBRARY"]
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.json")
            run = run_script("attention_cuda/bench/builds_in_turns.py", f"old={library}", f"new={library}", "--passes", "forward",
                             "--head-dims", "64", "--data", "normal", "sharp", "--rounds", "3", "--out", out)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(out, encoding="utf-8") as file:
                rows = json.load(file)["rows"]
        self.assertEqual([(row["mask"], row["data"]) for row in rows],
                         [(mask, kind) for mask in ("none", "causal") for kind in ("normal", "sharp")])
        for normal, sharp in zip(rows[::2], rows[1::2]):
            for name in ("old", "new"):
                samples = zip(normal["samples_ms"][name], sharp["samples_ms"][name])
                self.assertEqual(sharp["of_first_kind"][name], statistics.median(first / own for first, own in samples))
                self.assertEqual(normal["of_first_kind"][name], 1)
            self.assertEqual(sharp["speed"]["old"], 1)
            self.assertEqual(sharp["error_of_O"]["old"], sharp["error_of_O"]["new"])
        for line in ("sharp data, bf16, head_dim 64: new over old: ", "head_dim 64: new over normal data: "):
            self.assertIn(line, run.stdout)


class Rivals(unittest.TestCase):
    """beside_rivals.py, on a machine that has one rival, PyTorch's FlashAttention on a processor."""

    def test_a_cell_is_the_mean_of_two_processes_and_a_missing_side_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.json")
            run = run_script("attention_cuda/bench/beside_rivals.py", "--head-dims", "64", "--data", "normal", "sharp",
                             "--rounds", "3", "--commit", "abc", "--out", out)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            with open(out, encoding="utf-8") as file:
                found = json.load(file)
        self.assertEqual(found["commit"], "abc")
        self.assertEqual([process["seed"] for process in found["processes"]], [0, 1])
        self.assertEqual(set(found["left_out"]), {"cuDNN", "FA3", "FA4"})
        for name, why in found["left_out"].items():
            self.assertEqual(run.stdout.count(f"{name} is left out: {why}\n"), 2)  # of each process
        self.assertEqual([(row["data"], row["pass"], row["mask"]) for row in found["rows"]],
                         [("normal", name, mask) for mask in ("none", "causal") for name in ("forward", "backward")] +
                         [("sharp", "forward", mask) for mask in ("none", "causal")])
        for row in found["rows"]:
            values = [process["sides"]["FA2"]["median_ms"] / process["sides"]["ours"]["median_ms"]
                      for process in row["processes"]]
            self.assertAlmostEqual(row["value"], statistics.mean(values))
            self.assertAlmostEqual(row["spread"], max(values) - min(values))
            for process in row["processes"]:
                for side in process["sides"].values():
                    self.assertEqual(side["median_ms"], statistics.median(side["samples_ms"]))

    def test_it_refuses_what_is_not_there(self):
        for flag, kind in (("--fa3", "file"), ("--fa4", "folder"), ("--cudnn", "folder")):
            run = run_script("attention_cuda/bench/beside_rivals.py", flag, "/nowhere")
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"{flag} /nowhere: expected a {kind}", run.stderr)
        for flag in ("--rounds", "--head-dims", "--lengths"):
            run = run_script("attention_cuda/bench/beside_rivals.py", flag, "0")
            self.assertIn(f"{flag} 0: expected 1 or more", run.stderr)
        run = run_script("attention_cuda/bench/beside_rivals.py", "--library", "/nowhere.so")
        self.assertEqual(run.returncode, 2)
        self.assertNotIn("Traceback", run.stderr)


class Comparison(unittest.TestCase):
    def test_a_wrong_result_is_seen_also_in_one_row(self):
        Q, K, V, dO = (torch.randn(1, 2, 300, 16) for _ in range(4))
        reference.SCORES_AT_ONCE = 2 * 300 * 70  # several blocks, the last a shorter one
        O, lse = reference.exact_forward(Q, K, V, "causal")
        double = [tensor.double().requires_grad_() for tensor in (Q, K, V)]
        exact = gradient_check.exact_attention(*double, "causal", None)
        exact.backward(dO.double())
        gradients, _ = reference.exact_backward(Q, K, V, O, lse, dO, "causal")
        for ours, theirs in zip((O, *gradients), (exact, *(tensor.grad for tensor in double))):
            self.assertLess(gradient_check.relative_error(ours, theirs.detach()), 1e-5)
        self.assertIsNone(reference.check({"O": O}, {"O": O}, "bf16")[1])
        spoilt = O.clone()
        spoilt[0, 1, 250] *= 2
        self.assertIn("its worst row", reference.check({"O": spoilt}, {"O": O}, "bf16")[1])
        spoilt[0, 1, 250] = float("nan")
        self.assertIn("differs by inf", reference.check({"O": spoilt}, {"O": O}, "bf16")[1])

    def test_roundings_of_what_cancels_are_not_wrong_and_a_forgotten_tile_is(self):
        Q, K, V, dO = (torch.randn(1, 1, 256, 16, dtype=torch.float64) for _ in range(4))
        K += 100  # the same for all keys, so it leaves dQ and multiplies the roundings of dS
        O, lse = (tensor.float() for tensor in reference.exact_forward(Q, K, V, "none"))
        P = (Q @ K.mT / 4).softmax(-1)
        dS = P * (dO @ V.mT - (dO * (P @ V)).sum(-1, keepdim=True)) / 4
        exact = {"dQ": (dS @ K).float()}
        _, of_terms = reference.exact_backward(Q, K, V, O, lse, dO, "none")
        rounded = {"dQ": (dS.bfloat16().double() @ K).float()}
        self.assertIn("differs", reference.check(rounded, exact, "bf16")[1])
        self.assertIsNone(reference.check(rounded, exact, "bf16", of_terms)[1])
        dS[..., 64:128] = 0
        forgotten = {"dQ": (dS @ K).float()}
        self.assertIn("differs", reference.check(forgotten, exact, "bf16", of_terms)[1])

    def test_large_scores_may_have_larger_errors_in_float(self):
        Q, K, V = torch.randn(1, 4, 300, 16), torch.randn(1, 2, 50, 16), torch.randn(1, 2, 50, 16)
        largest = reference.largest_score(Q, K)
        S = Q.reshape(1, 2, 600, 16) @ K.mT / 4
        self.assertAlmostEqual(largest, float(S.abs().max()), delta=1e-5)
        exact = reference.exact_forward(Q, K, V, "none")[0]
        off = {"O": exact * (1 + 5e-4)}
        self.assertIn("differs", reference.check(off, {"O": exact}, "float", largest=largest)[1])
        self.assertIsNone(reference.check(off, {"O": exact}, "float", largest=160)[1])
        self.assertIn("differs", reference.check({"O": exact * 1.03}, {"O": exact}, "bf16", largest=160)[1])

    def test_heads_of_a_group_read_the_same_K_and_V(self):
        Q, K, V = torch.randn(2, 6, 1, 16), torch.randn(2, 2, 50, 16), torch.randn(2, 2, 50, 16)
        grouped = reference.exact_forward(Q, K, V, "none")
        K, V = (tensor.repeat_interleave(3, dim=1) for tensor in (K, V))
        for found, expected in zip(grouped, reference.exact_forward(Q, K, V, "none")):
            self.assertEqual(found.shape, expected.shape)
            self.assertLess(gradient_check.relative_error(found, expected), 1e-5)


if __name__ == "__main__":
    os.environ["FLASHLAB_CUDA_LIBRARY"] = sys.argv.pop()
    unittest.main()
