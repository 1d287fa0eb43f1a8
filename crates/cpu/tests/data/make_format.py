"""Writes format.txt, the table that tests/format.rs holds printed tensors against, with NumPy 2.4 as judge.

    python make_format.py > format.txt             the table in the repository, the same at every run
    python make_format.py 5000 7 > many.txt        5000 random cases of seed 7, to compare by hand with
                                                   FORMAT_CASES=many.txt cargo test -p stridewise-cpu --test format

A case is a line `=== dtype shape elements`, the printed tensor, a line `---` and the tensor printed for
debugging. Elements are little-endian hex; a tensor longer than its list repeats it.
"""

import sys

import numpy as np

INTEGERS = "uint8 uint16 uint32 uint64 int8 int16 int32 int64".split()
FLOATS = "float16 float32 float64".split()
COMPLEX = "complex64 complex128".split()
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0]


class tensor(np.ndarray):
    """NumPy prints a subclass under its own name, lines indented to match."""


def text(shape):
    return "x".join(map(str, shape)) or "-"


def case(dtype, shape, values):
    values = np.asarray(values, dtype)
    count = int(np.prod(shape, dtype=object))
    array = np.resize(values, count).reshape(shape) if count else np.zeros(shape, dtype)
    shown = str(array) if array.ndim == 0 else np.array2string(array, separator=", ")
    debug = repr(array.view(tensor))
    elements = values.astype(values.dtype.newbyteorder("<")).tobytes().hex() if count else ""
    return f"=== {dtype} {text(shape)} {elements}\n{shown}\n---\n{debug}\n"


def part(dtype):
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def random_floats(rng, dtype, n):
    """Numbers of one style; which notation they get is for NumPy to say."""
    kind = np.dtype(dtype)
    info = np.finfo(kind)
    style = rng.integers(10)
    if style == 0:
        values = np.frombuffer(rng.bytes(n * kind.itemsize), kind)
    elif style == 1:
        values = rng.standard_normal(n)
    elif style == 2:
        values = rng.integers(-1000, 1000, n) / rng.choice([1, 2, 4, 8, 10, 100])
    elif style == 3:
        values = 10.0 ** rng.uniform(-4.2, -2, n)
    elif style == 4:
        values = 10.0 ** rng.uniform(-1, 2.2, n) * rng.choice([-1, 1], n)
    elif style == 5:
        values = 10.0 ** rng.uniform(1, 9, n)
    elif style == 6:
        # Ties: a number halfway between two shorter ones.
        values = 2.0 ** rng.integers(-24, 22, n) + 2.0 ** rng.integers(-26, 4, n)
    elif style == 7:
        # The edges of each rule, and the numbers beside them.
        edges = np.array([1e-4, 1000.0, 1.0, 1e3, 1e6, 1e8, 1e16, 0.1, 9.9999999, 0.99999999])
        values = rng.choice(edges, n).astype(kind)
        values = np.nextafter(values, rng.choice([0, np.inf], n).astype(kind))
    elif style == 8:
        extremes = [info.max, info.min, info.tiny, info.smallest_subnormal, info.eps, 1, -1, 10, 0.5]
        values = rng.choice(np.array(extremes, kind), n)
    else:
        values = np.full(n, rng.choice([0.0, 1.0, -0.0, 0.1, 100.0, 1e-5]))
    values = values.astype(kind)
    if rng.random() < 0.3:
        at = rng.random(n) < rng.choice([0.1, 0.5, 1])
        values[at] = rng.choice(SPECIAL, int(at.sum()))
    return values


def random_values(rng, dtype, n):
    if dtype == "bool":
        return rng.random(n) < rng.choice([0, 0.5, 1])
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        high = min(int(10 ** rng.uniform(0, 19.3)), int(info.max))
        low = max(-int(10 ** rng.uniform(0, 19)), int(info.min))
        return rng.integers(low, high, n, dtype, endpoint=True)
    values = random_floats(rng, part(dtype), n)
    if dtype in COMPLEX:
        both = np.empty(n, dtype)
        both.real, both.imag = values, random_floats(rng, part(dtype), n)
        return both
    return values


def random_shape(rng, most):
    style = rng.integers(12)
    if style == 0:
        return ()
    if style == 1:
        return tuple(int(n) for n in rng.integers(0, 3, rng.integers(1, 5)))
    if style == 2 and rng.random() < 0.7:
        # Cut in the middle, if not along every axis.
        shapes = [(1001,), (2, 501), (501, 2), (40, 30), (1200, 1), (2, 3, 200), (7, 6, 5, 6), (5, 5, 41)]
        return shapes[rng.integers(len(shapes))]
    rank = rng.integers(1, 6)
    shape = []
    for _ in range(rank):
        room = most // int(np.prod(shape, dtype=int))
        shape.append(int(rng.integers(1, max(2, min(room, 30 if rank == 1 else 9)) + 1)))
    return tuple(shape)


