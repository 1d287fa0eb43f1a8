"""The package as installed: its names, its version, and the README's examples."""

from __future__ import annotations

import builtins
import importlib
import re
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path

import pytest

import stridewise as sw
from stridewise import _stridewise

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python([^\n]*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
HIDING = {"bool", "slice", "sum"}


def test_all_names_are_there_and_none_hides_a_builtin():
    names = [name for name in sw.__all__ if not hasattr(sw, name)]
    assert names == []
    assert len(set(sw.__all__)) == len(sw.__all__)
    assert not set(sw.__all__) & set(dir(builtins))
    native = {name for name in _stridewise.__all__ if not name.startswith("_")}
    assert native - set(sw.__all__) == HIDING, "add what is missing to __all__ in stridewise/__init__.py"
    assert all(hasattr(sw, name) for name in native)


def test_a_star_import_brings_the_names():
    space: dict[str, object] = {}
    exec("from stridewise import *", space)
    assert set(sw.__all__) <= set(space)
    assert not HIDING & set(space)


def test_the_metadata_says_what_the_package_is():
    about = metadata("stridewise")
    assert about["Version"] == sw.__version__
    assert about["Requires-Python"] == ">=3.11"
    assert about["License-Expression"] == "MIT"
    assert not [line for line in about.get_all("Requires-Dist") or [] if "extra ==" not in line]
    assert "Shape work on tensors" in (about["Description"] or str(about.get_payload()))


@pytest.mark.parametrize(("needs", "code"), BLOCKS, ids=[f"block{n}" for n in range(len(BLOCKS))])
def test_the_readme_s_examples_run(needs, code):
    for module in needs.split():
        pytest.importorskip(module)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})


def test_the_first_example_needs_no_other_package():
    (needs, code), *_ = BLOCKS
    assert needs.strip() == ""
    without = "import sys\nsys.modules['numpy'] = sys.modules['ml_dtypes'] = sys.modules['torch'] = None\n"
    done = subprocess.run([sys.executable, "-c", without + code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_nothing_else_is_imported_with_the_package():
    code = "import sys, stridewise\nprint([m for m in ('numpy', 'ml_dtypes', 'torch', 'jax') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr


def test_submodules_can_be_imported_by_name():
    for name in ["stridewise.gpu", "stridewise.nn", "stridewise.typing"]:
        assert importlib.import_module(name).__all__
