"""The library of GPU kernels, through ctypes: its structs, its kernels, and a call with its tensors.

flashlab_attention has the functions for tensors. This module is what they stand on, and their way where
PyTorch is older than its stable ABI.
"""
import contextlib
import ctypes
import functools
import importlib.metadata
import os
import typing

try:
    import torch
except ModuleNotFoundError:
    raise ModuleNotFoundError("flashlab_attention needs PyTorch 2.4 or later: pip install torch",
                              name="torch") from None

DTYPES = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}
MASKS = {"none": 0, "causal": 1, "causal-bottom-right": 2}
PRODUCTS = {"native": 0, "tf32": 1, "tf32x3": 2, "fp16x3": 3}
OK, ARGUMENT = 0, 1  # flashlab_status
MAX_AXES = 4
LIBRARY = "libflashlab_cuda.so"


class TensorStruct(ctypes.Structure):
    """flashlab_tensor"""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * MAX_AXES), ("strides", ctypes.c_int64 * MAX_AXES)]


class ForwardStruct(ctypes.Structure):
    """flashlab_forward_tensors"""
    _fields_ = [(name, TensorStruct) for name in ("Q", "K", "V", "O", "lse")]


class BackwardStruct(ctypes.Structure):
    """flashlab_backward_tensors"""
    _fields_ = [(name, TensorStruct)
                for name in ("Q", "K", "V", "O", "lse", "dO", "dQ", "dK", "dV")]


class StateStruct(ctypes.Structure):
    """flashlab_state"""
    _fields_ = [("m", TensorStruct), ("l", TensorStruct), ("O", TensorStruct)]


class OptionsStruct(ctypes.Structure):
    """flashlab_options"""
    _fields_ = [("struct_bytes", ctypes.c_uint64), ("variant", ctypes.c_char_p),
                ("kernel", ctypes.c_char_p), ("mask", ctypes.c_int32),
                ("products", ctypes.c_int32), ("softmax_scale", ctypes.c_double),
                ("has_softmax_scale", ctypes.c_int32), ("num_splits", ctypes.c_int32),
                ("key_lengths", ctypes.c_void_p), ("num_key_lengths", ctypes.c_int64),
                ("device_key_lengths", ctypes.c_void_p), ("stream", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_uint64),
                ("round_statistics", ctypes.c_int32), ("deterministic", ctypes.c_int32),
                ("window_left", ctypes.c_int64), ("window_right", ctypes.c_int64),
                ("has_window_left", ctypes.c_int32), ("has_window_right", ctypes.c_int32),
                ("cu_seqlens_q", ctypes.c_void_p), ("cu_seqlens_k", ctypes.c_void_p),
                ("device_cu_seqlens_q", ctypes.c_void_p),
                ("device_cu_seqlens_k", ctypes.c_void_p), ("num_sequences", ctypes.c_int64),
                ("query_offset", ctypes.c_int64),
                ("state_in", ctypes.c_void_p), ("state_out", ctypes.c_void_p),
                ("stop_flag", ctypes.c_void_p), ("memory_is_checked", ctypes.c_int32)]


class KernelStruct(ctypes.Structure):
    """flashlab_kernel"""
    _fields_ = [(name, ctypes.c_char_p)
                for name in ("stem", "variant", "pass", "arithmetic", "source")]
    _fields_ += [("min_compute_capability", ctypes.c_int32)]


class State(typing.NamedTuple):
    """What flash2 knows after some of the keys; all float32."""
    m: torch.Tensor  # [batch, num_heads, seqlen_q]: near the largest S log2(e), or -inf
    l: torch.Tensor  # [batch, num_heads, seqlen_q]: the sum of 2^(S log2(e) - m)
    O: torch.Tensor  # [batch, num_heads, seqlen_q, head_dim]: the sum of 2^(S log2(e) - m) V


class Kernel(typing.NamedTuple):
    """One kernel of a library; `arithmetic` contains pairs like ("bf16", "native")."""
    stem: str
    variant: str
    direction: str
    arithmetic: tuple
    source: str
    min_compute_capability: int


