"""Attention on NumPy arrays with the CPU's cores, and on GPU tensors with flashlab_attention.

Shapes   Q, O, dO, dQ  [batch, num_heads,    seqlen_q, head_dim]   float32, float64 or float16
         K, V, dK, dV  [batch, num_kv_heads, seqlen_k, head_dim]   num_kv_heads divides num_heads
         lse           [batch, num_heads, seqlen_q]                float32 (float64 if Q is), natural log
"""
import ctypes
import functools
import math
import os
import pathlib
import sys
import sysconfig
from typing import Any, Dict, Iterator, Literal, Optional, Tuple

LIBRARY = "libflashlab_cpu.so"
Mask = Literal["none", "causal", "causal-bottom-right"]
MASKS: Dict[str, int] = {"none": 0, "causal": 1, "causal-bottom-right": 2}
_DTYPES = {"float32": 0, "float64": 1, "float16": 3}
_MAX_AXES = 4
_ARGUMENT = 1  # FLASHLAB_CPU_ERROR_ARGUMENT
_NAMES = ("Q", "K", "V", "O", "lse", "dO", "dQ", "dK", "dV")


class _Tensor(ctypes.Structure):
    """flashlab_cpu_tensor"""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * _MAX_AXES), ("strides", ctypes.c_int64 * _MAX_AXES)]


class _Call(ctypes.Structure):
    """flashlab_cpu_call"""
    _fields_ = [("struct_bytes", ctypes.c_uint64), ("variant", ctypes.c_char_p),
                ("mask", ctypes.c_int32), ("num_threads", ctypes.c_int32),
                ("softmax_scale", ctypes.c_double), ("window_left", ctypes.c_int64),
                ("window_right", ctypes.c_int64), *((name, _Tensor) for name in _NAMES)]


def attention(Q: Any, K: Any, V: Any, *, mask: Mask = "none", softmax_scale: Optional[float] = None,
              window: Tuple[Optional[int], Optional[int]] = (None, None),
              variant: Optional[str] = None, threads: int = 0, out: Any = None) -> Any:
    """Returns O = softmax(softmax_scale Q K^T + mask) V.

    NumPy arrays are read and written where they are, with any strides. Tensors of PyTorch go to
    flashlab_attention.attention, which takes mask, softmax_scale and variant.

    mask           "none"; "causal": key <= query; "causal-bottom-right": the last query sees all keys
    softmax_scale  1 / sqrt(head_dim) unless set
    window         keys before and after a query that it sees; None: all that the mask leaves
    variant        an algorithm of `flashlab attention --list`; "flash2" unless set
    threads        0: one for each core
    out            an array for O, which is then returned

    Raises ValueError: argument, value, what was expected. RuntimeError: the library is missing, or there is
    no memory.
    """
    if _is_tensor(Q):
        return _on_tensors("attention", (Q, K, V), mask, softmax_scale, variant,
                           {"window": (window, (None, None)), "threads": (threads, 0), "out": (out, None)})
    O = _result_like(Q, out)
    _call("flashlab_cpu_forward", {"Q": Q, "K": K, "V": V, "O": O}, mask, softmax_scale, window, variant,
          threads)
    return O


def attention_forward(Q: Any, K: Any, V: Any, *, mask: Mask = "none",
                      softmax_scale: Optional[float] = None,
                      window: Tuple[Optional[int], Optional[int]] = (None, None),
                      variant: Optional[str] = None, threads: int = 0) -> Tuple[Any, Any]:
    """Returns O and lse, the logarithm of each row's sum of exponentials. Else as attention()."""
    if _is_tensor(Q):
        O, lse = _on_tensors("attention_forward", (Q, K, V), mask, softmax_scale, variant,
                             {"window": (window, (None, None)), "threads": (threads, 0)})
        return O, lse
    import numpy  # pylint: disable=import-outside-toplevel
    O = _result_like(Q, None)
    lse = numpy.empty(Q.shape[:3], dtype=numpy.float64 if Q.dtype == numpy.float64 else numpy.float32)
    _call("flashlab_cpu_forward", {"Q": Q, "K": K, "V": V, "O": O, "lse": lse}, mask, softmax_scale, window,
          variant, threads)
    return O, lse


