"""The Python module and the scripts that stand on it, over the emulated library: needs torch, no
GPU. The library is the only argument."""
import json
import os
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
        self.assertIn("key_lengths: torch.int32 [2]", self.refusal(
            Q, K, V, key_lengths=torch.tensor([1, 2], dtype=torch.int32)))

    def test_a_missing_library_is_said_to_be_missing(self):
        with self.assertRaisesRegex(RuntimeError, "nowhere.so.*FLASHLAB_CUDA_LIBRARY"):
            flashlab.Library("/nowhere.so")


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


class Comparison(unittest.TestCase):
    def test_a_wrong_result_is_seen_also_in_one_row(self):
        Q, K, V, dO = (torch.randn(1, 2, 300, 16) for _ in range(4))
        reference.SCORES_AT_ONCE = 2 * 300 * 70  # several blocks, the last a shorter one
        O, lse = reference.exact_forward(Q, K, V, "causal")
        double = [tensor.double().requires_grad_() for tensor in (Q, K, V)]
        exact = gradient_check.exact_attention(*double, "causal", None)
        exact.backward(dO.double())
        gradients = reference.exact_backward(Q, K, V, O, lse, dO, "causal")
        for ours, theirs in zip((O, *gradients), (exact, *(tensor.grad for tensor in double))):
            self.assertLess(gradient_check.relative_error(ours, theirs.detach()), 1e-5)
        self.assertIsNone(reference.check({"O": O}, {"O": O}, "bf16")[1])
        spoilt = O.clone()
        spoilt[0, 1, 250] *= 2
        self.assertIn("its worst row", reference.check({"O": spoilt}, {"O": O}, "bf16")[1])
        spoilt[0, 1, 250] = float("nan")
        self.assertIn("differs by inf", reference.check({"O": spoilt}, {"O": O}, "bf16")[1])

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
