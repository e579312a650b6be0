"""flashlab_ranks.py over the emulated library and the library that has NCCL's functions: needs torch, no
GPU. The ranks are threads: what they ask of torch.distributed is answered here. Arguments: both
libraries."""
import ctypes
import os
import sys
import threading
import unittest
import unittest.mock

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(SOURCE, "attention_cuda/python"))
sys.dont_write_bytecode = True
try:
    import torch
    import torch.distributed
except ImportError:
    print("test skipped: this Python has no torch")
    sys.exit(0)
import flashlab_attention  # noqa: E402
import flashlab_ranks  # noqa: E402

NUM_RANKS = 2


class Threads:
    """Runs `work(rank)` on a thread for each rank. results, errors: by rank."""

    def __init__(self, work):
        self._own, self._barrier, self._said = threading.local(), threading.Barrier(NUM_RANKS), None
        self.results, self.errors = [None] * NUM_RANKS, [None] * NUM_RANKS
        threads = [threading.Thread(target=self._run, args=(work, rank)) for rank in range(NUM_RANKS)]
        with unittest.mock.patch.multiple(
                torch.distributed, get_rank=lambda group: self._own.rank,
                get_world_size=lambda group: NUM_RANKS, broadcast_object_list=self._broadcast):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def _run(self, work, rank):
        self._own.rank = rank
        try:
            self.results[rank] = work(rank)
        except (RuntimeError, ValueError) as error:
            self.errors[rank] = error

    def _broadcast(self, objects, src, group):
        del group
        if self._own.rank == src:
            self._said = list(objects)
        self._barrier.wait()
        objects[:] = self._said


def draw(dtype):
    """Q, K, V, dO with grouped heads."""
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(1, heads, 48, 32, generator=generator).to(dtype) for heads in (4, 2, 2, 4)]


def pass_of(ranks, dtype):
    """Returns this rank's O, dQ, dK, dV under a causal mask."""
    Q, K, V, dO = (ranks.shard(tensor) for tensor in draw(dtype))
    inputs = [tensor.requires_grad_() for tensor in (Q, K, V)]
    O = ranks.attention(*inputs, mask="causal")
    O.backward(dO)
    ranks.finish()
    return [O.detach(), *(tensor.grad for tensor in inputs)]


class Ranks(unittest.TestCase):
    def test_two_ranks_compute_what_one_gpu_does(self):
        Q, K, V, dO = draw(torch.float32)
        inputs = [tensor.requires_grad_() for tensor in (Q, K, V)]
        O = flashlab_attention.attention(*inputs, mask="causal")
        O.backward(dO)

        def work(_):
            ranks = flashlab_ranks.Ranks(timeout_s=20)
            expected = [O.detach(), *(tensor.grad for tensor in inputs)]
            return [(found - ranks.shard(whole)).abs().max().item()
                    for found, whole in zip(pass_of(ranks, torch.float32), expected)]

        threads = Threads(work)
        self.assertEqual(threads.errors, [None, None])
        self.assertLess(max(max(differences) for differences in threads.results), 1e-5)

    def test_kernels_that_can_be_stopped_compute_the_same(self):
        def work(_):
            usual = pass_of(flashlab_ranks.Ranks(timeout_s=20), torch.bfloat16)
            ranks = flashlab_ranks.Ranks(timeout_s=20, stop_kernels=True)
            stoppable = pass_of(ranks, torch.bfloat16)
            flag = ctypes.c_int32.from_address(ranks.stop_flag.value).value
            return flag, [torch.equal(a, b) for a, b in zip(usual, stoppable)]

        threads = Threads(work)
        self.assertEqual(threads.errors, [None, None])
        self.assertEqual(threads.results, [(0, [True] * 4)] * 2)

    def test_when_a_rank_does_nothing_the_other_one_stops_its_kernels(self):
        all_ranks = [None] * NUM_RANKS

        def work(rank):
            ranks = all_ranks[rank] = flashlab_ranks.Ranks(timeout_s=0.2, stop_kernels=True)
            shards = [ranks.shard(tensor) for tensor in draw(torch.bfloat16)]
            call = ranks._call("ring", *shards[:2])
            if rank == 0:
                O, lse = torch.empty_like(shards[0]), torch.empty(1, 4, 24)
                call("forward", dict(zip("QKV", shards), O=O, lse=lse))

        threads = Threads(work)
        self.assertIsInstance(threads.errors[0], RuntimeError)
        self.assertRegex(str(threads.errors[0]), "^rank 1: rank 0 waited 200 ms for it")
        self.assertIsNone(threads.errors[1])
        flags = [ctypes.c_int32.from_address(ranks.stop_flag.value).value for ranks in all_ranks]
        self.assertEqual(flags, [1, 0])

    def test_kernels_that_cannot_be_stopped_are_refused_on_all_ranks(self):
        threads = Threads(lambda _: pass_of(flashlab_ranks.Ranks(timeout_s=20, stop_kernels=True),
                                            torch.float32))
        for error in threads.errors:
            self.assertIsInstance(error, ValueError)
            self.assertIn("stop_flag: given: expected none for flash2_fp32", str(error))


if __name__ == "__main__":
    os.environ["FLASHLAB_NCCL_LIBRARY"] = sys.argv.pop()
    os.environ["FLASHLAB_CUDA_LIBRARY"] = sys.argv.pop()
    unittest.main()
