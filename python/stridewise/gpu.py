"""Tensors on a GPU, in a build with the feature ``gpu``: which GPU there is, and what it has done.

A tensor goes there by ``x.to("gpu")`` and comes back by ``y.to("cpu")``. In between every operator runs there, and
gives what the CPU gives, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

from stridewise import _stridewise
from stridewise._errors import DeviceError

__all__ = ["Counts", "Info", "counts", "info", "is_available", "limit_memory"]


@dataclass(frozen=True)
class Info:
    """What is known of a GPU. Printed, it is one line."""

    name: str
    backend: str
    kind: str
    driver: str
    max_tensor_bytes: int
    _text: str

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True)
class Counts:
    """How often the GPU did something since it was opened; the difference of two says what was done between them."""

    launches: int
    copies: int
    submissions: int
    bytes_up: int
    bytes_down: int

    def __sub__(self, earlier: Counts) -> Counts:
        """What was done since an earlier count."""
        ours, theirs = vars(self), vars(earlier)
        return Counts(**{name: ours[name] - theirs[name] for name in ours})


def is_available() -> bool:
    """Whether there is a GPU, and the package was built for it.

    Examples
    --------
    >>> import stridewise as sw
    >>> x = sw.arange(3)
    >>> if sw.gpu.is_available():
    ...     x = x.to("gpu")
    >>> x.repeat(2).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    try:
        _stridewise._gpu_info()
    except DeviceError:
        return False
    return True


def info() -> Info:
    """Which GPU there is: its name, what it is driven through, its kind (``discrete``, ``integrated``, ``virtual``,
    ``software`` or ``other``), its driver, and the most bytes that one tensor can have there.

    Raises
    ------
    DeviceError
        There is none, and why; or the package was built without.
    """
    _, name, backend, kind, driver, most, text = _stridewise._gpu_info()
    return Info(name, backend, kind, driver, most, text)


def counts() -> Counts:
    """How many kernels the GPU has launched, copies it has made, batches of commands it was sent, and how many bytes of
    tensors went there and came back.

    Raises
    ------
    DeviceError
        There is none, and why; or the package was built without.
    """
    return Counts(*_stridewise._gpu_counts())


def limit_memory(bytes: int | None) -> None:
    """The tensors on the GPU hold at most so many bytes from now on, those kept for later tensors included; None for no
    limit but its own. What does not fit is a ``MemoryError``, and everything else goes on.

    Raises
    ------
    DeviceError
        There is none, and why; or the package was built without.
    """
    _stridewise._gpu_limit_memory(bytes)
