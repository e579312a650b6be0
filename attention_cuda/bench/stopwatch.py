"""Times work on a GPU, and computes the minimum time that a measurement can have."""
import json
import os
import time

import torch

GPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../gpus/gpus.json")


class GpuStopwatch:
    """Times by CUDA events. Before each sample L2 is flushed (as triton's do_bench does), and the
    GPU sleeps until the processor has enqueued all of the work. So the time includes kernels and the
    gaps between them, but not the speed at which Python launches them."""

    FLUSH_BYTES = 256 << 20  # several times the L2 of any GPU so far
    MOST_SLEEP_CYCLES = 1 << 26

    def __init__(self):
        self._flushed = torch.empty(self.FLUSH_BYTES, dtype=torch.int8, device="cuda")
        self._sleep_cycles = 1 << 18
        self.late_samples = 0  # samples before which the processor was late

    def sample_ms(self, work):
        """Takes one sample. Repeats it with a longer sleep if the GPU had to wait for the processor."""
        while True:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self._flushed.zero_()
            torch.cuda._sleep(self._sleep_cycles)
            start.record()
            work()
            was_late = start.query()
            end.record()
            end.synchronize()
            if not was_late or self._sleep_cycles >= self.MOST_SLEEP_CYCLES:
                self.late_samples += was_late
                return start.elapsed_time(end)
            self._sleep_cycles *= 2


class ProcessorStopwatch:
    """For the emulated library, whose times are meaningless."""

    late_samples = 0

    @staticmethod
    def sample_ms(work):
        start = time.perf_counter()
        work()
        return 1e3 * (time.perf_counter() - start)


def gpu_rates(device_name):
    """Returns the rates of a GPU from gpus.json, or None: "NVIDIA H200" contains the word H200."""
    with open(GPUS, encoding="utf-8") as file:
        rows = json.load(file)["gpus"]
    words = set(device_name.replace("-", " ").split())
    found = [row for row in rows
             if set(row["name"].split()) <= words and not words & set(row["not_with"])]
    return found[0]["rates"] if found else None


def floor_ms(case, arithmetic, rates):
    """Returns the minimum time with these rates: all FLOPs at the peak rate, all inputs from DRAM."""
    if rates is None:
        return 0.0
    flops_per_s = rates["flops_per_s"][arithmetic]
    return 1e3 * max(case.flops() / flops_per_s, case.bytes_read() / rates["bytes_per_s"])


def product_rates(size=8192):
    """Measures the FLOP/s of torch.mm of size^3, by type."""
    found = {}
    for name, dtype, precision in (("bf16", torch.bfloat16, "highest"),
                                   ("float", torch.float32, "highest"),
                                   ("tf32", torch.float32, "high")):
        torch.set_float32_matmul_precision(precision)
        a, b = torch.randn(2, size, size, device="cuda").to(dtype)
        stopwatch = GpuStopwatch()
        samples = [stopwatch.sample_ms(lambda a=a, b=b: torch.mm(a, b)) for _ in range(4)]
        found[name] = 2 * size**3 / (1e-3 * min(samples))
    torch.set_float32_matmul_precision("highest")
    return found
