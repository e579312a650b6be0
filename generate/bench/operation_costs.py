#!/usr/bin/env python3
"""Counts the instructions of each operation on one number, in nvcc's machine code for compute capability 9.0.

    generate/bench/operation_costs.py --out docs/results/operation_costs.json

Each operation becomes a kernel that does it to 16 numbers of a thread; a kernel that copies them is subtracted.
Counted is what a usual number executes: the way around an out-of-line part (a quotient of subnormal numbers, say) and
not that part. `specials` are instructions of the unit for special functions (MUFU), `instructions` all others.
Needs nvcc, and no GPU.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HEADERS = ["toy_numbers", "toy_operations", "toy_tiles", "tensor_products", "fragments"]
# By the operation's name in generated code (toymachine/language/operations.hpp). x and y are the arguments.
OPERATIONS = {
    "+": "add(x, y)",
    "-": "subtract(x, y)",
    "*": "multiply(x, y)",
    "/": "divide(x, y)",
    "maximum": "Larger()(x, y)",
    "minimum": "Smaller()(x, y)",
    "absolute": "Absolute()(x)",
    "exponential": "power_of_two(multiply(x, kLog2E))",  # of fragments
    "logarithm": "Logarithm()(x)",
    "hyperbolic_tangent": "HyperbolicTangent()(x)",
    "reciprocal_root": "ReciprocalRoot()(x)",
    "reciprocal": "Reciprocal()(x)",
    "binary_exponential": "BinaryExponential()(x)",
    "binary_logarithm": "BinaryLogarithm()(x)",
    "less": "Less()(x, y)",
    "selected": "z != 0 ? x : y",
    "row_number": "static_cast<float>(first + __float_as_int(x))",
    "column_number": "static_cast<float>(first + __float_as_int(x))",
    "exponential by series": "exponential_of(x)",  # at level 0
    "to bf16": "__int_as_float(rounded_to(x, Bf16()).bits)",
    "to fp16": "__int_as_float(rounded_to(x, Fp16()).bits)",
    "from bf16": "value_of(Bf16{static_cast<unsigned short>(__float_as_int(x))})",
    "from fp16": "value_of(Fp16{static_cast<unsigned short>(__float_as_int(x))})",
}
NUMBERS = 16
# Opcodes: the lowest 12 bits of an instruction, which has 16 bytes.
SPECIAL, CALL, EXIT, PADDING, CONVERSION = 0x308, 0x944, 0x94D, 0x918, 0x312
BLOCK_ENDS = (0x947, 0x941, 0x950, CALL, EXIT, 0x945)  # branches, and where ways meet


def source():
    text = ""
    for name in HEADERS:
        with open(os.path.join(HERE, "..", "source", "device", name + ".cuh")) as file:
            text += file.read()
    for name, expression in [("copy", "x"), *OPERATIONS.items()]:
        text += f"""
extern "C" __global__ void k{list(OPERATIONS).index(name) if name in OPERATIONS else "_copy"}(
    const float* from, float* to, long long first) {{
  using namespace toy;
  float a[{NUMBERS}], result[{NUMBERS}];
#pragma unroll
  for (int i = 0; i < {NUMBERS}; ++i) a[i] = from[threadIdx.x + 32 * i];
#pragma unroll
  for (int i = 0; i < {NUMBERS}; ++i) {{
    const float x = a[i], y = a[(i + 1) % {NUMBERS}], z = a[(i + 2) % {NUMBERS}];
    result[i] = {expression};
  }}
#pragma unroll
  for (int i = 0; i < {NUMBERS}; ++i) to[threadIdx.x + 32 * i] = result[i];
}}
"""
    return text


def code_of_kernels(path):
    """(name, opcodes) of each kernel of an ELF file."""
    with open(path, "rb") as file:
        data = file.read()
    table, = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
    for section in sections:
        start = sections[names][4] + section[0]
        name = data[start:data.index(b"\0", start)].decode()
        if name.startswith(".text.k"):
            text = data[section[4]:section[4] + section[5]]
            yield name[6:], [struct.unpack_from("<Q", text, at)[0] & 0xFFF for at in range(0, len(text), 16)]


def executed(opcodes):
    """Those of a usual number: to the first EXIT, without blocks that call."""
    opcodes = opcodes[:opcodes.index(EXIT) + 1]
    kept, block = [], []
    for opcode in opcodes:
        block.append(opcode)
        if opcode in BLOCK_ENDS:
            kept += [] if CALL in block else block
            block = []
    return [opcode for opcode in kept + block if opcode != PADDING]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--nvcc", default="nvcc")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "operations.cu")
        with open(path, "w") as file:
            file.write(source())
        cubin = os.path.join(folder, "operations.cubin")
        command = [args.nvcc, "-arch=sm_90", "-std=c++17", "-w", "-cubin", "-o", cubin, path]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            sys.exit(f"{args.nvcc}: {error.strerror}: expected NVIDIA's compiler (--nvcc FILE)")
        if done.returncode != 0:
            sys.exit(f"{args.nvcc}: {done.stderr}")
        kernels = {name: executed(opcodes) for name, opcodes in code_of_kernels(cubin)}
    version = subprocess.run([args.nvcc, "--version"], capture_output=True, text=True).stdout
    copy = kernels["k_copy"]
    costs = {}
    for index, name in enumerate(OPERATIONS):
        code = kernels[f"k{index}"]
        specials = sum(opcode in (SPECIAL, CONVERSION) for opcode in code)
        costs[name] = {"instructions": round((len(code) - len(copy) - specials) / NUMBERS, 1),
                       "specials": round(specials / NUMBERS, 1)}
    with open(args.out, "w") as file:
        json.dump({"format": "flashlab-operation-costs", "version": 1, "architecture": "sm_90",
                   "nvcc": version.split("release ")[1].split(",")[0],
                   "command": "generate/bench/operation_costs.py --out docs/results/operation_costs.json",
                   "costs": costs}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
