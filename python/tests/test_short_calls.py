"""Calls by the shortest way, in a process that has never had a gradient; and the same attributes with one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import stridewise as sw


def test_short_calls_cannot_be_told_from_long_ones() -> None:
    cases = Path(__file__).with_name("short_calls.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(cases)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_transposed_attributes_bring_gradients_back() -> None:
    x = sw.to_tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    x.T.mT.backward([[1.0, 2.0, 3.0]])
    assert x.grad is not None and x.grad.tolist() == [[1.0, 2.0, 3.0]]
