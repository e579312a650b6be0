"""build_variant.py, on a project of two kernels that a C++ compiler takes: no nvcc and no GPU."""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(SOURCE, "attention_cuda/bench"))

import build_variant  # noqa: E402

KERNELS = os.path.join("attention_cuda", "kernels")
HEADER = os.path.join("attention_cuda", "device", "lag.cuh")
FILES = {
    os.path.join(KERNELS, "reads.cu"): f'#include "{HEADER}"\nextern "C" int reads() {{ return kLag; }}\n',
    os.path.join(KERNELS, "alone.cu"): 'extern "C" int alone() { return 1; }\n',
    HEADER: "constexpr int kLag = 8;\n"}


def write(folder, files):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)


class OtherKernels(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root, self.build, self.other = (os.path.join(scratch.name, name) for name in ("root", "build", "other"))
        self.out = os.path.join(scratch.name, "other.so")
        write(self.root, FILES)
        folder = os.path.join(self.build, "attention_cuda")
        write(folder, {"CMakeFiles/flashlab_cuda.dir/link.txt":
                       "c++ -shared -o libflashlab_cuda.so -Wl,--whole-archive libflashlab_attention_cuda.a "
                       "-Wl,--no-whole-archive"})
        rows = []
        for name in ("reads", "alone"):
            source = os.path.join(self.root, KERNELS, f"{name}.cu")
            command = f"c++ -fPIC -I{self.root} -x c++ -c {source} -o {name}.cu.o"
            subprocess.run(command.split(), cwd=folder, check=True)
            rows.append({"directory": folder, "file": source, "command": command})
        write(self.build, {"compile_commands.json": json.dumps(rows)})
        subprocess.run(["ar", "rc", "libflashlab_attention_cuda.a", "reads.cu.o", "alone.cu.o"], cwd=folder, check=True)

    def make(self, kernels=None):
        options = argparse.Namespace(folder=self.other, build=self.build, out=self.out, kernels=kernels, jobs=2)
        build_variant.build_variant(options, self.root)
        return ctypes.CDLL(self.out)

    def test_a_kernel_with_another_header_is_compiled_and_the_others_stay(self):
        write(self.other, {**FILES, HEADER: "constexpr int kLag = 32;\n"})
        self.assertEqual(build_variant.changed_kernels(self.root, self.other), [os.path.join(KERNELS, "reads.cu")])
        library = self.make()
        self.assertEqual((library.reads(), library.alone()), (32, 1))
        self.assertFalse(os.path.exists(os.path.join(self.build, "attention_cuda", "libflashlab_cuda.so")))

    def test_of_the_kernels_that_differ_one_may_be_chosen(self):
        other = {path: text.replace("return 1", "return 2") for path, text in FILES.items()}
        write(self.other, {**other, HEADER: "constexpr int kLag = 32;\n"})
        library = self.make(["alone"])
        self.assertEqual((library.reads(), library.alone()), (8, 2))
        self.assertIn("--kernels none: expected some of those that differ: alone, reads", self.refusal(["none"]))

    def refusal(self, kernels=None):
        with self.assertRaises(build_variant.Failure) as raised:
            self.make(kernels)
        return str(raised.exception)

    def test_the_same_kernels_are_no_other_build(self):
        write(self.other, FILES)
        self.assertIn("no kernel differs", self.refusal())

    def test_a_folder_without_kernels_is_named(self):
        write(self.other, {HEADER: ""})
        self.assertIn("other: no attention_cuda/kernels: expected the kernels of a commit", self.refusal())

    def test_a_kernel_that_the_build_has_not_is_named(self):
        write(self.other, {os.path.join(KERNELS, "new.cu"): ""})
        self.assertIn("kernels/new.cu: not in this build", self.refusal())

    def test_a_build_without_its_library_is_named_before_anything_is_compiled(self):
        write(self.other, {**FILES, HEADER: "constexpr int kOther = 1;\n"})
        os.remove(os.path.join(self.build, "attention_cuda", "libflashlab_attention_cuda.a"))
        self.assertIn("expected the target flashlab_cuda to be built", self.refusal())

    def test_a_kernel_that_does_not_compile_says_why(self):
        write(self.other, {**FILES, HEADER: "constexpr int kOther = 1;\n"})
        self.assertRegex(self.refusal(), "reads.cu does not compile:\n(.|\n)*kLag")


if __name__ == "__main__":
    unittest.main()
