"""A process that was forked from one that has worked, as multiprocessing and data loaders do it."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import stridewise as sw


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    x = sw.asarray(np.arange(4_000_000.0).reshape(2000, 2000))
    before = x.T.contiguous()
    child = os.fork()
    if child == 0:
        # Ends a child that waits for threads it does not have.
        signal.alarm(60)
        again = x.T.contiguous()
        os._exit(0 if sw.array_equal(again, before) and x.sum().item() == before.sum().item() else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child ended with {status}"
