"""Types: the stubs name what there is, and the sample that mypy checks also runs."""

from __future__ import annotations

import ast
import inspect
import runpy
from pathlib import Path

import stridewise as sw
from stridewise import _stridewise

PACKAGE = Path(sw.__file__).parent
STUB = ast.parse((PACKAGE / "_stridewise.pyi").read_text(encoding="utf-8"))
OPERATORS = [name for name, *_ in _stridewise._table()]


def defined(body):
    return {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_the_package_says_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_the_stubs_have_every_operator_as_the_module_has_it():
    assert set(OPERATORS) <= defined(STUB.body)
    tensor = next(node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == "Tensor")
    methods = {name for name in OPERATORS if inspect.ismethoddescriptor(getattr(sw.Tensor, name, None))}
    assert methods <= defined(tensor.body)
    assert not (set(OPERATORS) - methods) & defined(tensor.body)


def test_the_stubs_have_every_member_of_the_class():
    tensor = next(node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == "Tensor")
    public = {name for name in vars(sw.Tensor) if not name.startswith("_")}
    assert public <= defined(tensor.body), "add them to _stridewise.pyi"


def test_the_typing_sample_runs():
    runpy.run_path(str(Path(__file__).parent / "typing_sample.py"), run_name="__main__")
