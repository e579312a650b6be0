"""Attention over several GPUs for PyTorch: each process of a torch.distributed group holds a part of
the tokens.

    torch.distributed.init_process_group("nccl")              # under torchrun
    ranks = flashlab_ranks.Ranks()                            # of this group, or of group=…
    O = ranks.attention(ranks.shard(Q), ranks.shard(K), ranks.shard(V), mask="causal")
    whole = ranks.unshard(O)                                  # on every rank; autograd stops here
    ranks.finish()                                            # errors of all calls so far

Shards   Q, O  [batch, num_heads, rows, head_dim], K, V [batch, num_kv_heads, rows, head_dim], where rows
         are those of this rank's tokens. sharding "zigzag" (of 2 R chunks rank r has r and 2 R - 1 - r,
         which balances a causal mask) or "contiguous" (chunk r of R)
NCCL     Ranks makes a communicator of its own, whose id travels through the group. `communicator` is an
         ncclComm_t as a number, to be used instead
Errors   ValueError: argument, value, what was expected; if the ranks disagree, on each of them.
         RuntimeError: CUDA; a rank ended or did not answer in time, with its number. What happens on
         the GPU is known when finish() returns: a training loop calls it once for each step
Stopping With stop_kernels=True, finish() ends soon when it finds that a rank has failed: kernels that are
         enqueued leave out what they have not begun. Otherwise they run to their end. bf16 and fp16 on
         compute capability 9.0, gradients for head_dim to 128; ValueError otherwise
Copies   Memory of torch's allocator may lie anywhere: NCCL moves it
"""
import ctypes

import torch
import torch.distributed

import flashlab_library
from flashlab_library import BackwardStruct, DTYPES, ForwardStruct, MASKS, OptionsStruct, PRODUCTS

SHARDINGS = {"contiguous": 0, "zigzag": 1}
ID_BYTES = 128  # of an ncclUniqueId
MOST_CALLS = 64  # that Ranks keeps


class ProblemStruct(ctypes.Structure):
    """flashlab_sharded_problem"""
    _fields_ = [("batch", ctypes.c_int64), ("num_heads", ctypes.c_int64),
                ("num_kv_heads", ctypes.c_int64), ("seqlen_q", ctypes.c_int64),
                ("seqlen_k", ctypes.c_int64), ("head_dim", ctypes.c_int64),
                ("dtype", ctypes.c_int32), ("sharding", ctypes.c_int32)]