class Library:
    """A built libflashlab_cuda.so."""

    def __init__(self, path):
        try:
            self.functions = ctypes.CDLL(path)
        except OSError as error:
            raise RuntimeError(f"{error}: expected a built libflashlab_cuda.so; "
                               "FLASHLAB_CUDA_LIBRARY says where it lies") from None
        self.path = path
        self.functions.flashlab_last_error.restype = ctypes.c_char_p
        self.functions.flashlab_version.restype = ctypes.c_char_p
        # The emulation needs no GPU and works on CPU tensors.
        self.is_emulated = hasattr(self.functions, "flashlab_emulation_take_host_memory")
        self.device_type = "cpu" if self.is_emulated else "cuda"
        if self.is_emulated:
            self.functions.flashlab_emulation_take_host_memory(1)

    def register_torch_operations(self):
        """Implements the operations of flashlab_attention. Returns nothing, or what is missing."""
        function = self.functions.flashlab_register_torch_operations
        function.restype = ctypes.c_char_p
        why = function(b"CPU" if self.is_emulated else b"CUDA")
        return why and why.decode()

    def version(self):
        return self.functions.flashlab_version().decode()

    def kernels(self):
        """Returns every kernel, in the order of the course."""
        return [self._kernel(index) for index in range(self.functions.flashlab_kernel_count())]

    def _kernel(self, index):
        row = KernelStruct()
        self.check(self.functions.flashlab_get_kernel(index, ctypes.byref(row)))
        stem, variant, direction, arithmetic, source = (
            getattr(row, name).decode() for name, _ in KernelStruct._fields_[:5])
        pairs = tuple(tuple(words.split()) for words in arithmetic.split(", "))
        return Kernel(stem, variant, direction, pairs, source, row.min_compute_capability)

    def check(self, status):
        """Raises the last error if this flashlab_status is not OK."""
        if status != OK:
            error = ValueError if status == ARGUMENT else RuntimeError
            raise error(self.functions.flashlab_last_error().decode())


def default_library_path():
    named = os.environ.get("FLASHLAB_CUDA_LIBRARY")
    here = os.path.dirname(os.path.abspath(__file__))
    built = os.path.normpath(os.path.join(here, "../../build/attention_cuda", LIBRARY))
    return named or (built if os.path.exists(built) else _installed_library() or built)


def _installed_library():
    """Returns the library that pip installed with this module, for any installation scheme."""
    try:
        files = importlib.metadata.files("flashlab-attention") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((os.path.realpath(file.locate()) for file in files if file.name == LIBRARY), None)


@functools.cache
def loaded_library():
    """Returns the library that the functions below call."""
    found = Library(default_library_path())
    if not found.is_emulated and not torch.cuda.is_available():
        raise RuntimeError("torch.cuda.is_available() is False: expected an NVIDIA GPU, and a "
                           "PyTorch that sees it")
    return found


def number_of(argument, value, names):
    if value not in names:
        raise ValueError(f"{argument}: {value}: expected one of {', '.join(map(str, names))}")
    return names[value]


def tensor_struct(name, tensor, device):
    if tensor.device != device:
        raise ValueError(f"{name}: on {tensor.device}: expected {device}, as Q")
    if tensor.dim() > MAX_AXES:
        raise ValueError(f"{name}: {tensor.dim()} axes: expected at most {MAX_AXES}")
    struct = TensorStruct(tensor.data_ptr(), number_of(name, tensor.dtype, DTYPES), tensor.dim())
    struct.shape[:tensor.dim()], struct.strides[:tensor.dim()] = tensor.shape, tensor.stride()
    return struct


def window_of(window):
    """Returns (left, right) of None, a number (left) or such a pair. None and -1: no limit."""
    pair = window if isinstance(window, (tuple, list)) else (window, None)
    if len(pair) != 2 or not all(keys is None or isinstance(keys, int) for keys in pair):
        raise ValueError(f"window: {window}: expected the keys before a query's position, or "
                         "(keys before, keys after), with None or -1 for no limit")
    return tuple(None if keys == -1 else keys for keys in pair)


def device_numbers(numbers):
    """Returns numbers on a device as int64, which the kernels read."""
    return numbers.to(torch.int64) if numbers.dtype == torch.int32 else numbers


