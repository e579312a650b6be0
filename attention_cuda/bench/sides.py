"""The sides of a comparison, on the same inputs: our variants, PyTorch's backends, FlashAttention-4."""
import contextlib
import json
import os
import sys
import warnings

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

import data_kinds
import flash_attention_4
import flashlab_attention as flashlab
from reference import exact_backward, exact_forward, largest_score
from run_context import output_of

DTYPES = {"bf16": torch.bfloat16, "float": torch.float32}
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}
RESULTS = {"forward": ("O",), "backward": ("dQ", "dK", "dV"), "both": ("O", "dQ", "dK", "dV")}


def where_and_how(script, commit):
    """Returns what the file of a measurement says of itself: GPU, versions, date and command."""
    is_gpu = torch.cuda.is_available()
    return {"commit": commit, "gpu": torch.cuda.get_device_name() if is_gpu else "emulated",
            "driver": output_of("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
            "torch": torch.__version__, "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(), "date": output_of("date", "-u", "+%F"),
            "command": " ".join([f"attention_cuda/bench/{os.path.basename(script)}", *sys.argv[1:]])}


def add_report_arguments(parser):
    """Adds what every measurement of one library takes."""
    parser.add_argument("--library", dest="shared_object", metavar="FILE", help="libflashlab_cuda.so")
    add_out_arguments(parser)


def add_out_arguments(parser):
    parser.add_argument("--commit", help="commit of the build, if this is not a git checkout")
    parser.add_argument("--out", metavar="FILE", help="writes the results there, as JSON")


def device_of(options):
    """Loads the library that the arguments name. Returns the device that it computes on."""
    if options.shared_object:
        os.environ["FLASHLAB_CUDA_LIBRARY"] = options.shared_object
    return flashlab.loaded_library().device_type


def write_report(options, script, content):
    """Writes the results of a script, and where and how they were measured, to the file of --out, if any."""
    if not options.out:
        return
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({**content, **where_and_how(script, options.commit)}, file, indent=1)
        file.write("\n")


class Refused(Exception):
    """This side does not support this case; contains the reason."""


class Inputs:
    """Q, K, V, dO, and the exact O and lse, which are inputs of all our backward passes."""

    def __init__(self, case, seed, device, kind="normal"):
        torch.manual_seed(seed)
        Q, K, V, dO = (torch.randn(shape, device=device)
                       for shape in (case.q_shape, case.kv_shape, case.kv_shape, case.q_shape))
        dtype = DTYPES[case.dtype]
        self.Q, self.K, self.V, self.dO = (
            tensor.to(dtype) for tensor in (*data_kinds.shaped(kind, Q, K, V), dO))
        self.largest_score = largest_score(self.Q, self.K)
        self.exact_O, self.lse = exact_forward(self.Q, self.K, self.V, case.mask)
        self.O = self.exact_O.to(dtype)

    def exact(self, case):
        """Returns the exact results by name, and norms of rows as exact_backward returns them."""
        if case.direction == "forward":
            return {"O": self.exact_O}, {}
        gradients, of_terms = exact_backward(self.Q, self.K, self.V, self.exact_O, self.lse, self.dO,
                                             case.mask)
        return dict(zip(RESULTS["both"], (self.exact_O, *gradients))), of_terms


class Ours:
    """A variant, or a pair of them, "flash2+bwd-onepass", with its own outputs."""

    def __init__(self, entry, case, inputs):
        self._inputs, self._calls = inputs, []
        self.workspace_bytes = 0
        self._outputs = {name: torch.empty_like(getattr(inputs, name.removeprefix("d")))
                         for name in RESULTS[case.direction]}
        if "O" in self._outputs:
            self._outputs["lse"] = torch.empty_like(inputs.lse)
        self._case = case
        options = {"mask": case.mask, "products": "native"}
        if entry.how == "ordered":
            options["deterministic"] = True
        else:
            options["products"] = entry.how
        for variant in entry.name.split("+"):
            self._add(variant, options)

    def _add(self, variant, options):
        wanted = (self._case.dtype, options["products"])
        kernels = [kernel for kernel in flashlab.loaded_library().kernels()
                   if kernel.variant == variant and wanted in kernel.arithmetic]
        if not kernels:
            raise Refused("not in this library")
        tensors = vars(self._inputs) | self._outputs
        try:
            call = flashlab.Call(kernels[0].direction, tensors, variant=variant, **options)
        except ValueError as error:
            raise Refused(str(error)) from None
        self._calls.append(call)
        self.workspace_bytes += call.workspace_bytes

    def poison(self):
        for tensor in self._outputs.values():
            tensor.fill_(float("nan"))

    def first_run(self):
        self()

    def __call__(self):
        for call in self._calls:
            call()

    def results(self):
        return {name: self._outputs[name] for name in RESULTS[self._case.direction]}


class InTraining:
    """Our operations as PyTorch registers them, whose gradients torch.autograd asks for."""

    def __init__(self, entry, case, inputs):
        self._variants = dict(zip(("forward_variant", "backward_variant"), entry.name.split("+")))
        self._mask, self._dO, self._results = case.mask, inputs.dO, ()
        self._tensors = [tensor.detach().requires_grad_()
                         for tensor in (inputs.Q, inputs.K, inputs.V)]

    def poison(self):
        """Does nothing: torch allocates the outputs."""

    def first_run(self):
        self()

    def __call__(self):
        O = flashlab.attention(*self._tensors, mask=self._mask, **self._variants)
        self._results = (O.detach(), *torch.autograd.grad(O, self._tensors, self._dO))

    def results(self):
        return dict(zip(RESULTS["both"], self._results))


class Peer:
    """A backend of scaled_dot_product_attention. Its backward pass is autograd.grad of O; the forward
    pass for this O is not timed."""

    def __init__(self, entry, case, inputs):
        self._entry, self._case, self._inputs = entry, case, inputs
        needs_graph = case.direction != "forward"
        self._tensors = [tensor.detach().requires_grad_(needs_graph)
                         for tensor in (inputs.Q, inputs.K, inputs.V)]
        self._options = {"is_causal": case.mask == "causal"}
        if case.q_shape[1] != case.kv_shape[1]:
            self._options["enable_gqa"] = True
        self._O = None
        if case.direction == "backward":
            with self._refusals():
                self._O = self._forward()
        self._results = ()

    def poison(self):
        """Does nothing: torch allocates its outputs."""

    def __call__(self):
        direction = self._case.direction
        O = self._O if direction == "backward" else self._forward()
        gradients = ()
        if direction != "forward":
            with self._precision():
                gradients = torch.autograd.grad(O, self._tensors, self._inputs.dO,
                                                retain_graph=direction == "backward")
        self._results = gradients if direction == "backward" else (O.detach(), *gradients)

    def first_run(self):
        with self._refusals():
            self()

    def results(self):
        return dict(zip(RESULTS[self._case.direction], self._results))

    def _forward(self):
        with sdpa_kernel(BACKENDS[self._entry.name]), self._precision():
            return scaled_dot_product_attention(*self._tensors, **self._options)

    @contextlib.contextmanager
    def _precision(self):
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high" if self._entry.how == "tf32" else "highest")
        yield
        torch.set_float32_matmul_precision(before)

    @contextlib.contextmanager
    def _refusals(self):
        """Collects torch's warnings: it warns about what a backend lacks, and then raises."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            except RuntimeError as error:
                said = [str(warning.message).split(" (Triggered")[0] for warning in caught]
                raise Refused("; ".join(said + [str(error).splitlines()[0]])) from None


class FlashAttention4:
    """FlashAttention-4, on contiguous copies in its layout, [batch, seqlen, num_heads, head_dim]. Its
    backward pass uses O and lse of its own forward pass, which is not timed then."""

    def __init__(self, entry, case, inputs):
        self._package, self._case = flash_attention_4.load(), case
        self._options = {"causal": case.mask == "causal"}
        self._splits = {"num_splits": 0} if entry.how == "splits" else {}  # 0: it chooses
        self._order = {"deterministic": True} if entry.how == "ordered" else {}
        self._Q, self._K, self._V, self._dO = (
            tensor.transpose(1, 2).contiguous()
            for tensor in (inputs.Q, inputs.K, inputs.V, inputs.dO))
        self._O_and_lse = self._results = ()
        if case.direction == "backward":
            with self._refusals():
                self._O_and_lse = self._forward()

    def poison(self):
        """Does nothing: FlashAttention-4 allocates its outputs."""

    def __call__(self):
        direction = self._case.direction
        O, lse = self._O_and_lse if direction == "backward" else self._forward()
        gradients = self._backward(O, lse) if direction != "forward" else ()
        self._results = gradients if direction == "backward" else (O, *gradients)

    def first_run(self):
        with self._refusals():
            self()

    def results(self):
        return {name: tensor.transpose(1, 2)
                for name, tensor in zip(RESULTS[self._case.direction], self._results)}

    def _forward(self):
        return self._package._flash_attn_fwd(self._Q, self._K, self._V, return_lse=True,
                                             **self._options, **self._splits)[:2]

    def _backward(self, O, lse):
        return self._package._flash_attn_bwd(self._Q, self._K, self._V, O, self._dO, lse,
                                             **self._options, **self._order)[:3]

    @contextlib.contextmanager
    def _refusals(self):
        """FlashAttention-4 asserts what it supports. Any other error counts as a wrong result."""
        try:
            yield
        except (AssertionError, NotImplementedError) as error:
            raise Refused(flash_attention_4.first_line(error)) from None
        except Exception as error:  # those of its compiler have types of their own
            raise RuntimeError(flash_attention_4.first_line(error)) from error


SIDES = {"ours": Ours, "torch": Peer, "FA4": FlashAttention4}


def make_side(entry, case, inputs):
    side = InTraining if entry.how == "autograd" else SIDES[entry.side]
    return side(entry, case, inputs)


def peak_extra_bytes(entry, case):
    """Returns the peak bytes of torch's allocator during a forward pass, besides Q, K and V."""
    Q, K, V = (torch.randn(case.batch, 1, case.seqlen, case.head_dim, device="cuda")
               for _ in range(3))

    def run():
        if entry.side == "ours":
            return flashlab.attention_forward(Q, K, V, variant=entry.name)
        with sdpa_kernel(BACKENDS[entry.name]):
            return scaled_dot_product_attention(Q, K, V)

    run()  # after this, libraries have allocated their permanent memory
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    results = run()
    torch.cuda.synchronize()
    del results
    return torch.cuda.max_memory_allocated() - before
