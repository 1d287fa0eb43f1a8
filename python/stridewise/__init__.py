"""Shape work on tensors, once and properly.

Every operator is a function and, where it has a first tensor, a method of `Tensor`. Functions take tensors, arrays
of other libraries, numbers and nested lists; views share memory, and strides count elements.

>>> import stridewise as sw
>>> x = sw.asarray([[1, 2, 3], [4, 5, 6]])
>>> sw.expand(sw.unflatten(x, 1, [3, 1]), -1, -1, 4).strides
(3, 1, 0)
"""

from __future__ import annotations

from stridewise import gpu, nn, sbp, typing
from stridewise._errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    DeviceError,
    DTypeError,
    FileError,
    GradientError,
    IndexOutOfRange,
    IndexShapeError,
    OutOfMemory,
    ShapeError,
    StridewiseError,
    TooEarly,
    TooLarge,
    WorldError,
)
from stridewise._gradients import grad, no_grad
from stridewise._graphs import graph, trace
from stridewise._stridewise import *
from stridewise._stridewise import (
    Dim,
    GlobalTensor,
    GpuTensor,
    Graph,
    Mesh,
    Moved,
    Sbp,
    Spec,
    Symbol,
    SymbolicTensor,
    asarray,
    barrier,
    mesh,
    rank,
    world_size,
)
from stridewise._stridewise import __version__ as __version__

# These hide a built-in, so they are not part of `import *`.
from stridewise._stridewise import bool as bool
from stridewise._stridewise import slice as slice
from stridewise._stridewise import sum as sum
from stridewise._worlds import spawn

to_tensor = asarray
symbol = Symbol
spec = Spec

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AxisError",
    "DTypeError",
    "DeviceError",
    "Dim",
    "FileError",
    "GlobalTensor",
    "GpuTensor",
    "GradientError",
    "Graph",
    "IndexOutOfRange",
    "IndexShapeError",
    "Mesh",
    "Moved",
    "OutOfMemory",
    "Sbp",
    "ShapeError",
    "Spec",
    "StridewiseError",
    "Symbol",
    "SymbolicTensor",
    "Tensor",
    "TooEarly",
    "TooLarge",
    "WorldError",
    "allclose",
    "array_equal",
    "asarray",
    "barrier",
    "bfloat16",
    "complex64",
    "complex128",
    "dtype",
    "float16",
    "float32",
    "float64",
    "gpu",
    "grad",
    "graph",
    "int8",
    "int16",
    "int32",
    "int64",
    "load",
    "mesh",
    "nn",
    "no_grad",
    "rank",
    "repeat_plan",
    "save",
    "sbp",
    "shapes",
    "shares_memory",
    "spawn",
    "spec",
    "symbol",
    "to_tensor",
    "trace",
    "typing",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "vjp",
    "world_size",
    # names: written by `cargo xtask docs`
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "atleast_nd",
    "expand",
    "expand_as",
    "broadcast_to",
    "repeat",
    "tile",
    "repeat_interleave",
    "unflatten",
    "flatten",
    "reshape",
    "view",
    "squeeze",
    "unsqueeze",
    "permute",
    "transpose",
    "swapaxes",
    "moveaxis",
    "flip",
    "take",
    "index_select",
    "take_along_axis",
    "index_add",
    "enforce_shape",
    "unstack",
    "contiguous",
    "cast",
    "shape_of",
    "concat",
    "stack",
    "zeros",
    "ones",
    "full",
    "arange",
    # names end
]