class Call:
    """A pass with its tensors and options. It can run repeatedly: call(). Keeps its tensors and a
    workspace of `workspace_bytes` alive. library: a Library, if not the loaded one."""

    def __init__(self, direction, tensors, *, variant, mask="none", softmax_scale=None,
                 key_lengths=None, window=None, cu_seqlens_q=None, cu_seqlens_k=None,
                 products="native", kernel="", num_splits=0, query_offset=0,
                 deterministic=False, round_statistics=False, state_in=None, state_out=None,
                 library=None):
        self._library, self._held = library or loaded_library(), [tensors, key_lengths]
        functions = self._library.functions
        self._run = getattr(functions, f"flashlab_attention_{direction}")
        struct = {"forward": ForwardStruct, "backward": BackwardStruct}[direction]
        self._device = tensors["Q"].device
        if self._device.type != self._library.device_type:
            raise ValueError(f"Q: on {self._device}: expected a {self._library.device_type} tensor")
        self._tensors = struct(*(tensor_struct(name, tensors[name], self._device)
                                 for name, _ in struct._fields_))
        self._options = OptionsStruct(
            struct_bytes=ctypes.sizeof(OptionsStruct), variant=variant.encode(),
            kernel=kernel.encode() or None, mask=number_of("mask", mask, MASKS),
            products=number_of("products", products, PRODUCTS), softmax_scale=softmax_scale or 0,
            has_softmax_scale=softmax_scale is not None, num_splits=num_splits,
            query_offset=query_offset, deterministic=deterministic,
            round_statistics=round_statistics)
        self._set_key_lengths(key_lengths)
        self._set_window(*window_of(window))
        self._set_cu_seqlens(cu_seqlens_q, cu_seqlens_k)
        self._set_state("state_in", state_in)
        self._set_state("state_out", state_out)
        self._set_workspace(getattr(functions, f"flashlab_{direction}_workspace_bytes"))

    def __call__(self):
        with self._on_device():
            self._library.check(self._run(ctypes.byref(self._tensors),
                                          ctypes.byref(self._options)))

    def _set_key_lengths(self, key_lengths):
        """Accepts a list of numbers, or an int64 or int32 tensor on the tensors' device."""
        if key_lengths is None:
            return
        if isinstance(key_lengths, torch.Tensor):
            key_lengths = device_numbers(key_lengths)
            self._held.append(key_lengths)
            batch = self._tensors.Q.shape[0]
            if (key_lengths.device != self._device or key_lengths.dtype != torch.int64
                    or key_lengths.shape != (batch,) or not key_lengths.is_contiguous()):
                raise ValueError(f"key_lengths: {key_lengths.dtype} {list(key_lengths.shape)} on "
                                 f"{key_lengths.device}: expected torch.int64 or torch.int32 [{batch}] "
                                 f"without gaps on {self._device}, or a list")
            self._options.device_key_lengths = key_lengths.data_ptr()
            return
        array = (ctypes.c_int64 * len(key_lengths))(*key_lengths)
        self._held.append(array)
        self._options.key_lengths = ctypes.addressof(array)
        self._options.num_key_lengths = len(array)

    def _set_window(self, left, right):
        for side, keys in (("left", left), ("right", right)):
            if keys is not None:
                setattr(self._options, f"window_{side}", keys)
                setattr(self._options, f"has_window_{side}", 1)

    def _set_cu_seqlens(self, *bounds):
        """Accepts two lists of numbers, or two int64 or int32 tensors on the tensors' device."""
        if bounds == (None, None):
            return
        if any(each is None for each in bounds) or len({isinstance(each, torch.Tensor)
                                                        for each in bounds}) > 1:
            raise ValueError("cu_seqlens_q, cu_seqlens_k: expected both, as lists or as tensors")
        if len(bounds[0]) != len(bounds[1]) or len(bounds[0]) == 0:
            raise ValueError(f"cu_seqlens_k: {len(bounds[1])} entries: expected as many as "
                             f"cu_seqlens_q has, one more than sequences: {len(bounds[0])}")
        self._options.num_sequences = len(bounds[0]) - 1
        for name, each in zip(("cu_seqlens_q", "cu_seqlens_k"), bounds):
            if isinstance(each, torch.Tensor):
                each = device_numbers(each)
                if (each.device != self._device or each.dtype != torch.int64 or each.dim() != 1
                        or not each.is_contiguous()):
                    raise ValueError(f"{name}: {each.dtype} {list(each.shape)} on {each.device}: "
                                     "expected torch.int64 or torch.int32 with one axis and without gaps on "
                                     f"{self._device}, or a list")
                self._held.append(each)
                setattr(self._options, f"device_{name}", each.data_ptr())
                continue
            array = (ctypes.c_int64 * len(each))(*each)
            self._held.append(array)
            setattr(self._options, name, ctypes.addressof(array))

    def _set_state(self, name, state):
        if state is None:
            return
        struct = StateStruct(*(tensor_struct(f"{name}.{part}", getattr(state, part), self._device)
                               for part, _ in StateStruct._fields_))
        self._held += [state, struct]
        setattr(self._options, name, ctypes.addressof(struct))

    def _set_workspace(self, function):
        needed = ctypes.c_uint64()
        with self._on_device():
            self._library.check(function(ctypes.byref(self._tensors), ctypes.byref(self._options),
                                         ctypes.byref(needed)))
        self.workspace_bytes = needed.value
        if self.workspace_bytes == 0:
            return
        alignment = 256  # torch's CUDA memory has it; CPU tensors may not
        memory = torch.empty(self.workspace_bytes + alignment * self._library.is_emulated,
                             dtype=torch.uint8, device=self._device)
        self._held.append(memory)
        self._options.workspace = (memory.data_ptr() + alignment - 1) // alignment * alignment
        self._options.workspace_bytes = self.workspace_bytes

    @contextlib.contextmanager
    def _on_device(self):
        if self._library.is_emulated:
            yield
            return
        with torch.cuda.device(self._device):
            self._options.stream = torch.cuda.current_stream().cuda_stream
            yield