def random_case(rng, most):
    dtype = str(rng.choice(["bool", "bool", "int"] + INTEGERS + FLOATS * 6 + COMPLEX * 4))
    dtype = "int64" if dtype == "int" else dtype
    shape = random_shape(rng, most)
    count = int(np.prod(shape, dtype=int))
    n = max(1, min(count, int(rng.integers(1, most + 1))))
    return case(dtype, shape, random_values(rng, dtype, n))


def chosen():
    """Cases a reader would ask about."""
    for dtype in ["bool"] + INTEGERS + FLOATS + COMPLEX:
        yield case(dtype, (), [1])
        yield case(dtype, (1,), [1])
        yield case(dtype, (3,), [1, 0, 1])
        yield case(dtype, (0,), [])
        yield case(dtype, (2, 0, 3), [])
    yield case("bool", (2,), [True, True])
    yield case("bool", (2, 2), [True, False])
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        yield case(dtype, (2, 2), [info.min, info.max, 0, 1])
        yield case(dtype, (), [info.min])
    lone = [0.0, -0.0, 1.5, 0.1, 1 / 3, 1e-4, 9.9e-5, 999.0, 1001.0, 12345.0, 65504.0, 256.25]
    wide = [999999.0, 1e6, 2097152.25, 1e8, 123456789.0, 1e15, 1e16, 1e22, 1.5e-10, 3e38]
    for dtype in FLOATS:
        for value in lone + (wide if dtype != "float16" else []) + SPECIAL[:3]:
            yield case(dtype, (), [value])
        info = np.finfo(dtype)
        yield case(dtype, (4,), [info.max, info.tiny, info.smallest_subnormal, -info.max])
        yield case(dtype, (5,), SPECIAL)
        yield case(dtype, (3,), [np.nan, 1.5, -2])
        yield case(dtype, (3,), [-np.inf, 1e-7, 3])
        yield case(dtype, (2,), [np.nan, np.inf])
        yield case(dtype, (2,), [0.1, 100.0])
        yield case(dtype, (2,), [0.1, 100.5])
        yield case(dtype, (3,), [0.1, 1e-5, 1])
        yield case(dtype, (3,), [1, 1.5, 1.25])
        yield case(dtype, (2,), [1 / 3, 200 / 3])
    yield case("float64", (2,), [1e7, 1e8])
    yield case("float64", (2,), [99999999.5, 99999998.25])
    yield case("float64", (2,), [1e100, 1e-300])
    yield case("float64", (2,), [0.999999999999, 1.0])
    yield case("float64", (2,), [9.9999999999e10, 1.0])
    pairs = [0, 1, 1j, -1j, complex(-0.0, -0.0), complex(-0.0, 1), 1.5 - 2.5j, 1e20 + 15e6j, 1e6j]
    odd = [complex(np.nan, 1), complex(0, np.nan), complex(1, -np.inf), complex(np.inf, np.nan)]
    for dtype in COMPLEX:
        for value in pairs + odd:
            yield case(dtype, (), [value])
        yield case(dtype, (len(pairs),), pairs)
        yield case(dtype, (2,), [1 + 100j, 10.25 - 1j])
        yield case(dtype, (4,), odd)
    # Around the end of a line, with and without room for what closes it.
    for size in range(20, 28):
        yield case("int64", (size,), [1])
        yield case("int32", (size,), [1])
    for size in range(1, 9):
        yield case("uint8", (1, 1, size), [111, 222])
        yield case("float32", (size,), [0.5, -1.25])
    yield case("float32", (1, 1, 1, 1, 14), [1])
    yield case("int16", (1,) * 20 + (12,), [1])
    yield case("uint8", (1,) * 30 + (2,), [1])
    yield case("uint8", (2, 2, 2, 2, 2), [1, 22])
    # The last that are whole and the first that are cut.
    yield case("uint8", (1000,), [1])
    for dtype in ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"]:
        yield case(dtype, (1001,), [0, 1, 1])
        yield case(dtype, (60, 50), [1, 0, 0, 1, 0, 1, 1])
    yield case("int64", (7, 200), range(0, 70, 3))
    yield case("float64", (6, 200), [0.5, 1.25, 3])
    yield case("uint8", (7, 7, 21), [1])
    yield case("uint8", (1, 1, 1, 2000), [1, 2])
    yield case("float32", (2000, 1), [0.1, 0.25])


def main():
    np.seterr(all="ignore")
    if len(sys.argv) > 1:
        rng = np.random.default_rng(int(sys.argv[2]))
        cases = (random_case(rng, 60) for _ in range(int(sys.argv[1])))
    else:
        rng = np.random.default_rng(20241115)
        # Long ones are left to the comparison by hand, so that the table stays small.
        some = (random_case(rng, 14) for _ in range(400))
        cases = [*chosen(), *(case for case in some if len(case) < 640)]
    sys.stdout.write("".join(cases))


main()
