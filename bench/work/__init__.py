"""The work that is timed: what each library is asked to do, in its own fastest spelling."""

from __future__ import annotations

from work.case import Case
from work.copies import COPIES
from work.growth import GROWTH, THREADS
from work.repeats import REPEATS
from work.small import SMALL
from work.sums import SUMS
from work.takes import TAKES
from work.views import VIEWS

CASES: list[Case] = [*VIEWS, *SMALL, *REPEATS, *COPIES, *TAKES, *SUMS, *GROWTH, *THREADS]

__all__ = ["CASES", "Case"]
