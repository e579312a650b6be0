"""Finds FlashAttention-4 (the package flash-attn-4), which beside_torch.py measures if it is there."""
import importlib
import importlib.metadata
import site

# Its kernels are compiled at the first call, so the packages of the compiler count, too.
PACKAGES = ("flash-attn-4", "nvidia-cutlass-dsl", "quack-kernels")


class Missing(Exception):
    """FlashAttention-4 cannot be imported; contains the reason in one line."""


def first_line(error):
    """Returns the type and the first line of an error, for a message of one line."""
    return " ".join([f"{type(error).__name__}:", *str(error).splitlines()[:1]])


def load(site_folder=None):
    """Returns the module with _flash_attn_fwd and _flash_attn_bwd. Their tensors are
    [batch, seqlen, num_heads, head_dim] without gaps, lse [batch, num_heads, seqlen].

    site_folder  where the packages lie if this Python does not have them
    """
    if site_folder:
        site.addsitedir(site_folder)
        importlib.invalidate_caches()
    try:
        return importlib.import_module("flash_attn.cute.interface")
    except Exception as error:  # other versions of what it needs can raise anything
        raise Missing(first_line(error)) from None


def versions():
    """Returns {package: version}; null if it has none."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found


class Package:
    """The passes of FlashAttention-4 as one function."""

    def __init__(self, site_folder=None):
        self._module = load(site_folder)

    def both_passes(self, Q, K, V, dO, is_causal):
        """Returns O, dQ, dK, dV."""
        O, lse = self._module._flash_attn_fwd(Q, K, V, causal=is_causal, return_lse=True)[:2]
        return O, *self._module._flash_attn_bwd(Q, K, V, O, dO, lse, causal=is_causal)[:3]