def _functions(library):
    """Returns the library's functions with the types of what they return."""
    functions = library.functions
    functions.flashlab_shard_rows.restype = ctypes.c_int64
    functions.flashlab_shard_rows.argtypes = [ctypes.c_int32] * 3 + [ctypes.c_int64]
    functions.flashlab_sharded_workspace_bytes.restype = ctypes.c_uint64
    functions.flashlab_sharded_workspace_bytes.argtypes = [ctypes.c_void_p]
    for name in ("flashlab_communicator_destroy", "flashlab_sharded_call_destroy"):
        getattr(functions, name).restype = None
        getattr(functions, name).argtypes = [ctypes.c_void_p]
    functions.flashlab_communicator_finish.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    functions.flashlab_communicator_stop_flag.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    functions.flashlab_communicator_join_nccl.argtypes = [
        ctypes.c_char_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p]
    functions.flashlab_communicator_from_nccl.argtypes = [
        ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
    functions.flashlab_sharded_call_create.argtypes = [ctypes.c_void_p] * 4
    for direction in ("forward", "backward"):
        getattr(functions, f"flashlab_sharded_{direction}").argtypes = [
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
    return functions


class _ShardedCall:
    """A flashlab_sharded_call with its workspace; can run any number of times, on one stream."""

    def __init__(self, ranks, variant, problem, options):
        self._ranks, self._problem = ranks, problem
        key_lengths = options["key_lengths"]
        lengths = (ctypes.c_int64 * len(key_lengths))(*key_lengths) if key_lengths else None
        left, right = options["window"]
        struct = OptionsStruct(
            struct_bytes=ctypes.sizeof(OptionsStruct), variant=variant.encode(),
            kernel=options["kernel"].encode() or None, mask=MASKS[options["mask"]],
            products=PRODUCTS[options["products"]],
            softmax_scale=options["softmax_scale"] or 0,
            has_softmax_scale=options["softmax_scale"] is not None,
            deterministic=options["deterministic"],
            window_left=left or 0, has_window_left=left is not None,
            window_right=right or 0, has_window_right=right is not None,
            key_lengths=ctypes.addressof(lengths) if lengths else None,
            num_key_lengths=len(lengths) if lengths else 0, stream=ranks.stream(),
            stop_flag=ranks.stop_flag)
        self._held = lengths
        self._call = ctypes.c_void_p()
        functions = ranks.functions
        ranks.cuda_library.check(functions.flashlab_sharded_call_create(
            ranks.communicator, ctypes.byref(problem), ctypes.byref(struct),
            ctypes.byref(self._call)))
        self._destroy = functions.flashlab_sharded_call_destroy
        self.workspace_bytes = functions.flashlab_sharded_workspace_bytes(self._call)

    def __del__(self):
        if getattr(self, "_call", None):
            self._destroy(self._call)

    def __call__(self, direction, tensors):
        struct = {"forward": ForwardStruct, "backward": BackwardStruct}[direction]
        device = tensors["Q"].device
        views = struct(*(flashlab_library.tensor_struct(name, tensors[name], device)
                         for name, _ in struct._fields_))
        memory = torch.empty(self.workspace_bytes + 256, dtype=torch.uint8, device=device)
        place = (memory.data_ptr() + 255) // 256 * 256
        run = getattr(self._ranks.functions, f"flashlab_sharded_{direction}")
        self._ranks.cuda_library.check(run(self._call, ctypes.byref(views), place,
                                      self.workspace_bytes))


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, Q, K, V, ranks, arguments):
        Q, K, V = (tensor.contiguous() for tensor in (Q, K, V))
        O, lse = ranks.attention_forward(Q, K, V, **arguments)
        ctx.save_for_backward(Q, K, V, O, lse)
        ctx.ranks, ctx.arguments = ranks, arguments
        return O

    @staticmethod
    def backward(ctx, dO):
        gradients = ctx.ranks.attention_backward(*ctx.saved_tensors, dO.contiguous(),
                                                 **ctx.arguments)
        return (*gradients, None, None)


class Ranks:
    """The ranks of a torch.distributed group (None: all processes), one GPU each."""

    def __init__(self, group=None, *, sharding="zigzag", timeout_s=300, communicator=None,
                 stop_kernels=False):
        self.sharding = flashlab_library.number_of("sharding", sharding, SHARDINGS)
        self.group = group
        self.rank = torch.distributed.get_rank(group)
        self.num_ranks = torch.distributed.get_world_size(group)
        self.cuda_library = flashlab_library.loaded_library()
        self.functions = _functions(self.cuda_library)
        self.communicator = ctypes.c_void_p()
        self._calls = {}
        self.stop_flag = ctypes.c_void_p()
        self._connect(communicator, round(1000 * timeout_s))
        if stop_kernels:
            self.cuda_library.check(self.functions.flashlab_communicator_stop_flag(
                self.communicator, ctypes.byref(self.stop_flag)))

    def _connect(self, communicator, timeout_ms):
        if communicator is not None:
            self.cuda_library.check(self.functions.flashlab_communicator_from_nccl(
                communicator, timeout_ms, ctypes.byref(self.communicator)))
            return
        self.cuda_library.check(self.functions.flashlab_communicator_join_nccl(
            self._shared_id(), self.num_ranks, self.rank, timeout_ms,
            ctypes.byref(self.communicator)))

    def _shared_id(self):
        """Rank 0's ncclUniqueId, or its error on all ranks."""
        found = [None, None]
        if self.rank == 0:
            own = ctypes.create_string_buffer(ID_BYTES)
            try:
                self.cuda_library.check(self.functions.flashlab_nccl_id(own))
                found = [own.raw, None]
            except RuntimeError as error:
                found = [None, str(error)]
        first = 0 if self.group is None else torch.distributed.get_global_rank(self.group, 0)
        torch.distributed.broadcast_object_list(found, src=first, group=self.group)
        if found[1] is not None:
            raise RuntimeError(f"rank 0: {found[1]}")
        return found[0]

    def close(self):
        """Ends the communicator. Later calls are not possible."""
        self._calls.clear()
        communicator, self.communicator = self.communicator, None
        if communicator:
            self.functions.flashlab_communicator_destroy(communicator)

    def stream(self):
        return None if self.cuda_library.is_emulated else torch.cuda.current_stream().cuda_stream

    def finish(self):
        """Blocks until all calls so far have ended on this GPU. Raises RuntimeError: a rank failed."""
        self.cuda_library.check(self.functions.flashlab_communicator_finish(self.communicator,
                                                                       self.stream()))

    # Shards

    def pieces(self, seqlen, rank=None):
        """Returns [first token, token after the last] of a rank's pieces, in their order."""
        rank = self.rank if rank is None else rank
        chunks = self.num_ranks * (1 + self.sharding)
        own = [rank, chunks - 1 - rank][:1 + self.sharding]
        return [(seqlen * chunk // chunks, seqlen * (chunk + 1) // chunks) for chunk in own]

    def shard(self, whole, dim=2):
        """Returns this rank's rows of a tensor that it has completely. Part of autograd's graph."""
        pieces = self.pieces(whole.shape[dim])
        return torch.cat([whole.narrow(dim, first, end - first) for first, end in pieces], dim)

    def unshard(self, shard, seqlen=None, dim=2):
        """Returns the tensor of which each rank has a shard, on all ranks. Collective. seqlen: of the
        whole; by default, all shards have as many rows. Not part of autograd's graph."""
        seqlen = self._whole("seqlen", seqlen, shard.shape[dim])
        shape = list(shard.shape)
        shards = []
        for rank in range(self.num_ranks):
            shape[dim] = sum(end - first for first, end in self.pieces(seqlen, rank))
            shards.append(shard.new_empty(shape))
        torch.distributed.all_gather(shards, shard.detach().contiguous(), group=self.group)
        shape[dim] = seqlen
        whole = shard.new_empty(shape)
        for rank, part in enumerate(shards):
            row = 0
            for first, end in self.pieces(seqlen, rank):
                whole.narrow(dim, first, end - first).copy_(part.narrow(dim, row, end - first))
                row += end - first
        return whole

    def _whole(self, name, seqlen, rows):
        """Returns the length of a sequence of which this rank has `rows`."""
        seqlen = rows * self.num_ranks if seqlen is None else seqlen
        own = sum(end - first for first, end in self.pieces(seqlen))
        if own != rows:
            raise ValueError(f"{name}: {seqlen}: expected one of which rank {self.rank} of "
                             f"{self.num_ranks} has {rows} tokens, not {own}")
        return seqlen

    # Passes

    def attention(self, Q, K, V, *, variant="ring", **options):
        """Returns O of this rank's queries, as part of autograd's graph. Collective, as is its
        backward pass. variant: "ring" or "gather-kv". Options: mask "none", "causal" or
        "causal-bottom-right", softmax_scale, window and key_lengths (a list) as for
        flashlab_attention.attention, products, kernel, deterministic (of the backward pass), and
        seqlen_q, seqlen_k of the whole if the shards differ in length."""
        return _Attention.apply(Q, K, V, self, {"variant": variant, **options})

    def attention_forward(self, Q, K, V, *, variant="ring", kernel="", **options):
        """Returns (O, lse) of this rank's queries. Not part of autograd's graph."""
        O, lse = torch.empty_like(Q), Q.new_empty(Q.shape[:3], dtype=torch.float32)
        options["deterministic"] = False
        call = self._call(variant, Q, K, kernel=kernel, **options)
        with torch.no_grad(), self._on_device(Q):
            call("forward", {"Q": Q, "K": K, "V": V, "O": O, "lse": lse})
        return O, lse

    def attention_backward(self, Q, K, V, O, lse, dO, *, variant="ring", kernel="", **options):
        """Returns (dQ, dK, dV) of this rank's tokens, from attention_forward's results with the same
        options."""
        dQ, dK, dV = (torch.empty_like(tensor) for tensor in (Q, K, V))
        call = self._call("bwd-" + variant, Q, K, **options)
        with torch.no_grad(), self._on_device(Q):
            call("backward", {"Q": Q, "K": K, "V": V, "O": O, "lse": lse, "dO": dO, "dQ": dQ,
                              "dK": dK, "dV": dV})
        return dQ, dK, dV

    def _on_device(self, tensor):
        if tensor.device.type != self.cuda_library.device_type:
            raise ValueError(f"Q: on {tensor.device}: expected a {self.cuda_library.device_type} tensor")
        return torch.no_grad() if self.cuda_library.is_emulated else torch.cuda.device(tensor.device)

    def _call(self, variant, Q, K, *, mask="none", softmax_scale=None, key_lengths=None, window=None,
              products="native", kernel="", deterministic=False, seqlen_q=None, seqlen_k=None):
        flashlab_library.number_of("mask", mask, MASKS)
        flashlab_library.number_of("products", products, PRODUCTS)
        sizes = (Q.shape[0], Q.shape[1], K.shape[1], self._whole("seqlen_q", seqlen_q, Q.shape[2]),
                 self._whole("seqlen_k", seqlen_k, K.shape[2]), Q.shape[3],
                 flashlab_library.number_of("Q", Q.dtype, DTYPES), self.sharding)
        options = {"mask": mask, "softmax_scale": softmax_scale,
                   "key_lengths": None if key_lengths is None else tuple(key_lengths),
                   "window": flashlab_library.window_of(window), "products": products,
                   "kernel": kernel, "deterministic": deterministic}
        with self._on_device(Q):
            key = (variant, sizes, tuple(options.items()), self.stream())
            if key not in self._calls:
                if len(self._calls) == MOST_CALLS:  # the oldest, on all ranks
                    self._calls.pop(next(iter(self._calls)))
                self._calls[key] = _ShardedCall(self, variant, ProblemStruct(*sizes), options)
            return self._calls[key]
