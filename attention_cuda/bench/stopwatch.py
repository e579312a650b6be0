"""Times work on a GPU, and computes the minimum time that a measurement can have."""
import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../gpu/sheets"))

import gpu_sheets  # noqa: E402


class GpuStopwatch:
    """Times by CUDA events. Before each sample L2 is flushed (as triton's do_bench does), and the
    GPU sleeps until the processor has enqueued all of the work. So the time includes kernels and the
    gaps between them, but not the speed at which Python launches them.

    A flush by writing leaves modified lines in L2, which are written to DRAM while the work runs. If
    the work is limited by reading DRAM, this costs time, and L2 is flushed by reading instead."""

    FLUSH_BYTES = 256 << 20  # several times the L2 of any GPU so far
    MOST_SLEEP_CYCLES = 1 << 26

    def __init__(self):
        self._flushed = torch.zeros(self.FLUSH_BYTES // 4, device="cuda")
        self.l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        self._sleep_cycles = 1 << 18
        self.late_samples = 0  # samples before which the processor was late

    def sample_ms(self, work, flush_by_reading=False):
        """Takes one sample. Repeats it with a longer sleep if the GPU had to wait for the processor."""
        while True:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            if flush_by_reading:
                self._flushed.sum()
            else:
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

    late_samples = l2_bytes = 0

    @staticmethod
    def sample_ms(work, flush_by_reading=False):
        del flush_by_reading
        start = time.perf_counter()
        work()
        return 1e3 * (time.perf_counter() - start)


def gpu_rates(device_name):
    """Returns the rates of a GPU from its data sheet, or None."""
    sheet = gpu_sheets.sheet_of(device_name)
    return sheet["rates"] if sheet else None


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


def plain_read_rates(size=1 << 14):
    """Measures the bytes/s of reading a float matrix of size^2 once (1 GiB), by function. sum and amax
    write one number, mv writes `size` of them: only the matrix is counted."""
    matrix, vector = torch.randn(size, size, device="cuda"), torch.randn(size, device="cuda")
    reads = {"torch.sum": lambda: torch.sum(matrix), "torch.amax": lambda: torch.amax(matrix),
             "torch.mv": lambda: torch.mv(matrix, vector)}
    stopwatch, found = GpuStopwatch(), {}
    for name, read in reads.items():
        read()  # loads the kernel
        samples = [stopwatch.sample_ms(read, flush_by_reading=True) for _ in range(10)]
        found[name] = 4 * size**2 / (1e-3 * statistics.median(samples))
    return found
