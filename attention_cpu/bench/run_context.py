"""Describes the machine and software of a measurement."""
import datetime
import os
import platform
import re
import subprocess
import sys

import torch


def output_of(*command):
    """Returns the output of a command, or None if it does not exist or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def lscpu():
    """Returns the fields of lscpu by name."""
    lines = (output_of("lscpu") or "").splitlines()
    return {name.strip(): value.strip() for name, _, value in
            (line.partition(":") for line in lines)}


def commit():
    return output_of("git", "-C", os.path.dirname(os.path.abspath(__file__)), "rev-parse",
                     "--short", "HEAD")


def openmp_runtimes():
    """Returns the OpenMP libraries of this process. Two libraries mean two teams of threads."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        found = re.findall(r"[^/\s]*(?:gomp|iomp|libomp)[^/\s]*\.so[^/\s]*", maps.read())
    return sorted(set(found))


def run_context(module_path, commit_given):
    cpu = lscpu()
    environment = {name: value for name, value in os.environ.items()
                   if re.match(r"(OMP|GOMP|KMP|MKL|DNNL|ONEDNN|ATEN|FLASHLAB|MALLOC|CUDA|CUBLAS|"
                            r"CUDNN|NVIDIA|PYTORCH|TORCH)_", name)}
    return {
        "commit": commit_given or commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "command": " ".join([os.path.basename(sys.argv[0])] + sys.argv[1:]),
        "machine": {
            "model": cpu.get("Model name"),
            "cpus": len(os.sched_getaffinity(0)),
            "sockets": cpu.get("Socket(s)"),
            "threads_per_core": cpu.get("Thread(s) per core"),
            "caches": {name: cpu.get(name) for name in ("L1d cache", "L2 cache", "L3 cache")},
            "flags": cpu.get("Flags"),
            "load_average": list(os.getloadavg()),
        },
        "versions": {
            "torch": torch.__version__,
            "torch_config": torch.__config__.show().splitlines(),
            "torch_cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "python": platform.python_version(),
            "system": platform.platform(),
            "module": os.path.basename(module_path),
            "openmp_runtimes": openmp_runtimes(),
        },
        "environment": environment,
    }