def attention_backward(Q: Any, K: Any, V: Any, O: Any, lse: Any, dO: Any, *, mask: Mask = "none",
                       softmax_scale: Optional[float] = None,
                       window: Tuple[Optional[int], Optional[int]] = (None, None),
                       variant: Optional[str] = None, threads: int = 0) -> Tuple[Any, Any, Any]:
    """Returns dQ, dK, dV from the results of attention_forward() and the gradient dO of O.

    variant  "bwd-onepass" unless set. Else as attention().
    """
    if _is_tensor(Q):
        dQ, dK, dV = _on_tensors("attention_backward", (Q, K, V, O, lse, dO), mask, softmax_scale, variant,
                                 {"window": (window, (None, None)), "threads": (threads, 0)})
        return dQ, dK, dV
    dQ, dK, dV = (_result_like(array, None) for array in (Q, K, V))
    arrays = dict(zip(_NAMES, (Q, K, V, O, lse, dO, dQ, dK, dV)))
    _call("flashlab_cpu_backward", arrays, mask, softmax_scale, window, variant, threads)
    return dQ, dK, dV


def _is_tensor(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _on_tensors(name: str, tensors: Tuple[Any, ...], mask: str, softmax_scale: Optional[float],
                variant: Optional[str], others: Any) -> Any:
    for argument, (value, default) in others.items():
        if value != default:
            raise ValueError(f"{argument}: {value!r}: expected {default!r} for tensors")
    # pylint: disable-next=import-outside-toplevel
    import flashlab_attention  # type: ignore[import-not-found,unused-ignore]
    settings = {"softmax_scale": softmax_scale, "variant": variant}
    return getattr(flashlab_attention, name)(
        *tensors, mask=mask, **{key: value for key, value in settings.items() if value is not None})


def _result_like(array: Any, out: Any) -> Any:
    import numpy  # pylint: disable=import-outside-toplevel
    if out is not None:
        return out
    if not isinstance(array, numpy.ndarray):
        raise ValueError(f"a {type(array).__name__}: expected an array of NumPy")
    return numpy.empty(array.shape, dtype=array.dtype)


def _view(name: str, array: Any, written: bool) -> _Tensor:
    import numpy  # pylint: disable=import-outside-toplevel
    if not isinstance(array, numpy.ndarray):
        raise ValueError(f"{name}: a {type(array).__name__}: expected an array of NumPy")
    if array.dtype.name not in _DTYPES or not array.dtype.isnative:
        raise ValueError(f"{name}: {array.dtype.str} ({array.dtype.name}): expected one of " + ", ".join(_DTYPES))
    axes = 3 if name == "lse" else 4
    if array.ndim != axes:
        raise ValueError(f"{name}: {array.ndim} axes: expected {axes}")
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(f"{name}: strides of {array.strides} bytes: expected whole elements")
    if written and not array.flags.writeable:
        raise ValueError(f"{name}: a read-only array: expected one to write to")
    elements = (ctypes.c_int64 * _MAX_AXES)
    return _Tensor(array.ctypes.data, _DTYPES[array.dtype.name], axes, elements(*array.shape),
                   elements(*(stride // array.itemsize for stride in array.strides)))


def _call(function: str, arrays: Any, mask: str, softmax_scale: Optional[float],
          window: Tuple[Optional[int], Optional[int]], variant: Optional[str], threads: int) -> None:
    if mask not in MASKS:
        raise ValueError(f"mask: {mask!r}: expected one of " + ", ".join(MASKS))
    left, right = (-1 if side is None else side for side in window)
    for side, value in zip(("left", "right"), window):
        if value is not None and value < 0:
            raise ValueError(f"window: {side} is {value}: expected 0 or more, or None")
    if softmax_scale is not None and math.isnan(softmax_scale):  # to the library, NaN means the default
        raise ValueError("softmax_scale: nan: expected a number of at most 1e30 in size")
    backward = "dO" in arrays
    written = {"dQ", "dK", "dV"} if backward else {"O", "lse"}
    call = _Call(ctypes.sizeof(_Call), variant.encode() if variant else None, MASKS[mask], threads,
                 math.nan if softmax_scale is None else softmax_scale, left, right,
                 **{name: _view(name, array, name in written) for name, array in arrays.items()})
    message = ctypes.create_string_buffer(1000)
    status = getattr(_library(), function)(ctypes.byref(call), message, ctypes.c_size_t(len(message)))
    if status != 0:
        raise (ValueError if status == _ARGUMENT else RuntimeError)(message.value.decode(errors="replace"))


def _candidates() -> Iterator[pathlib.Path]:
    yield pathlib.Path(sysconfig.get_path("data")) / "lib" / LIBRARY  # where pip copies a wheel's data
    source = pathlib.Path(__file__).resolve().parents[2]
    yield source / "build" / "attention_cpu" / LIBRARY


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    chosen = os.environ.get("FLASHLAB_CPU_LIBRARY")
    paths = [pathlib.Path(chosen)] if chosen else list(_candidates())
    for path in paths:
        if path.is_file():
            return ctypes.CDLL(str(path))
    raise RuntimeError(f"{LIBRARY} is missing, expected at " + " or ".join(map(str, paths)) +
                       ("" if chosen else ", or named by $FLASHLAB_CPU_LIBRARY"))
