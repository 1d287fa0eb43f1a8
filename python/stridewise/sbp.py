"""How the ranks along a mesh axis hold a global tensor.

`split` gives each a part of an axis, `broadcast` gives each all of it, and where it is partial each has a tensor of the
whole shape, which added up (or their maximum or minimum) are the tensor. They print as they can also be written:
``"S(0)"``, ``"B"``, ``"P"``, ``"P(max)"``, ``"P(min)"``, and for several mesh axes ``"S(0),B"``.
"""

from __future__ import annotations

from stridewise._stridewise import Sbp, _broadcast, _partial_max, _partial_min, _partial_sum, _split

__all__ = ["broadcast", "partial_max", "partial_min", "partial_sum", "split"]

broadcast: Sbp = _broadcast
partial_sum: Sbp = _partial_sum
partial_max: Sbp = _partial_max
partial_min: Sbp = _partial_min


def split(axis: int) -> Sbp:
    """Each rank has a part of an axis: balanced, so that sizes differ by at most one, the longer ones first.

    Examples
    --------
    >>> import stridewise as sw
    >>> sw.sbp.split(1)
    S(1)
    """
    return _split(axis)
