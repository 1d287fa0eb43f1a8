"""Docstrings: every public thing has one, operators have all sections, and every example runs."""

from __future__ import annotations

import doctest
import inspect
import itertools
import random
import re
import types
from pathlib import Path

import pytest

import stridewise as sw
from stridewise import _stridewise

OPERATORS = [name for name, *_ in _stridewise._table()]
METHODS = [name for name in OPERATORS if hasattr(sw.Tensor, name)]
SECTIONS = ["Parameters", "Returns", "Raises", "Examples"]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def public():
    """Everything a user can look up, by its name: modules, functions, classes, methods and properties."""
    for module in (sw, sw.gpu, sw.nn):
        yield module.__name__, module
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, (types.ModuleType, sw.dtype)):
                continue
            yield f"{module.__name__}.{name}", thing
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
                        yield f"{module.__name__}.{name}.{member}", value
    for name in OPERATORS:
        yield f"operator {name}", getattr(sw, name)


PUBLIC = dict(public())


@pytest.mark.parametrize("name", PUBLIC)
def test_everything_public_is_documented_and_its_examples_run(name):
    doc = inspect.getdoc(PUBLIC[name])
    assert doc, f"{name} has no docstring"
    examples = doctest.DocTestParser().get_doctest(doc, {"sw": sw}, name, None, None)
    log: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(examples, out=log.append)
    assert not failed, "".join(log)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_every_section_and_an_example(name):
    for owner in [sw, sw.Tensor] if name in METHODS else [sw]:
        function = getattr(owner, name)
        doc = inspect.getdoc(function)
        lines = doc.splitlines()
        at = [lines.index(section) for section in SECTIONS]
        assert at == sorted(at), "the sections are in another order than NumPy's"
        assert all(lines[i + 1] == "-" * len(lines[i]) for i in at)
        examples = doctest.DocTestParser().get_examples(doc)
        assert examples[0].source == "import stridewise as sw\n"
        assert any(f"{name}(" in example.source for example in examples), (
            f"python/src/examples.txt has no example of {name}"
        )
        documented = {line.split(" : ")[0].lstrip("*") for line in lines[at[0] + 2 : at[1]] if " : " in line}
        signature = inspect.signature(function)
        assert documented == set(signature.parameters) - {"self"}


def test_examples_are_of_operators_there_are():
    text = (Path(__file__).parents[1] / "src" / "examples.txt").read_text(encoding="utf-8")
    titles = [line[2:].strip() for line in text.splitlines() if line.startswith("# ")]
    assert titles == OPERATORS


def test_signatures_are_spelt_as_their_users_know_them():
    spelt = {name: str(inspect.signature(getattr(sw, name))) for name in OPERATORS}
    assert spelt["expand"] == "(input, *sizes, name=None)"
    assert spelt["unflatten"] == "(x, axis, shape, name=None)"
    assert spelt["take"] == "(input, index, axis=None, mode='raise', out=None, name=None, *, fill_value=None)"
    assert spelt["atleast_1d"] == "(*inputs, name=None)"
    assert spelt["zeros"] == "(shape, dtype='float64', name=None)"
    assert str(inspect.signature(sw.zeros([1]).expand)) == "(*sizes, name=None)"
    assert str(inspect.signature(sw.Tensor.expand)) == "(self, /, *sizes, name=None)"


ODD = [None, True, 0, 1, -1, 7, -9, 10**30, 0.5, 2j, "x", "raise", "int8", "float32", ..., slice(1, 2), [], [0, 0]]
ODD += [[1, 2], [5, 5, 5], [-1, -1], [0.5], [[1, 2], [3]], "fill", [-2, 1], [None, "n"], 1 << 62, [1 << 61, 4]]


@pytest.mark.parametrize("name", OPERATORS)
def test_what_a_bad_call_raises_is_in_the_docstring(name):
    dice = random.Random(name)
    doc = inspect.getdoc(getattr(sw, name))
    raised = doc[doc.index("Raises\n") : doc.index("Examples\n")]
    tensors = [sw.zeros([]), sw.arange(6).reshape(2, 3), sw.zeros([0, 2]), sw.zeros([1, 3], dtype="bool"), 3, [1, 2]]
    pairs = [[x, y] for x, y in itertools.product(tensors, tensors)]
    for _ in range(3000):
        first = dice.choice(pairs if name in ("concat", "stack") else tensors)
        rest = dice.choices(ODD + tensors, k=dice.choice([0, 1, 1, 2, 2, 3]))
        arguments = rest if name in ("zeros", "ones", "full", "arange") else [first, *rest]
        try:
            getattr(sw, name)(*arguments)
        except sw.StridewiseError as error:
            family = {each.__name__ for each in type(error).__mro__}
            assert family & set(raised.split()), f"{name}{tuple(arguments)}: {error}"
        except (TypeError, ValueError):
            pass


@pytest.mark.parametrize("page", ["python.md", "global.md"])
def test_the_guides_examples_run(page):
    guide = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    for code in re.findall(r"^```pycon\n(.*?)^```", guide, re.MULTILINE | re.DOTALL):
        examples = doctest.DocTestParser().get_doctest(code, {"sw": sw}, page, None, None)
        log: list[str] = []
        failed, _ = doctest.DocTestRunner().run(examples, out=log.append)
        assert not failed, "".join(log)


def test_the_guide_has_every_exception():
    guide = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    for name in sw.__all__:
        thing = getattr(sw, name)
        if inspect.isclass(thing) and issubclass(thing, sw.StridewiseError):
            assert f"`{name}`" in guide, f"docs/python.md does not tell of {name}"
